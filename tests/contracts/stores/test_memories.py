"""Reading memories: whole, many at once, in order of number; and counting recalls."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.memory import TEXT_MAX_BYTES, Memory, Source, State
from chalicelib.domain.records import Commit, MemoryWrite
from chalicelib.domain.scope import Actor
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import ME, T0, add, adding, current, editing, later, memory

TEXTS = {
    "emoji": "likes 🦊 and 👩‍👩‍👧‍👦 and 🇨🇿",
    "right to left": "هو يحب القهوة \u200f(קפה)\u202e back",
    "czech": "žluťoučký kůň úpěl ďábelské ódy",
    "russian": "ёжик в тумане",
    "combining": "e\u0301 is not é",
    "quotes": "it's \"quoted\" `twice` '' \\ \\\" \\u0041",
    "lines": "first\n\nsecond\r\nthird\ttab\x1b[31m\x7f",
    "markup": "<script>alert(1)</script> {{x}} %s %(a)s ; DROP TABLE memories; --",
    "odd spaces": " \u00a0leading and trailing\u2028line\u2029paragraph\ufeff ",
    "beyond the plane": "\U0010ffff\U0001f600\uffff\ufffe",
    "a number": "12",
    "json": '{"a": [1, null]}',
    "large": "x" * 300_000,
    "largest, of quotes": '"' * TEXT_MAX_BYTES,
    "largest, of control characters": "\x01" * (TEXT_MAX_BYTES - 1) + "a",
    "largest, of emoji": "🦊" * (TEXT_MAX_BYTES // 4),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_any_storable_text_comes_back_unchanged(store: MemoryStore, text: str) -> None:
    added = add(store, 1, text=text)
    assert store.get(ME, 1) == added
    assert store.get_many(ME, [1])[1].text == text
    assert store.page(ME, after=None, limit=1)[0].text == text
    recorded = store.change(ME, "1", 1)
    assert recorded is not None
    assert recorded.image is not None
    assert recorded.image["text"] == text


def test_every_field_comes_back_as_it_was_written(store: MemoryStore) -> None:
    whole = Memory(
        text="the cat is called Růženka",
        kind="reference",
        importance=10,
        category="cat_1",
        key="cat's name",
        confidence=0.1 + 0.2,
        subject="member-7",
        valid_from=datetime(1, 1, 1, tzinfo=UTC),
        source=Source(conversation="dm #1/á", position=10**12, author="Řehoř", said_at=later(0.123)),
        context="what is the cat's name? ",
        context_from=3,
        derived_from=(2, 10**15),
        space=ME.space.key,
        number=10**15,
        version=1,
        revision=1,
        state=State.RETIRED,
        valid_to=datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC),
        reason='moved on; it\'s "over"',
        replaced_by=9,
        recorded_at=T0,
        recorded_by=Actor(kind="model", id="m-1", turn="turn_9"),
        updated_at=later(0.001),
        reviewed_at=later(3),
    )
    store.commit(ME, adding(whole))
    assert store.get(ME, 10**15) == whole
    assert store.get_many(ME, [10**15]) == {10**15: whole}
    assert store.page(ME, after=None, limit=5) == [whole]


@pytest.mark.parametrize("confidence", [0.0, 1.0, 1e-300, 5e-324, 0.1, 1 / 3, 0.30000000000000004])
def test_confidences_keep_every_bit(store: MemoryStore, confidence: float) -> None:
    add(store, 1, confidence=confidence)
    assert current(store, 1).confidence == confidence


@pytest.mark.parametrize("context", ["", " ", "\n", "c" * 2000])
def test_an_empty_context_is_not_an_absent_one(store: MemoryStore, context: str) -> None:
    add(store, 1, context=context)
    add(store, 2, context=None)
    assert current(store, 1).context == context
    assert current(store, 2).context is None


def test_a_number_never_used_is_none(store: MemoryStore) -> None:
    add(store, 2)
    assert store.get(ME, 1) is None
    assert store.get_many(ME, [1, 2, 3]).keys() == {2}
    assert store.get_many(ME, []) == {}


def test_many_are_read_whatever_the_count_and_however_often_one_is_named(store: MemoryStore) -> None:
    for first in range(1, 241, 40):
        store.commit(ME, adding(*(memory(n) for n in range(first, first + 40))))
    found = store.get_many(ME, [*range(250, 0, -1), 7, 7])
    assert found.keys() == set(range(1, 241))
    assert all(found[n].text == f"fact {n}" for n in found)


def test_memories_are_read_in_every_state(store: MemoryStore) -> None:
    for number, state in enumerate((State.ACTIVE, State.RETIRED, State.TRASHED), start=1):
        add(store, number, state=state)
        assert current(store, number).state is state
    assert [m.number for m in store.page(ME, after=None, limit=9)] == [1, 2, 3]


def test_pages_follow_the_numbers_up_and_down(store: MemoryStore) -> None:
    for number in (2, 9, 10, 11, 100, 1000):
        add(store, number)

    def numbers(*, after: int | None, limit: int, newest_first: bool = False) -> list[int]:
        return [m.number for m in store.page(ME, after=after, limit=limit, newest_first=newest_first)]

    assert numbers(after=None, limit=3) == [2, 9, 10]
    assert numbers(after=10, limit=3) == [11, 100, 1000]
    assert numbers(after=10, limit=2) == [11, 100]
    assert numbers(after=1000, limit=3) == []
    assert numbers(after=None, limit=3, newest_first=True) == [1000, 100, 11]
    assert numbers(after=11, limit=2, newest_first=True) == [10, 9]
    assert numbers(after=2, limit=2, newest_first=True) == []
    assert numbers(after=50, limit=100) == [100, 1000]


def test_a_page_is_full_unless_it_is_the_last_even_of_large_memories(store: MemoryStore) -> None:
    for number in range(1, 9):
        add(store, number, text="y" * 240_000)
    assert [m.number for m in store.page(ME, after=None, limit=7)] == list(range(1, 8))
    assert store.get_many(ME, range(1, 9)).keys() == set(range(1, 9))


def test_a_recall_is_counted_and_the_version_stays(store: MemoryStore) -> None:
    add(store, 1)
    add(store, 2)
    store.touch(ME, [1], later(5))
    store.touch(ME, [1, 2], later(9))
    first, second = current(store, 1), current(store, 2)
    assert (first.use_count, first.last_used_at, first.version, first.revision) == (2, later(9), 1, 3)
    assert (second.use_count, second.last_used_at, second.version, second.revision) == (1, later(9), 1, 2)
    assert first.text == "fact 1"
    assert first.updated_at == T0


def test_recalls_of_numbers_that_do_not_exist_are_passed_over(store: MemoryStore) -> None:
    add(store, 1)
    store.touch(ME, [1, 99], later(5))
    store.touch(ME, [], later(6))
    assert current(store, 1).use_count == 1
    assert store.get(ME, 99) is None


def test_a_recall_of_many_at_once_counts_each(store: MemoryStore) -> None:
    store.commit(ME, adding(*(memory(n) for n in range(1, 41))))
    store.touch(ME, range(1, 41), later(5))
    assert {m.use_count for m in store.page(ME, after=None, limit=50)} == {1}


def test_an_edit_keeps_the_recalls_that_the_editor_did_not_see(store: MemoryStore) -> None:
    seen = add(store, 1)
    store.touch(ME, [1], later(5))
    store.touch(ME, [1], later(6))
    store.commit(ME, editing(seen, text="changed"))
    after = current(store, 1)
    assert (after.text, after.version) == ("changed", 2)
    assert (after.use_count, after.last_used_at, after.revision) == (2, later(6), 4)


def test_an_edit_cannot_invent_recalls_or_set_the_revision(store: MemoryStore) -> None:
    seen = add(store, 1)
    forged = seen.model_copy(update={"version": 2, "revision": 70, "use_count": 5, "last_used_at": later(1)})
    store.commit(ME, Commit(memories=(MemoryWrite(memory=forged, expected=1),)))
    after = current(store, 1)
    assert (after.use_count, after.last_used_at, after.revision, after.version) == (0, None, 2, 2)


def test_a_new_memory_takes_its_counts_from_the_writer(store: MemoryStore) -> None:
    add(store, 1, use_count=7, last_used_at=later(1), revision=1)
    imported = current(store, 1)
    assert (imported.use_count, imported.last_used_at, imported.revision) == (7, later(1), 1)


def test_an_edit_can_take_fields_away(store: MemoryStore) -> None:
    source = Source(conversation="c", position=1)
    seen = add(store, 1, importance=3, category="cat_1", key="k", source=source, context="x", context_from=4)
    bare = {
        "importance": None,
        "category": None,
        "key": None,
        "source": None,
        "context": None,
        "context_from": None,
    }
    store.commit(ME, editing(seen, **bare))
    after = current(store, 1)
    assert {name: getattr(after, name) for name in bare} == bare
    assert store.at_position(ME, [("c", 1)]) == {}
    assert store.context_of(ME, 4) == []


def test_what_was_just_written_is_named_until_the_index_has_it_newest_first(store: MemoryStore) -> None:
    """SPEC M25."""
    for number in range(1, 6):
        add(store, number, updated_at=later(number))
    assert store.unprojected(ME, 10) == [5, 4, 3, 2, 1]
    assert store.unprojected(ME, 2) == [5, 4]


def test_since_when_a_write_waits_is_told_by_the_clock_of_the_store(store: MemoryStore) -> None:
    """Not by the times that a memory brings from elsewhere."""
    for number in (1, 2, 12):
        add(store, number, updated_at=T0 - timedelta(days=200), recorded_at=T0 - timedelta(days=200))
    waiting = store.waiting(ME, [1, 12, 99])
    assert set(waiting) == {1, 12}
    assert all(since > T0 - timedelta(days=1) for since in waiting.values())
    assert store.waiting(ME, []) == {}


def test_an_edited_memory_is_named_once_as_not_yet_indexed(store: MemoryStore) -> None:
    seen = add(store, 1)
    store.commit(ME, editing(seen, text="changed"))
    assert store.unprojected(ME, 10) == [1]
