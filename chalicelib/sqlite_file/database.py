"""The file as its users see it: read, write, bring tables up to date, scrub, close."""

import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chalicelib.sqlite_file import faults
from chalicelib.sqlite_file.opening import FORMAT, connect, newer, open_ours
from chalicelib.sqlite_file.writer import Writer

Step = tuple[str, ...]
"""Statements that bring a part's tables from one version to the next."""


class Database:
    """The file at `path`, or a private one in memory (`":memory:"`), for all threads of this process.

    Raises DataFolderError when it cannot be opened. `patience`: seconds to wait for another program's lock.
    """

    def __init__(self, path: Path | str = ":memory:", *, patience: float = 5.0) -> None:
        self._path = None if str(path) == ":memory:" else Path(path)
        self._patience = patience
        self._writer = Writer(open_ours(self._path, patience), self._path)
        self._readers: deque[sqlite3.Connection] = deque()
        self._listeners: list[Callable[[], None]] = []

    def migrate(self, part: str, steps: Sequence[Step]) -> None:
        """Bring the tables of `part` to version `len(steps)`: the steps not yet taken, in one transaction.
        Raises DataFolderError when the file has a newer version of them, or cannot be read and written."""
        with faults.starting(self._path):
            with self.read() as connection:
                if _version(connection, part) == len(steps):
                    return
            with self.write() as connection:
                version = _version(connection, part)
                if version > len(steps):
                    raise newer(self._path)
                for step in steps[version:]:
                    for statement in step:
                        connection.execute(statement)
                connection.execute("INSERT OR REPLACE INTO schema_version VALUES (?, ?)", (part, len(steps)))

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading: one snapshot of the file from first to last statement. Inside `write` of the
        same thread it sees that write. Fetch all rows before leaving, and do not write inside (a file in memory
        has one connection for all). Raises StoreUnavailableError."""
        mine = self._writer.mine
        if mine is not None:
            yield mine
        elif self._path is None:
            with self._writer.reading() as connection:
                yield connection
        else:
            with faults.running(), self._reader() as connection:
                yield connection

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection out of those that are idle, or a new one: as many as threads ever read at once."""
        self._writer.check_open()
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = connect(self._path, self._patience)
            connection.execute("PRAGMA query_only = ON")
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._readers.append(connection)
            if self._writer.closed:
                connection.close()

    @contextmanager
    def write(self, *, scrub: bool = False, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A transaction: all of the block or, when it raises, nothing. Durable when the block has been left.

        `scrub`: text was erased; let nothing of it stay in the file or its log.
        `durable` false: for what nobody is told of before something durable is written after it, or what is done
        again when it is lost. It survives the end of the process, but a loss of power only together with a later
        durable write; and it does not wait for the disk. Raises StoreUnavailableError.
        """
        with self._writer.write(scrub=scrub, durable=durable) as connection:
            yield connection
        if durable:
            for listener in self._listeners:
                listener()

    def check_writable(self) -> None:
        """Raise StoreUnavailableError when the file cannot be written now: a page is, and nothing is changed by it."""
        with self.write(durable=False) as connection:
            connection.execute(f"PRAGMA user_version = {FORMAT}")

    def on_commit(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each durable write of this process, in the writer's thread. It must be quick and
        must not raise (set an event)."""
        self._listeners.append(listener)

    def scrub(self) -> bool:
        """Rewrite the file when erased text may still be in it; True when none can be. Blocks writers meanwhile.

        SQLite overwrites what it deletes (`secure_delete`), and the log is emptied after each erase. But it leaves
        copies of rows that it moved between pages, so the promise (M13) needs the whole file to be written anew:
        at once when it is small, else here, when the caller has time.
        """
        return self._writer.scrub()

    def close(self) -> None:
        """Finish what is under way and let go of the file. Nothing can be read or written after it."""
        if not self._writer.closed:
            self._writer.close()
        while self._readers:
            self._readers.pop().close()


def _version(connection: sqlite3.Connection, part: str) -> int:
    """The version of a part's tables; 0 when there are none."""
    row = connection.execute("SELECT version FROM schema_version WHERE part = ?", (part,)).fetchone()
    return int(row[0]) if row else 0
