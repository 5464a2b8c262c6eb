"""Nothing of one space is ever seen from another, by any leg and any list (M24, S1)."""

import random

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.projection import EmbeddedText
from chalicelib.domain.scope import Space
from chalicelib.domain.vitality import Retention
from chalicelib.ports import SearchIndex
from tests.contracts.search.engines import Engine
from tests.contracts.search.memories import LIVE, NOW, SMALL, entry, memory, query, scope_of, tombstone, unit

SPACES = [
    Space.personal("a"),
    Space.personal("a1"),
    Space.personal("A"),
    Space.personal("a-1"),
    Space.personal("a.1"),
    Space.pool("a"),
    Space.pool("a1"),
    Space.community("discord", "a"),
    Space.community("discord", "a1"),
    Space.community("telegram", "a"),
]
VECTOR = unit([1] + [0] * 7)


@pytest.fixture(scope="module")
def own_numbers(engine: Engine, shared_index: SearchIndex) -> dict[Space, set[int]]:
    """Every space has the same sentence under number 1 and 2, and one number that only it has."""
    numbers = {space: {1, 2, 10 + place} for place, space in enumerate(SPACES)}
    entries = [
        entry(
            memory(number, "a lantern in the harbour", context="the lantern?", space=space),
            **{SMALL: EmbeddedText(VECTOR, VECTOR)},
        )
        for space, own in numbers.items()
        for number in own
    ]
    random.Random(2).shuffle(entries)
    assert list(shared_index.apply(entries)) == []
    engine.settle(shared_index)
    return numbers


@pytest.mark.parametrize("leg", ["words", "context_words", "meaning", "context_meaning"])
@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.key)
def test_a_leg_finds_only_what_is_of_the_space(shared_index, own_numbers, space, leg):
    asked = query(
        "lantern", model=SMALL, vector=VECTOR, legs=frozenset({leg}), filter=MemoryFilter(states=LIVE)
    )
    assert {hit.number for hit in shared_index.search(scope_of(space), [asked])[0]} == own_numbers[space]


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.key)
def test_lists_counts_and_states_are_of_the_space(shared_index, own_numbers, space):
    scope, wanted = scope_of(space), MemoryFilter(states=LIVE)
    page = shared_index.browse(
        scope, wanted, sort="oldest", limit=100, now=NOW, retention=Retention(), text="lantern"
    )
    assert set(page.numbers) == own_numbers[space]
    assert sum(shared_index.counts(scope).values()) == 3
    assert {state.number for state in shared_index.indexed(scope, after=0, limit=100)} == own_numbers[space]


def test_a_space_without_memories_is_empty(shared_index, own_numbers):
    scope = scope_of(Space.personal("nobody"))
    asked = query("lantern", model=SMALL, vector=VECTOR)
    assert shared_index.search(scope, [asked]) == [[]]
    page = shared_index.browse(scope, MemoryFilter(), sort="newest", limit=5, now=NOW, retention=Retention())
    assert page.numbers == ()
    assert page.more is False
    assert sum(shared_index.counts(scope).values()) == 0
    assert shared_index.indexed(scope, after=0, limit=5) == []


def test_erasing_in_one_space_leaves_the_same_text_in_another(index, put):
    """CASES: identical texts shared one vector, and deleting one orphaned the other."""
    spaces = SPACES[:3]
    put(*(entry(memory(1, space=space), **{SMALL: EmbeddedText(VECTOR)}) for space in spaces))
    put(tombstone(1, 2, space=spaces[0]))
    asked = query("lantern", model=SMALL, vector=VECTOR)
    found = [[hit.number for hit in index.search(scope_of(space), [asked])[0]] for space in spaces]
    assert found == [[], [1], [1]]


def test_a_fresh_entry_of_another_space_takes_no_part(index, put):
    here, there = SPACES[0], SPACES[1]
    put(entry(memory(1, "a lantern", space=here)))
    foreign = entry(memory(2, "a lantern", space=there), **{SMALL: EmbeddedText(VECTOR)})
    hiding = tombstone(1, 9, space=there)
    asked = query("lantern", model=SMALL, vector=VECTOR, fresh=(foreign, hiding))
    assert [hit.number for hit in index.search(scope_of(here), [asked])[0]] == [1]
