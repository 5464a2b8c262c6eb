"""The first start makes everything that is needed; later ones find it, and make up for what was lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib.domain.accounts import AccountCommit, EntityWrite
from infra.local.cannot_start import CannotStartError
from infra.local.data_folder import DataFolder
from infra.local.owner import key_of_owner
from tests.fakes.client import Client
from tests.fakes.world import World


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    made = DataFolder(tmp_path)
    yield made
    made.close()


@pytest.fixture
def empty(world: World) -> World:
    """An installation without anybody."""
    with world.database.write() as connection:
        connection.execute("DELETE FROM entity")
    return world


def client_with(world: World, key: str) -> Client:
    """A client with this key. (What makes clients wants an Anna.)"""
    if world.parts.accounts.account("anna") is None:
        world.add_account("anna", admin=True)
    client = Client(world)
    client.key = key
    return client


def test_the_first_start_makes_an_admin_with_a_key_and_a_default_category(
    empty: World, folder: DataFolder
) -> None:
    key, first = key_of_owner(empty.services, folder)
    assert first is True
    assert folder.read_key() == key
    client = client_with(empty, key)
    me = client.get("/v1/me").json
    assert sorted(me["scopes"]) == ["admin", "read", "write"]
    added = client.post("/v1/spaces/personal/memories", {"text": "Tea is green."}).json
    assert added["memory"]["category"] == "General"
    assert added["recallable"] is True


def test_a_later_start_goes_on_with_the_same_key_and_makes_nothing(empty: World, folder: DataFolder) -> None:
    key, _ = key_of_owner(empty.services, folder)
    before = empty.database_dump()
    assert key_of_owner(empty.services, folder) == (key, False)
    changed = set(empty.database_dump()) - set(before)
    assert all("last_used_at" in row for row in changed)


@pytest.mark.parametrize("kept", [None, "", "plm_nonsense", "no key at all"])
def test_a_key_that_was_lost_or_spoilt_is_replaced(
    empty: World, folder: DataFolder, kept: str | None
) -> None:
    old, _ = key_of_owner(empty.services, folder)
    file = folder.path / "key"
    file.unlink() if kept is None else file.write_text(kept)
    new, first = key_of_owner(empty.services, folder)
    assert first is False
    assert new != old
    for key in (old, new):
        assert client_with(empty, key).get("/v1/me").status == 200


def test_a_key_that_was_revoked_is_replaced(empty: World, folder: DataFolder) -> None:
    old, _ = key_of_owner(empty.services, folder)
    client = client_with(empty, old)
    identifier = old.split("_")[1]
    keys = client.get("/v1/keys").json["items"]
    assert client.delete(f"/v1/keys/{next(k['id'] for k in keys if identifier in k['id'])}").status < 300
    new, _ = key_of_owner(empty.services, folder)
    assert new != old
    assert client_with(empty, new).get("/v1/me").status == 200


def test_a_first_start_that_was_killed_is_made_up_for(empty: World, folder: DataFolder) -> None:
    empty.services.founding.found("Owner", empty.now)  # and nothing after it
    key, first = key_of_owner(empty.services, folder)
    assert first is False
    added = client_with(empty, key).post("/v1/spaces/personal/memories", {"text": "Tea is green."}).json
    assert added["memory"]["category"] == "General"


def test_a_category_that_the_owner_deleted_does_not_come_back(empty: World, folder: DataFolder) -> None:
    key, _ = key_of_owner(empty.services, folder)
    client = client_with(empty, key)
    (category,) = client.get("/v1/spaces/personal/categories").json["items"]
    assert client.delete(f"/v1/spaces/personal/categories/{category['id']}").status < 300
    (folder.path / "key").unlink()
    key, _ = key_of_owner(empty.services, folder)
    assert client_with(empty, key).get("/v1/spaces/personal/categories").json["items"] == []


def test_a_new_key_is_an_admins_however_many_accounts_come_before(empty: World, folder: DataFolder) -> None:
    for number in range(120):
        empty.add_account(f"a{number:03}")
    empty.add_account("b-disabled", admin=True, disabled=True)
    empty.add_account("c-admin", admin=True)
    key, first = key_of_owner(empty.services, folder)
    assert first is False
    assert "admin" in client_with(empty, key).get("/v1/me").json["scopes"]


def test_without_an_enabled_admin_it_says_so(world: World, folder: DataFolder) -> None:
    anna = world.parts.accounts.account("anna")
    assert anna is not None
    disabled = anna.model_copy(update={"disabled": True, "version": anna.version + 1})
    world.parts.accounts.commit(AccountCommit(writes=(EntityWrite(entity=disabled, expected=anna.version),)))
    with pytest.raises(CannotStartError, match="No admin's account is enabled"):
        key_of_owner(world.services, folder)
