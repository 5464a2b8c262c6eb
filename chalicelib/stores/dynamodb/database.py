"""The calls to DynamoDB that the stores make: by PynamoDB, with every time-out and retry stated, and reads always
strongly consistent. What leaves here is an answer or one of the store's own errors."""

import logging
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.connection.base import MetaTable
from pynamodb.exceptions import TableError
from pynamodb.expressions.condition import Condition

from chalicelib.stores.dynamodb.connection import CarefulConnection
from chalicelib.stores.dynamodb.keys import Key
from chalicelib.stores.dynamodb.retries import Retries
from chalicelib.stores.dynamodb.tables import DEFINITIONS, PK, SK, TableDefinition
from chalicelib.stores.dynamodb.transactions import Check, Delete, Put, Transaction, Update, Write
from chalicelib.stores.dynamodb.values import Item

KEYS_IN_A_READ = 100
ITEMS_IN_A_WRITE = 25


@dataclass(frozen=True, slots=True)
class Access:
    """Where the tables are, and how patient we are. Seconds.

    PynamoDB's own time-outs (15 and 30 s) would outlast the gateway's 29 s.
    """

    prefix: str
    """What the names of the tables begin with."""
    region: str
    endpoint: str | None = None
    """URL of an emulator; None = AWS."""
    connect_timeout: float = 1.0
    read_timeout: float = 3.0
    connections: int = 10
    retries: Retries = field(default_factory=Retries)
    credentials: tuple[str, str] | None = None
    """Access key and its secret, for emulators; None = those of the function's role."""


