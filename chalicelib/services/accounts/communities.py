"""Communities and the teams that own them (C6): made and managed by admins, seen by their team and by admins."""

from dataclasses import dataclass
from typing import Any

from chalicelib.domain.account_drafts import CommunityEdit, NewCommunity, NewTeamMember, TeamMemberEdit
from chalicelib.domain.accounts import Community, TeamMember
from chalicelib.domain.pages import Page
from chalicelib.domain.shown_accounts import Shown, show_community, show_team_member
from chalicelib.errors import ConflictError, NotFoundError
from chalicelib.ports import AccountStore
from chalicelib.services.accounts.access import Caller, administrator, known
from chalicelib.services.accounts.ledger import (
    Deed,
    Ledger,
    amended,
    changed,
    check_version,
    created,
    found,
    removed,
)
from chalicelib.services.accounts.lists import listed, page_of
from chalicelib.services.idempotency import Request


@dataclass(frozen=True)
class Communities:
    """The use cases on communities. Changes raise ForbiddenError unless the caller is an admin; the rest raises
    NotFoundError for those who are neither on the team nor admins."""

    accounts: AccountStore
    ledger: Ledger

    def create(self, caller: Caller | None, draft: NewCommunity, request: Request) -> Shown:
        """Make a community known. Answers `{"community": {…}}`; its team is empty.

        Raises ConflictError with the current state when it is known already.
        """
        who = administrator(caller)

        def work() -> Shown:
            known_already = self.accounts.community(draft.platform, draft.id)
            if known_already is not None:
                raise ConflictError("this community is known already", current=show_community(known_already))
            community = Community(
                platform=draft.platform, id=draft.id, name=draft.name, created_at=request.now
            )
            deed = Deed(who, "community.create", _target(draft.platform, draft.id), {})
            self.ledger.commit(deed, [created(community)], request, _outcome(draft.platform, draft.id))
            return {"community": show_community(community)}

        return self.ledger.once(request, self._again, work)

    def get(self, caller: Caller | None, platform: str, community: str) -> Shown:
        """`{"community": {…}}`."""
        return {"community": show_community(self._visible(known(caller), platform, community))}

    def listed(self, caller: Caller | None, *, limit: int, cursor: str | None) -> Shown:
        """The communities on whose team the caller is, all of them for an admin: `{"items", "next"}`."""
        who = known(caller)

        def read(after: str | None, size: int) -> Page[Community]:
            if who.is_admin:
                return self.accounts.communities(after=after, limit=size)
            teams = self.accounts.teams_of(who.account.id)
            own = [self.accounts.community(team.platform, team.community) for team in teams]
            return page_of(((f"{one.platform}:{one.id}", one) for one in own if one is not None), after, size)

        of = {"list": "communities", "account": who.account.id, "all": who.is_admin}
        return listed(of, limit=limit, cursor=cursor, read=read, show=show_community)

    def edit(
        self, caller: Caller | None, platform: str, community: str, draft: CommunityEdit, request: Request
    ) -> Shown:
        """Rename a community. Answers `{"community": {…}}`. Raises ConflictError (stale version)."""
        who = administrator(caller)

        def work() -> Shown:
            before = self._visible(who, platform, community)
            check_version(draft.version, before, show_community(before))
            after, writes, fields = amended(before, draft.named())
            deed = Deed(who, "community.edit", _target(platform, community), {"changed": sorted(fields)})
            self.ledger.commit(deed, writes, request, _outcome(platform, community))
            return {"community": show_community(after)}

        return self.ledger.once(request, self._again, work)

    def delete(
        self,
        caller: Caller | None,
        platform: str,
        community: str,
        request: Request,
        *,
        version: int | None = None,
    ) -> Shown:
        """Forget a community and its team. Answers `{"deleted": {"platform", "community"}}`.

        Its team goes first, so a community that is made known again later has none. What its space holds stays
        stored, and is there again then: whoever wants it gone erases it before.
        """
        who = administrator(caller)
        answer = {"deleted": {"platform": platform, "community": community}}

        def work() -> Shown:
            before = self._visible(who, platform, community)
            check_version(version, before, show_community(before))
            team = [removed(member) for member in self.accounts.team(platform, community)]
            deed = Deed(who, "community.delete", _target(platform, community), {})
            self.ledger.commit_all(deed, [*team, removed(before)], request, _outcome(platform, community))
            return answer

        return self.ledger.once(request, lambda _: answer, work)

    def team(
        self, caller: Caller | None, platform: str, community: str, *, limit: int, cursor: str | None
    ) -> Shown:
        """Who is on the team, and what each may do: `{"items", "next"}`."""
        self._visible(known(caller), platform, community)

        def read(after: str | None, size: int) -> Page[TeamMember]:
            team = self.accounts.team(platform, community)
            return page_of(((member.account, member) for member in team), after, size)

        of = {"list": "team", "platform": platform, "community": community}
        return listed(of, limit=limit, cursor=cursor, read=read, show=show_team_member)

    def add_to_team(
        self, caller: Caller | None, platform: str, community: str, draft: NewTeamMember, request: Request
    ) -> Shown:
        """Put an account on the team. Answers `{"member": {…}}`.

        The community's version counts this too, so that nobody joins a team while its community is being deleted.
        Raises ConflictError with the current state when the account is on the team already.
        """
        who = administrator(caller)

        def work() -> Shown:
            before = self._visible(who, platform, community)
            found(self.accounts.account(draft.account), "account")
            there = self.accounts.team_member(platform, community, draft.account)
            if there is not None:
                raise ConflictError("this account is on the team already", current=show_team_member(there))
            member = TeamMember(
                platform=before.platform,
                community=before.id,
                account=draft.account,
                configure=draft.configure,
                added_at=request.now,
            )
            details = {"account": draft.account, "configure": draft.configure}
            deed = Deed(who, "community.team.add", _target(platform, community), details)
            writes = [created(member), changed(before)[1]]
            self.ledger.commit(deed, writes, request, _member_outcome(member))
            return {"member": show_team_member(member)}

        return self.ledger.once(request, self._member_again, work)

    def edit_team_member(
        self,
        caller: Caller | None,
        platform: str,
        community: str,
        account: str,
        draft: TeamMemberEdit,
        request: Request,
    ) -> Shown:
        """Give or take `configure`, at once. Answers `{"member": {…}}`. Raises ConflictError (stale version)."""
        who = administrator(caller)

        def work() -> Shown:
            self._visible(who, platform, community)
            before = found(self.accounts.team_member(platform, community, account), "team member")
            check_version(draft.version, before, show_team_member(before))
            after, writes, fields = amended(before, draft.named())
            deed = Deed(
                who, "community.team.edit", _target(platform, community), {"account": account, **fields}
            )
            self.ledger.commit(deed, writes, request, _member_outcome(after))
            return {"member": show_team_member(after)}

        return self.ledger.once(request, self._member_again, work)

    def remove_from_team(
        self, caller: Caller | None, platform: str, community: str, account: str, request: Request
    ) -> Shown:
        """Take an account off the team, at once. Answers `{"deleted": {"platform", "community", "account"}}`."""
        who = administrator(caller)
        answer = {"deleted": {"platform": platform, "community": community, "account": account}}

        def work() -> Shown:
            before = self._visible(who, platform, community)
            member = found(self.accounts.team_member(platform, community, account), "team member")
            deed = Deed(who, "community.team.remove", _target(platform, community), {"account": account})
            writes = [removed(member), changed(before)[1]]
            self.ledger.commit(deed, writes, request, _outcome(platform, community))
            return answer

        return self.ledger.once(request, lambda _: answer, work)

    def _again(self, outcome: Shown) -> Shown:
        community = self.accounts.community(outcome["platform"], outcome["id"])
        return {"community": show_community(found(community, "community any more"))}

    def _member_again(self, outcome: Shown) -> Shown:
        member = self.accounts.team_member(outcome["platform"], outcome["id"], outcome["account"])
        return {"member": show_team_member(found(member, "team member any more"))}

    def _visible(self, who: Caller, platform: str, community: str) -> Community:
        """The community, for its team and admins. Raises NotFoundError, the same for a foreign one."""
        there = found(self.accounts.community(platform, community), "community")
        if not who.is_admin and self.accounts.team_member(platform, community, who.account.id) is None:
            raise NotFoundError("there is no such community")
        return there


def _target(platform: str, community: str) -> str:
    return f"community:{platform}:{community}"


def _outcome(platform: str, community: str) -> dict[str, Any]:
    return {"kind": "community", "platform": platform, "id": community}


def _member_outcome(member: TeamMember) -> dict[str, Any]:
    return {**_outcome(member.platform, member.community), "account": member.account}
