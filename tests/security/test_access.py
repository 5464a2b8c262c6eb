"""Who may do what, where: every role in every space, with every kind of key (M6, M7, M24, C6; RELIABILITY S1).

And the kind of fault in CASES "Wrong person, wrong room": an identity that is absent, empty, null or a list opens
nothing (moorcheh-ai/memanto PR#1873, PR#1891; CortexReach/memory-lancedb-pro#10; Shapes docs), ids with delimiters
in them do not reach into another's partition (mem0 PR#6892), and the same name is not the same person
(openclaw#85240).
"""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.domain.accounts import Account
from chalicelib.domain.scope import Right, Scope, Space
from chalicelib.errors import (
    ForbiddenError,
    InvalidError,
    NotFoundError,
    PalimpsestError,
    UnauthenticatedError,
)
from chalicelib.services.accounts.access import Caller, administrator, known, person, space_named
from tests.unit.services.accounts.world import NOW, World, but

R, W, C = Right.READ, Right.WRITE, Right.CONFIGURE
NOTHING: frozenset[Right] = frozenset()
ALL = frozenset({R, W, C})

POOL, OFF, GUILD = "project:on", "project:off", "community:discord:g1"
PLACES = ("personal", POOL, OFF, GUILD)

MAY: dict[str, tuple[frozenset[Right], ...]] = {
    #                 personal  pool on              pool off  community
    "nobody special": (ALL, NOTHING, NOTHING, NOTHING),
    "member": (ALL, frozenset({R, W}), NOTHING, NOTHING),
    "admin": (ALL, frozenset({C}), NOTHING, NOTHING),
    "member and admin": (ALL, ALL, NOTHING, NOTHING),
    "team": (ALL, NOTHING, NOTHING, frozenset({R})),
    "team, configure": (ALL, NOTHING, NOTHING, ALL),
}
"""What each person may do in each place, with a key of every scope that they may have."""

MODEL_MAY: dict[str, tuple[frozenset[Right], ...]] = {
    "nobody special": (ALL, NOTHING, NOTHING, NOTHING),
    "member": (ALL, frozenset({R, W}), NOTHING, NOTHING),
    "admin": (ALL, NOTHING, NOTHING, NOTHING),
    "member and admin": (ALL, frozenset({R, W}), NOTHING, NOTHING),
    "team": (ALL, NOTHING, NOTHING, frozenset({R})),
    "team, configure": (ALL, NOTHING, NOTHING, frozenset({R, W})),
}
"""The same for a model's key: categories of a pool are never changed by tools (M6), nor is a community configured."""

KEYS = [frozenset(some) for size in range(4) for some in combinations(("read", "write", "admin"), size)]


@pytest.fixture
def roles(world: World) -> dict[str, Caller]:
    """One person for each role; a project with its pool on, one with it off, one community."""
    people = {
        "nobody special": world.person("plain"),
        "member": world.person("member"),
        "admin": world.person("admin", admin=True),
        "member and admin": world.person("both", admin=True),
        "team": world.person("team"),
        "team, configure": world.person("lead"),
    }
    members = [people["member"], people["member and admin"]]
    world.project("on", *members)
    world.project("off", *members, pool=False)
    world.community("g1", team=False, lead=True)
    world.community("g2")
    return people


def opened(
    world: World, who: Caller | None, name: Any, right: Right, project: Any = None
) -> Scope | type[Exception]:
    """The scope, or the kind of refusal."""
    try:
        return world.access.open_space(who, name, right, project)
    except PalimpsestError as error:
        return type(error)


def narrowed(
    allowed: frozenset[Right], scopes: frozenset[str], *, place: str, admin: bool
) -> frozenset[Right]:
    """What is left of `allowed` with a key of these scopes."""
    left = set(allowed)
    if "read" not in scopes:
        left -= {R}
    if "write" not in scopes:
        left -= {W, C}
    if admin and place == POOL and "admin" not in scopes:
        left -= {C}
    return frozenset(left)


@pytest.mark.parametrize("acts_as", ["person", "model"])
def test_every_role_with_every_key_has_exactly_its_rights_in_every_space(
    world: World, roles: dict[str, Caller], acts_as: str
) -> None:
    checked = 0
    for role, who in roles.items():
        for place, allowed in zip(PLACES, (MAY if acts_as == "person" else MODEL_MAY)[role], strict=True):
            for scopes in KEYS:
                caller = but(who, scopes=scopes, acts_as=acts_as)
                rights = narrowed(allowed, scopes, place=place, admin=who.account.admin)
                known_here = allowed if not (allowed == {C} and "admin" not in scopes) else NOTHING
                for right in Right:
                    result = opened(world, caller, place, right)
                    if right in rights:
                        assert isinstance(result, Scope), (role, place, scopes, right)
                        assert result.rights == rights
                        assert result.actor.id == who.account.id
                        assert result.actor.kind == acts_as
                    else:
                        expected = ForbiddenError if known_here else NotFoundError
                        assert result is expected, (role, place, scopes, right)
                    checked += 1
    assert checked == len(MAY) * len(PLACES) * len(KEYS) * len(Right)


