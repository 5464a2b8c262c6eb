"""One suite, all store adapters. An adapter takes part by one line in FACTORIES.

A factory takes the test's request and gives a context manager of empty stores; how much it keeps alive
between tests (a server, a client) is its own business. All three stores of one factory share their storage, for
idempotency records are written by the commits of the other two.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from chalicelib.ports import AccountStore, InboxStore, MemoryStore


class Stores(NamedTuple):
    """The three stores of one adapter."""

    memory: MemoryStore
    accounts: AccountStore
    inbox: InboxStore


Factory = Callable[[pytest.FixtureRequest], AbstractContextManager[Stores]]


@contextmanager
def _sqlite(path: Path | str) -> Iterator[Stores]:
    from chalicelib.sqlite_file import Database
    from chalicelib.stores.sqlite.accounts import SqliteAccountStore
    from chalicelib.stores.sqlite.inbox import SqliteInboxStore
    from chalicelib.stores.sqlite.memories import SqliteMemoryStore

    database = Database(path)
    try:
        memories = SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
        yield Stores(memories, SqliteAccountStore(database), SqliteInboxStore(database))
    finally:
        database.close()


@contextmanager
def _moto(_: pytest.FixtureRequest) -> Iterator[Stores]:
    from tests.contracts.stores.dynamodb_stores import moto_stores

    with moto_stores() as opened:
        yield Stores(*opened)


@contextmanager
def _ministack(request: pytest.FixtureRequest) -> Iterator[Stores]:
    from tests.contracts.stores.dynamodb_stores import ministack_stores

    with ministack_stores(request.getfixturevalue("ministack_url")) as opened:
        yield Stores(*opened)


FACTORIES: dict[str, Factory] = {
    "sqlite_memory": lambda _: _sqlite(":memory:"),
    "sqlite_file": lambda request: _sqlite(request.getfixturevalue("tmp_path") / "palimpsest.db"),
    "moto": _moto,
    "ministack": _ministack,
}

MARKS: dict[str, tuple[pytest.MarkDecorator, ...]] = {
    "ministack": (pytest.mark.ministack,),
}


@pytest.fixture(params=[pytest.param(name, marks=MARKS.get(name, ())) for name in FACTORIES])
def stores(request: pytest.FixtureRequest) -> Iterator[Stores]:
    """Empty stores of one adapter; every test that asks for them runs once with each adapter."""
    with FACTORIES[request.param](request) as opened:
        yield opened


@pytest.fixture
def store(stores: Stores) -> MemoryStore:
    return stores.memory


@pytest.fixture
def accounts(stores: Stores) -> AccountStore:
    return stores.accounts


@pytest.fixture
def inbox(stores: Stores) -> InboxStore:
    return stores.inbox
