"""Communities: known and managed by admins, seen by their team, never joined by those who were taken off (C6)."""

import pytest

from chalicelib.domain.account_drafts import CommunityEdit, NewCommunity, NewTeamMember, TeamMemberEdit
from chalicelib.errors import ConflictError, ForbiddenError, NotFoundError, UnauthenticatedError
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.ledger import CHUNK
from tests.unit.services.accounts.world import World, but

GUILD = NewCommunity(platform="discord", id="g1", name="Guild")


def known_to(world: World, who: Caller) -> list[str]:
    return [item["id"] for item in world.communities.listed(who, limit=200, cursor=None)["items"]]


def test_an_admin_makes_a_community_known(world: World) -> None:
    root = world.person("root", admin=True)
    made = world.communities.create(root, GUILD, world.request("k"))
    assert made["community"]["name"] == "Guild"
    assert world.communities.create(root, GUILD, world.request("k")) == made
    assert world.communities.get(root, "discord", "g1") == made
    assert world.communities.team(root, "discord", "g1", limit=10, cursor=None) == {"items": [], "next": None}


def test_a_community_is_known_once(world: World) -> None:
    root = world.person("root", admin=True)
    made = world.communities.create(root, GUILD, world.request())["community"]
    with pytest.raises(ConflictError) as refused:
        world.communities.create(root, GUILD, world.request())
    assert refused.value.details["current"] == made
    telegram = NewCommunity(platform="telegram", id="g1", name="Another")
    assert world.communities.create(root, telegram, world.request())["community"]["platform"] == "telegram"


def test_two_admins_who_make_it_known_at_once_make_it_known_once(world: World) -> None:
    root = world.person("root", admin=True)
    world.store.meanwhile.append(lambda: world.communities.create(root, GUILD, world.request()))
    with pytest.raises(ConflictError, match="known already"):
        world.communities.create(root, GUILD, world.request())


def test_a_telegram_group_has_a_negative_number_for_an_id(world: World) -> None:
    root = world.person("root", admin=True)
    group = NewCommunity(platform="telegram", id="-1001234567890", name="Group")
    world.communities.create(root, group, world.request())
    assert world.communities.get(root, "telegram", "-1001234567890")["community"]["name"] == "Group"