def test_the_scope_is_that_of_the_space_asked_for_and_no_other(
    world: World, roles: dict[str, Caller]
) -> None:
    both = roles["member and admin"]
    assert world.access.open_space(both, "personal", R).space == Space.personal("acc_both")
    assert world.access.open_space(both, POOL, R).space == Space.pool("on")
    lead = world.access.open_space(but(roles["team, configure"], place="console"), GUILD, W)
    assert (lead.space, lead.place) == (Space.community("discord", "g1"), "console")


def test_what_may_not_be_known_of_is_answered_like_what_does_not_exist(
    world: World, roles: dict[str, Caller]
) -> None:
    said = set()
    for name in (POOL, OFF, GUILD, "project:nothing", "community:discord:nothing", "community:telegram:g1"):
        for right in Right:
            with pytest.raises(NotFoundError) as refused:
                world.access.open_space(roles["nobody special"], name, right)
            said.add((refused.value.message, str(refused.value.details)))
    assert len(said) == 1


def test_no_admin_opens_the_personal_space_of_another(world: World, roles: dict[str, Caller]) -> None:
    for name in (
        "personal:acc_plain",
        "account:acc_plain",
        "account#acc_plain",
        "acc_plain",
        "personal#acc_plain",
    ):
        assert opened(world, roles["admin"], name, R) is InvalidError
    assert world.access.open_space(roles["admin"], "personal", R).space.id == "acc_admin"


def test_people_of_the_same_name_are_not_the_same_person(world: World) -> None:
    spaces = set()
    for name in ("a1", "a2"):
        who = world.person(name)
        world.store.replace(who.account, name="Anna")
        spaces.add(world.access.open_space(who, "personal", R).space)
    assert len(spaces) == 2


def test_a_right_ends_with_the_membership_at_once(world: World, roles: dict[str, Caller]) -> None:
    member = world.store.member("on", "acc_member")
    team = world.store.team_member("discord", "g1", "acc_lead")
    world.store.remove(member)
    world.store.remove(team)
    assert opened(world, roles["member"], POOL, R) is NotFoundError
    assert opened(world, roles["team, configure"], GUILD, R) is NotFoundError


def test_a_pool_is_closed_and_opened_at_once(world: World, roles: dict[str, Caller]) -> None:
    assert isinstance(opened(world, roles["member"], POOL, R), Scope)
    project = world.store.project("on")
    world.store.replace(project, pool=False)
    assert opened(world, roles["member"], POOL, R) is NotFoundError
    world.store.replace(world.store.project("on"), pool=True)
    assert isinstance(opened(world, roles["member"], POOL, R), Scope)


def test_a_membership_that_outlived_its_project_or_community_opens_nothing(
    world: World, roles: dict[str, Caller]
) -> None:
    world.store.remove(world.store.project("on"))
    world.store.remove(world.store.community("discord", "g1"))
    assert opened(world, roles["member"], POOL, R) is NotFoundError
    assert opened(world, roles["member"], "personal", R, "on") is NotFoundError
    assert opened(world, roles["team, configure"], GUILD, R) is NotFoundError


# ------------------------------------------------------------------ no identity, no door

ACCOUNT = Account(id="acc_plain", name="Plain", admin=True, created_at=NOW)
IDENTITIES: list[Any] = [
    None, "", " ", "acc_plain", 0, 1, True, False, 1.5, b"acc_plain", (), [], ["acc_plain"], {}, {"account": "acc_plain"},
    {"account": {"id": "acc_plain", "admin": True}}, object(), Account, Caller, ACCOUNT,
]  # fmt: skip


@pytest.mark.parametrize("identity", IDENTITIES, ids=range(len(IDENTITIES)))
def test_what_is_not_a_caller_opens_nothing(world: World, roles: dict[str, Caller], identity: Any) -> None:
    for check in (known, person, administrator, world.access.openable):
        with pytest.raises(UnauthenticatedError):
            check(identity)
    for name in (*PLACES, "", None):
        assert opened(world, identity, name, R) is UnauthenticatedError


@pytest.mark.parametrize("account", [None, "", "acc_plain", 0, [], ["acc_plain"], {}, {"id": "acc_plain"}])
def test_a_caller_without_an_account_cannot_be_made_and_opens_nothing(world: World, account: Any) -> None:
    said: dict[str, Any] = {
        "scopes": frozenset({"read", "write", "admin"}),
        "acts_as": "person",
        "key": None,
        "place": "http",
    }
    with pytest.raises(ValueError, match="account"):
        Caller(account=account, **said)
    forged = Caller.model_construct(account=account, **said)
    assert opened(world, forged, "personal", R) is UnauthenticatedError


@pytest.mark.parametrize(
    "identifier", [None, "", " ", "#", "a#b", "a:b", "a/b", "a|b", "a%b", [], ["a"], 0, "x" * 129]
)
def test_an_account_whose_id_is_none_opens_nothing(world: World, identifier: Any) -> None:
    account = Account.model_construct(id=identifier, name="x", admin=True, disabled=False)
    forged = Caller.model_construct(
        account=account, scopes=frozenset({"read"}), acts_as="person", key=None, place="http"
    )
    assert opened(world, forged, "personal", R) is UnauthenticatedError


