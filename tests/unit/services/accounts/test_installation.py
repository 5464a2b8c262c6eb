"""Settings for all: admins only, each within its bounds, one change at a time; and the audit (S3, M19, M23, M29)."""

from typing import Any

import pytest

from chalicelib.domain.account_drafts import InstallationEdit
from chalicelib.errors import ConflictError, ForbiddenError, InvalidError, UnauthenticatedError
from chalicelib.services.accounts.access import Caller
from tests.unit.services.accounts.world import World, but, caller

LIMITS = {"relevance_meaning": 0.5, "relevance_words": 0.2, "duplicate_meaning": 0.9, "duplicate_words": 0.8}


def admin(world: World) -> Caller:
    root = world.store.account("acc_root")
    return world.person("root", admin=True) if root is None else caller(root)


def edit(world: World, body: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    draft = InstallationEdit.model_validate(body)
    settings: dict[str, Any] = world.installation.edit(admin(world), draft, world.request(key))["settings"]
    return settings


def test_at_first_all_settings_are_the_defaults_of_the_specification(world: World) -> None:
    settings = world.installation.get(world.person("root", admin=True))["settings"]
    assert settings["version"] == 0
    assert settings["recall"] == {"memories": 10, "bytes": 20_000}
    assert settings["retention"] == {
        "automatic": True,
        "grace_days": 14,
        "threshold": 10,
        "daily_limit": 5,
        "half_lives": [1, 3, 7, 14, 21, 30, 45, 60, 90, 180],
    }
    assert settings["thresholds"] == {}


def test_a_change_sets_what_it_names_and_leaves_the_rest(world: World) -> None:
    edit(world, {"recall": {"memories": 0}, "version": 0})
    edit(world, {"retention": {"automatic": False}})
    after = edit(world, {"recall": {"bytes": 1_000}, "retention": {"grace_days": 0}, "version": 2})
    assert after["version"] == 3
    assert after["recall"] == {"memories": 0, "bytes": 1_000}
    assert (after["retention"]["automatic"], after["retention"]["grace_days"]) == (False, 0)
    assert after["retention"]["threshold"] == 10
    assert world.store.installation().version == 3


def test_thresholds_belong_to_a_model_and_null_gives_its_own_back(world: World) -> None:
    edit(world, {"thresholds": {"words": LIMITS, "bundled-e5-384-0a1b2c3d": LIMITS}})
    after = edit(world, {"thresholds": {"words": None, "unknown": None}})
    assert after["thresholds"] == {"bundled-e5-384-0a1b2c3d": LIMITS}


def test_a_stale_version_is_refused_with_the_current_state(world: World) -> None:
    current = edit(world, {"recall": {"memories": 7}, "version": 0})
    for version in (0, 2):
        with pytest.raises(ConflictError) as refused:
            edit(world, {"recall": {"memories": 9}, "version": version})
        assert refused.value.details["current"] == current


def test_two_admins_who_save_first_at_once_lose_nothing(world: World) -> None:
    world.person("root", admin=True)
    world.store.meanwhile.append(lambda: edit(world, {"recall": {"memories": 7}}))
    after = edit(world, {"recall": {"bytes": 5_000}})
    assert after["recall"] == {"memories": 7, "bytes": 5_000}
    assert after["version"] == 2


def test_of_two_first_saves_that_name_version_0_one_is_refused(world: World) -> None:
    world.person("root", admin=True)
    world.store.meanwhile.append(lambda: edit(world, {"recall": {"memories": 7}, "version": 0}))
    with pytest.raises(ConflictError):
        edit(world, {"recall": {"memories": 9}, "version": 0})


def test_a_repeat_answers_without_changing_again(world: World) -> None:
    first = edit(world, {"recall": {"memories": 7}}, "k")
    assert edit(world, {"recall": {"memories": 7}}, "k") == first


def test_a_change_that_changes_nothing_is_not_written(world: World) -> None:
    assert edit(world, {"recall": {"memories": 10}, "retention": {}})["version"] == 0
    assert world.told() == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"version": 0},
        {"recall": None},
        {"unknown": 1},
        {"recall": {"memories": 51}},
        {"recall": {"memories": -1}},
        {"recall": {"bytes": 999}},
        {"recall": {"bytes": 100_001}},
        {"recall": {"bytes": 5000.5}},
        {"recall": {"words": 1}},
        {"retention": {"threshold": 0}},
        {"retention": {"threshold": float("nan")}},
        {"retention": {"grace_days": 366}},
        {"retention": {"daily_limit": 0}},
        {"retention": {"half_lives": [1] * 9}},
        {"retention": {"half_lives": [0] * 10}},
        {"thresholds": {"words": {}}},
        {"thresholds": {"Not A Model": LIMITS}},
        {"thresholds": {"words": {**LIMITS, "relevance_words": 1.1}}},
        {"thresholds": {f"m{number}": None for number in range(51)}},
    ],
    ids=range(20),
)
def test_values_out_of_bounds_are_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        InstallationEdit.model_validate(body)


def test_settings_and_audit_are_for_admins_only(world: World) -> None:
    root = world.person("root", admin=True)
    change = InstallationEdit.model_validate({"recall": {"memories": 1}})
    for who in (world.person("anna"), but(root, scopes={"read", "write"}), but(root, acts_as="model")):
        with pytest.raises(ForbiddenError):
            world.installation.get(who)
        with pytest.raises(ForbiddenError):
            world.installation.edit(who, change, world.request())
        with pytest.raises(ForbiddenError):
            world.installation.audit(who, limit=1, cursor=None)
    with pytest.raises(UnauthenticatedError):
        world.installation.get(None)


def test_the_audit_is_read_newest_first_in_pages(world: World) -> None:
    for memories in range(1, 6):
        world.later(seconds=1)
        edit(world, {"recall": {"memories": memories}})
    root = admin(world)
    seen: list[int] = []
    cursor = None
    while True:
        page = world.installation.audit(root, limit=2, cursor=cursor)
        seen += [entry["details"]["recall"]["memories"] for entry in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == [5, 4, 3, 2, 1]


@pytest.mark.parametrize("cursor", ["", "x", "é", "AAAA", "e30", "W10", "bnVsbA"])
def test_a_cursor_that_is_none_is_refused(world: World, cursor: str) -> None:
    with pytest.raises(InvalidError):
        world.installation.audit(world.person("root", admin=True), limit=1, cursor=cursor)


def test_the_thresholds_that_hold_now_are_shown(world: World) -> None:
    """SPEC M23: those saved, else the measured defaults of the embedding model in use."""
    in_force = world.installation.get(world.person("root", admin=True))["in_force"]
    assert in_force == {
        "words": {
            "relevance_meaning": 1,
            "relevance_words": 0.33,
            "duplicate_meaning": 1,
            "duplicate_words": 0.6,
        }
    }
