"""The outbox: what was written and the index or a worker has not been told of. It plays the part of a table's
stream: records are made by the transaction that made the change, so none is lost, and each is given out until it
is said to be done.

One record for each memory or job that waits, however often it was written: its newest write. A write of something
that waits already gives it a new sequence number, so that `done` for the old number does not hide the new write.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from chalicelib.ports import Clock
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.schema import prepare

Kind = Literal["memory", "job"]

_BACKOFF_SECONDS = 1.0
_BACKOFF_MAX_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class OutboxRecord:
    """One thing that waits. `space` is `Space.key`, `id` a memory's number as text or a job's id."""

    seq: int
    kind: Kind
    space: str
    id: str
    attempts: int = 0
    """How often it has failed since it was last written."""


class Outbox:
    """What waits, for the one process that works it off. `on_commit` is called after each durable write of this
    process (in the writer's thread; it must be quick and must not raise), so that nobody needs to poll."""

    def __init__(
        self, database: Database, *, clock: Clock, on_commit: Callable[[], None] | None = None
    ) -> None:
        prepare(database)
        self._database = database
        self._clock = clock
        if on_commit is not None:
            database.on_commit(on_commit)

    def pending(self, limit: int, *, failures: int | None = None) -> list[OutboxRecord]:
        """Up to `limit` records whose time has come, the longest waiting first. `failures`: only those that have
        failed at most so often."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT seq, kind, space, id, attempts FROM outbox "
                "WHERE next_try <= :now AND (:failures IS NULL OR attempts <= :failures) ORDER BY seq LIMIT :limit",
                {"now": self._clock().timestamp(), "failures": failures, "limit": limit},
            ).fetchall()
        return [OutboxRecord(*row) for row in rows]

    def done(self, seqs: Sequence[int]) -> None:
        """These were worked off. One that was written again since keeps its newer record.
        After a loss of power some may be given out once more."""
        if not seqs:
            return
        with self._database.write(durable=False) as connection:
            connection.executemany("DELETE FROM outbox WHERE seq = ?", [(seq,) for seq in seqs])

    def failed(self, seqs: Sequence[int], at: datetime) -> None:
        """These failed at `at`: each is given out again after 1 s, 2 s, 4 s … at most 5 minutes. The others go on
        meanwhile (RELIABILITY R10)."""
        if not seqs:
            return
        with self._database.write() as connection:
            rows = connection.execute(
                "SELECT seq, attempts FROM outbox WHERE seq IN (SELECT value FROM json_each(?))",
                (json.dumps(list(seqs)),),
            ).fetchall()
            connection.executemany(
                "UPDATE outbox SET attempts = attempts + 1, next_try = ? WHERE seq = ?",
                [(at.timestamp() + _backoff(attempts), seq) for seq, attempts in rows],
            )

    def retry_now(self) -> int:
        """Let the time of all that failed come now, for what kept them has ended; how many those are."""
        with self._database.write() as connection:
            hastened = connection.execute("UPDATE outbox SET next_try = 0 WHERE next_try > 0")
        return hastened.rowcount

    def oldest_age(self) -> float:
        """Seconds since the first write of what waits longest; 0 when nothing waits."""
        with self._database.read() as connection:
            since = connection.execute("SELECT min(since) FROM outbox").fetchone()[0]
        return 0.0 if since is None else max(0.0, self._clock().timestamp() - since)

    def next_try(self) -> datetime | None:
        """When the next record's time comes (it may be past); None when nothing waits."""
        with self._database.read() as connection:
            earliest = connection.execute("SELECT min(next_try) FROM outbox").fetchone()[0]
        return None if earliest is None else datetime.fromtimestamp(earliest, UTC)


def announce(
    connection: sqlite3.Connection, kind: Kind, space: str, ids: Sequence[str], at: datetime
) -> None:
    """Make records as part of a transaction. What waits already keeps the time since when it waits."""
    connection.executemany(
        "INSERT OR REPLACE INTO outbox (kind, space, id, since) VALUES (:kind, :space, :id, coalesce("
        "(SELECT since FROM outbox WHERE kind = :kind AND space = :space AND id = :id), :at))",
        [{"kind": kind, "space": space, "id": identifier, "at": at.timestamp()} for identifier in ids],
    )


def _backoff(attempts: int) -> float:
    return min(_BACKOFF_SECONDS * 2.0 ** min(attempts, 30), _BACKOFF_MAX_SECONDS)
