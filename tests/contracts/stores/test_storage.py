"""What every storage says of itself to an operator: all tables are there, and changes are handed on."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.errors import StoreUnavailableError
from chalicelib.ports import Storage
from chalicelib.sqlite_file import Database
from chalicelib.stores.dynamodb.database import Access
from chalicelib.stores.dynamodb.database import Database as Tables
from chalicelib.stores.dynamodb.inspection import DynamoStorage
from chalicelib.stores.dynamodb.retries import Retries
from chalicelib.stores.dynamodb.tables import INBOX, MEMORY
from chalicelib.stores.sqlite.inspection import SqliteStorage
from chalicelib.stores.sqlite.schema import prepare
from tests.contracts.stores.dynamodb_stores import ministack_database, moto_database


@pytest.fixture(params=["sqlite", "moto", pytest.param("ministack", marks=pytest.mark.ministack)])
def storage(request: pytest.FixtureRequest) -> Iterator[Storage]:
    """A storage that lacks nothing."""
    if request.param == "sqlite":
        database = Database()
        prepare(database)
        yield SqliteStorage(database)
        database.close()
        return
    chosen = (
        moto_database()
        if request.param == "moto"
        else ministack_database(request.getfixturevalue("ministack_url"))
    )
    with chosen as tables:
        yield DynamoStorage(tables)


def test_where_all_is_there_nothing_is_missing(storage: Storage) -> None:
    seen = storage.look()
    assert (seen.missing, seen.streamless) == ((), ())
    assert seen.clock is None or abs(seen.clock - datetime.now(UTC)) < timedelta(days=1)


def test_a_file_without_a_table_names_it() -> None:
    database = Database()
    prepare(database)
    with database.write() as connection:
        connection.execute("DROP TABLE outbox")
    assert SqliteStorage(database).look().missing == ("outbox",)


def test_a_dynamodb_table_that_is_gone_or_has_no_stream_is_named() -> None:
    with moto_database() as tables:
        tables.connection.delete_table(tables.name(INBOX))
        tables.connection.dispatch(
            "UpdateTable",
            {"TableName": tables.name(MEMORY), "StreamSpecification": {"StreamEnabled": False}},
        )
        seen = DynamoStorage(tables).look()
        assert (seen.missing, seen.streamless) == (("moto-inbox",), ("moto-memory",))


def test_dynamodb_says_what_time_it_is_there() -> None:
    with moto_database() as tables:
        answers: dict[str, object] = {"Table": {}, "ResponseMetadata": {"HTTPHeaders": {}}}
        headers = answers["ResponseMetadata"]["HTTPHeaders"]  # type: ignore[index]
        tables.described = lambda _table: answers  # type: ignore[method-assign,assignment,return-value]
        try:
            assert DynamoStorage(tables).look().clock is None
            headers["date"] = "Mon, 04 May 2026 09:00:00 GMT"
            assert DynamoStorage(tables).look().clock == datetime(2026, 5, 4, 9, tzinfo=UTC)
            headers["date"] = "today"
            assert DynamoStorage(tables).look().clock is None
        finally:
            del tables.described


def test_tables_that_nobody_may_ask_about_or_that_do_not_answer_are_an_error_not_missing() -> None:
    away = Access(
        "away-", "eu-central-1", "http://127.0.0.1:9", credentials=("a", "b"), retries=Retries(attempts=1)
    )
    with pytest.raises(StoreUnavailableError):
        DynamoStorage(Tables(away)).look()
