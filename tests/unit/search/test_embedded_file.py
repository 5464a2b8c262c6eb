"""What the embedded index keeps on disk: it lasts, it goes when it must, and failures leave it whole."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Source
from chalicelib.domain.projection import EmbeddedText
from chalicelib.domain.vitality import Retention
from chalicelib.errors import IndexMissingError, IndexUnavailableError, StoreUnavailableError
from chalicelib.search import text
from chalicelib.search.embedded import generations
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.search.embedded.record import floats, halved
from chalicelib.search.embedded.terms import term
from chalicelib.sqlite_file import Database
from tests.contracts.search.memories import (
    ALICE,
    LARGE,
    LIVE,
    NOW,
    SMALL,
    entry,
    memory,
    query,
    random_unit,
    scope_of,
    tombstone,
    unit,
)

SCOPE = scope_of(ALICE)
VECTOR = unit([1] * 8)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "palimpsest.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    database = Database(path)
    yield database
    database.close()


@pytest.fixture
def index(database: Database) -> EmbeddedIndex:
    return _built(EmbeddedIndex(database, text))


def _built(index: EmbeddedIndex) -> EmbeddedIndex:
    index.rebuild_finish(index.rebuild_begin())
    return index


def _found(index: EmbeddedIndex, words: str = "", **fields) -> set[int]:
    asked = query(words, **({"filter": MemoryFilter(states=LIVE)} | fields))
    return {hit.number for hit in index.search(SCOPE, [asked])[0]}


def _rows(database: Database) -> int:
    with database.read() as connection:
        return sum(
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("search_entry", "search_vector", "search_generation")
        )


def test_a_restart_finds_what_was_applied(path, database, index):
    source = Source(conversation="talk", position=1, author="Ann", said_at=NOW)
    kept = memory(1, source=source, context="so?", use_count=3, last_used_at=NOW)
    index.apply([entry(kept, **{SMALL: EmbeddedText(VECTOR)}), tombstone(2, 5)])
    asked = query("lantern", model=SMALL, vector=VECTOR)
    before = index.search(SCOPE, [asked])
    states = index.indexed(SCOPE, after=0, limit=9)
    database.close()
    again = EmbeddedIndex(Database(path), text)
    assert again.ready()
    assert again.search(SCOPE, [asked]) == before
    assert again.indexed(SCOPE, after=0, limit=9) == states
    again.apply([entry(memory(2, revision=4))])
    assert _found(again, "lantern") == {1}


def test_a_rebuild_that_a_crash_interrupted_can_be_begun_anew(path, database, index):
    index.apply([entry(memory(1))])
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(2))])
    database.close()
    again = EmbeddedIndex(Database(path), text)
    assert _found(again, "lantern") == {1}
    again.rebuild_apply(name, [entry(memory(3))])
    again.rebuild_finish(name)
    assert _found(again, "lantern") == {2, 3}


def test_it_works_in_memory_too():
    index = _built(EmbeddedIndex(Database(":memory:"), text))
    index.apply([entry(memory(1), **{SMALL: EmbeddedText(VECTOR, VECTOR)})])
    assert _found(index, "lantern", model=SMALL, vector=VECTOR) == {1}


@pytest.mark.parametrize("dimension", [2, 8, 384, 1536])
def test_half_precision_on_disk_changes_no_cosine_by_a_thousandth(dimension):
    rng = np.random.default_rng(dimension)
    for _ in range(200):
        vectors = rng.standard_normal((2, dimension)) ** rng.choice([1, 3, 9])
        one, other = (unit(vector) for vector in vectors)
        exact = float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"))
        assert float(floats(halved(one)) @ np.frombuffer(other, "<f4")) == pytest.approx(exact, abs=1e-3)


def test_an_erased_memory_leaves_nothing_of_itself_in_the_file(path, database, index):
    """Not its names, not its vectors, not even the numbers of its stems (M13, S5)."""
    names = {
        "category": "cat-canary",
        "subject": "canary person",
        "source": Source(conversation="canary talk", author="canary author"),
    }
    rng = random.Random(1)
    vector = random_unit(rng, 8)
    index.apply([entry(memory(n, "nothing of interest")) for n in range(2, 40)])
    index.apply([entry(memory(1, "a canary word", **names), **{SMALL: EmbeddedText(vector, vector)})])
    index.rebuild_begin()
    index.apply(
        [entry(memory(1, "a canary word", revision=2, **names), **{SMALL: EmbeddedText(vector, vector)})]
    )
    traces = [b"canary", term(text.stems("canary")[0]).to_bytes(8, "little"), halved(vector)]
    assert all(_in_files(path, trace) for trace in traces)
    index.apply([tombstone(1, 3)])
    assert [trace for trace in traces if _in_files(path, trace)] == []


def _in_files(path: Path, trace: bytes) -> bool:
    return any(trace in file.read_bytes() for file in path.parent.iterdir())


def test_dropping_deletes_every_row(database, index):
    index.apply([entry(memory(n), **{SMALL: EmbeddedText(VECTOR, VECTOR)}) for n in range(1, 30)])
    index.rebuild_begin()
    index.drop()
    assert _rows(database) == 0


def test_what_is_replaced_is_deleted_step_by_step(monkeypatch, database, index):
    monkeypatch.setattr(generations, "STEP", 7)
    index.apply([entry(memory(n), **{SMALL: EmbeddedText(VECTOR, VECTOR)}) for n in range(1, 30)])
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(1))])
    index.rebuild_finish(name)
    assert _rows(database) == 2


def test_what_a_crash_left_of_a_replaced_index_goes_with_later_writes(monkeypatch, path, database, index):
    index.apply([entry(memory(n)) for n in range(1, 30)])
    name = index.rebuild_begin()
    with monkeypatch.context() as patched:
        patched.setattr(generations, "sweep_step", lambda database: False)
        index.rebuild_finish(name)
    assert _rows(database) == 31
    database.close()
    reopened = Database(path)
    again = EmbeddedIndex(reopened, text)
    for revision in (1, 2, 3):
        again.apply([entry(memory(1, revision=revision))])
    assert _rows(reopened) == 2


def test_an_entry_with_a_vector_that_is_none_fails_and_the_others_are_taken(index):
    not_a_number = np.array([np.nan] * 8, "<f4").tobytes()
    bad = [
        entry(memory(1), **{SMALL: EmbeddedText(b"")}),
        entry(memory(2), **{SMALL: EmbeddedText(VECTOR[:-1])}),
        entry(memory(3), **{SMALL: EmbeddedText(not_a_number)}),
        entry(memory(4), **{SMALL: EmbeddedText(VECTOR, not_a_number)}),
        entry(memory(5), **{SMALL: EmbeddedText(np.array([np.inf] * 8, "<f4").tobytes())}),
        entry(memory(6), **{SMALL: EmbeddedText(VECTOR, unit([1] * 9))}),
    ]
    good = entry(memory(7), **{SMALL: EmbeddedText(VECTOR)})
    assert index.apply([*bad, good]) == bad
    assert _found(index, "lantern") == {7}


def test_a_vector_of_another_dimension_than_its_models_fails(index):
    first = entry(memory(1), **{SMALL: EmbeddedText(VECTOR), LARGE: EmbeddedText(unit([1] * 24))})
    other = entry(memory(2), **{SMALL: EmbeddedText(unit([1] * 9))})
    assert index.apply([first, other]) == [other]
    assert index.apply([other]) == [other]
    with pytest.raises(IndexUnavailableError, match="8 dimensions"):
        _found(index, model=SMALL, vector=unit([1] * 9))
    with pytest.raises(IndexUnavailableError):
        index.repair([other])


def test_a_closed_file_is_an_engine_that_does_not_answer(database, index):
    database.close()
    for call in (
        lambda: index.search(SCOPE, [query("lantern")]),
        lambda: index.browse(SCOPE, MemoryFilter(), sort="newest", limit=5, now=NOW, retention=Retention()),
        lambda: index.counts(SCOPE),
        lambda: index.indexed(SCOPE, after=0, limit=5),
        lambda: index.apply([entry(memory(1))]),
        index.ready,
        index.rebuild_begin,
        index.drop,
    ):
        with pytest.raises(IndexUnavailableError, match="closed"):
            call()


def test_a_write_whose_fate_is_unknown_is_found_if_it_happened(monkeypatch, database, index):
    """The disk may fail after the write is on it: what is in memory must not lag behind for ever."""
    index.apply([entry(memory(1, "a violin"))])
    assert _found(index, "violin") == {1}
    new = entry(memory(1, "a kettle", revision=2), **{LARGE: EmbeddedText(unit([1] * 24))})
    write = database.write

    @contextmanager
    def written_but_reported_as_failed(**given):
        with write(**given) as connection:
            yield connection
        raise StoreUnavailableError("the disk failed to read or write", unknown=True)

    with monkeypatch.context() as patched:
        patched.setattr(database, "write", written_but_reported_as_failed)
        with pytest.raises(IndexUnavailableError):
            index.apply([new])
    assert index.apply([new]) == []
    assert _found(index, "kettle") == {1}
    assert _found(index, model=LARGE, vector=unit([1] * 24)) == {1}
    assert _found(index, "violin") == set()


def test_what_a_repair_raised_from_the_dead_can_be_outrun_again(index):
    index.apply([tombstone(1, 9)])
    assert _found(index, "violin") == set()
    index.repair([entry(memory(1, "a violin", revision=4))])
    newer = (entry(memory(1, "a kettle", revision=5)),)
    assert _found(index, "kettle", fresh=newer) == {1}


@pytest.mark.parametrize("happened", [True, False])
@pytest.mark.parametrize("change", ["rebuild_begin", "rebuild_finish", "drop"])
def test_a_change_of_index_whose_fate_is_unknown_is_read_from_the_file(
    monkeypatch, database, index, change, happened
):
    """Else searches would go on in an index whose rows are being deleted, and writes would get lost."""
    index.apply([entry(memory(1, "a violin"))])
    assert _found(index, "violin") == {1}
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(2, "a violin"))])
    write = database.write

    @contextmanager
    def failing(**given):
        with write(**given) as connection:
            yield connection
            if not happened:
                raise StoreUnavailableError("the disk failed to read or write", unknown=True)
        raise StoreUnavailableError("the disk failed to read or write", unknown=True)

    given = [name] if change == "rebuild_finish" else []
    with monkeypatch.context() as patched:
        patched.setattr(database, "write", failing)
        with pytest.raises(IndexUnavailableError):
            getattr(index, change)(*given)
    live = index.ready()
    assert live is not (happened and change == "drop")
    if live:
        assert index.apply([entry(memory(3, "a violin"))]) == []
        assert _found(index, "violin") == ({2, 3} if happened and change == "rebuild_finish" else {1, 3})
    else:
        with pytest.raises(IndexMissingError):
            index.apply([entry(memory(3))])
    fresh_name = index.rebuild_begin()
    index.rebuild_apply(fresh_name, [entry(memory(4, "a violin"))])
    index.rebuild_finish(fresh_name)
    assert _found(index, "violin") == {4}
    assert _rows(database) == 2


def test_a_write_that_failed_has_changed_nothing_and_can_be_done_again(monkeypatch, database, index):
    index.apply([entry(memory(1, "a violin"))])
    write = database.write

    @contextmanager
    def failing(**given):
        with write(**given) as connection:
            yield connection
            raise StoreUnavailableError("the disk is full")

    new = entry(memory(1, "a kettle", revision=2), **{LARGE: EmbeddedText(unit([1] * 24))})
    with monkeypatch.context() as patched:
        patched.setattr(database, "write", failing)
        with pytest.raises(IndexUnavailableError, match="full"):
            index.apply([new])
    assert _found(index, "violin") == {1}
    assert index.apply([new]) == []
    assert _found(index, model=LARGE, vector=unit([1] * 24)) == {1}


def test_a_fresh_entry_that_the_index_has_outrun_takes_no_part(index):
    index.apply([entry(memory(1, "a violin", revision=5)), entry(memory(2, "a violin")), tombstone(2, 5)])
    late = (entry(memory(1, "a kettle", revision=4)), entry(memory(2, "a kettle", revision=4)))
    assert _found(index, "violin", fresh=late) == {1}
    assert _found(index, "kettle", fresh=late) == set()


def test_the_index_that_was_replaced_while_a_space_was_read_is_not_answered_from(monkeypatch, index):
    """Its rows are being deleted: it may have been read only in part."""
    index.apply([entry(memory(1, "a violin"))])
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(2, "a violin"))])
    look, swapped = index._look, threading.Event()

    def looking(scope, seen, models):
        def meanwhile(segment):
            if not swapped.is_set():
                swapped.set()
                index.rebuild_finish(name)
            return seen(segment)

        return look(scope, meanwhile, models)

    monkeypatch.setattr(index, "_look", looking)
    assert _found(index, "violin") == {2}
