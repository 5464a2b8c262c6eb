"""Accounts: managed by admins only, never without an admin, and each person's own settings."""

from typing import Any

import pytest

from chalicelib.domain.account_drafts import AccountEdit, NewAccount, NewKey, PersonalSettingsEdit
from chalicelib.domain.accounts import Account, AccountCommit
from chalicelib.errors import (
    AlreadyDoneError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnauthenticatedError,
)
from chalicelib.services.accounts.ledger import CHUNK
from chalicelib.services.accounts.sign_in import SignIn
from tests.unit.services.accounts.world import World, but


def test_an_admin_adds_a_person(world: World) -> None:
    root = world.person("root", admin=True)
    answer = world.people.create(root, NewAccount(name="Anna", email="a@example.org"), world.request())
    account = answer["account"]
    assert (account["name"], account["email"], account["admin"], account["version"]) == (
        "Anna",
        "a@example.org",
        False,
        1,
    )
    assert "key" not in answer
    assert world.people.get(root, account["id"]) == {"account": account}


def test_a_new_person_can_begin_with_the_first_key(world: World) -> None:
    root = world.person("root", admin=True)
    answer = world.people.create(root, NewAccount(name="Anna", first_key=True), world.request())
    who = SignIn(world.store).authenticate(f"Bearer {answer['key']['key']}", world.now)
    assert who.account.id == answer["account"]["id"]
    assert who.scopes == {"read", "write"}


def test_a_repeated_request_adds_one_person_and_does_not_show_the_key_again(world: World) -> None:
    root = world.person("root", admin=True)
    draft = NewAccount(name="Anna", first_key=True)
    first = world.people.create(root, draft, world.request("k"))
    again = world.people.create(root, draft, world.request("k"))
    assert again["account"] == first["account"]
    assert again["key"] == {**first["key"], "key": None}
    assert len(world.people.listed(root, limit=10, cursor=None)["items"]) == 2


def test_the_repeat_of_a_request_without_a_key_to_show_shows_none(world: World) -> None:
    root = world.person("root", admin=True)
    first = world.people.create(root, NewAccount(name="Anna"), world.request("k"))
    assert world.people.create(root, NewAccount(name="Anna"), world.request("k")) == first


def test_another_request_under_the_same_key_is_refused(world: World) -> None:
    root = world.person("root", admin=True)
    world.people.create(root, NewAccount(name="Anna"), world.request("k"))
    with pytest.raises(InvalidError) as refused:
        world.people.create(root, NewAccount(name="Berta"), world.request("k", body="other"))
    assert refused.value.details["fields"][0]["field"] == "Idempotency-Key"


def test_two_at_the_same_moment_add_one_person(world: World) -> None:
    root = world.person("root", admin=True)
    world.store.meanwhile.append(
        lambda: world.people.create(root, NewAccount(name="Anna"), world.request("k"))
    )
    answer = world.people.create(root, NewAccount(name="Anna"), world.request("k"))
    accounts = world.people.listed(root, limit=10, cursor=None)["items"]
    assert [account for account in accounts if account["name"] == "Anna"] == [answer["account"]]


def test_accounts_are_for_admins_with_the_scope_only(world: World) -> None:
    root = world.person("root", admin=True)
    target = world.account("anna").id
    for who in (world.person("berta"), but(root, scopes={"read", "write"}), but(root, acts_as="model")):
        for ask in (
            lambda who=who: world.people.create(who, NewAccount(name="x"), world.request()),
            lambda who=who: world.people.get(who, target),
            lambda who=who: world.people.listed(who, limit=10, cursor=None),
            lambda who=who: world.people.edit(who, target, AccountEdit(admin=True), world.request()),
            lambda who=who: world.people.delete(who, target, world.request()),
        ):
            with pytest.raises(ForbiddenError):
                ask()
    assert world.store.commits == 0


