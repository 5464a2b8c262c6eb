"""What the disk or another program can do to the file, in our errors: while running, and at the start."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chalicelib.errors import DataFolderError, StoreUnavailableError

_LOCKED = (
    "another program has locked the data file",
    "Stop the other program, or choose another data folder.",
)
_FAULTS = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space and start again."),
    sqlite3.SQLITE_IOERR: ("the disk failed to read or write", "Check it, or choose another data folder."),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
    sqlite3.SQLITE_READONLY: (
        "the data file may not be written",
        "Give yourself the right to write there, or choose another data folder.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the data file cannot be opened",
        "Make sure that its folder exists and is yours, or choose another data folder.",
    ),
    sqlite3.SQLITE_CORRUPT: ("the data file is damaged", "Move it away and restore an export or a backup."),
    sqlite3.SQLITE_NOTADB: (
        "the data file is not a SQLite database",
        "Move it away, or choose another data folder.",
    ),
}
"""What is wrong, and what a person can do about it. Any other error is a mistake in our code, and stays what it is."""


def code_of(error: sqlite3.Error) -> int:
    """The primary result code: the low byte of the extended one; 0 when Python raised it itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def unavailable(error: sqlite3.Error, *, unknown: bool = False) -> StoreUnavailableError | None:
    """What `error` is to a store's caller; None for an error that only a mistake in our code can cause."""
    fault = _FAULTS.get(code_of(error))
    return StoreUnavailableError(fault[0], unknown=unknown) if fault else None


@contextmanager
def running() -> Iterator[None]:
    """Turns what the disk or another program causes into StoreUnavailableError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        typed = unavailable(error)
        if typed is None:
            raise
        raise typed from error


@contextmanager
def starting(path: Path | None) -> Iterator[None]:
    """Turns the same into DataFolderError: nobody is served yet, and a person is looking at what we say."""
    try:
        yield
    except (sqlite3.DatabaseError, StoreUnavailableError) as error:
        cause = error.__cause__ if isinstance(error, StoreUnavailableError) else error
        fault = _FAULTS.get(code_of(cause)) if isinstance(cause, sqlite3.DatabaseError) else None
        if fault is None:
            raise
        raise DataFolderError(f"{path}: {fault[0]}. {fault[1]}") from error
