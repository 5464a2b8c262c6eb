"""The list of spaces: all that the caller may use, nothing else."""

from collections.abc import Mapping

import pytest

from chalicelib.domain.memory import State
from chalicelib.domain.scope import Scope
from chalicelib.errors import UnauthenticatedError
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.spaces import SpaceList
from tests.unit.services.accounts.world import World, but


def seven(_: Scope) -> Mapping[State, int]:
    return {State.ACTIVE: 7, State.ERASED: 3}


def names(world: World, who: Caller) -> list[str]:
    return [
        item["space"] for item in SpaceList(world.access, seven).listed(who, limit=200, cursor=None)["items"]
    ]


def test_a_person_sees_their_own_space_their_pools_and_their_communities_by_title(world: World) -> None:
    anna, berta = world.person("anna"), world.person("berta")
    world.project("zoo", anna, berta)
    world.project("art", anna)
    world.project("off", anna, pool=False)
    world.project("foreign", berta)
    world.community("g1", anna=False)
    world.community("g2", berta=True)
    assert names(world, anna) == ["personal", "project:art", "project:zoo", "community:discord:g1"]


def test_each_space_says_what_it_is_and_what_may_be_done_there(world: World) -> None:
    anna = world.person("anna")
    world.project("zoo", anna)
    world.community("g1", anna=False)
    items = SpaceList(world.access, seven).listed(anna, limit=200, cursor=None)["items"]
    counts = {"active": 7, "retired": 0, "trashed": 0}
    assert items == [
        {
            "space": "personal",
            "kind": "personal",
            "title": "Anna",
            "rights": ["read", "write", "configure"],
            "counts": counts,
        },
        {
            "space": "project:zoo",
            "kind": "project",
            "title": "ZOO",
            "rights": ["read", "write"],
            "counts": counts,
        },
        {
            "space": "community:discord:g1",
            "kind": "community",
            "title": "G1",
            "rights": ["read"],
            "counts": counts,
        },
    ]


def test_counts_that_are_not_known_now_are_null(world: World) -> None:
    items = SpaceList(world.access, lambda _: None).listed(world.person("anna"), limit=1, cursor=None)[
        "items"
    ]
    assert items[0]["counts"] is None


def test_an_admin_does_not_see_spaces_of_others(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    world.project("zoo", anna)
    world.community("g1", anna=True)
    assert names(world, root) == ["personal"]


def test_a_key_without_read_sees_no_counts_and_a_key_for_administration_no_spaces(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    listed = SpaceList(world.access, seven).listed(but(anna, scopes={"write"}), limit=1, cursor=None)["items"]
    assert (listed[0]["rights"], listed[0]["counts"]) == (["write", "configure"], None)
    assert names(world, but(root, scopes={"admin"})) == []


def test_a_membership_that_outlived_its_project_or_community_opens_nothing(world: World) -> None:
    anna = world.person("anna")
    world.store.remove(world.project("zoo", anna))
    world.store.remove(world.community("g1", anna=True))
    assert names(world, anna) == ["personal"]


def test_the_list_comes_in_pages(world: World) -> None:
    anna = world.person("anna")
    for project in ("a", "b", "c"):
        world.project(project, anna)
    spaces = SpaceList(world.access, seven)
    first = spaces.listed(anna, limit=3, cursor=None)
    second = spaces.listed(anna, limit=3, cursor=first["next"])
    assert [item["space"] for item in first["items"] + second["items"]] == [
        "personal",
        "project:a",
        "project:b",
        "project:c",
    ]
    assert second["next"] is None


def test_nobody_has_spaces(world: World) -> None:
    with pytest.raises(UnauthenticatedError):
        SpaceList(world.access, seven).listed(None, limit=1, cursor=None)