def test_an_edit_changes_what_it_names_and_nothing_else(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna", email="a@example.org", settings={"maintenance": True})
    after = world.people.edit(root, "acc_anna", AccountEdit(name="Anna B", version=1), world.request())[
        "account"
    ]
    assert (after["name"], after["email"], after["version"]) == ("Anna B", "a@example.org", 2)
    after = world.people.edit(root, "acc_anna", AccountEdit(email=None), world.request())["account"]
    assert (after["name"], after["email"], after["version"]) == ("Anna B", None, 3)
    stored = world.store.account("acc_anna")
    assert stored is not None
    assert stored.settings == {"maintenance": True}


def test_a_stale_version_is_refused_with_the_current_state(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    current = world.people.edit(root, "acc_anna", AccountEdit(name="First"), world.request())["account"]
    for ask in (
        lambda: world.people.edit(root, "acc_anna", AccountEdit(name="Second", version=1), world.request()),
        lambda: world.people.delete(root, "acc_anna", world.request(), version=1),
    ):
        with pytest.raises(ConflictError) as refused:
            ask()
        assert refused.value.details["current"] == current
    assert world.people.get(root, "acc_anna")["account"] == current


def test_two_admins_who_edit_different_fields_at_once_lose_nothing(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    world.store.meanwhile.append(
        lambda: world.people.edit(root, "acc_anna", AccountEdit(email="a@example.org"), world.request())
    )
    after = world.people.edit(root, "acc_anna", AccountEdit(name="Anna B"), world.request())["account"]
    assert (after["name"], after["email"], after["version"]) == ("Anna B", "a@example.org", 3)


def test_of_two_admins_who_name_the_same_version_one_is_refused(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    world.store.meanwhile.append(
        lambda: world.people.edit(root, "acc_anna", AccountEdit(name="First", version=1), world.request())
    )
    with pytest.raises(ConflictError) as refused:
        world.people.edit(root, "acc_anna", AccountEdit(name="Second", version=1), world.request())
    assert refused.value.details["current"]["name"] == "First"


def test_a_change_that_others_always_outrun_ends_in_a_conflict(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")

    def stranger() -> None:
        there = world.store.account("acc_anna")
        assert there is not None
        world.store.replace(there, name=f"Stranger {there.version}")

    world.store.meanwhile += [stranger] * 20
    with pytest.raises(ConflictError):
        world.people.edit(root, "acc_anna", AccountEdit(name="Mine"), world.request())


def test_an_edit_that_changes_nothing_writes_nothing_but_can_be_repeated(world: World) -> None:
    root = world.person("root", admin=True)
    before = world.people.create(root, NewAccount(name="Anna"), world.request())["account"]
    told = len(world.told())
    for key in (None, "k", "k"):
        after = world.people.edit(root, before["id"], AccountEdit(name="Anna"), world.request(key))["account"]
        assert after == before
    assert len(world.told()) == told


def test_a_disabled_account_can_be_enabled_again(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    world.people.edit(root, "acc_anna", AccountEdit(disabled=True), world.request())
    assert (
        world.people.edit(root, "acc_anna", AccountEdit(disabled=False), world.request())["account"][
            "disabled"
        ]
        is False
    )


@pytest.mark.parametrize("edit", [AccountEdit(admin=False), AccountEdit(disabled=True)])
def test_the_last_admin_stays_an_admin(world: World, edit: AccountEdit) -> None:
    root = world.person("root", admin=True)
    world.account("gone", admin=True, disabled=True)
    world.account("anna")
    with pytest.raises(ConflictError, match="last admin"):
        world.people.edit(root, "acc_root", edit, world.request())
    with pytest.raises(ConflictError, match="last admin"):
        world.people.delete(root, "acc_root", world.request())
    world.people.edit(root, "acc_root", AccountEdit(name="Renamed", admin=True), world.request())


def test_an_admin_may_step_down_when_there_is_another(world: World) -> None:
    root = world.person("root", admin=True)
    for number in range(120):  # the other one is found however far down the list
        world.account(f"n{number:03}")
    world.account("zoe", admin=True)
    assert (
        world.people.edit(root, "acc_root", AccountEdit(admin=False), world.request())["account"]["admin"]
        is False
    )


def test_two_admins_who_remove_each_other_at_once_do_not_both_succeed(world: World) -> None:
    anna, berta = world.person("anna", admin=True), world.person("berta", admin=True)
    world.store.meanwhile.append(
        lambda: world.people.edit(berta, "acc_anna", AccountEdit(admin=False), world.request())
    )
    with pytest.raises(ConflictError, match="last admin"):
        world.people.edit(anna, "acc_berta", AccountEdit(admin=False), world.request())
    admins = [account.id for account in world.store.accounts(after=None, limit=10).items if account.admin]
    assert admins == ["acc_berta"]


def test_an_admin_who_was_disabled_meanwhile_is_no_other_admin(world: World) -> None:
    anna = world.person("anna", admin=True)
    world.account("berta", admin=True)
    there = world.store.account("acc_anna")
    assert there is not None
    world.store.replace(there, disabled=True)
    with pytest.raises(ConflictError, match="last admin"):
        world.people.edit(anna, "acc_berta", AccountEdit(admin=False), world.request())


def test_a_deleted_account_is_disabled_and_its_keys_are_gone(world: World) -> None:
    root, anna = world.person("root", admin=True), world.person("anna")
    for number in range(2 * CHUNK + 3):
        world.keys.create(anna, NewKey(name=f"key {number}"), world.request())
    key = world.keys.create(anna, NewKey(name="one more"), world.request())["key"]["key"]
    answer = world.people.delete(root, "acc_anna", world.request("k"))
    assert answer["account"]["disabled"] is True
    assert world.store.keys_of("acc_anna") == []
    assert world.people.delete(root, "acc_anna", world.request("k")) == answer
    with pytest.raises(UnauthenticatedError):
        SignIn(world.store).authenticate(f"Bearer {key}", world.now)


@pytest.mark.parametrize("version", [None, 1])
def test_an_interrupted_deletion_is_finished_by_its_repeat(world: World, version: int | None) -> None:
    """Also one that named the version: its own first part has changed that."""
    root, anna = world.person("root", admin=True), world.person("anna")
    for number in range(2 * CHUNK + 3):
        world.keys.create(anna, NewKey(name=f"key {number}"), world.request())

    def power_cut() -> None:
        raise KeyboardInterrupt

    for meanwhile in ([lambda: None, power_cut], [lambda: None, power_cut]):
        world.store.meanwhile += meanwhile
        with pytest.raises(KeyboardInterrupt):
            world.people.delete(root, "acc_anna", world.request("k"), version=version)
        there = world.store.account("acc_anna")
        assert there is not None
        assert there.disabled
    world.people.delete(root, "acc_anna", world.request("k"), version=version)
    assert world.store.keys_of("acc_anna") == []


def test_a_deletion_goes_on_when_a_store_finds_its_first_part_done_already(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to it was lost on the way, and the store asked again by itself."""
    root, anna = world.person("root", admin=True), world.person("anna")
    for number in range(CHUNK + 3):
        world.keys.create(anna, NewKey(name=f"key {number}"), world.request())
    commit = world.store.commit

    def done_before(what: AccountCommit) -> None:
        monkeypatch.setattr(world.store, "commit", commit)
        commit(what)
        raise AlreadyDoneError

    monkeypatch.setattr(world.store, "commit", done_before)
    answer = world.people.delete(root, "acc_anna", world.request("k"), version=1)
    assert answer["account"]["disabled"] is True
    assert world.store.keys_of("acc_anna") == []


def test_a_deletion_that_is_begun_without_a_key_is_no_excuse_for_a_stale_version(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    world.people.edit(root, "acc_anna", AccountEdit(name="Anne"), world.request())
    with pytest.raises(ConflictError, match="not current"):
        world.people.delete(root, "acc_anna", world.request("k"), version=1)


def test_deleting_an_account_twice_is_no_error(world: World) -> None:
    root = world.person("root", admin=True)
    world.account("anna")
    first = world.people.delete(root, "acc_anna", world.request())
    assert world.people.delete(root, "acc_anna", world.request()) == first


def test_there_is_no_account_that_was_never_made(world: World) -> None:
    root = world.person("root", admin=True)
    with pytest.raises(NotFoundError):
        world.people.get(root, "acc_nobody")
    with pytest.raises(NotFoundError):
        world.people.edit(root, "acc_nobody", AccountEdit(name="x"), world.request())
    with pytest.raises(NotFoundError):
        world.people.delete(root, "acc_nobody", world.request())


def test_accounts_come_in_pages_and_each_once(world: World) -> None:
    root = world.person("root", admin=True)
    for number in range(5):
        world.account(f"n{number}")
    seen: list[str] = []
    cursor = None
    while True:
        page = world.people.listed(root, limit=2, cursor=cursor)
        seen += [account["id"] for account in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(seen) == ["acc_n0", "acc_n1", "acc_n2", "acc_n3", "acc_n4", "acc_root"]


def test_a_cursor_of_another_list_is_refused(world: World) -> None:
    root = world.person("root", admin=True)
    for number in range(3):
        world.project(f"p{number}", root)
        world.account(f"n{number}")
    cursor = world.projects.listed(root, limit=1, cursor=None)["next"]
    assert cursor is not None
    with pytest.raises(InvalidError) as refused:
        world.people.listed(root, limit=1, cursor=cursor)
    assert refused.value.details["fields"][0]["field"] == "cursor"


def test_the_audit_tells_who_did_what_and_no_names(world: World) -> None:
    root = but(world.person("root", admin=True), key="key_1")
    account = world.people.create(
        root, NewAccount(name="Secret Name", email="s@example.org"), world.request()
    )["account"]
    world.people.edit(root, account["id"], AccountEdit(name="Other Name", admin=True), world.request())
    world.people.delete(root, account["id"], world.request())
    told = world.told()
    assert [(entry.op, entry.by, entry.target) for entry in told] == [
        (op, "acc_root", f"account:{account['id']}")
        for op in ("account.create", "account.edit", "account.delete")
    ]
    assert told[1].details == {"changed": ["admin", "name"], "admin": True, "with_key": "key_1"}
    assert "Name" not in str(told)
    assert "example.org" not in str(told)


def test_me_says_who_asks_and_what_they_may(world: World) -> None:
    anna = but(world.person("anna"), key="key_1", scopes={"read"}, acts_as="model")
    me = world.people.me(anna)
    assert me["account"]["id"] == "acc_anna"
    assert (me["scopes"], me["acts_as"], me["key"]) == (["read"], "model", "key_1")
    assert me["settings"] == {
        "search_every_message": True,
        "search_while_working": True,
        "save_after_answers": False,
        "maintenance": False,
        "skill_learning": False,
    }


def test_own_settings_are_switched_one_by_one(world: World) -> None:
    anna = world.person("anna")
    first = world.people.edit_settings(anna, PersonalSettingsEdit(maintenance=True), world.request("k"))
    second = world.people.edit_settings(
        anna, PersonalSettingsEdit(search_every_message=False, version=first["version"]), world.request()
    )
    assert second["settings"]["maintenance"] is True
    assert second["settings"]["search_every_message"] is False
    assert (
        world.people.edit_settings(anna, PersonalSettingsEdit(maintenance=True), world.request("k")) == second
    )
    with pytest.raises(ConflictError) as refused:
        world.people.edit_settings(anna, PersonalSettingsEdit(maintenance=False, version=1), world.request())
    assert refused.value.details["current"] == second
    assert world.told()[0].op == "account.settings"


def test_settings_that_two_devices_switch_at_once_are_both_kept(world: World) -> None:
    anna = world.person("anna")
    world.store.meanwhile.append(
        lambda: world.people.edit_settings(anna, PersonalSettingsEdit(maintenance=True), world.request())
    )
    after = world.people.edit_settings(anna, PersonalSettingsEdit(skill_learning=True), world.request())
    assert (after["settings"]["maintenance"], after["settings"]["skill_learning"]) == (True, True)


def test_settings_that_do_not_change_are_not_written(world: World) -> None:
    anna = world.person("anna", settings={"maintenance": True})
    after = world.people.edit_settings(anna, PersonalSettingsEdit(maintenance=True), world.request())
    assert after["version"] == 1
    assert world.told() == []


def test_settings_of_a_newer_version_are_passed_over(world: World) -> None:
    anna = world.person("anna", settings={"maintenance": True, "not_yet_invented": 7})
    assert world.people.me(anna)["settings"]["maintenance"] is True
    world.people.edit_settings(anna, PersonalSettingsEdit(maintenance=False), world.request())
    stored = world.store.account("acc_anna")
    assert stored is not None
    assert stored.settings == {"maintenance": False, "not_yet_invented": 7}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"version": 1},
        {"maintenance": None},
        {"maintenance": "yes"},
        {"maintenance": 1},
        {"unknown": True},
    ],
)
def test_settings_that_do_not_exist_or_have_no_such_value_are_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        PersonalSettingsEdit.model_validate(body)


def test_a_key_that_only_reads_and_a_model_change_no_settings(world: World) -> None:
    anna = world.person("anna")
    for who in (but(anna, scopes={"read"}), but(anna, acts_as="model")):
        with pytest.raises(ForbiddenError):
            world.people.edit_settings(who, PersonalSettingsEdit(maintenance=True), world.request())


def test_nobody_sees_or_sets_anything(world: World) -> None:
    with pytest.raises(UnauthenticatedError):
        world.people.me(None)
    with pytest.raises(UnauthenticatedError):
        world.people.listed(None, limit=1, cursor=None)
    with pytest.raises(UnauthenticatedError):
        world.people.edit_settings(None, PersonalSettingsEdit(maintenance=True), world.request())


def test_an_account_that_vanished_cannot_be_shown_again(world: World) -> None:
    root = world.person("root", admin=True)
    draft = NewAccount(name="Anna", first_key=True)
    answer = world.people.create(root, draft, world.request("k"))
    key = world.store.key(answer["key"]["id"])
    assert key is not None
    world.store.remove(key)
    with pytest.raises(NotFoundError, match="key"):
        world.people.create(root, draft, world.request("k"))


def test_names_are_one_visible_line() -> None:
    for name in ("", " ", "a\nb", "a\x00", "\ud800", "x" * 201, None, 7):
        with pytest.raises(ValueError, match=r"."):
            NewAccount.model_validate({"name": name})
    assert isinstance(
        Account.model_validate({"id": "a", "name": "Žluťoučký кот", "created_at": "2026-01-01"}), Account
    )
