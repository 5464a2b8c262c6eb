"""Late, repeated and reordered records change nothing: the highest revision stands (CASES: raised dead)."""

import random

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import State
from chalicelib.domain.projection import EmbeddedText, IndexedState, content_hash
from tests.contracts.search.memories import (
    ALICE,
    BOB,
    LARGE,
    LIVE,
    NOW,
    SMALL,
    entry,
    memory,
    query,
    random_memory,
    random_unit,
    scope_of,
    tombstone,
    unit,
)

SCOPE = scope_of(ALICE)


def _found(index, word: str) -> list[int]:
    return sorted(
        hit.number for hit in index.search(SCOPE, [query(word, filter=MemoryFilter(states=LIVE))])[0]
    )


def test_a_late_record_changes_nothing(index, put):
    put(entry(memory(1, "a violin", revision=3)))
    put(entry(memory(1, "a kettle", revision=2)))
    assert _found(index, "violin") == [1]
    assert _found(index, "kettle") == []


def test_the_same_revision_again_changes_nothing(index, put):
    kept = entry(memory(1, "a violin", revision=3), **{SMALL: EmbeddedText(unit([1] * 8))})
    put(kept)
    put(kept, kept)
    put(entry(memory(1, "a kettle", revision=3)))
    assert _found(index, "violin") == [1]
    assert [s.number for s in index.indexed(SCOPE, after=0, limit=9)] == [1]
    assert index.counts(SCOPE).get(State.ACTIVE) == 1


def test_an_equal_revision_adds_the_vectors_that_are_lacking_and_nothing_else(index, put):
    """A memory is indexed by its words first; its vectors come when they are made."""
    first, second = unit([1] + [0] * 7), unit([0, 1] + [0] * 6)
    put(entry(memory(1, "a violin", revision=3)))
    put(entry(memory(1, "a kettle", revision=3), **{SMALL: EmbeddedText(first)}))
    put(entry(memory(1, "a violin", revision=3), **{SMALL: EmbeddedText(second, second)}))
    (hit,) = index.search(SCOPE, [query("violin kettle", model=SMALL, vector=first)])[0]
    assert _found(index, "kettle") == []
    assert hit.words is not None
    assert hit.meaning == pytest.approx(1, abs=1e-3)
    put(entry(memory(1, "a violin", revision=2), **{LARGE: EmbeddedText(unit([1] * 24))}))
    put(entry(memory(1, "a violin", revision=3)))
    (state,) = index.indexed(SCOPE, after=0, limit=9)
    assert state == IndexedState(1, 3, content_hash(memory(1, "a violin")), frozenset({SMALL}))


def test_a_context_vector_that_is_lacking_is_told_and_added_by_an_equal_revision(index, put):
    """A memory whose context could not be embedded is not complete, and the reconciler has to see it."""
    of_text, of_context = unit([1, 0, 0, 0, 0, 0, 0, 0]), unit([0, 1, 0, 0, 0, 0, 0, 0])
    kept = memory(1, "a kettle", revision=3, context="in the harbour")
    put(entry(kept, **{SMALL: EmbeddedText(of_text)}))
    assert [state.models for state in index.indexed(SCOPE, after=0, limit=9)] == [frozenset()]
    put(entry(kept, **{SMALL: EmbeddedText(of_text, of_context)}))
    assert [state.models for state in index.indexed(SCOPE, after=0, limit=9)] == [{SMALL}]
    asked = query("", model=SMALL, vector=of_context, legs=frozenset({"context_meaning"}))
    (found,) = index.search(SCOPE, [asked])
    assert [hit.number for hit in found] == [1]


def test_vectors_of_an_equal_revision_do_not_raise_the_dead(index, put):
    put(entry(memory(1, "a violin")))
    put(tombstone(1, 3))
    put(entry(memory(1, "a violin", revision=3), **{SMALL: EmbeddedText(unit([1] * 8))}))
    assert index.search(SCOPE, [query("violin", model=SMALL, vector=unit([1] * 8))]) == [[]]
    assert index.indexed(SCOPE, after=0, limit=9) == [IndexedState(1, 3, "", frozenset())]


def test_a_repair_wins_over_whatever_the_index_claims(engine, index, put):
    """The reconciler found a difference: what the table says stands, also at a lower revision (R5)."""
    put(
        entry(memory(1, "a violin", revision=9), **{SMALL: EmbeddedText(unit([1] * 8))}),
        tombstone(2, 9),
        entry(memory(3, "a violin", revision=9)),
        entry(memory(4, "a violin", revision=4)),
    )
    index.repair(
        [
            entry(memory(1, "a kettle", revision=4)),
            entry(memory(2, "a kettle", revision=4)),
            tombstone(3, 4),
            entry(memory(4, "a kettle", revision=4)),
            entry(memory(5, "a kettle", revision=4)),
        ]
    )
    engine.settle(index)
    assert _found(index, "violin") == []
    assert _found(index, "kettle") == [1, 2, 4, 5]
    assert {s.number: (s.revision, s.models) for s in index.indexed(SCOPE, after=0, limit=9)} == {
        number: (4, frozenset()) for number in (1, 2, 3, 4, 5)
    }
    put(entry(memory(1, "a saddle", revision=5)), entry(memory(4, "a saddle", revision=3)))
    assert _found(index, "saddle") == [1]


