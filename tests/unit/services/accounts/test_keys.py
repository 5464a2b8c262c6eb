"""API keys: never more right than their maker, shown once, dead at once when deleted."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.account_drafts import NewKey
from chalicelib.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnauthenticatedError,
)
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.keys import KEYS_MAX
from chalicelib.services.accounts.sign_in import SignIn
from tests.unit.services.accounts.world import NOW, World, but


def signed_in(world: World, key: str) -> Caller:
    return SignIn(world.store).authenticate(f"Bearer {key}", world.now)


def test_a_key_opens_the_door_with_the_scopes_it_was_given(world: World) -> None:
    anna = world.person("anna")
    draft = NewKey(
        name="Laptop", scopes=frozenset({"read"}), acts_as="model", expires_at=NOW + timedelta(days=1)
    )
    made = world.keys.create(anna, draft, world.request())["key"]
    who = signed_in(world, made["key"])
    assert (who.account.id, who.scopes, who.acts_as, who.key) == ("acc_anna", {"read"}, "model", made["id"])
    assert made["expires_at"] == "2026-12-01T15:00:00.000Z"


def test_neither_the_key_nor_its_hash_is_kept_or_told(world: World) -> None:
    anna = world.person("anna")
    made = world.keys.create(anna, NewKey(name="Laptop"), world.request("k"))["key"]
    secret = made["key"].split("_")[2]
    stored = world.store.key(made["id"])
    kept = world.inbox.outcome("owner", "k", world.now)
    assert stored is not None
    for place in (stored, kept, world.told(), world.keys.listed(anna, limit=10, cursor=None)):
        assert secret not in repr(place)
    assert stored.secret_hash not in repr(made) + repr(world.told())


def test_the_repeat_of_a_request_makes_no_second_key_and_shows_none(world: World) -> None:
    anna = world.person("anna")
    first = world.keys.create(anna, NewKey(name="Laptop"), world.request("k"))["key"]
    assert world.keys.create(anna, NewKey(name="Laptop"), world.request("k"))["key"] == {**first, "key": None}
    assert len(world.store.keys_of("acc_anna")) == 1


def test_the_list_shows_own_keys_and_when_they_were_last_used(world: World) -> None:
    anna, berta = world.person("anna"), world.person("berta")
    made = [world.keys.create(anna, NewKey(name=f"key {n}"), world.request())["key"] for n in range(3)]
    world.keys.create(berta, NewKey(name="hers"), world.request())
    signed_in(world, made[1]["key"])
    first = world.keys.listed(anna, limit=2, cursor=None)
    second = world.keys.listed(anna, limit=2, cursor=first["next"])
    listed = first["items"] + second["items"]
    assert second["next"] is None
    assert {key["id"] for key in listed} == {key["id"] for key in made}
    assert {key["id"]: key["last_used_at"] for key in listed}[made[1]["id"]] == "2026-11-30T15:00:00.000Z"
    assert all("key" not in key and "secret_hash" not in key for key in listed)


@pytest.mark.parametrize(
    ("scopes", "acts_as"),
    [({"write"}, "person"), ({"write", "admin"}, "person"), ({"read", "admin"}, "model")],
)
def test_scopes_that_make_no_sense_are_refused(world: World, scopes: Any, acts_as: Any) -> None:
    root = world.person("root", admin=True)
    with pytest.raises(InvalidError) as refused:
        world.keys.create(root, NewKey(name="x", scopes=scopes, acts_as=acts_as), world.request())
    assert refused.value.details["fields"][0]["field"] == "scopes"


@pytest.mark.parametrize("scopes", [[], ["all"], ["read", 7], "read", None])
def test_scopes_that_do_not_exist_are_refused(scopes: Any) -> None:
    with pytest.raises(ValueError, match="scopes"):
        NewKey.model_validate({"name": "x", "scopes": scopes})


def test_a_key_has_no_right_that_its_maker_lacks(world: World) -> None:
    anna, root = world.person("anna"), world.person("root", admin=True)
    admin = NewKey(name="x", scopes=frozenset({"read", "write", "admin"}))
    for who in (anna, but(root, scopes={"read", "write"}), but(anna, scopes={"read", "write", "admin"})):
        with pytest.raises(ForbiddenError):
            world.keys.create(who, admin, world.request())
    assert world.keys.create(root, admin, world.request())["key"]["scopes"] == ["admin", "read", "write"]
    assert world.keys.create(root, NewKey(name="x", scopes=frozenset({"admin"})), world.request())


def test_a_key_that_only_reads_and_a_model_make_and_delete_no_keys(world: World) -> None:
    anna = world.person("anna")
    key = world.keys.create(anna, NewKey(name="x"), world.request())["key"]["id"]
    for who in (but(anna, scopes={"read"}), but(anna, acts_as="model")):
        with pytest.raises(ForbiddenError):
            world.keys.create(who, NewKey(name="x", scopes=frozenset({"read"})), world.request())
        with pytest.raises(ForbiddenError):
            world.keys.delete(who, key, world.request())


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(days=365)])
def test_a_key_cannot_have_expired_already(world: World, ago: timedelta) -> None:
    with pytest.raises(InvalidError) as refused:
        world.keys.create(world.person("anna"), NewKey(name="x", expires_at=NOW - ago), world.request())
    assert refused.value.details["fields"][0]["field"] == "expires_at"


def test_a_key_does_not_outlive_the_key_that_made_it(world: World) -> None:
    anna = world.person("anna")
    end = NOW + timedelta(days=7)
    first = world.keys.create(anna, NewKey(name="first", expires_at=end), world.request())["key"]
    who = signed_in(world, first["key"])
    with pytest.raises(InvalidError, match="not be after"):
        world.keys.create(who, NewKey(name="longer", expires_at=end + timedelta(seconds=1)), world.request())
    silent = world.keys.create(who, NewKey(name="silent"), world.request())["key"]
    shorter = world.keys.create(who, NewKey(name="shorter", expires_at=end), world.request())["key"]
    assert silent["expires_at"] == shorter["expires_at"] == first["expires_at"]


def test_a_key_of_a_lasting_key_lasts(world: World) -> None:
    anna = world.person("anna")
    first = world.keys.create(anna, NewKey(name="first"), world.request())["key"]
    who = signed_in(world, first["key"])
    assert world.keys.create(who, NewKey(name="next"), world.request())["key"]["expires_at"] is None
    assert (
        world.keys.create(but(anna, key="key_gone"), NewKey(name="x"), world.request())["key"]["expires_at"]
        is None
    )


def test_nobody_fills_the_store_with_keys(world: World) -> None:
    anna = world.person("anna")
    for number in range(KEYS_MAX):
        world.keys.create(anna, NewKey(name=f"key {number}"), world.request())
    with pytest.raises(ConflictError, match="at most"):
        world.keys.create(anna, NewKey(name="one more"), world.request())


def test_a_deleted_key_is_refused_at_once(world: World) -> None:
    anna = world.person("anna")
    made = world.keys.create(anna, NewKey(name="x"), world.request())["key"]
    assert signed_in(world, made["key"])
    answer = world.keys.delete(anna, made["id"], world.request("k"))
    assert answer == {"deleted": {"key": made["id"]}}
    with pytest.raises(UnauthenticatedError):
        signed_in(world, made["key"])
    assert world.keys.delete(anna, made["id"], world.request("k")) == answer
    with pytest.raises(NotFoundError):
        world.keys.delete(anna, made["id"], world.request())


def test_a_key_may_delete_itself(world: World) -> None:
    made = world.keys.create(world.person("anna"), NewKey(name="x"), world.request())["key"]
    world.keys.delete(signed_in(world, made["key"]), made["id"], world.request())
    assert world.store.keys_of("acc_anna") == []


def test_a_key_of_another_does_not_exist_but_for_admins(world: World) -> None:
    anna, berta, root = world.person("anna"), world.person("berta"), world.person("root", admin=True)
    made = world.keys.create(anna, NewKey(name="x"), world.request())["key"]
    for who in (berta, but(root, scopes={"read", "write"})):
        with pytest.raises(NotFoundError, match="no such key"):
            world.keys.delete(who, made["id"], world.request())
    with pytest.raises(NotFoundError, match="no such key"):
        world.keys.delete(berta, "key_nothing", world.request())
    world.keys.delete(root, made["id"], world.request())
    assert world.store.keys_of("acc_anna") == []


def test_a_repeat_says_when_the_key_is_gone_by_now(world: World) -> None:
    anna = world.person("anna")
    made = world.keys.create(anna, NewKey(name="x"), world.request("k"))["key"]
    world.keys.delete(anna, made["id"], world.request())
    with pytest.raises(NotFoundError):
        world.keys.create(anna, NewKey(name="x"), world.request("k"))


def test_the_audit_tells_of_keys(world: World) -> None:
    anna = world.person("anna")
    made = world.keys.create(anna, NewKey(name="Secret name"), world.request())["key"]
    world.keys.delete(anna, made["id"], world.request())
    told = world.told()
    assert [(entry.op, entry.target) for entry in told] == [
        ("key.create", f"key:{made['id']}"),
        ("key.delete", f"key:{made['id']}"),
    ]
    assert told[0].details["scopes"] == ["read", "write"]
    assert "Secret name" not in str(told)