class Database:
    """One client, shared by the three stores; nothing is sent before the first call. Safe to use from threads."""

    def __init__(self, access: Access) -> None:
        for library in ("pynamodb", "botocore"):
            # At DEBUG both log whole requests, and so the texts of memories.
            logging.getLogger(library).setLevel(logging.WARNING)
        key, secret = access.credentials or (None, None)
        self._access = access
        self._retries = access.retries
        self.connection = CarefulConnection(
            region=access.region,
            host=access.endpoint,
            connect_timeout_seconds=access.connect_timeout,
            read_timeout_seconds=access.read_timeout,
            retry_configuration={"total_max_attempts": 1, "mode": "standard"},
            max_pool_connections=access.connections,
            extra_headers={},
            aws_access_key_id=key,
            aws_secret_access_key=secret,
        )
        for table in DEFINITIONS:
            self.connection.add_meta_table(MetaTable(_described(table, self.name(table))))

    def name(self, table: TableDefinition) -> str:
        """The full name of a table."""
        return f"{self._access.prefix}{table.name}"

    def described(self, table: TableDefinition) -> dict[str, Any] | None:
        """What DynamoDB says of a table, with the headers of its answer; None when there is none.
        Raises StoreUnavailableError."""

        def ask() -> dict[str, Any] | None:
            try:
                answer: dict[str, Any] = self.connection.dispatch(
                    "DescribeTable", {"TableName": self.name(table)}
                )
                return answer
            except ClientError as error:
                if error.response["Error"]["Code"] == "ResourceNotFoundException":
                    return None
                raise TableError("the table cannot be described", error) from error
            except BotoCoreError as error:
                raise TableError("the table cannot be described", error) from error

        return self._retries.call(ask)

    def get(self, key: Key, *, attributes: Sequence[str] | None = None) -> Item | None:
        """The item, or those attributes of it; None when there is none."""
        answer = self._retries.call(
            lambda: self.connection.get_item(
                self.name(key.table),
                key.pk,
                range_key=key.sk,
                consistent_read=True,
                attributes_to_get=list(attributes) if attributes else None,
            )
        )
        found: Item | None = answer.get("Item")
        return found

    def get_many(self, keys: Sequence[Key], *, attributes: Sequence[str] | None = None) -> list[Item]:
        """Those items that exist, in no order; any number of keys of one table. What DynamoDB leaves unread in one
        answer is asked for again."""
        found: list[Item] = []

        def read(page: list[Item]) -> list[Item]:
            items, left = self._read_page(keys[0].table, page, attributes)
            found.extend(items)
            return left

        self._retries.until_done([key.item() for key in dict.fromkeys(keys)], KEYS_IN_A_READ, read)
        return found

    def query(
        self,
        table: TableDefinition,
        pk: str,
        condition: Condition,
        *,
        limit: int | None = None,
        index: str | None = None,
        newest_first: bool = False,
        filtered: Condition | None = None,
        attributes: Sequence[str] | None = None,
    ) -> Iterator[Item]:
        """Items of one partition in order of their sort key, page by page until `limit` of those that match are
        there (CASES: pynamodb#137). `condition` is on the sort key of the table or index."""
        start: Item | None = None
        given = 0
        while limit is None or given < limit:
            answer = self._retries.call(
                partial(
                    self.connection.query,
                    self.name(table),
                    pk,
                    range_key_condition=condition,
                    filter_condition=filtered,
                    attributes_to_get=list(attributes) if attributes else None,
                    consistent_read=True,
                    exclusive_start_key=start,
                    index_name=index,
                    limit=None if limit is None else limit - given,
                    scan_index_forward=not newest_first,
                )
            )
            yield from answer["Items"]
            given += len(answer["Items"])
            start = answer.get("LastEvaluatedKey")
            if not start:
                return

    def first_behind(self, table: TableDefinition, behind: Item | None) -> Item | None:
        """Key of the first item behind `behind` (any key, there or not) in the table's own order of partitions."""
        answer = self._retries.call(
            lambda: self.connection.scan(
                self.name(table),
                attributes_to_get=[PK, SK],
                limit=1,
                exclusive_start_key=behind,  # type: ignore[arg-type]
                consistent_read=True,
            )
        )
        return next(iter(answer["Items"]), None)

    def update(self, update: Update, *, repeatable: bool = True) -> Item:
        """Do one update; the new values of the attributes that it changed. Raises ConditionFailedError."""
        answer = self._retries.call(
            lambda: self.connection.update_item(
                self.name(update.key.table),
                update.key.pk,
                range_key=update.key.sk,
                actions=update.actions(),
                condition=update.condition,
                return_values="UPDATED_NEW",
            ),
            write=True,
            repeatable=repeatable,
        )
        changed: Item = answer.get("Attributes", {})
        return changed

    def delete_many(self, keys: Sequence[Key]) -> None:
        """Delete these items of one table, if they are there; what one answer leaves undone is sent again."""
        wanted = [key.item() for key in dict.fromkeys(keys)]
        self._retries.until_done(
            wanted, ITEMS_IN_A_WRITE, lambda page: self._delete_page(keys[0].table, page)
        )

    def transact(self, transaction: Transaction) -> None:
        """Do all writes or none. Raises ItemTooLargeError before anything is sent, ConditionFailedError.

        All attempts carry one token: DynamoDB does the transaction once, even if it is sent again after a time-out.
        """
        transaction.refuse_too_large()
        token = str(uuid.uuid4())
        checks, deletes, puts, updates = (
            [self._request(write) for write in transaction.of(kind)] for kind in (Check, Delete, Put, Update)
        )
        self._retries.call(
            lambda: self.connection.transact_write_items(
                condition_check_items=checks,
                delete_items=deletes,
                put_items=puts,
                update_items=updates,
                client_request_token=token,
            ),
            write=True,
        )

    def _request(self, write: Write) -> dict[str, Any]:
        key = write.key
        item = write.item if isinstance(write, Put) else None
        return self.connection.get_operation_kwargs(
            self.name(key.table),
            key.pk,
            range_key=key.sk,
            key="Key" if item is None else "Item",
            attributes=item,
            actions=write.actions() if isinstance(write, Update) else None,
            condition=write.condition,
        )

    def _read_page(
        self, table: TableDefinition, keys: list[Item], attributes: Sequence[str] | None
    ) -> tuple[list[Item], list[Item]]:
        name = self.name(table)
        answer = self._retries.call(
            lambda: self.connection.batch_get_item(
                name,
                keys,  # type: ignore[arg-type]
                consistent_read=True,
                attributes_to_get=list(attributes) if attributes else None,
            )
        )
        return answer["Responses"].get(name, []), answer.get("UnprocessedKeys", {}).get(name, {}).get(
            "Keys", []
        )

    def _delete_page(self, table: TableDefinition, keys: list[Item]) -> list[Item]:
        name = self.name(table)
        answer = self._retries.call(
            lambda: self.connection.batch_write_item(name, delete_items=keys), write=True
        )
        left = answer.get("UnprocessedItems", {}).get(name, [])
        return [request["DeleteRequest"]["Key"] for request in left]


def _described(table: TableDefinition, name: str) -> dict[str, Any]:
    """What PynamoDB has to know of a table, so that it need not ask AWS for it."""
    return {
        "TableName": name,
        "KeySchema": table.keys(),
        "AttributeDefinitions": table.attributes(),
        "LocalSecondaryIndexes": table.indexes(),
    }
