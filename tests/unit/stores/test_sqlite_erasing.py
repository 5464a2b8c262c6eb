"""After an erase, no byte of the text is left in any file of the folder (SPEC M13, RELIABILITY S5)."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from tests.contracts.stores.given import ME, add, current, editing, erasing, vector

VECTOR_CANARY = b"vector-canary-16"


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Database, SqliteMemoryStore]]:
    database = Database(folder / "palimpsest.db", patience=0.1)
    yield database, SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
    database.close()


def left(folder: Path, canary: str | bytes) -> list[str]:
    """Files of the folder in which the canary is."""
    wanted = canary.encode() if isinstance(canary, str) else canary
    return [file.name for file in folder.iterdir() if wanted in file.read_bytes()]


@pytest.mark.parametrize("size", [10, 1_000, 5_000, 200_000])
def test_nothing_is_left_of_a_memory_its_changes_and_its_vectors(tmp_path: Path, size: int) -> None:
    with opened(tmp_path) as (_, store):
        for number in range(1, 6):
            add(store, number, text="z" * size, context="nothing")
        text = "canary-first " + "x" * size
        add(store, 6, text=text, context="canary-context", key="canary-key", subject="canary-subject")
        store.commit(ME, editing(current(store, 6), text="canary-second " + "y" * (2 * size // 3)))
        store.put_vectors(ME, [vector(6, data=VECTOR_CANARY)])
        assert left(tmp_path, "canary-first")
        assert left(tmp_path, VECTOR_CANARY)
        store.commit(ME, erasing(current(store, 6)))
        for canary in ("canary", VECTOR_CANARY):
            assert left(tmp_path, canary) == []
    assert left(tmp_path, "canary") == []


def churn(store: SqliteMemoryStore, chance: random.Random) -> list[int]:
    """Memories of many sizes that were edited in many orders, so that SQLite moved rows between pages."""
    for number in range(1, 61):
        add(store, number, text=f"canary-{number:04} " + "x" * chance.randrange(1_500))
    for _ in range(120):
        number = chance.randrange(1, 61)
        longer = f"canary-{number:04} " + "y" * chance.randrange(1_500)
        store.commit(ME, editing(current(store, number), text=longer))
    return chance.sample(range(1, 61), 20)


@pytest.mark.parametrize("seed", range(3))
def test_copies_that_sqlite_left_when_it_moved_rows_are_gone_too(tmp_path: Path, seed: int) -> None:
    with opened(tmp_path) as (_, store):
        for number in churn(store, random.Random(seed)):
            store.commit(ME, erasing(current(store, number)))
            assert left(tmp_path, f"canary-{number:04}") == []


def test_in_a_large_file_the_log_is_emptied_at_once_and_the_rest_is_owed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chalicelib.sqlite_file.writer.SMALL", 0)
    with opened(tmp_path) as (database, store):
        numbers = churn(store, random.Random(7))
        for number in numbers:
            store.commit(ME, erasing(current(store, number)))
        assert (tmp_path / "palimpsest.db-wal").stat().st_size < 50_000
    with opened(tmp_path) as (database, store):
        assert database.scrub()
        assert database.scrub()
        for number in numbers:
            assert left(tmp_path, f"canary-{number:04}") == []
        assert len(store.page(ME, after=None, limit=100)) == 60


def test_while_another_program_reads_the_rewriting_is_owed_and_the_erase_stands(tmp_path: Path) -> None:
    with opened(tmp_path) as (database, store):
        add(store, 1, text="canary-one")
        other = sqlite3.connect(tmp_path / "palimpsest.db", isolation_level=None)
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM memory").fetchone()
        store.commit(ME, erasing(current(store, 1)))
        assert current(store, 1).text == "(erased)"
        assert not database.scrub()
        other.execute("ROLLBACK")
        other.close()
        assert database.scrub()
        assert left(tmp_path, "canary-one") == []


def test_expired_keys_and_rights_of_the_file_outlive_the_rewriting(tmp_path: Path) -> None:
    with opened(tmp_path) as (_, store):
        add(store, 1)
        add(store, 2)
        store.commit(ME, erasing(current(store, 1)))
        assert store.reserve(ME, 1) == 1
        assert current(store, 2).text == "fact 2"
    with opened(tmp_path) as (_, store):
        assert current(store, 2).text == "fact 2"
        assert oct((tmp_path / "palimpsest.db").stat().st_mode)[-3:] == "600"
