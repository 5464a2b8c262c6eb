"""The DynamoDB stores on two emulators: moto in this process, and MiniStack, a server.

Making a client takes longer than most tests, so one of each is kept, and every test gets tables of its own.
Neither emulator throttles or conflicts, and moto undoes a failed transaction by putting back all tables as they
were before, which would undo what other threads wrote meanwhile: its calls are made one at a time.
"""

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from moto import mock_aws

from chalicelib.stores.dynamodb.accounts import DynamoAccountStore
from chalicelib.stores.dynamodb.database import Access, Database
from chalicelib.stores.dynamodb.inbox import DynamoInboxStore
from chalicelib.stores.dynamodb.memories import DynamoMemoryStore
from chalicelib.stores.dynamodb.provision import create_tables
from chalicelib.stores.dynamodb.tables import DEFINITIONS

Opened = tuple[DynamoMemoryStore, DynamoAccountStore, DynamoInboxStore]


def stores_of(database: Database) -> Opened:
    """The three stores of one database."""
    return DynamoMemoryStore(database), DynamoAccountStore(database), DynamoInboxStore(database)


@contextmanager
def moto_database() -> Iterator[Database]:
    """Empty tables in this process."""
    with mock_aws():
        database = _moto_client()
        create_tables(database)
        yield database


@contextmanager
def ministack_database(url: str) -> Iterator[Database]:
    """Empty tables on the server at `url`, gone afterwards."""
    database = _ministack_client(url)
    create_tables(database)
    try:
        yield database
    finally:
        for table in DEFINITIONS:
            database.connection.delete_table(database.name(table))


@contextmanager
def moto_stores() -> Iterator[Opened]:
    """The stores on moto."""
    with moto_database() as database:
        yield stores_of(database)


@contextmanager
def ministack_stores(url: str) -> Iterator[Opened]:
    """The stores on MiniStack."""
    with ministack_database(url) as database:
        yield stores_of(database)


def one_at_a_time(database: Database) -> Database:
    """The same database, for threads: moto does one call at a time."""
    call, turn = database.connection._make_api_call, threading.Lock()

    def guarded(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        with turn:
            return call(name, arguments)

    database.connection._make_api_call = guarded  # type: ignore[method-assign]
    return database


@cache
def _moto_client() -> Database:
    return one_at_a_time(Database(Access("moto-", "eu-central-1", credentials=("test", "test"))))


@cache
def _ministack_client(url: str) -> Database:
    access = Access(
        prefix=f"contract-{secrets.token_hex(4)}-",
        region="eu-central-1",
        endpoint=url,
        read_timeout=60.0,
        connections=32,
        credentials=("test", "test"),
    )
    return Database(access)
