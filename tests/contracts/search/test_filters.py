"""Search, list and counts give exactly the memories that MemoryFilter.matches says (M11)."""

import random
from collections import Counter

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import EmbeddedText, IndexEntry
from chalicelib.domain.vitality import Retention
from chalicelib.ports import SearchIndex
from tests.contracts.search.engines import Engine
from tests.contracts.search.memories import (
    ALICE,
    BOB,
    NOW,
    SMALL,
    entry,
    query,
    random_filter,
    random_memory,
    random_text,
    random_unit,
    scope_of,
    tombstone,
)

COUNT = 240
EVERYWHERE = "everywhere"


@pytest.fixture(scope="module")
def memories(engine: Engine, shared_index: SearchIndex) -> list[Memory]:
    """Each has a word that all have, in its text and its context, and both vectors."""
    rng = random.Random(20)
    made = [
        random_memory(rng, number, text=f"{EVERYWHERE} {random_text(rng)}").model_copy(
            update={"context": f"{EVERYWHERE} {random_text(rng)}"}
        )
        for number in range(1, COUNT + 1)
    ]
    vectors = {SMALL: lambda: EmbeddedText(random_unit(rng, 8), random_unit(rng, 8))}
    entries = [entry(memory, **{model: make() for model, make in vectors.items()}) for memory in made]
    entries += [
        IndexEntry(BOB, memory.number, 1, random_memory(rng, memory.number, space=BOB))
        for memory in made[:50]
    ]
    entries += [tombstone(number, 1) for number in range(COUNT + 1, COUNT + 10)]
    assert list(shared_index.apply(entries)) == []
    engine.settle(shared_index)
    return made


def _searched(index: SearchIndex, wanted: MemoryFilter, leg: str) -> set[int]:
    asked = query(
        EVERYWHERE,
        filter=wanted,
        depth=COUNT + 10,
        legs=frozenset({leg}),
        model=SMALL,
        vector=random_unit(random.Random(4), 8),
    )
    return {hit.number for hit in index.search(scope_of(ALICE), [asked])[0]}


def _listed(index: SearchIndex, wanted: MemoryFilter) -> set[int]:
    page = index.browse(
        scope_of(ALICE), wanted, sort="newest", limit=COUNT + 10, now=NOW, retention=Retention()
    )
    return set(page.numbers)


@pytest.mark.parametrize("leg", ["words", "context_words", "meaning", "context_meaning"])
def test_each_leg_finds_exactly_what_the_filter_matches(shared_index, memories, leg):
    rng = random.Random(f"filters of {leg}")
    for _ in range(60):
        wanted = random_filter(rng, COUNT)
        expected = {memory.number for memory in memories if wanted.matches(memory)}
        assert _searched(shared_index, wanted, leg) == expected, wanted


def test_the_list_holds_exactly_what_the_filter_matches(shared_index, memories):
    rng = random.Random("filters of the list")
    for _ in range(100):
        wanted = random_filter(rng, COUNT)
        expected = {memory.number for memory in memories if wanted.matches(memory)}
        assert _listed(shared_index, wanted) == expected, wanted


@pytest.mark.parametrize(
    "wanted",
    [
        MemoryFilter(states=frozenset()),
        MemoryFilter(category_in=frozenset()),
        MemoryFilter(kinds=frozenset()),
        MemoryFilter(category_in=frozenset({"cat-a"}), category_not_in=frozenset({"cat-a"})),
        MemoryFilter(importance_min=7, importance_max=3),
        MemoryFilter(subject="nobody"),
        MemoryFilter(source="talk"),
        MemoryFilter(states=frozenset({State.ERASED})),
    ],
)
def test_what_nothing_can_match_gives_nothing(shared_index, memories, wanted):
    assert _searched(shared_index, wanted, "words") == set()
    assert _searched(shared_index, wanted, "meaning") == set()
    assert _listed(shared_index, wanted) == set()


@pytest.mark.parametrize(
    "wanted",
    [
        MemoryFilter(category_not_in=frozenset()),
        MemoryFilter(category_not_in=frozenset({"cat-a", "cat-b", "cat-c", "cat-A"})),
        MemoryFilter(importance_min=1),
        MemoryFilter(importance_max=10),
        MemoryFilter(exclude=frozenset(range(1, 200))),
    ],
    ids=["no category refused", "all categories refused", "any importance", "up to ten", "many seen"],
)
def test_the_edges_of_a_condition_are_those_of_the_rule(shared_index, memories, wanted):
    expected = {memory.number for memory in memories if wanted.matches(memory)}
    assert _searched(shared_index, wanted, "words") == expected
    assert _searched(shared_index, wanted, "meaning") == expected
    assert _listed(shared_index, wanted) == expected


def test_a_filter_does_not_take_places_from_what_it_lets_through(shared_index, memories):
    """The best `depth` of those that match, however many better ones do not (CASES: limit before filter)."""
    rare = MemoryFilter(category_in=frozenset({"cat-a"}), importance_min=9)
    expected = {memory.number for memory in memories if rare.matches(memory)}
    assert len(expected) >= 5
    for leg in ("words", "meaning"):
        asked = query(
            EVERYWHERE,
            filter=rare,
            depth=5,
            legs=frozenset({leg}),
            model=SMALL,
            vector=random_unit(random.Random(1), 8),
        )
        found = {hit.number for hit in shared_index.search(scope_of(ALICE), [asked])[0]}
        assert len(found) == 5
        assert found <= expected


def test_counts_are_by_state_without_the_erased(shared_index, memories):
    counts = shared_index.counts(scope_of(ALICE))
    expected = Counter(memory.state for memory in memories)
    assert {state: counts.get(state, 0) for state in State} == {state: expected[state] for state in State}
