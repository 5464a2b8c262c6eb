"""Reading and writing the data file: transactions, shared flushes, and what happens when the disk fails."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chalicelib.errors import StoreUnavailableError
from chalicelib.sqlite_file import Database

STEPS = (("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)",),)


class Flaky:
    """The writer's connection; statements that begin with `broken` fail as SQLite would."""

    def __init__(self, real: sqlite3.Connection, broken: str, code: int) -> None:
        self.real, self.broken, self.code, self.calls = real, broken, code, 0

    def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
        if statement.startswith(self.broken):
            self.calls += 1
            error = sqlite3.OperationalError("as if")
            error.sqlite_errorcode = self.code
            raise error
        return self.real.execute(statement, *parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@pytest.fixture(params=["file", "memory"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "palimpsest.db" if request.param == "file" else ":memory:", patience=0.1)
    opened.migrate("notes", STEPS)
    yield opened
    opened.close()


@pytest.fixture
def on_disk(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "palimpsest.db", patience=0.1)
    opened.migrate("notes", STEPS)
    yield opened
    opened.close()


def note(database: Database, text: str) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO note (text) VALUES (?)", (text,))


def break_off(database: Database) -> None:
    """A write whose block raises after its first statement."""
    with database.write() as connection:
        connection.execute("INSERT INTO note (text) VALUES ('lost')")
        raise KeyError("stop")


def notes(database: Database) -> list[str]:
    with database.read() as connection:
        return [row[0] for row in connection.execute("SELECT text FROM note ORDER BY id").fetchall()]


def test_a_block_that_raises_writes_nothing(database: Database) -> None:
    note(database, "kept")
    with pytest.raises(KeyError):
        break_off(database)
    assert notes(database) == ["kept"]
    note(database, "next")
    assert notes(database) == ["kept", "next"]


def test_a_mistake_in_a_statement_is_not_taken_for_a_full_disk(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), database.write() as connection:
        connection.execute("INSERT INTO nowhere VALUES (1)")
    with pytest.raises(sqlite3.OperationalError, match="no such table"), database.read() as connection:
        connection.execute("SELECT * FROM nowhere")
    note(database, "next")
    assert notes(database) == ["next"]


def test_a_read_inside_a_write_sees_it_and_others_do_not(on_disk: Database) -> None:
    with on_disk.write() as connection:
        connection.execute("INSERT INTO note (text) VALUES ('new')")
        assert notes(on_disk) == ["new"]
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(notes, on_disk).result() == []
    assert notes(on_disk) == ["new"]


def test_a_write_inside_a_write_is_refused(database: Database) -> None:
    with database.write(), pytest.raises(RuntimeError, match="leave the read or write"):
        note(database, "inside")
    note(database, "next")
    assert notes(database) == ["next"]


def test_a_read_inside_a_read_is_no_trouble(database: Database) -> None:
    note(database, "kept")
    with database.read() as connection:
        assert notes(database) == ["kept"]
        assert connection.execute("SELECT text FROM note").fetchall() == [("kept",)]


def test_one_read_sees_one_state_of_the_file(on_disk: Database) -> None:
    note(on_disk, "first")
    with on_disk.read() as connection:
        assert connection.execute("SELECT count(*) FROM note").fetchone()[0] == 1
        note(on_disk, "second")
        assert connection.execute("SELECT count(*) FROM note").fetchone()[0] == 1
    assert notes(on_disk) == ["first", "second"]


def test_nothing_can_be_written_through_a_connection_for_reading(on_disk: Database) -> None:
    with (
        pytest.raises(StoreUnavailableError, match="may not be written"),
        on_disk.read() as connection,
    ):
        connection.execute("INSERT INTO note (text) VALUES ('x')")


def test_writers_in_many_threads_are_all_kept_and_the_failing_ones_are_not(database: Database) -> None:
    def work(worker: int) -> None:
        for turn in range(20):
            if (worker + turn) % 4:
                note(database, f"{worker}.{turn}")
            else:
                with pytest.raises(KeyError):
                    break_off(database)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sorted(notes(database)) == sorted(f"{w}.{t}" for w in range(8) for t in range(20) if (w + t) % 4)


def lose_all(database: Database) -> None:
    """A write in which SQLite rolls everything back by itself, as it may when the disk is full."""
    with database.write() as connection:
        connection.execute("ROLLBACK")
        error = sqlite3.OperationalError("as if")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error


def until(condition: Callable[[], bool]) -> None:
    """Wait, without a fixed time, for what another thread is about to do."""
    while not condition():
        threading.Event().wait(0.001)


@contextmanager
def hold(database: Database, pool: ThreadPoolExecutor, text: str) -> Iterator[Future[None]]:
    """A write in another thread that has its turn, and ends when the block is left."""
    has_turn, may_end = threading.Event(), threading.Event()

    def work() -> None:
        with database.write() as connection:
            connection.execute("INSERT INTO note (text) VALUES (?)", (text,))
            has_turn.set()
            may_end.wait()

    future = pool.submit(work)
    has_turn.wait()
    try:
        yield future
    finally:
        may_end.set()


def waiting_writers(database: Database, count: int, pool: ThreadPoolExecutor) -> list[Future[None]]:
    """So many writers that are waiting for their turn."""
    futures = [pool.submit(note, database, f"w{index}") for index in range(count)]
    until(lambda: len(database._writer._turns) >= count)
    return futures


def test_writers_who_wait_share_one_flush(on_disk: Database) -> None:
    counted = Flaky(on_disk._writer._connection, "never", 0)
    commits: list[str] = []
    real = counted.execute
    counted.execute = lambda statement, *rest: (  # type: ignore[method-assign]
        commits.append(statement) if statement == "COMMIT" else None,
        real(statement, *rest),
    )[1]
    on_disk._writer._connection = counted  # type: ignore[assignment]
    with ThreadPoolExecutor(5) as pool:
        with on_disk.write():
            futures = waiting_writers(on_disk, 5, pool)
        for future in futures:
            future.result()
    assert len(commits) == 1
    assert len(notes(on_disk)) == 5


def soft_note(database: Database, text: str) -> int:
    """A note that need not be durable; the connection's setting while it was written."""
    with database.write(durable=False) as connection:
        connection.execute("INSERT INTO note (text) VALUES (?)", (text,))
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])


