"""Lists: every sort, pages without gaps or repeats, filters by words (M11)."""

import random
from datetime import timedelta

import pytest

from chalicelib.domain.filters import MemoryFilter, Sort, order, sort_value
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.vitality import Retention
from chalicelib.ports import SearchIndex
from tests.contracts.search.engines import Engine
from tests.contracts.search.memories import (
    ALICE,
    LIVE,
    NOW,
    entry,
    memory,
    random_memory,
    scope_of,
    tombstone,
)

SCOPE = scope_of(ALICE)
RETENTION = Retention(half_lives=(0.5, 1, 2, 3, 5, 8, 13, 21, 34, 55))
COUNT = 230
SORTS: list[Sort] = ["newest", "oldest", "updated", "importance", "vitality", "used"]


def _ordered(memories, sort: Sort, now=NOW) -> list[int]:
    """The numbers in the order that the rule gives."""
    keys = {
        kept.number: order(sort_value(kept, sort, now, RETENTION), kept.number, sort) for kept in memories
    }
    return sorted(keys, key=keys.__getitem__)


@pytest.fixture(scope="module")
def memories(engine: Engine, shared_index: SearchIndex) -> list[Memory]:
    rng = random.Random(3)
    made = [random_memory(rng, number) for number in range(1, COUNT + 1)]
    assert list(shared_index.apply([*map(entry, made), tombstone(COUNT + 1, 1)])) == []
    engine.settle(shared_index)
    return made


def _page(index, wanted=None, **fields):
    asked = {"sort": "newest", "limit": 50, "now": NOW, "retention": RETENTION} | fields
    return index.browse(SCOPE, wanted or MemoryFilter(states=LIVE), **asked)


def _all(index, memories, limit, wanted=None, *, sort: Sort = "newest", **fields):
    """The numbers of all pages: each begins beyond the last row of the one before."""
    by_number = {kept.number: kept for kept in memories}
    numbers, after = [], None
    while True:
        page = _page(index, wanted, limit=limit, after=after, sort=sort, **fields)
        assert len(page.numbers) <= limit
        numbers += page.numbers
        if not page.more:
            return numbers
        last = by_number[page.numbers[-1]]
        after = (sort_value(last, sort, NOW, RETENTION), last.number)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("limit", [7, 1000])
def test_pages_go_through_all_in_order(shared_index, memories, sort, limit):
    assert _all(shared_index, memories, limit, sort=sort) == _ordered(memories, sort)


@pytest.mark.parametrize("sort", SORTS)
def test_a_filtered_list_is_sorted_and_paged_alike(shared_index, memories, sort):
    wanted = MemoryFilter(kinds=frozenset({"user", "project"}), importance_min=4)
    expected = _ordered(filter(wanted.matches, memories), sort)
    assert len(expected) > 20
    assert _all(shared_index, memories, 6, wanted, sort=sort) == expected


@pytest.mark.parametrize("days", [-30, 0, 3, 400])
def test_vitality_is_as_of_the_moment_that_is_asked(shared_index, memories, days):
    moment = NOW + timedelta(days=days)
    page = _page(shared_index, sort="vitality", limit=COUNT, now=moment)
    assert list(page.numbers) == _ordered(memories, "vitality", moment)


def test_a_full_page_says_that_more_follow_and_the_last_one_that_none_do(shared_index, memories):
    assert _page(shared_index, limit=COUNT - 1).more is True
    assert _page(shared_index, limit=COUNT + 1).more is False


@pytest.mark.parametrize("sort", SORTS)
def test_a_page_may_begin_beyond_a_row_that_is_not_there(shared_index, memories, sort):
    """The row that a cursor names may be erased meanwhile, or come from the table."""
    ordered = _ordered(memories, sort)
    gone = next(kept for kept in memories if kept.number == ordered[COUNT // 2])
    value = sort_value(gone, sort, NOW, RETENTION)
    wanted = MemoryFilter(states=LIVE, exclude=frozenset({gone.number}))
    page = _page(shared_index, wanted, limit=COUNT, sort=sort, after=(value, gone.number))
    assert list(page.numbers) == ordered[COUNT // 2 + 1 :]
    for beyond in (-(10**13), 10**13):
        page = _page(shared_index, limit=COUNT, sort=sort, after=(beyond, 1))
        assert list(page.numbers) in ([], ordered)


@pytest.mark.parametrize("sort", SORTS)
def test_equal_ones_come_once_and_in_the_order_of_numbers(index, put, sort):
    made = [memory(number, recorded_at=NOW, updated_at=NOW) for number in range(1, 31)]
    put(*map(entry, made))
    newest_first = list(range(30, 0, -1))
    assert _all(index, made, 4, sort=sort) == (newest_first[::-1] if sort == "oldest" else newest_first)


@pytest.mark.parametrize("sort", SORTS)
def test_writes_between_pages_make_no_gap_and_no_repeat(index, put, sort):
    """Those that were there from the beginning and stayed are listed exactly once."""
    rng = random.Random(f"writes {sort}")
    made = [random_memory(rng, number) for number in range(1, 121)]
    put(*map(entry, made))
    known = {kept.number: kept for kept in made}
    seen, erased, after = [], set(), None
    while True:
        page = _page(index, limit=10, sort=sort, after=after)
        seen += page.numbers
        if not page.more:
            break
        after = (sort_value(known[seen[-1]], sort, NOW, RETENTION), seen[-1])
        gone = rng.choice([number for number in range(1, 121) if number not in erased])
        erased.add(gone)
        new = [random_memory(rng, max(known) + extra) for extra in (1, 2, 3)]
        known |= {kept.number: kept for kept in new}
        put(tombstone(gone, 2), *map(entry, new))
    assert len(seen) == len(set(seen))
    assert set(range(1, 121)) - erased <= set(seen)


def test_what_is_used_or_edited_moves_in_the_list(index, put):
    put(*(entry(memory(number)) for number in (1, 2, 3)))
    put(entry(memory(2, revision=2, use_count=4, last_used_at=NOW, updated_at=NOW, importance=9)))
    for sort in ("used", "updated", "importance"):
        assert _page(index, sort=sort).numbers[0] == 2
    assert _page(index, sort="vitality").numbers[-1] == 2


def test_text_keeps_those_that_have_every_word(index, put):
    put(
        entry(memory(1, "a violin in the harbour")),
        entry(memory(2, "violins", context="harbour")),
        entry(memory(3, "harbours and violins and more", state=State.TRASHED)),
        entry(memory(4, "harbour", key="violin")),
    )
    assert _page(index, text="harbour VIOLIN").numbers == (4, 3, 1)
    assert _page(index, MemoryFilter(), text="harbour violin").numbers == (4, 1)
    assert _page(index, text="violin").numbers == (4, 3, 2, 1)
    assert _page(index, text="violin zeppelin").numbers == ()
    firsts = _page(index, text="violin", limit=2, sort="oldest")
    assert firsts.numbers == (1, 2)
    assert firsts.more is True


def test_a_text_without_words_is_no_condition(index, put):
    put(entry(memory(1)), entry(memory(2)))
    for text in ("", "  ", "the", "?!"):
        assert _page(index, text=text).numbers == (2, 1)