def test_the_newest_of_one_batch_stands_in_any_order(index, put):
    put(
        entry(memory(1, "a violin", revision=2)),
        entry(memory(1, "a kettle", revision=4)),
        entry(memory(1, "a saddle", revision=3)),
    )
    assert _found(index, "kettle") == [1]
    assert _found(index, "violin") == _found(index, "saddle") == []


def test_the_dead_are_not_raised_by_a_late_record(index, put):
    put(entry(memory(1, "a violin")))
    put(tombstone(1, 5))
    put(entry(memory(1, "a violin", revision=4)))
    put(entry(memory(1, "a violin", revision=5)))
    assert _found(index, "violin") == []
    assert index.indexed(SCOPE, after=0, limit=9) == [IndexedState(1, 5, "", frozenset())]


def test_a_tombstone_that_comes_first_stands(index, put):
    put(tombstone(7, 3))
    put(entry(memory(7, "a violin", revision=2)))
    assert _found(index, "violin") == []
    assert sum(index.counts(SCOPE).values()) == 0


def test_a_restored_number_lives_by_a_higher_revision(index, put):
    put(tombstone(1, 2))
    put(entry(memory(1, "a violin", revision=3)))
    assert _found(index, "violin") == [1]


def test_any_order_with_repeats_ends_the_same(engine, index, put):
    """Three numbers, ten revisions each, shuffled and repeated in batches of any size: the last one stands."""
    rng = random.Random(77)
    for space in (ALICE, BOB):
        records = []
        for number in (1, 2, 3):
            kept = random_memory(rng, number, space=space)
            records += [
                tombstone(number, revision, space=space)
                if rng.random() < 0.2
                else entry(
                    kept.model_copy(update={"revision": revision, "text": f"violin number{revision}"}),
                    **({SMALL: EmbeddedText(random_unit(rng, 8))} if revision % 2 else {}),
                )
                for revision in range(1, 11)
            ]
        told = [*records, *rng.sample(records, 15)]
        rng.shuffle(told)
        while told:
            size = rng.randint(1, 7)
            assert list(index.apply(told[:size])) == []
            del told[:size]
        engine.settle(index)
        last = {record.number: record for record in records}
        states = index.indexed(scope_of(space), after=0, limit=99)
        assert [state.revision for state in states] == [10, 10, 10]
        assert {state.number: state.content_hash for state in states} == {
            number: content_hash(record.memory) if record.memory else "" for number, record in last.items()
        }
        hits = index.search(scope_of(space), [query("number10", filter=MemoryFilter(states=LIVE))])[0]
        assert {hit.number for hit in hits} == {number for number, record in last.items() if record.memory}


def test_being_recalled_changes_what_is_listed_and_nothing_else(index, put):
    """Recall raises the revision only: text and vectors stay found."""
    vector = unit([1] * 8)
    before = memory(1, "a violin", context="a kettle")
    put(entry(before, **{SMALL: EmbeddedText(vector, vector)}))
    after = before.model_copy(update={"revision": 2, "use_count": 1, "last_used_at": NOW})
    put(entry(after, **{SMALL: EmbeddedText(vector, vector)}))
    (hit,) = index.search(SCOPE, [query("violin kettle", model=SMALL, vector=vector)])[0]
    assert None not in (hit.words, hit.context_words, hit.meaning, hit.context_meaning)
    assert index.indexed(SCOPE, after=0, limit=9) == [
        IndexedState(1, 2, content_hash(before), frozenset({SMALL}))
    ]


def test_being_recalled_often_takes_no_places_in_a_search(index, put):
    """The memory stays one: each leg still finds `depth` others."""
    vectors = {SMALL: EmbeddedText(unit([1] * 8), unit([1] * 8))}
    put(*(entry(memory(number, context="a lantern"), **vectors) for number in range(1, 11)))
    asked = query("lantern", model=SMALL, vector=unit([1] * 8), depth=10)
    for revision in range(2, 12):
        put(entry(memory(1, context="a lantern", revision=revision, use_count=revision), **vectors))
        hits = index.search(SCOPE, [asked])[0]
        assert sorted(hit.number for hit in hits) == list(range(1, 11))
        assert all(None not in (h.words, h.context_words, h.meaning, h.context_meaning) for h in hits)


def test_indexed_tells_all_in_order_of_number_page_by_page(index, put):
    rng = random.Random(5)
    made = [random_memory(rng, number) for number in rng.sample(range(1, 10**6), 25)]
    both = {SMALL: EmbeddedText(random_unit(rng, 8), random_unit(rng, 8))}
    put(*(entry(kept, **both) for kept in made), tombstone(10**15, 4))
    told, after = [], 0
    while page := index.indexed(SCOPE, after=after, limit=7):
        assert len(page) <= 7
        told += page
        after = page[-1].number
    expected = sorted(made, key=lambda kept: kept.number)
    assert told == [
        *(IndexedState(kept.number, 1, content_hash(kept), frozenset({SMALL})) for kept in expected),
        IndexedState(10**15, 4, "", frozenset()),
    ]
