"""DynamoDB stores on moto whose calls fail when a test says so, as those of AWS do and no emulator's do.

Faults are injected inside botocore, below PynamoDB: before a call (nothing was done) or after it (it was done, and the
answer is lost). Nothing sleeps: waits are recorded.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Self

from botocore.awsrequest import AWSResponse
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from moto import mock_aws

from chalicelib.stores.dynamodb.accounts import DynamoAccountStore
from chalicelib.stores.dynamodb.database import Access, Database
from chalicelib.stores.dynamodb.inbox import DynamoInboxStore
from chalicelib.stores.dynamodb.memories import DynamoMemoryStore
from chalicelib.stores.dynamodb.provision import create_tables
from chalicelib.stores.dynamodb.retries import Retries
from tests.contracts.stores.dynamodb_stores import one_at_a_time

ATTEMPTS = 5
URL = "https://dynamodb.example"

Answer = tuple[AWSResponse, dict[str, Any]]
Fault = Callable[[dict[str, Any]], Answer | None]
"""Takes the request; gives an answer in the place of the real one, or raises, or gives None: all is well."""


@dataclass
class Faults:
    """What goes wrong with the next calls, and what was called. One fault a call, in order, by operation."""

    before: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    after: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)

    def on(self, operation: str, *faults: Fault) -> Self:
        """The next calls of `operation` fail so, before anything is done."""
        self.before[operation].extend(faults)
        return self

    def after_doing(self, operation: str, *faults: Fault) -> Self:
        """The next calls of `operation` are done, and fail so."""
        self.after[operation].extend(faults)
        return self

    def sent(self, operation: str) -> list[dict[str, Any]]:
        """The requests of one operation, in order."""
        return [request for name, request in self.calls if name == operation]

    def _begin(self, model: Any, params: dict[str, Any], **_: Any) -> Answer | None:
        request = json.loads(params["body"])
        self.calls.append((model.name, request))
        waiting = self.before[model.name]
        return waiting.pop(0)(request) if waiting else None

    def _end(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        waiting = self.after[model.name]
        if waiting and "Error" not in parsed:
            waiting.pop(0)(parsed)

    def _jitter(self, low: float, high: float) -> float:
        self.bounds.append(high)
        return (low + high) / 2


@dataclass
class Dynamo:
    """The stores, and the faults of their calls."""

    database: Database
    faults: Faults

    @property
    def memory(self) -> DynamoMemoryStore:
        return DynamoMemoryStore(self.database)

    @property
    def accounts(self) -> DynamoAccountStore:
        return DynamoAccountStore(self.database)

    @property
    def inbox(self) -> DynamoInboxStore:
        return DynamoInboxStore(self.database)


@contextmanager
def opened() -> Iterator[Dynamo]:
    """Empty stores on moto, without any fault yet."""
    with mock_aws():
        database, switch = _client()
        create_tables(database)
        faults = Faults()
        switch.append(faults)
        yield Dynamo(database, faults)


@cache
def _client() -> tuple[Database, list[Faults]]:
    """Making a client is slow, so one is kept; the last of the list are the faults in force."""
    switch = [Faults()]
    retries = Retries(
        attempts=ATTEMPTS,
        sleep=lambda seconds: switch[-1].waits.append(seconds),
        jitter=lambda low, high: switch[-1]._jitter(low, high),
    )
    access = Access("faulty-", "eu-central-1", retries=retries, credentials=("test", "test"))
    database = one_at_a_time(Database(access))
    events = database.connection.client.meta.events  # type: ignore[attr-defined]
    events.register("before-call.dynamodb", lambda **event: switch[-1]._begin(**event))
    events.register("after-call.dynamodb", lambda **event: switch[-1]._end(**event))
    return database, switch


def _response(status: int) -> AWSResponse:
    return AWSResponse(URL, status, {}, None)


def refusal(code: str, message: str = "", status: int = 400, reasons: Sequence[str] = ()) -> Fault:
    """An error that DynamoDB answers with; `reasons` are those of a cancelled transaction."""
    parsed = {
        "Error": {"Code": code, "Message": message},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}},
        "CancellationReasons": [{"Code": reason} for reason in reasons],
    }
    return lambda _: (_response(status), parsed)


def answer(parsed: dict[str, Any]) -> Fault:
    """An answer that we make up."""
    whole = {"ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}}} | parsed
    return lambda _: (_response(200), whole)


def cancelled(*reasons: str) -> Fault:
    """A cancelled transaction, with the reason of each of its actions ("None" = not this one)."""
    return refusal("TransactionCanceledException", reasons=reasons)


def silence(_: dict[str, Any]) -> None:
    """No answer in time."""
    raise ReadTimeoutError(endpoint_url=URL)


def unreached(_: dict[str, Any]) -> None:
    """No connection."""
    raise ConnectTimeoutError(endpoint_url=URL)


def well(_: dict[str, Any]) -> None:
    """No fault this time."""


THROTTLED = refusal("ProvisionedThroughputExceededException")
BROKEN = refusal("InternalServerError", status=500)
IN_PROGRESS = refusal("TransactionInProgressException")
CONFLICT = refusal("TransactionConflictException")
