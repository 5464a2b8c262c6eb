"""An index can be lost and built again while searches and writes go on (R6)."""

import random
import threading

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.projection import EmbeddedText
from chalicelib.domain.vitality import Retention
from chalicelib.errors import IndexMissingError
from tests.contracts.search.memories import (
    ALICE,
    BOB,
    NOW,
    SMALL,
    entry,
    memory,
    query,
    random_memory,
    scope_of,
    tombstone,
    unit,
)

SCOPE = scope_of(ALICE)
VECTOR = unit([1] * 8)


def _found(index, text: str) -> list[int]:
    return sorted(hit.number for hit in index.search(SCOPE, [query(text)])[0])


def _states(index, space=ALICE) -> dict[int, int]:
    return {state.number: state.revision for state in index.indexed(scope_of(space), after=0, limit=1000)}


def _every_call(index):
    return [
        lambda: index.search(SCOPE, [query("lantern")]),
        lambda: index.browse(SCOPE, MemoryFilter(), sort="newest", limit=5, now=NOW, retention=Retention()),
        lambda: index.counts(SCOPE),
        lambda: index.indexed(SCOPE, after=0, limit=5),
    ]


def test_a_new_index_is_not_ready_until_its_first_rebuild_is_finished(brand_new, engine):
    assert brand_new.ready() is False
    for call in _every_call(brand_new):
        with pytest.raises(IndexMissingError):
            call()
    with pytest.raises(IndexMissingError):
        brand_new.apply([entry(memory(1))])
    with pytest.raises(IndexMissingError):
        brand_new.repair([entry(memory(1))])
    name = brand_new.rebuild_begin()
    assert brand_new.ready() is False
    with pytest.raises(IndexMissingError):
        brand_new.search(SCOPE, [query("lantern")])
    assert list(brand_new.rebuild_apply(name, [entry(memory(1))])) == []
    brand_new.rebuild_finish(name)
    engine.settle(brand_new)
    assert brand_new.ready() is True
    assert _found(brand_new, "lantern") == [1]


def test_writes_during_the_first_rebuild_are_kept(brand_new, engine):
    name = brand_new.rebuild_begin()
    assert list(brand_new.apply([entry(memory(1, "a violin", revision=2))])) == []
    assert list(brand_new.rebuild_apply(name, [entry(memory(1, "a kettle", revision=1))])) == []
    brand_new.rebuild_finish(name)
    engine.settle(brand_new)
    assert _found(brand_new, "violin") == [1]


def test_dropped_it_is_missing_and_says_so(index, put):
    put(entry(memory(1)))
    index.drop()
    assert index.ready() is False
    for call in _every_call(index):
        with pytest.raises(IndexMissingError):
            call()
    with pytest.raises(IndexMissingError):
        index.apply([entry(memory(2))])


def test_dropped_twice_is_dropped(index):
    index.drop()
    index.drop()
    assert index.ready() is False


def test_nothing_of_before_a_drop_comes_back(index, put, engine):
    put(entry(memory(1, "a violin"), **{SMALL: EmbeddedText(VECTOR)}))
    index.drop()
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(2, "a kettle"))])
    index.rebuild_finish(name)
    engine.settle(index)
    assert _states(index) == {2: 1}
    assert index.search(SCOPE, [query("violin", model=SMALL, vector=VECTOR)]) == [[]]


def test_the_old_one_answers_until_the_new_one_takes_its_place(index, put, engine, settle):
    put(entry(memory(1, "a violin")), entry(memory(2, "a violin")))
    name = index.rebuild_begin()
    assert list(index.rebuild_apply(name, [entry(memory(3, "a violin"))])) == []
    settle()
    assert index.ready() is True
    assert _found(index, "violin") == [1, 2]
    assert sum(index.counts(SCOPE).values()) == 2
    index.rebuild_finish(name)
    settle()
    assert _found(index, "violin") == [3]
    assert _states(index) == {3: 1}
    assert sum(index.counts(SCOPE).values()) == 1


