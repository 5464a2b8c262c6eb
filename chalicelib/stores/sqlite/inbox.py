"""Idempotency records: written by the commits of the other stores, read by whoever repeats a request."""

import sqlite3
from datetime import datetime

from chalicelib.domain.clock import rfc3339
from chalicelib.domain.records import IdempotencyRecord
from chalicelib.errors import AlreadyDoneError
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.schema import prepare

_SWEEP = 20
"""Expired records that each new one takes along, so that they never pile up."""


class SqliteInboxStore:
    """InboxStore in the file. Raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        prepare(database)
        self._database = database

    def outcome(self, owner: str, key: str, now: datetime) -> IdempotencyRecord | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT body FROM idempotency WHERE owner = ? AND key = ? AND expires_at > ?",
                (owner, key, rfc3339(now)),
            ).fetchone()
        return IdempotencyRecord.model_validate_json(row[0]) if row else None


def claim(connection: sqlite3.Connection, record: IdempotencyRecord) -> None:
    """Write `record` as part of a commit. Raises AlreadyDoneError when there is one that has not expired by the
    time of this one."""
    connection.execute(
        "DELETE FROM idempotency WHERE rowid IN "
        "(SELECT rowid FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
        (rfc3339(record.at), _SWEEP),
    )
    written = connection.execute(
        "INSERT INTO idempotency (owner, key, expires_at, body) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (owner, key) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body "
        "WHERE expires_at <= ?",
        (record.owner, record.key, rfc3339(record.expires_at), record.model_dump_json(), rfc3339(record.at)),
    )
    if written.rowcount == 0:
        raise AlreadyDoneError("this request was done already")
