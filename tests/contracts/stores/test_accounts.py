"""People, logins, keys, projects, communities, settings, and the journal of what was done to them."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    ApiKey,
    AuditEntry,
    Community,
    Entity,
    EntityWrite,
    Installation,
    Login,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.pages import Page
from chalicelib.domain.recall_limits import RecallLimits, Thresholds
from chalicelib.domain.vitality import Retention
from chalicelib.errors import AlreadyDoneError, ItemTooLargeError, StaleVersionError
from chalicelib.ports import AccountStore, InboxStore
from tests.contracts.stores.given import T0, later, once

LIMITS = Thresholds(relevance_meaning=-0.1, relevance_words=0.2, duplicate_meaning=0.9, duplicate_words=1 / 3)

ENTITIES: dict[str, tuple[Entity, Callable[[AccountStore], Entity | None]]] = {
    "account": (
        Account(
            id="acc_1",
            name='Žofie "Z" O\'Neil 🦊',
            email="z@example.org",
            admin=True,
            settings={"recall": True, "n": 3, "f": 0.1, "none": None, "list": [1, "a"], "empty": ""},
            created_at=T0,
        ),
        lambda s: s.account("acc_1"),
    ),
    "bare account": (Account(id="acc_2", name="B", created_at=T0), lambda s: s.account("acc_2")),
    "login": (
        Login(issuer="https://id.example/#a", subject="auth0|12 3", account="acc_1", created_at=T0),
        lambda s: s.login("https://id.example/#a", "auth0|12 3"),
    ),
    "key": (
        ApiKey(
            id="key_1",
            account="acc_1",
            name="laptop",
            secret_hash="ab" * 32,
            scopes=frozenset({"read", "write"}),
            acts_as="model",
            created_at=T0,
            expires_at=later(10),
            last_used_at=later(1),
        ),
        lambda s: s.key("key_1"),
    ),
    "key without scopes": (
        ApiKey(id="key_2", account="acc_1", name="n", secret_hash="x", scopes=frozenset(), created_at=T0),
        lambda s: s.key("key_2"),
    ),
    "project": (
        Project(id="prj_1", name="Palimpsest", pool=True, created_at=T0, created_by="acc_1"),
        lambda s: s.project("prj_1"),
    ),
    "member": (
        Member(project="prj_1", account="acc_1", added_at=T0),
        lambda s: s.member("prj_1", "acc_1"),
    ),
    "community": (
        Community(platform="telegram", id="-100123", name="Klub", created_at=T0),
        lambda s: s.community("telegram", "-100123"),
    ),
    "team member": (
        TeamMember(platform="discord", community="77", account="acc_1", configure=True, added_at=T0),
        lambda s: s.team_member("discord", "77", "acc_1"),
    ),
    "installation": (
        Installation(
            version=1,
            recall=RecallLimits(memories=0, bytes=100_000),
            retention=Retention(automatic=False, threshold=10 / 3),
            thresholds={"words": LIMITS, "bundled-m-384-0a1b2c3d": LIMITS},
        ),
        lambda s: s.installation(),
    ),
}


def write(
    entity: Entity, expected: int | None = None, *, delete: bool = False, **fields: Any
) -> AccountCommit:
    """One write, alone in its commit."""
    return AccountCommit(writes=(EntityWrite(entity=entity, expected=expected, delete=delete),), **fields)


def put(store: AccountStore, *entities: Entity) -> None:
    """New entities, each in a commit of its own."""
    for entity in entities:
        store.commit(write(entity))


def account(identifier: str, **fields: Any) -> Account:
    return Account.model_validate(
        {"id": identifier, "name": f"name of {identifier}", "created_at": T0} | fields
    )


def key(identifier: str, owner: str, **fields: Any) -> ApiKey:
    whole = {
        "id": identifier,
        "account": owner,
        "name": "k",
        "secret_hash": "h",
        "scopes": {"read"},
        "created_at": T0,
    }
    return ApiKey.model_validate(whole | fields)


def all_ids(read: Callable[[str | None], Page[Any]]) -> list[str]:
    """Ids of everything that is listed, page by page."""
    page = read(None)
    ids = [item.id for item in page.items]
    while page.next is not None:
        page = read(page.next)
        assert page.items, "a page that was announced is not empty"
        ids.extend(item.id for item in page.items)
    return ids


@pytest.mark.parametrize("kind", ENTITIES)
def test_every_entity_comes_back_as_it_was_written(accounts: AccountStore, kind: str) -> None:
    entity, read = ENTITIES[kind]
    accounts.commit(write(entity))
    assert read(accounts) == entity


@pytest.mark.parametrize("kind", [kind for kind in ENTITIES if kind != "installation"])
def test_what_is_not_there_is_none(accounts: AccountStore, kind: str) -> None:
    _, read = ENTITIES[kind]
    assert read(accounts) is None


@pytest.mark.parametrize("kind", ENTITIES)
def test_an_entity_is_changed_only_at_its_version(accounts: AccountStore, kind: str) -> None:
    entity, read = ENTITIES[kind]
    accounts.commit(write(entity))
    second = entity.model_copy(update={"version": 2})
    accounts.commit(write(second, 1))
    for expected in (None, 1, 3):
        with pytest.raises(StaleVersionError):
            accounts.commit(write(entity.model_copy(update={"version": 9}), expected))
    assert read(accounts) == second


@pytest.mark.parametrize("kind", ENTITIES)
def test_a_change_of_what_is_not_there_is_stale(accounts: AccountStore, kind: str) -> None:
    entity, read = ENTITIES[kind]
    with pytest.raises(StaleVersionError):
        accounts.commit(write(entity.model_copy(update={"version": 8}), 7))
    assert read(accounts) in (None, Installation())


@pytest.mark.parametrize("kind", [kind for kind in ENTITIES if kind != "installation"])
def test_a_deleted_entity_is_gone_and_may_be_made_again(accounts: AccountStore, kind: str) -> None:
    entity, read = ENTITIES[kind]
    accounts.commit(write(entity))
    with pytest.raises(StaleVersionError):
        accounts.commit(write(entity, 5, delete=True))
    assert read(accounts) == entity
    accounts.commit(write(entity, 1, delete=True))
    assert read(accounts) is None
    with pytest.raises(StaleVersionError):
        accounts.commit(write(entity, 1, delete=True))
    accounts.commit(write(entity))
    assert read(accounts) == entity


def test_stale_entities_are_named(accounts: AccountStore) -> None:
    put(accounts, account("acc_1"), account("acc_2"))
    commit = AccountCommit(
        writes=(
            EntityWrite(entity=account("acc_1", version=3), expected=2),
            EntityWrite(entity=account("acc_2", version=2), expected=1),
            EntityWrite(entity=account("acc_3", version=3), expected=2),
        )
    )
    with pytest.raises(StaleVersionError) as refused:
        accounts.commit(commit)
    assert set(refused.value.targets) == {"acc_1", "acc_3"}


def test_a_refused_commit_leaves_nothing(accounts: AccountStore, inbox: InboxStore) -> None:
    put(accounts, account("acc_1"))
    commit = AccountCommit(
        writes=(
            EntityWrite(entity=account("acc_2"), expected=None),
            EntityWrite(entity=account("acc_1"), expected=None),
        ),
        audit=(AuditEntry(id="aud_1", at=T0, by="acc_1", op="add", target="acc_2"),),
        idempotency=once(),
    )
    with pytest.raises(StaleVersionError):
        accounts.commit(commit)
    assert accounts.account("acc_2") is None
    assert accounts.audit(after=None, limit=5).items == []
    assert inbox.outcome("acc_1", "key-1", later(1)) is None


def test_a_repeated_request_is_told_so_even_when_it_is_stale(
    accounts: AccountStore, inbox: InboxStore
) -> None:
    commit = write(account("acc_1"), idempotency=once())
    accounts.commit(commit)
    assert inbox.outcome("acc_1", "key-1", later(1)) == once()
    with pytest.raises(AlreadyDoneError):
        accounts.commit(commit)
    accounts.commit(write(account("acc_2"), idempotency=once(at=later(86_401), expires_at=later(90_000))))
    assert accounts.account("acc_2") is not None


def test_too_much_at_once_is_refused_before_anything_is_written(accounts: AccountStore) -> None:
    with pytest.raises(ItemTooLargeError):
        accounts.commit(write(account("acc_1", settings={"x": "y" * 410_000})))
    many = tuple(EntityWrite(entity=account(f"acc_{n}"), expected=None) for n in range(101))
    with pytest.raises(ItemTooLargeError):
        accounts.commit(AccountCommit(writes=many))
    assert accounts.accounts(after=None, limit=5).items == []
    accounts.commit(AccountCommit(writes=many[:100]))
    assert len(all_ids(lambda after: accounts.accounts(after=after, limit=60))) == 100


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 50])
def test_accounts_projects_and_communities_are_listed_in_pages(accounts: AccountStore, limit: int) -> None:
    for n in (3, 1, 4, 2):
        put(
            accounts,
            account(f"acc_{n}"),
            Project(id=f"prj_{n}", name="p", created_at=T0, created_by="acc_1"),
            Community(platform="telegram" if n % 2 else "discord", id=f"{n}", name="c", created_at=T0),
        )
    put(accounts, key("key_1", "acc_1"), Login(issuer="i", subject="s", account="acc_1", created_at=T0))
    assert all_ids(lambda after: accounts.accounts(after=after, limit=limit)) == [
        f"acc_{n}" for n in range(1, 5)
    ]
    assert all_ids(lambda after: accounts.projects(after=after, limit=limit)) == [
        f"prj_{n}" for n in range(1, 5)
    ]
    found = all_ids(lambda after: accounts.communities(after=after, limit=limit))
    assert sorted(found) == ["1", "2", "3", "4"]


def test_empty_lists_are_one_empty_page(accounts: AccountStore) -> None:
    for read in (accounts.accounts, accounts.projects, accounts.communities, accounts.audit):
        page = read(after=None, limit=5)
        assert page.items == []
        assert page.next is None


def test_keys_belong_to_their_account_alone(accounts: AccountStore) -> None:
    put(accounts, key("key_1", "acc_1"), key("key_2", "acc_1"), key("key_3", "acc_10"))
    assert {k.id for k in accounts.keys_of("acc_1")} == {"key_1", "key_2"}
    assert [k.id for k in accounts.keys_of("acc_10")] == ["key_3"]
    assert accounts.keys_of("acc_") == []
    accounts.commit(write(key("key_1", "acc_1"), 1, delete=True))
    assert [k.id for k in accounts.keys_of("acc_1")] == ["key_2"]


def test_the_use_of_a_key_is_noted_without_changing_its_version(accounts: AccountStore) -> None:
    put(accounts, key("key_1", "acc_1"), key("key_2", "acc_1"))
    accounts.touch_key("key_1", later(5))
    found = accounts.key("key_1")
    assert found == key("key_1", "acc_1", last_used_at=later(5))
    assert {k.id: k.last_used_at for k in accounts.keys_of("acc_1")} == {"key_1": later(5), "key_2": None}
    accounts.commit(write(key("key_1", "acc_1", version=2, name="renamed"), 1))
    accounts.touch_key("key_1", later(6))
    found = accounts.key("key_1")
    assert found == key("key_1", "acc_1", version=2, name="renamed", last_used_at=later(6))


def test_the_use_of_a_key_that_is_gone_brings_nothing_back(accounts: AccountStore) -> None:
    put(accounts, key("key_1", "acc_1"))
    accounts.commit(write(key("key_1", "acc_1"), 1, delete=True))
    accounts.touch_key("key_1", later(5))
    accounts.touch_key("key_none", later(5))
    assert accounts.key("key_1") is None
    assert accounts.keys_of("acc_1") == []


def test_members_are_found_from_both_sides(accounts: AccountStore) -> None:
    def member(project: str, who: str) -> Member:
        return Member(project=project, account=who, added_at=T0)

    put(accounts, member("prj_1", "acc_1"), member("prj_1", "acc_10"), member("prj_10", "acc_1"))
    assert {m.account for m in accounts.members("prj_1")} == {"acc_1", "acc_10"}
    assert {m.account for m in accounts.members("prj_10")} == {"acc_1"}
    assert {m.project for m in accounts.memberships("acc_1")} == {"prj_1", "prj_10"}
    assert {m.project for m in accounts.memberships("acc_10")} == {"prj_1"}
    assert accounts.members("prj_") == []
    assert accounts.member("prj_10", "acc_10") is None
    accounts.commit(write(member("prj_1", "acc_1"), 1, delete=True))
    assert {m.project for m in accounts.memberships("acc_1")} == {"prj_10"}
    assert {m.account for m in accounts.members("prj_1")} == {"acc_10"}


def test_teams_are_found_from_both_sides(accounts: AccountStore) -> None:
    def seat(platform: str, community: str, who: str) -> TeamMember:
        return TeamMember.model_validate(
            {"platform": platform, "community": community, "account": who, "added_at": T0}
        )

    put(
        accounts,
        seat("discord", "1", "acc_1"),
        seat("discord", "12", "acc_1"),
        seat("telegram", "1", "acc_2"),
    )
    assert [t.account for t in accounts.team("discord", "1")] == ["acc_1"]
    assert [t.account for t in accounts.team("telegram", "1")] == ["acc_2"]
    assert accounts.team("telegram", "12") == []
    assert {(t.platform, t.community) for t in accounts.teams_of("acc_1")} == {
        ("discord", "1"),
        ("discord", "12"),
    }
    assert accounts.teams_of("acc_") == []
    assert accounts.team_member("telegram", "1", "acc_1") is None
    accounts.commit(write(seat("discord", "1", "acc_1"), 1, delete=True))
    assert accounts.team("discord", "1") == []
    assert [t.community for t in accounts.teams_of("acc_1")] == ["12"]


def test_logins_of_similar_issuers_are_apart(accounts: AccountStore) -> None:
    """CASES: mem0 PR#6892."""
    names = [
        ("https://a", "b"), ("https://a/b", "c"), ("https://a", "/bc"), ("https://a#", "b"), ("https://a", "#b"),
        ("https://A", "b"), ("https://a", "B"), ("https://a", "b "), ("https://a:b", "c"), ("ž" * 500, "ž" * 500),
    ]  # fmt: skip
    for n, (issuer, subject) in enumerate(names):
        put(accounts, Login(issuer=issuer, subject=subject, account=f"acc_{n}", created_at=T0))
    for n, (issuer, subject) in enumerate(names):
        found = accounts.login(issuer, subject)
        assert found is not None
        assert found.account == f"acc_{n}"


