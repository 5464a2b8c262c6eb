"""The one writer of the file. Writers who wait for their turn share one flush: the disk's flush (4-6 ms), not
SQLite, is what bounds commits a second.

Each write has a savepoint of its own inside the shared transaction, so it is kept or taken back by itself, and
returns only when the transaction that holds it is on the disk.

A write that is not `durable` waits for no flush: it is in the log, which the end of the process does not hurt, and
the next flush takes it along. Only a loss of power can take it back, and with it, as the log is read in order, never
anything that was written before it, nor one that something durable was written after.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chalicelib.errors import StoreUnavailableError
from chalicelib.sqlite_file import faults

SMALL = 16 * 1024 * 1024
"""Bytes up to which an erase rewrites the whole file at once (about 0.2 s); above, `scrub` does so later."""
SHARE = 64
"""Writes in one transaction at most: nobody waits for an endless row of others."""
HANDOVER_SECONDS = 0.05
TURN_SECONDS = 30.0


class _Batch:
    """Writes that share one transaction."""

    __slots__ = ("done", "durable", "error", "scrub", "size", "unknown")

    def __init__(self, *, durable: bool) -> None:
        self.durable = durable
        self.done = threading.Event()
        self.error: sqlite3.Error | None = None
        self.unknown = False
        self.scrub = False
        self.size = 0


class Writer:
    """The connection that writes, and who may use it now. `path` None: in memory, where there is no flush to share."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.Lock()
        self._turns: deque[None] = deque()
        self._batch: _Batch | None = None
        self._flushing = True
        self._local = threading.local()
        self.closed = False

    @property
    def mine(self) -> sqlite3.Connection | None:
        """The connection, when it is this thread that has it."""
        return getattr(self._local, "connection", None)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for reading, while nobody writes: the only one that a file in memory has."""
        with self._turn(), faults.running():
            self._local.connection = self._connection
            try:
                yield self._connection
            finally:
                self._local.connection = None

    @contextmanager
    def write(self, *, scrub: bool, durable: bool) -> Iterator[sqlite3.Connection]:
        """As `Database.write`."""
        if self.mine is not None:
            raise RuntimeError("leave the read or write that this thread has open first")
        batch: _Batch | None = None
        try:
            with self._turn(), faults.running():
                batch = self._batch or self._begin(durable=durable or scrub)
                with self._part_of(batch) as connection:
                    yield connection
                    if scrub:
                        connection.execute("INSERT OR IGNORE INTO scrub_owed VALUES (1)")
                        batch.scrub = True
        finally:
            if batch is not None:
                self._wait(batch)

    def scrub(self) -> bool:
        """As `Database.scrub`."""
        with self._turn(), faults.running():
            if self._batch is not None:
                self._finish(self._batch)
            self._flush_commits(True)
            return self._scrub(at_most=None)

    def close(self) -> None:
        """Finish what is under way; whoever comes later is told that the file is closed."""
        with self._turn():
            self.closed = True
            if self._batch is not None:
                self._finish(self._batch)
            self._connection.close()

    def check_open(self) -> None:
        """Raise StoreUnavailableError once the file is closed."""
        if self.closed:
            raise StoreUnavailableError("the data file is closed")

    @contextmanager
    def _turn(self, *, unknown: bool = False) -> Iterator[None]:
        """Wait for the writer's place; `_turns` shows whoever has it that others are waiting. `unknown`: what this
        thread wrote before may still become durable when the place is not to be had."""
        self._turns.append(None)
        try:
            got = self._lock.acquire(timeout=TURN_SECONDS)
        finally:
            self._turns.pop()
        if not got:
            raise StoreUnavailableError("other writes take too long", unknown=unknown)
        try:
            self.check_open()
            yield
        finally:
            self._lock.release()

    def _begin(self, *, durable: bool) -> _Batch:
        self._flush_commits(durable)
        self._connection.execute("BEGIN IMMEDIATE")
        self._batch = _Batch(durable=durable)
        return self._batch

    def _flush_commits(self, wanted: bool) -> None:
        """Whether a commit flushes the log. (A checkpoint does in any case, before it touches the file.)"""
        if wanted is not self._flushing:
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if wanted else 'NORMAL'}")
            self._flushing = wanted

    @contextmanager
    def _part_of(self, batch: _Batch) -> Iterator[sqlite3.Connection]:
        """One write's part of the batch. Then commit, or leave the flush to whoever is waiting for a turn."""
        connection = self._local.connection = self._connection
        batch.size += 1
        kept = False
        try:
            connection.execute("SAVEPOINT one_write")
            yield connection
            connection.execute("RELEASE one_write")
            kept = True
        except sqlite3.Error as error:
            if not connection.in_transaction:  # SQLite has taken back the whole batch (a full disk)
                batch.error = error
            raise
        finally:
            self._local.connection = None
            if not kept and connection.in_transaction:
                connection.execute("ROLLBACK TO one_write")
                connection.execute("RELEASE one_write")
            shared = self._turns and batch.durable and batch.error is None and batch.size < SHARE
            if self._path is None or not shared:
                self._finish(batch)

    def _finish(self, batch: _Batch) -> None:
        """Make the batch durable, or take it back; tell its writers."""
        self._batch = None
        try:
            if batch.error is None:
                self._connection.execute("COMMIT")
            if batch.scrub and batch.error is None:
                self._scrub(at_most=SMALL)
        except sqlite3.Error as error:
            batch.error = error
            batch.unknown = faults.code_of(error) == sqlite3.SQLITE_IOERR
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            batch.done.set()

    def _wait(self, batch: _Batch) -> None:
        """Until the batch is durable. Whoever was to flush it may have given up meanwhile: then we do."""
        while not batch.done.wait(HANDOVER_SECONDS):
            with self._turn(unknown=True):
                if self._batch is not None:
                    self._finish(self._batch)
        if batch.error is not None:
            typed = faults.unavailable(batch.error, unknown=batch.unknown)
            raise typed or batch.error from batch.error

    def _scrub(self, *, at_most: int | None) -> bool:
        if self._path is None:
            return True
        # What fails here (a full disk, another program's lock) stays owed, on disk, for the next call.
        with suppress(sqlite3.DatabaseError):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            owed = self._connection.execute("SELECT 1 FROM scrub_owed").fetchone() is not None
            if owed and (at_most is None or self._path.stat().st_size <= at_most):
                self._connection.execute("VACUUM")
                busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if not busy:
                    self._connection.execute("DELETE FROM scrub_owed")
                    owed = False
            return not owed
        return False
