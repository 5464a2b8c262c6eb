"""Change records: a memory's history, the space's journal, groups, and what erasing takes away (SPEC M13)."""

import pytest

from chalicelib.domain.change import Change
from chalicelib.domain.memory import State
from chalicelib.domain.records import CategoryWrite, Commit
from chalicelib.domain.scope import Space
from chalicelib.errors import StaleVersionError
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import (
    ACTOR,
    ME,
    MODEL,
    add,
    adding,
    category,
    change,
    current,
    editing,
    erasing,
    later,
    memory,
    scope_of,
    vector,
)


def edited(store: MemoryStore, number: int, times: int) -> None:
    """A memory with `times` edits behind it."""
    add(store, number)
    for _ in range(times):
        before = current(store, number)
        store.commit(ME, editing(before, text=f"fact {number}, version {before.version + 1}"))


def journal(store: MemoryStore, limit: int) -> list[str]:
    """Ids of all changes of the space, read in pages of `limit`."""
    ids: list[str] = []
    page = store.changes(ME, after=None, limit=limit)
    ids.extend(c.id for c in page.items)
    while page.next is not None:
        page = store.changes(ME, after=page.next, limit=limit)
        assert page.items, "a page that was announced is not empty"
        ids.extend(c.id for c in page.items)
    return ids


def test_a_change_comes_back_whole(store: MemoryStore) -> None:
    made = memory(1, confidence=0.1, importance=7)
    record = change(made, "edit", "grp_9", run="run_1", undoes="grp_8")
    store.commit(ME, adding(made).model_copy(update={"changes": (record,)}))
    assert store.change(ME, "1", 1) == record
    assert store.history(ME, "1", after=None, limit=1) == [record]
    assert store.changes(ME, after=None, limit=1).items == [record]
    assert store.group(ME, "grp_9") == [record]


def test_a_history_is_newest_first_and_goes_on_below_a_version(store: MemoryStore) -> None:
    edited(store, 1, 11)
    edited(store, 11, 1)

    def versions(after: int | None, limit: int) -> list[int]:
        return [c.version for c in store.history(ME, "1", after=after, limit=limit)]

    assert versions(None, 100) == list(range(12, 0, -1))
    assert versions(None, 3) == [12, 11, 10]
    assert versions(10, 3) == [9, 8, 7]
    assert versions(2, 3) == [1]
    assert versions(1, 3) == []
    assert {c.target for c in store.history(ME, "1", after=None, limit=100)} == {"1"}
    assert store.history(ME, "2", after=None, limit=3) == []


def test_one_change_is_found_by_target_and_version(store: MemoryStore) -> None:
    edited(store, 1, 2)
    found = store.change(ME, "1", 2)
    assert found is not None
    assert found.image is not None
    assert found.image["text"] == "fact 1, version 2"
    assert store.change(ME, "1", 4) is None
    assert store.change(ME, "2", 1) is None


def test_a_category_has_a_history_too(store: MemoryStore) -> None:
    work = category("cat_1", "Work")
    record = Change(
        target="cat_1",
        version=1,
        op="add",
        at=later(1),
        by=ACTOR,
        image=work.model_dump(mode="json"),
        group="g",
    )
    store.commit(ME, Commit(categories=(CategoryWrite(category=work, expected=None),), changes=(record,)))
    assert store.history(ME, "cat_1", after=None, limit=5) == [record]
    assert store.change(ME, "cat_1", 1) == record


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6, 7, 100])
def test_the_journal_has_every_change_once_newest_first(store: MemoryStore, limit: int) -> None:
    for number in range(1, 4):
        add(store, number, updated_at=later(number))
    for number in range(1, 4):
        store.commit(ME, editing(current(store, number), text="x", at=later(10 + number)))
    assert journal(store, limit) == ["3-2", "2-2", "1-2", "3-1", "2-1", "1-1"]


def test_changes_of_one_moment_are_all_in_the_journal(store: MemoryStore) -> None:
    store.commit(ME, adding(*(memory(n) for n in range(1, 31))))
    ids = journal(store, 7)
    assert len(ids) == 30
    assert set(ids) == {f"{n}-1" for n in range(1, 31)}


def test_a_journal_that_grows_while_it_is_read_repeats_nothing(store: MemoryStore) -> None:
    for number in range(1, 5):
        add(store, number, updated_at=later(number))
    first = store.changes(ME, after=None, limit=2)
    add(store, 5, updated_at=later(5))
    second = store.changes(ME, after=first.next, limit=5)
    assert [c.id for c in first.items + second.items] == ["4-1", "3-1", "2-1", "1-1"]
    assert second.next is None