def test_changes_are_for_admins_only(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    world.community("g1", anna=True)
    for who in (anna, but(root, scopes={"read", "write"}), but(root, acts_as="model")):
        for ask in (
            lambda who=who: world.communities.create(who, GUILD, world.request()),
            lambda who=who: world.communities.edit(
                who, "discord", "g1", CommunityEdit(name="x"), world.request()
            ),
            lambda who=who: world.communities.delete(who, "discord", "g1", world.request()),
            lambda who=who: world.communities.add_to_team(
                who, "discord", "g1", NewTeamMember(account="acc_root"), world.request()
            ),
            lambda who=who: world.communities.edit_team_member(
                who, "discord", "g1", "acc_anna", TeamMemberEdit(configure=True), world.request()
            ),
            lambda who=who: world.communities.remove_from_team(
                who, "discord", "g1", "acc_anna", world.request()
            ),
        ):
            with pytest.raises(ForbiddenError):
                ask()
    assert world.store.commits == 0


def test_a_foreign_community_does_not_exist(world: World) -> None:
    anna, berta = world.person("anna"), world.person("berta")
    world.community("g1", anna=False)
    for platform, community in (("discord", "g1"), ("discord", "nothing"), ("matrix", "g1")):
        with pytest.raises(NotFoundError, match="no such community"):
            world.communities.get(berta, platform, community)
        with pytest.raises(NotFoundError, match="no such community"):
            world.communities.team(berta, platform, community, limit=10, cursor=None)
    assert world.communities.get(anna, "discord", "g1")


def test_each_sees_the_communities_of_their_teams_and_an_admin_all(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    world.community("g1", anna=False)
    world.community("g2")
    world.community("g3", anna=True)
    assert known_to(world, anna) == ["g1", "g3"]
    assert known_to(world, root) == ["g1", "g2", "g3"]
    assert known_to(world, but(root, scopes={"read"})) == []


def test_lists_come_in_pages(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    for name in ("g1", "g2", "g3"):
        world.community(name, anna=True, root=False)
    for who in (anna, root):
        first = world.communities.listed(who, limit=2, cursor=None)
        second = world.communities.listed(who, limit=2, cursor=first["next"])
        assert [item["id"] for item in first["items"] + second["items"]] == ["g1", "g2", "g3"]
        assert second["next"] is None
    first = world.communities.team(anna, "discord", "g1", limit=1, cursor=None)
    second = world.communities.team(anna, "discord", "g1", limit=1, cursor=first["next"])
    assert [item["account"] for item in first["items"] + second["items"]] == ["acc_anna", "acc_root"]


def test_a_community_is_renamed_but_not_by_a_stale_version(world: World) -> None:
    root = world.person("root", admin=True)
    world.community("g1")
    edit = CommunityEdit(name="New", version=1)
    after = world.communities.edit(root, "discord", "g1", edit, world.request("k"))
    assert (after["community"]["name"], after["community"]["version"]) == ("New", 2)
    assert world.communities.edit(root, "discord", "g1", edit, world.request("k")) == after
    for ask in (
        lambda: world.communities.edit(root, "discord", "g1", edit, world.request()),
        lambda: world.communities.delete(root, "discord", "g1", world.request(), version=1),
    ):
        with pytest.raises(ConflictError) as refused:
            ask()
        assert refused.value.details["current"] == after["community"]


def test_a_team_member_is_added_changed_and_taken_off(world: World) -> None:
    root = world.person("root", admin=True)
    anna = world.person("anna")
    world.community("g1")
    joins = NewTeamMember(account="acc_anna")
    added = world.communities.add_to_team(root, "discord", "g1", joins, world.request("a"))
    assert added["member"]["configure"] is False
    assert world.communities.add_to_team(root, "discord", "g1", joins, world.request("a")) == added
    with pytest.raises(ConflictError) as refused:
        world.communities.add_to_team(root, "discord", "g1", joins, world.request())
    assert refused.value.details["current"] == added["member"]

    edit = TeamMemberEdit(configure=True, version=1)
    changed = world.communities.edit_team_member(root, "discord", "g1", "acc_anna", edit, world.request("b"))
    assert (changed["member"]["configure"], changed["member"]["version"]) == (True, 2)
    again = world.communities.edit_team_member(root, "discord", "g1", "acc_anna", edit, world.request("b"))
    assert again == changed
    with pytest.raises(ConflictError) as refused:
        world.communities.edit_team_member(root, "discord", "g1", "acc_anna", edit, world.request())
    assert refused.value.details["current"] == changed["member"]
    same = TeamMemberEdit(configure=True)
    assert (
        world.communities.edit_team_member(root, "discord", "g1", "acc_anna", same, world.request())
        == changed
    )

    gone = world.communities.remove_from_team(root, "discord", "g1", "acc_anna", world.request("c"))
    assert gone == {"deleted": {"platform": "discord", "community": "g1", "account": "acc_anna"}}
    assert world.communities.remove_from_team(root, "discord", "g1", "acc_anna", world.request("c")) == gone
    assert known_to(world, anna) == []
    with pytest.raises(NotFoundError, match="team member"):
        world.communities.remove_from_team(root, "discord", "g1", "acc_anna", world.request())
    with pytest.raises(NotFoundError, match="team member"):
        world.communities.edit_team_member(root, "discord", "g1", "acc_anna", same, world.request())
    with pytest.raises(NotFoundError, match="any more"):
        world.communities.add_to_team(root, "discord", "g1", joins, world.request("a"))


def test_nobody_who_does_not_exist_is_on_a_team(world: World) -> None:
    root = world.person("root", admin=True)
    world.community("g1")
    for community, account in (("g1", "acc_nobody"), ("g2", "acc_root")):
        with pytest.raises(NotFoundError):
            world.communities.add_to_team(
                root, "discord", community, NewTeamMember(account=account), world.request()
            )


def test_a_community_that_is_forgotten_and_known_again_has_no_team(world: World) -> None:
    root = world.person("root", admin=True)
    names = {f"n{number:03}": number % 2 == 0 for number in range(CHUNK)}
    for name in names:
        world.account(name)
    world.community("g1", **names)
    world.account("late")
    world.communities.add_to_team(root, "discord", "g1", NewTeamMember(account="acc_late"), world.request())
    gone = world.communities.delete(root, "discord", "g1", world.request("k"))
    assert gone == {"deleted": {"platform": "discord", "community": "g1"}}
    assert world.communities.delete(root, "discord", "g1", world.request("k")) == gone
    with pytest.raises(NotFoundError):
        world.communities.delete(root, "discord", "g1", world.request())
    world.communities.create(root, GUILD, world.request())
    assert world.store.team("discord", "g1") == []


def test_nobody_joins_the_team_of_a_community_while_it_is_forgotten(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    world.community("g1")
    world.store.meanwhile.append(lambda: world.communities.delete(root, "discord", "g1", world.request()))
    with pytest.raises(NotFoundError):
        world.communities.add_to_team(
            root, "discord", "g1", NewTeamMember(account="acc_anna"), world.request()
        )
    assert world.store.team("discord", "g1") == []


def test_a_team_that_outlived_its_community_opens_nothing(world: World) -> None:
    anna = world.person("anna")
    world.store.remove(world.community("g1", anna=True))
    assert known_to(world, anna) == []


def test_a_repeat_says_when_the_community_is_gone_by_now(world: World) -> None:
    root = world.person("root", admin=True)
    world.communities.create(root, GUILD, world.request("k"))
    world.communities.delete(root, "discord", "g1", world.request())
    with pytest.raises(NotFoundError, match="any more"):
        world.communities.create(root, GUILD, world.request("k"))


def test_the_audit_tells_of_teams(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    world.communities.create(root, GUILD, world.request())
    world.communities.add_to_team(root, "discord", "g1", NewTeamMember(account="acc_anna"), world.request())
    world.communities.edit_team_member(
        root, "discord", "g1", "acc_anna", TeamMemberEdit(configure=True), world.request()
    )
    told = world.told()
    assert [entry.op for entry in told] == ["community.create", "community.team.add", "community.team.edit"]
    assert {entry.target for entry in told} == {"community:discord:g1"}
    assert told[2].details == {"account": "acc_anna", "configure": True, "with_key": None}


def test_nobody_sees_communities(world: World) -> None:
    with pytest.raises(UnauthenticatedError):
        world.communities.listed(None, limit=1, cursor=None)
    with pytest.raises(UnauthenticatedError):
        world.communities.get(None, "discord", "g1")