def after_a_loss_of_power(database: Database, folder: Path, flushed: int) -> list[str]:
    """The notes of a copy of the file whose log ends where it was flushed last."""
    folder.mkdir()
    path = database._path
    assert path is not None
    (folder / "copy.db").write_bytes(path.read_bytes())
    (folder / "copy.db-wal").write_bytes(log_of(path).read_bytes()[:flushed])
    copy = Database(folder / "copy.db")
    try:
        return notes(copy)
    finally:
        copy.close()


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def test_what_need_not_be_durable_is_there_at_once_and_lost_only_with_the_end_of_the_log(
    on_disk: Database, tmp_path: Path
) -> None:
    log = log_of(tmp_path / "palimpsest.db")
    note(on_disk, "first")
    flushed = log.stat().st_size
    assert soft_note(on_disk, "second") == 1
    assert notes(on_disk) == ["first", "second"]
    assert after_a_loss_of_power(on_disk, tmp_path / "before", flushed) == ["first"]
    note(on_disk, "third")
    assert after_a_loss_of_power(on_disk, tmp_path / "after", log.stat().st_size) == [
        "first",
        "second",
        "third",
    ]


def test_a_durable_write_is_flushed_whatever_was_written_before_it(on_disk: Database, tmp_path: Path) -> None:
    def flushes() -> bool:
        with on_disk.write() as connection:
            return bool(connection.execute("PRAGMA synchronous").fetchone()[0] == 2)

    assert soft_note(on_disk, "kept") == 1
    assert flushes()
    other = sqlite3.connect(tmp_path / "palimpsest.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="another program has locked"):
        soft_note(on_disk, "late")
    other.close()
    assert flushes()
    soft_note(on_disk, "erased")
    with on_disk.write(scrub=True, durable=False) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    soft_note(on_disk, "next")
    assert on_disk.scrub()
    assert notes(on_disk) == ["kept", "erased", "next"]


def test_what_need_not_be_durable_waits_for_nobody(on_disk: Database) -> None:
    with ThreadPoolExecutor(2) as pool:
        with on_disk.write(durable=False) as connection:
            connection.execute("INSERT INTO note (text) VALUES ('mine')")
            waiting = waiting_writers(on_disk, 1, pool)
            batch = on_disk._writer._batch
            assert batch is not None
            assert not batch.done.is_set()
        assert batch.done.is_set()
        waiting[0].result()
    assert notes(on_disk) == ["mine", "w0"]


def test_among_others_it_shares_their_flush(on_disk: Database) -> None:
    with ThreadPoolExecutor(2) as pool:
        with hold(on_disk, pool, "theirs") as theirs:
            joined = pool.submit(soft_note, on_disk, "mine")
            until(lambda: bool(on_disk._writer._turns))
        theirs.result()
        assert joined.result() == 2
    assert notes(on_disk) == ["theirs", "mine"]


def test_when_the_shared_flush_fails_every_writer_of_it_is_told(on_disk: Database) -> None:
    note(on_disk, "before")
    real = on_disk._writer._connection
    with ThreadPoolExecutor(4) as pool:
        with hold(on_disk, pool, "mine") as mine:
            futures = [mine, *waiting_writers(on_disk, 3, pool)]
            on_disk._writer._connection = Flaky(real, "COMMIT", sqlite3.SQLITE_IOERR)  # type: ignore[assignment]
        errors = [future.exception() for future in futures]
    assert all(isinstance(error, StoreUnavailableError) and error.unknown for error in errors)
    on_disk._writer._connection = real
    assert notes(on_disk) == ["before"]
    note(on_disk, "after")
    assert notes(on_disk) == ["before", "after"]


def test_a_full_disk_is_told_and_nothing_is_half_written(database: Database) -> None:
    note(database, "before")
    with database.write() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StoreUnavailableError, match="the disk is full") as full:
        note(database, "x" * 100_000)
    assert not full.value.unknown
    assert notes(database) == ["before"]
    note(database, "a small one still fits")
    assert notes(database) == ["before", "a small one still fits"]


