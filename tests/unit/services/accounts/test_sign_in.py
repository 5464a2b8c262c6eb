"""Sign-in: only a credential that holds opens a door, and every refusal reads the same."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.account_drafts import NewKey
from chalicelib.domain.accounts import AccountCommit, Login
from chalicelib.domain.api_keys import mint
from chalicelib.errors import (
    IdentityProviderUnavailableError,
    StoreUnavailableError,
    UnauthenticatedError,
    UnavailableError,
)
from chalicelib.services.accounts.sign_in import OidcRules, SignIn
from tests.unit.services.accounts.world import World

ISSUER = "https://id.example.org/"


@dataclass
class Tokens:
    """A verifier to which each known token is some claims."""

    known: dict[str, Mapping[str, object]] = field(default_factory=dict)
    down: bool = False

    def claims(self, token: str, now: datetime) -> Mapping[str, object] | None:
        if self.down:
            raise IdentityProviderUnavailableError("down")
        return self.known.get(token)


def made(world: World, who: Any, **fields: Any) -> str:
    key: str = world.keys.create(who, NewKey(name="x", **fields), world.request())["key"]["key"]
    return key


def with_tokens(world: World, claims: Mapping[str, object], **rules: Any) -> SignIn:
    return SignIn(world.store, Tokens({"token": claims}), OidcRules(ISSUER, **rules))


def linked(world: World, name: str, subject: str = "u1") -> None:
    world.store.put(Login(issuer=ISSUER, subject=subject, account=f"acc_{name}", created_at=world.now))


# ------------------------------------------------------------------ API keys


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER   {}", " Bearer {} "])
def test_a_key_signs_its_owner_in(world: World, form: str) -> None:
    key = made(world, world.person("anna"))
    who = SignIn(world.store).authenticate(form.format(key), world.now, "cli")
    assert (who.account.id, who.acts_as, who.place, who.is_admin) == ("acc_anna", "person", "cli", False)
    assert (who.actor.kind, who.actor.id) == ("person", "acc_anna")


@pytest.mark.parametrize(
    "header", [None, "", "   ", 0, 1, True, [], ["Bearer x"], {}, {"a": 1}, b"Bearer x", object()]
)
def test_without_a_credential_nobody_is_let_in(world: World, header: object) -> None:
    world.person("root", admin=True)
    with pytest.raises(UnauthenticatedError, match="a credential is needed"):
        SignIn(world.store).authenticate(header, world.now)


def test_every_key_that_does_not_hold_is_refused_with_the_same_words(world: World) -> None:
    anna = world.person("anna")
    good = made(world, anna)
    revoked = made(world, anna)
    world.keys.delete(anna, "key_" + revoked.split("_")[1], world.request())
    expiring = made(world, anna, expires_at=world.now + timedelta(seconds=1))
    orphan = made(world, world.person("gone"))
    gone = world.store.account("acc_gone")
    assert gone is not None
    world.store.remove(gone)
    disabled = made(world, world.person("off"))
    off = world.store.account("acc_off")
    assert off is not None
    world.store.replace(off, disabled=True)
    stranger = mint().plain
    parts, others = good.split("_"), stranger.split("_")
    world.later(seconds=1)
    said = set()
    for credential in (
        revoked,
        expiring,
        orphan,
        disabled,
        stranger,
        good[:-1],
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        "_".join([*parts[:2], *others[2:]]),
        "_".join([parts[0], others[1], *parts[2:]]),
        good + "x",
        f"{good} {good}",
        good.replace("_", "é"),
        "plm_",
        "token",
        "x" * 10_001,
    ):
        with pytest.raises(UnauthenticatedError) as refused:
            SignIn(world.store).authenticate(f"Bearer {credential}", world.now)
        said.add((refused.value.message, str(refused.value.details)))
    for header in (good, f"Basic {good}", f"Token {good}", "Bearer", "Bearer ", f"Bearer\t{good}"):
        with pytest.raises(UnauthenticatedError) as refused:
            SignIn(world.store).authenticate(header, world.now)
        said.add((refused.value.message, str(refused.value.details)))
    assert said == {("this credential does not hold", "{}")}
    assert SignIn(world.store).authenticate(f"Bearer {good}", world.now)


def test_the_secret_of_another_key_opens_nothing(world: World) -> None:
    from chalicelib.domain.api_keys import _checksum

    first, second = (made(world, world.person(name)).split("_") for name in ("anna", "berta"))
    body = "_".join([first[0], first[1], second[2]])
    with pytest.raises(UnauthenticatedError):
        SignIn(world.store).authenticate(f"Bearer {body}_{_checksum(body)}", world.now)


def test_a_key_loses_the_scope_admin_with_its_owner(world: World) -> None:
    root = world.person("root", admin=True)
    key = made(world, root, scopes=frozenset({"read", "write", "admin"}))
    assert SignIn(world.store).authenticate(f"Bearer {key}", world.now).is_admin
    world.store.replace(root.account, admin=False)
    who = SignIn(world.store).authenticate(f"Bearer {key}", world.now)
    assert (who.is_admin, who.scopes) == (False, {"read", "write"})


def test_a_key_ends_at_its_expiry_to_the_moment(world: World) -> None:
    key = made(world, world.person("anna"), expires_at=world.now + timedelta(minutes=5))
    door = SignIn(world.store)
    assert door.authenticate(f"Bearer {key}", world.now + timedelta(minutes=5, milliseconds=-1))
    with pytest.raises(UnauthenticatedError):
        door.authenticate(f"Bearer {key}", world.now + timedelta(minutes=5))


def test_the_last_use_of_a_key_is_noted_once_a_minute(world: World) -> None:
    key = made(world, world.person("anna"))
    door, begin = SignIn(world.store), world.now
    noted = []
    for seconds in (0, 1, 59, 60, 61, 119, 120):
        door.authenticate(f"Bearer {key}", begin + timedelta(seconds=seconds))
        used = world.store.keys_of("acc_anna")[0].last_used_at
        assert used is not None
        noted.append((used - begin).total_seconds())
    assert noted == [0, 0, 0, 60, 60, 60, 120]


def test_a_use_that_cannot_be_noted_refuses_nobody(world: World, caplog: pytest.LogCaptureFixture) -> None:
    class Throttled(type(world.store)):  # type: ignore[misc]
        def touch_key(self, key: str, at: datetime) -> None:
            raise StoreUnavailableError("throttled")

    key = made(world, world.person("anna"))
    with caplog.at_level(logging.WARNING):
        assert SignIn(Throttled(world.database)).authenticate(f"Bearer {key}", world.now)
    assert "last use" in caplog.text
    assert key.split("_")[2] not in caplog.text


# ------------------------------------------------------------------ tokens


def test_a_known_identity_is_its_account(world: World) -> None:
    world.account("anna", admin=True)
    linked(world, "anna", "auth0|u#1")
    door = with_tokens(world, {"sub": "auth0|u#1"})
    who = door.authenticate("Bearer token", world.now)
    assert (who.account.id, who.acts_as, who.key, who.scopes) == (
        "acc_anna",
        "person",
        None,
        {"read", "write", "admin"},
    )


def test_an_unknown_identity_is_refused_unless_newcomers_are_wanted(world: World) -> None:
    claims = {"sub": "u1", "name": "Anna", "email": "a@example.org"}
    with pytest.raises(UnauthenticatedError, match="does not hold"):
        with_tokens(world, claims).authenticate("Bearer token", world.now)
    assert world.store.accounts(after=None, limit=10).items == []
    first = with_tokens(world, claims, create_accounts=True).authenticate("Bearer token", world.now)
    again = with_tokens(world, claims, create_accounts=True).authenticate("Bearer token", world.now)
    assert (first.account.name, first.account.email, first.is_admin) == ("Anna", "a@example.org", False)
    assert again.account == first.account
    assert [entry.op for entry in world.told()] == ["account.sign_up"]


def test_an_email_joins_nobody_to_an_account_that_is_there(world: World) -> None:
    root = world.account("root", admin=True, email="root@example.org")
    claims = {"sub": "u1", "email": "root@example.org", "email_verified": True}
    who = with_tokens(world, claims, create_accounts=True).authenticate("Bearer token", world.now)
    assert who.account.id != root.id
    assert not who.account.admin


def test_the_same_subject_of_another_issuer_is_somebody_else(world: World) -> None:
    world.account("anna")
    world.store.put(
        Login(issuer="https://other.example/", subject="u1", account="acc_anna", created_at=world.now)
    )
    with pytest.raises(UnauthenticatedError):
        with_tokens(world, {"sub": "u1"}).authenticate("Bearer token", world.now)


@pytest.mark.parametrize(
    "subject", [None, "", " ", 7, True, [], ["u1"], {}, "a\x00", "\ud800", "a\nb", "x" * 501, b"u1"]
)
def test_a_token_without_a_usable_subject_lets_nobody_in(world: World, subject: object) -> None:
    for claims in ({"sub": subject}, {}):
        with pytest.raises(UnauthenticatedError, match="does not hold"):
            with_tokens(world, claims, create_accounts=True).authenticate("Bearer token", world.now)
    assert world.store.accounts(after=None, limit=10).items == []


def test_a_token_that_does_not_hold_is_refused(world: World) -> None:
    with pytest.raises(UnauthenticatedError, match="does not hold"):
        with_tokens(world, {"sub": "u1"}, create_accounts=True).authenticate("Bearer other", world.now)


def test_without_a_provider_no_token_is_taken(world: World) -> None:
    for door in (SignIn(world.store), SignIn(world.store, Tokens({"token": {"sub": "u1"}}))):
        with pytest.raises(UnauthenticatedError, match="does not hold"):
            door.authenticate("Bearer token", world.now)


def test_a_provider_that_is_down_is_not_called_a_wrong_token(world: World) -> None:
    door = SignIn(world.store, Tokens(down=True), OidcRules(ISSUER))
    with pytest.raises(UnavailableError) as refused:
        door.authenticate("Bearer token", world.now)
    assert refused.value.details["part"] == "identity_provider"


def test_a_disabled_account_is_refused_whatever_the_provider_says(world: World) -> None:
    world.account("anna", disabled=True)
    linked(world, "anna")
    door = with_tokens(
        world, {"sub": "u1", "role": "boss"}, create_accounts=True, admin_claim="role", admin_value="boss"
    )
    with pytest.raises(UnauthenticatedError, match="does not hold"):
        door.authenticate("Bearer token", world.now)


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"name": "Žofie"}, "Žofie"),
        ({"name": "", "preferred_username": "zofie"}, "zofie"),
        ({"name": 7, "preferred_username": ["x"], "email": "z@example.org"}, "z@example.org"),
        ({"name": "a\nb"}, "Unnamed"),
        ({"name": "x" * 201, "email": "x" * 400}, "Unnamed"),
    ],
    ids=range(5),
)
def test_a_newcomer_is_called_what_the_provider_says_if_that_is_a_name(
    world: World, claims: dict[str, Any], name: str
) -> None:
    door = with_tokens(world, {"sub": "u1", **claims}, create_accounts=True)
    assert door.authenticate("Bearer token", world.now).account.name == name


def test_the_first_two_requests_of_a_newcomer_make_one_account(world: World) -> None:
    door = with_tokens(world, {"sub": "u1"}, create_accounts=True)
    first: list[str] = []
    world.store.meanwhile.append(
        lambda: first.append(door.authenticate("Bearer token", world.now).account.id)
    )
    second = door.authenticate("Bearer token", world.now).account.id
    assert first == [second]
    assert len(world.store.accounts(after=None, limit=10).items) == 1


def test_a_newcomer_whose_login_vanished_again_is_refused(world: World) -> None:
    door = with_tokens(world, {"sub": "u1"}, create_accounts=True)

    class Fleeting(type(world.store)):  # type: ignore[misc]
        def commit(self, commit: AccountCommit) -> None:
            taken = Login(issuer=ISSUER, subject="u1", account="acc_x", created_at=world.now)
            super().put(taken)
            try:
                super().commit(commit)
            finally:
                super().remove(taken)

    fleeting = SignIn(Fleeting(world.database), door.tokens, door.oidc)
    with pytest.raises(UnauthenticatedError):
        fleeting.authenticate("Bearer token", world.now)


@pytest.mark.parametrize(
    ("claim", "value", "admin"),
    [
        ("boss", "boss", True),
        (["staff", "boss"], "boss", True),
        ("bossy", "boss", False),
        (["bossy"], "boss", False),
        ("staff boss", "boss", False),
        (None, "boss", False),
        ({"boss": True}, "boss", False),
        (True, None, True),
        ("true", None, False),
        (1, None, False),
        ([True], None, False),
        (None, None, False),
    ],
    ids=range(12),
)
def test_the_admin_claim_decides_exactly(world: World, claim: object, value: str | None, admin: bool) -> None:
    rules = {"create_accounts": True, "admin_claim": "role", "admin_value": value}
    who = with_tokens(world, {"sub": "u1", "role": claim}, **rules).authenticate("Bearer token", world.now)
    assert who.is_admin is admin
    assert who.account.admin is admin


def test_an_admin_by_claim_is_one_as_long_as_the_provider_says_so(world: World) -> None:
    rules: dict[str, Any] = {"create_accounts": True, "admin_claim": "role", "admin_value": "boss"}
    staff, boss = {"sub": "u1", "role": "staff"}, {"sub": "u1", "role": "boss"}
    versions = []
    for claims, admin in ((staff, False), (boss, True), (boss, True), (staff, False)):
        who = with_tokens(world, claims, **rules).authenticate("Bearer token", world.now)
        stored = world.store.account(who.account.id)
        assert stored == who.account
        assert who.is_admin is admin
        versions.append(who.account.version)
    assert versions == [1, 2, 2, 3]
    assert [entry.details["admin"] for entry in world.told()] == [False, True, False]


def test_without_an_admin_claim_the_provider_changes_nobodys_rights(world: World) -> None:
    world.account("root", admin=True)
    linked(world, "root")
    assert with_tokens(world, {"sub": "u1", "role": "staff"}).authenticate("Bearer token", world.now).is_admin


def test_what_the_provider_says_holds_even_when_the_account_changes_at_that_moment(world: World) -> None:
    anna = world.account("anna")
    linked(world, "anna")
    door = with_tokens(world, {"sub": "u1", "role": "boss"}, admin_claim="role", admin_value="boss")
    world.store.meanwhile.append(lambda: world.store.replace(anna, name="Renamed"))
    who = door.authenticate("Bearer token", world.now)
    assert (who.account.name, who.is_admin) == ("Renamed", True)


def test_an_account_that_is_disabled_at_that_moment_is_refused(world: World) -> None:
    anna = world.account("anna")
    linked(world, "anna")
    door = with_tokens(world, {"sub": "u1", "role": "boss"}, admin_claim="role", admin_value="boss")
    world.store.meanwhile.append(lambda: world.store.replace(anna, disabled=True))
    with pytest.raises(UnauthenticatedError):
        door.authenticate("Bearer token", world.now)


def test_a_login_without_an_account_lets_nobody_in(world: World) -> None:
    linked(world, "nobody")
    with pytest.raises(UnauthenticatedError):
        with_tokens(world, {"sub": "u1"}, create_accounts=True).authenticate("Bearer token", world.now)
