"""Opening the file: ours or refused, with a log (WAL), every commit flushed, everything deleted overwritten."""

import os
import sqlite3
import time
from pathlib import Path

from chalicelib.errors import DataFolderError
from chalicelib.sqlite_file import faults

APPLICATION_ID = 0x506C6D70
"""`Plmp` in the file's header: how our file is told from another program's."""
FORMAT = 1
"""`PRAGMA user_version`: the file as a whole. Each part's tables have versions of their own, in `schema_version`."""

_OWN_TABLES = (
    "CREATE TABLE IF NOT EXISTS schema_version (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS scrub_owed (one INTEGER PRIMARY KEY CHECK (one = 1))",
)


def connect(path: Path | None, patience: float) -> sqlite3.Connection:
    """One more connection to the file; None is a new one in memory. `patience`: seconds to wait for a lock."""
    connection = sqlite3.connect(
        path or ":memory:", timeout=patience, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def open_ours(path: Path | None, patience: float) -> sqlite3.Connection:
    """The connection that writes. Makes the file when there is none, readable by its owner only.
    Raises DataFolderError for what is not ours, newer than we are, or cannot be read and written."""
    if path is not None:
        _touch(path)
    with faults.starting(path):
        connection = connect(path, patience)
        try:
            _check(connection, path)
            if path is not None:
                _use_log(connection, path, patience)
            _claim(connection, path)
        except (sqlite3.DatabaseError, DataFolderError):
            connection.close()
            raise
        return connection


def newer(path: Path | None) -> DataFolderError:
    """That the file was written by a version of us that this one does not understand."""
    return DataFolderError(
        f"{path} was written by a newer version of Palimpsest. "
        "Install that version, or choose another data folder."
    )


def _touch(path: Path) -> None:
    """SQLite gives its -wal and -shm the rights of the file, so the file's come first."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise DataFolderError(
            f"The data file {path} cannot be opened ({error.strerror}). "
            "Make sure that its folder exists and is yours, or choose another data folder."
        ) from error


def _check(connection: sqlite3.Connection, path: Path | None) -> None:
    """Look before anything is changed: another program's file, or a newer one, is left alone."""
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if owner != APPLICATION_ID and connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise DataFolderError(f"{path} belongs to another program. Choose another data folder.")
    if version > FORMAT:
        raise newer(path)


def _use_log(connection: sqlite3.Connection, path: Path, patience: float) -> None:
    """SQLite does not wait for others when it changes the journal mode, so we do (two starts at once)."""
    deadline = time.monotonic() + patience
    mode = None
    while mode is None:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if faults.code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    if mode != "wal":
        raise DataFolderError(
            f"The disk of {path} cannot keep a SQLite log (a network folder?). "
            "Choose a data folder on a local disk."
        )


def _claim(connection: sqlite3.Connection, path: Path | None) -> None:
    """Make the file ours. Also proves, before anyone relies on it, that it can be written."""
    connection.execute("BEGIN IMMEDIATE")
    _check(connection, path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    for statement in _OWN_TABLES:
        connection.execute(statement)
    connection.execute("COMMIT")
