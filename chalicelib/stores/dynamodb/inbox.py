"""What was done already: idempotency records, and the committing that writes them."""

from datetime import datetime

from pynamodb.expressions.operand import Path

from chalicelib.domain.clock import rfc3339
from chalicelib.domain.records import IdempotencyRecord
from chalicelib.errors import AlreadyDoneError, StaleVersionError, StoreError, StoreUnavailableError
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.items import to
from chalicelib.stores.dynamodb.keys import Key
from chalicelib.stores.dynamodb.retries import ConditionFailedError
from chalicelib.stores.dynamodb.tables import BODY, EXPIRES, EXPIRES_AT, INBOX, PK
from chalicelib.stores.dynamodb.transactions import Put, Transaction
from chalicelib.stores.dynamodb.values import get_text, text, whole

_THE_RECORD = "#idempotency"
"""What the record's condition is about; no target has such a name."""


class DynamoInboxStore:
    """`ports.InboxStore` on DynamoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outcome(self, owner: str, key: str, now: datetime) -> IdempotencyRecord | None:
        """The record, unless it has expired: DynamoDB deletes it only hours later (CASES: pynamodb#259)."""
        item = self._database.get(_key(owner, key))
        if item is None or get_text(item, EXPIRES_AT) <= rfc3339(now):
            return None
        return to(IdempotencyRecord, item)


def commit_once(database: Database, transaction: Transaction, record: IdempotencyRecord | None) -> None:
    """Do the transaction together with writing its idempotency record, if it has one.

    Raises what the `commit` of a store raises: AlreadyDoneError before StaleVersionError.
    """
    if record is not None:
        transaction.writes.append(_put(record))
    if not transaction.writes:
        return
    try:
        database.transact(transaction)
    except ConditionFailedError as error:
        raise _refusal(database, transaction.about(error.failed), record, error) from error


def _refusal(
    database: Database,
    about: tuple[str, ...],
    record: IdempotencyRecord | None,
    error: ConditionFailedError,
) -> StoreError:
    if record is not None:
        # DynamoDB does not promise to name every condition that fails, so the record is looked at.
        known = DynamoInboxStore(database).outcome(record.owner, record.key, record.at)
        if known is not None or _THE_RECORD in about:
            return AlreadyDoneError("done already")
    elif error.uncertain:
        return StoreUnavailableError("an attempt without an answer may have written", unknown=True)
    return StaleVersionError(about)


def _key(owner: str, key: str) -> Key:
    return Key(INBOX, keys.idempotency(owner, key))


def _put(record: IdempotencyRecord) -> Put:
    """The write of a record, in the place of nothing or of an expired one."""
    return Put(
        key=_key(record.owner, record.key),
        item={
            BODY: text(record.model_dump_json()),
            EXPIRES_AT: text(rfc3339(record.expires_at)),
            EXPIRES: whole(int(record.expires_at.timestamp())),
        },
        condition=Path([PK]).does_not_exist() | (Path([EXPIRES_AT]) <= text(rfc3339(record.at))),
        about=_THE_RECORD,
    )
