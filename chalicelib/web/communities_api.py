"""Communities and their teams over HTTP (SPEC C6)."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.account_drafts import CommunityEdit, NewCommunity, NewTeamMember, TeamMemberEdit
from chalicelib.web import account_answers as answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import PageQuery, VersionQuery
from chalicelib.web.operations import Door

door = Door.of("communities")

COMMUNITIES = "/v1/communities"
COMMUNITY = f"{COMMUNITIES}/{{platform}}/{{community}}"
TEAM = f"{COMMUNITY}/team"
TEAM_MEMBER = f"{TEAM}/{{account}}"


def _place(call: Call) -> tuple[str, str]:
    return call.identifier("platform"), call.identifier("community")


@door.operation("GET", COMMUNITIES, query=PageQuery, answer=answers.Communities)
def list_communities(call: Call) -> Mapping[str, Any]:
    """The communities on whose team the caller is; all of them for an admin."""
    query = call.query(PageQuery)
    return call.services.communities.listed(call.caller, limit=query.limit, cursor=query.cursor)


@door.operation("POST", COMMUNITIES, status=201, body=NewCommunity, answer=answers.OneCommunity)
def create_community(call: Call) -> Mapping[str, Any]:
    """Make a Discord server or Telegram group known, for admins. Its team is empty at first."""
    return call.services.communities.create(call.caller, call.body(NewCommunity), call.write())


@door.operation("GET", COMMUNITY, answer=answers.OneCommunity)
def get_community(call: Call) -> Mapping[str, Any]:
    """One community, for its team and admins."""
    return call.services.communities.get(call.caller, *_place(call))


@door.operation("PATCH", COMMUNITY, body=CommunityEdit, answer=answers.OneCommunity)
def edit_community(call: Call) -> Mapping[str, Any]:
    """Rename a community, for admins."""
    return call.services.communities.edit(call.caller, *_place(call), call.body(CommunityEdit), call.write())


@door.operation("DELETE", COMMUNITY, query=VersionQuery, answer=answers.DeletedAnswer)
def delete_community(call: Call) -> Mapping[str, Any]:
    """Forget a community and its team, for admins. What its space holds stays stored."""
    version = call.query(VersionQuery).version
    return call.services.communities.delete(call.caller, *_place(call), call.write(), version=version)


@door.operation("GET", TEAM, query=PageQuery, answer=answers.Team)
def list_team(call: Call) -> Mapping[str, Any]:
    """Who is on the team, and who may change things."""
    query = call.query(PageQuery)
    return call.services.communities.team(call.caller, *_place(call), limit=query.limit, cursor=query.cursor)


@door.operation("POST", TEAM, status=201, body=NewTeamMember, answer=answers.OneTeamMember)
def add_to_team(call: Call) -> Mapping[str, Any]:
    """Put an account on the team, for admins; `configure` lets it change things."""
    return call.services.communities.add_to_team(
        call.caller, *_place(call), call.body(NewTeamMember), call.write()
    )


@door.operation("PATCH", TEAM_MEMBER, body=TeamMemberEdit, answer=answers.OneTeamMember)
def edit_team_member(call: Call) -> Mapping[str, Any]:
    """Give or take `configure`, for admins; it holds at once."""
    draft = call.body(TeamMemberEdit)
    account = call.identifier("account")
    return call.services.communities.edit_team_member(
        call.caller, *_place(call), account, draft, call.write()
    )


@door.operation("DELETE", TEAM_MEMBER, answer=answers.DeletedAnswer)
def remove_from_team(call: Call) -> Mapping[str, Any]:
    """Take an account off the team, for admins; it holds at once."""
    account = call.identifier("account")
    return call.services.communities.remove_from_team(call.caller, *_place(call), account, call.write())