def test_writes_during_a_rebuild_are_in_the_old_and_the_new(index, put, settle):
    put(entry(memory(1, "a violin")), entry(memory(2, "a saddle")))
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(1, "a violin"))])
    put(entry(memory(1, "a kettle", revision=2)), entry(memory(3, "a kettle")), tombstone(2, 2))
    assert _found(index, "kettle") == [1, 3]
    assert _found(index, "saddle") == []
    index.rebuild_apply(name, [entry(memory(2, "a saddle")), entry(memory(1, "a violin"))])
    index.rebuild_finish(name)
    settle()
    assert _found(index, "kettle") == [1, 3]
    assert _found(index, "violin") == _found(index, "saddle") == []
    assert _states(index) == {1: 2, 2: 2, 3: 1}


def test_a_repair_during_a_rebuild_is_in_the_old_and_the_new(index, put, settle):
    put(entry(memory(1, "a violin", revision=9)))
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(1, "a violin", revision=9))])
    index.repair([entry(memory(1, "a kettle", revision=2))])
    settle()
    assert _found(index, "kettle") == [1]
    index.rebuild_finish(name)
    settle()
    assert _found(index, "kettle") == [1]
    assert _found(index, "violin") == []


def test_a_rebuild_that_was_begun_anew_starts_empty(index, put, settle):
    first = index.rebuild_begin()
    index.rebuild_apply(first, [entry(memory(1))])
    second = index.rebuild_begin()
    assert second != first
    with pytest.raises(IndexMissingError):
        index.rebuild_apply(first, [entry(memory(5))])
    with pytest.raises(IndexMissingError):
        index.rebuild_finish(first)
    index.rebuild_apply(second, [entry(memory(2))])
    index.rebuild_finish(second)
    settle()
    assert _states(index) == {2: 1}


def test_a_drop_ends_the_rebuild_too(index):
    name = index.rebuild_begin()
    index.drop()
    with pytest.raises(IndexMissingError):
        index.rebuild_apply(name, [entry(memory(1))])
    with pytest.raises(IndexMissingError):
        index.rebuild_finish(name)
    assert index.ready() is False


def test_a_finished_rebuild_cannot_be_finished_again(index, put):
    name = index.rebuild_begin()
    index.rebuild_finish(name)
    put(entry(memory(1)))
    with pytest.raises(IndexMissingError):
        index.rebuild_finish(name)
    assert _found(index, "lantern") == [1]


def test_all_spaces_are_swapped_at_one_stroke(index, put, settle):
    put(entry(memory(1)), entry(memory(1, space=BOB)))
    name = index.rebuild_begin()
    index.rebuild_apply(name, [entry(memory(2)), entry(memory(3, space=BOB))])
    index.rebuild_finish(name)
    settle()
    assert _states(index) == {2: 1}
    assert _states(index, BOB) == {3: 1}


def test_searches_never_stop_during_rebuilds(index, put, settle):
    """Readers see one of the two complete indices at every moment: never none, never a mixture."""
    rng = random.Random(6)
    put(*(entry(random_memory(rng, number, text="violin")) for number in range(1, 41)))
    everything = MemoryFilter(states=frozenset({"active", "retired", "trashed"}))
    wrong: list[object] = []
    stop = threading.Event()

    def search_on() -> None:
        while not stop.is_set():
            try:
                found = len(index.search(SCOPE, [query("violin", filter=everything, depth=100)])[0])
            except IndexMissingError as error:
                wrong.append(error)
                return
            if found != 40:
                wrong.append(found)

    readers = [threading.Thread(target=search_on) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for round_ in range(2, 5):
            name = index.rebuild_begin()
            entries = [
                entry(random_memory(rng, number, text="violin").model_copy(update={"revision": round_}))
                for number in range(1, 41)
            ]
            for start in range(0, 40, 10):
                assert list(index.rebuild_apply(name, entries[start : start + 10])) == []
            index.rebuild_finish(name)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert wrong == []
    settle()
    assert set(_states(index).values()) == {4}