@pytest.mark.parametrize("missing", ["account", "scopes", "acts_as", "key", "place"])
def test_nothing_of_a_caller_has_a_default(missing: str) -> None:
    whole: dict[str, Any] = {
        "account": ACCOUNT,
        "scopes": {"read"},
        "acts_as": "person",
        "key": None,
        "place": "http",
    }
    Caller.model_validate(whole)
    with pytest.raises(ValueError, match=missing):
        Caller.model_validate({name: value for name, value in whole.items() if name != missing})


def test_a_disabled_account_opens_nothing(world: World, roles: dict[str, Caller]) -> None:
    for who in roles.values():
        disabled = but(who.model_copy(update={"account": who.account.model_copy(update={"disabled": True})}))
        for name in PLACES:
            assert opened(world, disabled, name, R) is UnauthenticatedError
        for check in (known, person, administrator, world.access.openable):
            with pytest.raises(UnauthenticatedError):
                check(disabled)


# ------------------------------------------------------------------ names of spaces

MALFORMED: list[Any] = [
    None, 0, True, [], ["personal"], {}, b"personal", "", " ", "Personal", "PERSONAL", "personal ", " personal", "personal\n",
    "personal:", "personal:x", "project", "project:", "project::", "project: ", "project:a:b", "project:a#b", "project:a/b",
    "project:a%2Fb", "project:a b", "project:é", "project:a\x00", "project:\ud800", "project:" + "x" * 129, "project:_x",
    "Project:on", "community", "community:", "community:discord", "community:discord:", "community::g1", "community:g1",
    "community:matrix:g1", "community:Discord:g1", "community:discord:g1:x", "community:discord#g1", "community:discord:g1#",
    "account#acc_plain", "account:acc_plain", "*", "%", "project:*", "..", "project:../on", "null", "undefined", "pool:on",
]  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED, ids=range(len(MALFORMED)))
def test_a_name_that_is_none_is_refused_and_the_field_named(
    world: World, roles: dict[str, Caller], name: Any
) -> None:
    with pytest.raises(InvalidError) as refused:
        world.access.open_space(roles["member and admin"], name, R)
    assert refused.value.details["fields"][0]["field"] == "space"


@given(
    name=st.text(max_size=40) | st.from_regex(r"(personal|project|community)[:#a-z0-9]{0,20}", fullmatch=True)
)
def test_a_name_is_a_space_of_that_name_or_no_name_at_all(name: str) -> None:
    try:
        space = space_named(name, "acc_plain")
    except InvalidError:
        return
    assert space.name == name
    assert Space.from_key(space.key) == space


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whoever_asks_for_whatever_gets_their_own_or_nothing(
    world: World, roles: dict[str, Caller], data: st.DataObject
) -> None:
    who = data.draw(st.sampled_from(sorted(roles)))
    name = data.draw(st.sampled_from(PLACES) | st.text(max_size=30))
    project = data.draw(st.none() | st.sampled_from(["on", "off", "nothing"]) | st.text(max_size=10))
    result = opened(world, roles[who], name, data.draw(st.sampled_from(Right)), project)
    if isinstance(result, Scope):
        assert result.space.kind != "personal" or result.space.id == roles[who].account.id
        assert result.rights <= MAY[who][PLACES.index(name)]
    else:
        assert issubclass(result, NotFoundError | InvalidError | ForbiddenError)


# ------------------------------------------------------------------ working in a project


def test_a_member_works_in_a_project_from_their_own_space_or_its_pool(
    world: World, roles: dict[str, Caller]
) -> None:
    member = roles["member"]
    assert world.access.open_space(member, "personal", R).project is None
    assert world.access.open_space(member, "personal", R, "on").project == "on"
    assert world.access.open_space(member, "personal", R, "off").project == "off"
    assert world.access.open_space(member, POOL, R, "on").project == "on"


def test_nobody_works_in_a_project_without_being_a_member(world: World, roles: dict[str, Caller]) -> None:
    for role in ("nobody special", "admin", "team"):
        for project in ("on", "off", "nothing"):
            assert opened(world, roles[role], "personal", R, project) is NotFoundError
    assert opened(world, roles["admin"], POOL, C, "on") is NotFoundError


def test_a_pool_is_not_used_from_another_project(world: World, roles: dict[str, Caller]) -> None:
    with pytest.raises(InvalidError) as refused:
        world.access.open_space(roles["member"], POOL, R, "off")
    assert refused.value.details["fields"][0]["field"] == "project"


@pytest.mark.parametrize("project", ["", " ", "a#b", "on ", 0, False, [], ["on"], {}, b"on"])
def test_a_project_that_is_no_id_is_refused_and_not_passed_over(
    world: World, roles: dict[str, Caller], project: Any
) -> None:
    with pytest.raises(InvalidError) as refused:
        world.access.open_space(roles["member"], "personal", R, project)
    assert refused.value.details["fields"][0]["field"] == "project"
