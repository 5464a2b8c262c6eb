"""Opening the data file: what is refused, and in which words."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chalicelib.errors import DataFolderError
from chalicelib.sqlite_file import Database
from chalicelib.sqlite_file.opening import APPLICATION_ID

STEPS = (("CREATE TABLE note (text TEXT)",), ("ALTER TABLE note ADD COLUMN at TEXT",))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "palimpsest.db"


def refusal(path: Path, **options: float) -> str:
    """The sentence with which opening is refused."""
    with pytest.raises(DataFolderError) as refused:
        Database(path, **options)
    return str(refused.value)


def test_a_new_file_is_ours_and_its_owner_s_alone(path: Path) -> None:
    Database(path).close()
    plain = sqlite3.connect(path)
    assert plain.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    assert plain.execute("PRAGMA user_version").fetchone()[0] == 1
    assert plain.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    plain.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_every_commit_is_flushed_and_what_is_deleted_is_overwritten(path: Path) -> None:
    database = Database(path)
    with database.write() as connection:
        settings = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("synchronous", "secure_delete", "foreign_keys", "busy_timeout")
        }
    assert settings == {"synchronous": 2, "secure_delete": 1, "foreign_keys": 1, "busy_timeout": 5000}
    database.close()


def test_tables_are_made_once_and_brought_up_to_date(path: Path) -> None:
    database = Database(path)
    database.migrate("notes", STEPS[:1])
    with database.write() as connection:
        connection.execute("INSERT INTO note VALUES ('kept')")
    database.migrate("notes", STEPS)
    database.migrate("notes", STEPS)
    with database.read() as connection:
        assert connection.execute("SELECT text, at FROM note").fetchall() == [("kept", None)]
    database.close()


def test_a_step_that_fails_leaves_the_tables_as_they_were(path: Path) -> None:
    database = Database(path)
    broken = (*STEPS, ("CREATE TABLE second (x)", "CREATE TABLE note (again)"))
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        database.migrate("notes", broken)
    with database.read() as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert not names & {"note", "second"}
    database.migrate("notes", STEPS)
    database.close()


def test_tables_of_a_newer_version_are_refused(path: Path) -> None:
    database = Database(path)
    database.migrate("notes", STEPS)
    with pytest.raises(DataFolderError, match=r"newer version of Palimpsest\. Install that version"):
        database.migrate("notes", STEPS[:1])
    database.close()


def test_a_file_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    Database(path).close()
    plain = sqlite3.connect(path)
    plain.execute("PRAGMA user_version = 2")
    plain.close()
    assert "newer version of Palimpsest" in refusal(path)
    plain = sqlite3.connect(path)
    assert plain.execute("PRAGMA user_version").fetchone()[0] == 2
    plain.close()


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    plain = sqlite3.connect(path)
    plain.execute("CREATE TABLE recipes (name)")
    plain.close()
    before = path.read_bytes()
    assert "belongs to another program. Choose another data folder." in refusal(path)
    assert path.read_bytes() == before


def test_what_is_not_a_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"a shopping list\n" * 500)
    assert "not a SQLite database. Move it away" in refusal(path)
    assert path.read_bytes() == b"a shopping list\n" * 500


def test_a_damaged_file_is_refused(path: Path) -> None:
    database = Database(path)
    database.migrate("notes", STEPS)
    database.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(DataFolderError, match=r"damaged\. Move it away and restore"):
        Database(path).migrate("more notes", STEPS)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert "No such file or directory" in refusal(tmp_path / "none" / "palimpsest.db")


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be opened" in refusal(tmp_path)


def test_a_file_that_another_program_holds_is_refused(path: Path) -> None:
    Database(path).close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert "another program has locked the data file. Stop the other program" in refusal(path, patience=0.05)
    other.execute("ROLLBACK")
    other.close()
    Database(path).close()


def test_a_new_file_that_another_program_holds_is_refused(path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert "another program has locked" in refusal(path, patience=0.05)
    other.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_may_not_be_written_is_refused(path: Path) -> None:
    Database(path).close()
    path.chmod(0o400)
    assert "Permission denied" in refusal(path)


def test_a_disk_without_shared_memory_for_the_log_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_log(path: Path, patience: float) -> sqlite3.Connection:
        return sqlite3.connect(":memory:", isolation_level=None)

    monkeypatch.setattr("chalicelib.sqlite_file.opening.connect", without_log)
    assert "Choose a data folder on a local disk." in refusal(path)


class Busy(sqlite3.Connection):
    """A connection to a file that another program opens at the same moment: the log cannot be switched on yet."""

    times = 2

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        if "journal_mode" in statement and self.times:
            self.times -= 1
            error = sqlite3.OperationalError("as if")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return super().execute(statement, *parameters)


@pytest.mark.parametrize("patience", [5.0, 0.0])
def test_a_file_that_another_program_is_just_opening_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    def busy(path: Path, patience: float) -> sqlite3.Connection:
        return sqlite3.connect(path, timeout=patience, isolation_level=None, factory=Busy)

    monkeypatch.setattr("chalicelib.sqlite_file.opening.connect", busy)
    if patience:
        Database(path, patience=patience).close()
    else:
        assert "another program has locked" in refusal(path, patience=-1)


def test_programs_that_start_at_once_make_one_file(path: Path) -> None:
    program = (
        "import sys; from chalicelib.sqlite_file import Database\n"
        "database = Database(sys.argv[1])\n"
        "database.migrate('notes', (('CREATE TABLE note (text TEXT)',),))\n"
        "with database.write() as connection: connection.execute(\"INSERT INTO note VALUES ('x')\")\n"
        "database.close()\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0, 0, 0, 0]
    database = Database(path)
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM note").fetchone()[0] == 4
    database.close()


def test_each_file_in_memory_is_its_own() -> None:
    first, second = Database(), Database(":memory:")
    first.migrate("notes", STEPS)
    second.migrate("notes", STEPS)
    with first.write() as connection:
        connection.execute("INSERT INTO note VALUES ('mine', NULL)")
    with second.read() as connection:
        assert connection.execute("SELECT * FROM note").fetchall() == []
    assert first.scrub()
    first.close()
    second.close()