def test_a_full_disk_that_takes_the_whole_batch_back_is_told_to_all_of_it(on_disk: Database) -> None:
    with ThreadPoolExecutor(2) as pool:
        with hold(on_disk, pool, "mine") as mine:
            other = pool.submit(lose_all, on_disk)
            until(lambda: bool(on_disk._writer._turns))
        assert [str(future.exception()) for future in (mine, other)] == ["the disk is full"] * 2
    assert notes(on_disk) == []


def test_a_look_whether_it_can_be_written_writes_and_changes_nothing(
    on_disk: Database, tmp_path: Path
) -> None:
    log = tmp_path / "palimpsest.db-wal"
    before = log.stat().st_size
    on_disk.check_writable()
    assert log.stat().st_size > before
    with on_disk.read() as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 1


def test_a_file_that_can_only_be_read_is_told(on_disk: Database) -> None:
    connection = on_disk._writer._connection
    connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreUnavailableError, match="may not be written"):
        on_disk.check_writable()
    connection.execute("PRAGMA query_only = OFF")
    on_disk.check_writable()


def test_another_program_s_lock_is_told(on_disk: Database, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "palimpsest.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="another program has locked"):
        note(on_disk, "late")
    assert notes(on_disk) == []
    other.execute("ROLLBACK")
    other.close()
    note(on_disk, "now")
    assert notes(on_disk) == ["now"]


def test_a_writer_that_never_ends_does_not_hold_the_others_for_ever(
    on_disk: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.sqlite_file.writer.TURN_SECONDS", 0.05)
    with ThreadPoolExecutor(1) as pool, on_disk.write():
        error = pool.submit(note, on_disk, "late").exception()
    assert isinstance(error, StoreUnavailableError)
    assert notes(on_disk) == []


def test_a_flush_that_was_left_to_one_who_gave_up_is_still_made(on_disk: Database) -> None:
    """Whoever stands in the queue may be interrupted before its turn comes."""
    with on_disk.write() as connection:
        connection.execute("INSERT INTO note (text) VALUES ('mine')")
        on_disk._writer._turns.append(None)
    on_disk._writer._turns.pop()
    assert notes(on_disk) == ["mine"]


def test_closing_flushes_what_was_left_for_a_later_writer(on_disk: Database, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        with hold(on_disk, pool, "mine") as mine:
            closing = pool.submit(on_disk.close)
            until(lambda: bool(on_disk._writer._turns))
        mine.result()
        closing.result()
    again = Database(tmp_path / "palimpsest.db")
    assert notes(again) == ["mine"]
    again.close()


def test_a_closed_file_is_told(database: Database) -> None:
    database.close()
    for attempt in (lambda: note(database, "x"), lambda: notes(database), database.scrub):
        with pytest.raises(StoreUnavailableError, match="closed"):
            attempt()


def test_a_reader_that_is_under_way_when_the_file_is_closed_ends_well(on_disk: Database) -> None:
    note(on_disk, "kept")
    with on_disk.read() as connection:
        on_disk.close()
        assert connection.execute("SELECT text FROM note").fetchall() == [("kept",)]
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


def test_listeners_hear_of_every_durable_write_and_of_no_other(database: Database) -> None:
    heard: list[list[str]] = []
    database.on_commit(lambda: heard.append(notes(database)))
    note(database, "one")
    with pytest.raises(KeyError):
        break_off(database)
    soft_note(database, "soft")
    note(database, "two")
    assert heard == [["one"], ["one", "soft", "two"]]