def test_kinds_with_equal_ids_are_apart(accounts: AccountStore) -> None:
    put(
        accounts,
        account("x"),
        key("x", "x"),
        Project(id="x", name="p", created_at=T0, created_by="x"),
        Member(project="x", account="x", added_at=T0),
        Community(platform="discord", id="x", name="c", created_at=T0),
        TeamMember(platform="discord", community="x", account="x", added_at=T0),
    )
    accounts.commit(write(account("x"), 1, delete=True))
    assert accounts.account("x") is None
    assert accounts.key("x") is not None
    assert accounts.project("x") is not None
    assert accounts.member("x", "x") is not None
    assert accounts.community("discord", "x") is not None
    assert accounts.team_member("discord", "x", "x") is not None


@pytest.mark.parametrize("first", [None, 0])
def test_settings_never_saved_are_the_defaults(accounts: AccountStore, first: int | None) -> None:
    """Version 0 means never saved, so the first save may name it, or nothing."""
    assert accounts.installation() == Installation()
    assert accounts.installation().version == 0
    accounts.commit(write(Installation(version=1), first))
    with pytest.raises(StaleVersionError):
        accounts.commit(write(Installation(version=1), first))
    accounts.commit(write(Installation(version=2, recall=RecallLimits(memories=3)), 1))
    assert accounts.installation().recall.memories == 3


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 50])
def test_the_audit_journal_is_newest_first(accounts: AccountStore, limit: int) -> None:
    for n in range(5):
        entry = AuditEntry(
            id=f"aud_{(n * 3) % 5}",
            at=later(n),
            by="acc_1",
            op="rename",
            target="acc_2",
            details={"from": "a", "to": None, "n": 0.5},
        )
        accounts.commit(write(account(f"acc_{n}"), audit=(entry,)))
    ids = all_ids(lambda after: accounts.audit(after=after, limit=limit))
    assert ids == ["aud_2", "aud_4", "aud_1", "aud_3", "aud_0"]
    newest = accounts.audit(after=None, limit=1).items[0]
    assert newest == AuditEntry(
        id="aud_2",
        at=later(4),
        by="acc_1",
        op="rename",
        target="acc_2",
        details={"from": "a", "to": None, "n": 0.5},
    )


def test_audit_entries_of_one_moment_are_all_listed(accounts: AccountStore) -> None:
    entries = tuple(
        AuditEntry(id=f"aud_{n}", at=T0, by="acc_1", op="add", target=f"acc_{n}") for n in range(25)
    )
    accounts.commit(AccountCommit(audit=entries))
    ids = all_ids(lambda after: accounts.audit(after=after, limit=4))
    assert sorted(ids) == sorted(entry.id for entry in entries)