def test_an_empty_journal_is_one_empty_page(store: MemoryStore) -> None:
    page = store.changes(ME, after=None, limit=5)
    assert page.items == []
    assert page.next is None


def test_a_group_is_found_whole_however_large(store: MemoryStore) -> None:
    for first in range(1, 121, 40):
        store.commit(ME, adding(*(memory(n) for n in range(first, first + 40)), group="grp_big"))
    store.commit(ME, adding(memory(500), group="grp_bigger"))
    assert {c.target for c in store.group(ME, "grp_big")} == {str(n) for n in range(1, 121)}
    assert store.group(ME, "grp_none") == []


def test_a_group_of_large_changes_is_found_whole(store: MemoryStore) -> None:
    for number in range(1, 8):
        add(store, number, text="y" * 240_000, group="grp_big")
    assert len(store.group(ME, "grp_big")) == 7
    assert len(store.changes(ME, after=None, limit=7).items) == 7
    assert journal(store, 2) != []


def test_erasing_leaves_the_number_the_time_and_who_and_no_text(store: MemoryStore) -> None:
    edited(store, 1, 2)
    store.put_vectors(ME, [vector(1), vector(1, role="context")])
    before = [(c.version, c.op, c.at, c.by) for c in store.history(ME, "1", after=None, limit=9)]
    store.commit(ME, erasing(current(store, 1)))

    mark = current(store, 1)
    assert (mark.state, mark.text, mark.version) == (State.ERASED, "(erased)", 4)
    history = store.history(ME, "1", after=None, limit=9)
    assert [c.image for c in history] == [None] * 4
    assert [(c.version, c.op, c.at, c.by) for c in history[1:]] == before
    assert history[0].op == "erase"
    assert [c.image for c in store.changes(ME, after=None, limit=9).items] == [None] * 4
    assert [c.image for c in store.group(ME, "grp_2")] == [None] * 2
    found = store.change(ME, "1", 1)
    assert found is not None
    assert found.image is None
    assert store.vectors(ME, [1], MODEL) == []


def test_erasing_one_leaves_its_neighbours_whole(store: MemoryStore) -> None:
    elsewhere = scope_of(Space.personal("acc_10"))
    for number in (1, 10, 11, 12):
        add(store, number)
    add(store, 1, scope=elsewhere)
    store.put_vectors(ME, [vector(n) for n in (1, 10, 11, 12)])
    store.put_vectors(elsewhere, [vector(1)])
    store.commit(ME, erasing(current(store, 1)))
    for number in (10, 11, 12):
        assert current(store, number).text == f"fact {number}"
        kept = store.change(ME, str(number), 1)
        assert kept is not None
        assert kept.image is not None
    assert {v.number for v in store.vectors(ME, [1, 10, 11, 12], MODEL)} == {10, 11, 12}
    assert current(store, 1, elsewhere).text == "fact 1"
    assert [c.image is None for c in store.history(elsewhere, "1", after=None, limit=2)] == [False]
    assert len(store.vectors(elsewhere, [1], MODEL)) == 1


def test_erasing_strips_even_a_long_history(store: MemoryStore) -> None:
    edited(store, 1, 130)
    store.commit(ME, erasing(current(store, 1)))
    assert {c.image is None for c in store.history(ME, "1", after=None, limit=200)} == {True}


def test_several_are_erased_in_one_commit(store: MemoryStore) -> None:
    for number in (1, 2, 3):
        add(store, number)
    commits = [erasing(current(store, n)) for n in (1, 2)]
    store.commit(
        ME,
        Commit(
            memories=tuple(w for c in commits for w in c.memories),
            changes=tuple(r for c in commits for r in c.changes),
            strip=(1, 2),
        ),
    )
    images = {c.id: c.image is None for c in store.changes(ME, after=None, limit=9).items}
    assert images == {"1-1": True, "1-2": True, "2-1": True, "2-2": True, "3-1": False}


def test_a_stale_erase_strips_nothing(store: MemoryStore) -> None:
    edited(store, 1, 1)
    with pytest.raises(StaleVersionError):
        store.commit(ME, erasing(memory(1)))
    assert [c.image is None for c in store.history(ME, "1", after=None, limit=9)] == [False, False]


def test_an_erased_number_is_never_used_again(store: MemoryStore) -> None:
    add(store, 1)
    store.commit(ME, erasing(current(store, 1)))
    with pytest.raises(StaleVersionError):
        store.commit(ME, adding(memory(1, text="again")))
    assert [m.number for m in store.page(ME, after=None, limit=5)] == [1]
    assert store.get_many(ME, [1])[1].state is State.ERASED
