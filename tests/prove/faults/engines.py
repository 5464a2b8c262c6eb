"""Faults below the ports: inside a transaction of SQLite, and in the calls that DynamoDB's adapters send."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from botocore.exceptions import ConnectionClosedError

from chalicelib.errors import StoreUnavailableError
from tests.prove.faults.injector import Injector, KilledError
from tests.prove.faults.kinds import AFTER, KILLS, Decision, Kind, of
from tests.unit.stores import dynamodb_faults
from tests.unit.stores.dynamodb_faults import Answer, Faults

Transaction = Callable[..., AbstractContextManager[Any]]


def failing_transactions(write: Transaction, injector: Injector) -> Transaction:
    """`Database.write`, whose transaction fails just before its COMMIT, or just after it."""
    site, decision = "SQLite.transaction", of("SQLite", "transaction")
    assert decision is not None

    def error(kind: Kind) -> BaseException:
        injector.fire(site, kind)
        return (
            KilledError(site)
            if kind in KILLS
            else StoreUnavailableError(f"{kind} (injected)", unknown=kind in AFTER)
        )

    @contextmanager
    def failing(**how: Any) -> Iterator[Any]:
        kind = injector.strike(site, decision)
        with write(**how) as connection:
            yield connection
            if kind is not None and kind not in AFTER:
                raise error(kind)
        if kind is not None:
            raise error(kind)

    return failing


class DynamoFaults(Faults):
    """Faults of single calls to DynamoDB, by the injector's chance: before the table does anything, or when it did."""

    def __init__(self, injector: Injector) -> None:
        super().__init__()
        self._injector = injector
        self._pending: tuple[str, Kind] | None = None

    def _begin(self, model: Any, params: dict[str, Any], **_: Any) -> Answer | None:
        site, self._pending = f"DynamoDB.{model.name}", None
        decision = of("DynamoDB", model.name)
        kind = self._injector.strike(site, decision) if decision is not None else None
        if kind is None:
            return None
        if kind in AFTER:
            self._pending = (site, kind)
            return None
        self._injector.fire(site, kind)
        if kind is Kind.KILL:
            raise KilledError(site)
        return _refused(model.name, kind, decision)

    def _end(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        if self._pending is None or "Error" in parsed:
            return
        (site, kind), self._pending = self._pending, None
        self._injector.fire(site, kind)
        if kind in KILLS:
            raise KilledError(site)
        raise ConnectionClosedError(endpoint_url=dynamodb_faults.URL)


def _refused(operation: str, kind: Kind, decision: Decision | None) -> Answer | None:
    """How DynamoDB says it; a transaction that meets another one is one way of being throttled."""
    if kind is Kind.TIMEOUT:
        dynamodb_faults.silence({})
    if kind is Kind.SERVER_ERROR:
        return dynamodb_faults.BROKEN({})
    if operation == "TransactWriteItems" and decision is not None:
        return dynamodb_faults.cancelled("TransactionConflict")({})
    return dynamodb_faults.THROTTLED({})
