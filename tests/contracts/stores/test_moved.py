"""What comes from another installation: things that are not new are written as they were, and go on from there."""

from datetime import timedelta

import pytest

from chalicelib.domain.memory import Memory, Source, State, erased
from chalicelib.domain.records import CategoryWrite, Commit, MemoryWrite, SpaceWrite
from chalicelib.errors import StaleVersionError
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import (
    ME,
    T0,
    category,
    change,
    current,
    editing,
    later,
    memory,
    space_record,
    vector,
)

OLD = T0 - timedelta(days=400)


def moved(number: int = 7, **fields: object) -> Memory:
    """A memory with a past and uses."""
    past = {
        "version": 3,
        "revision": 12,
        "use_count": 9,
        "last_used_at": later(-5),
        "recorded_at": OLD,
        "updated_at": OLD,
        "source": Source(conversation="talk", position=4),
    }
    return memory(number, **(past | fields))


def arriving(*memories: Memory, first: int = 1) -> Commit:
    """Each with the changes that made it what it is."""
    return Commit(
        memories=tuple(MemoryWrite(memory=one, expected=None) for one in memories),
        changes=tuple(
            change(one.model_copy(update={"version": version}), "add" if version == 1 else "edit")
            for one in memories
            for version in range(first, one.version + 1)
        ),
    )


def test_a_memory_that_comes_with_its_past_is_kept_as_it_was(store: MemoryStore) -> None:
    trashed = moved(8, state=State.TRASHED, reason="r", replaced_by=7, derived_from=(1, 2), confidence=0.5)
    store.commit(ME, arriving(moved(), trashed))
    assert current(store, 7) == moved()
    assert current(store, 8) == trashed
    assert [one.version for one in store.history(ME, "7", after=None, limit=9)] == [3, 2, 1]
    assert store.at_position(ME, [("talk", 4)]) == {("talk", 4): 8}
    assert set(store.unprojected(ME, 9)) == {7, 8}


def test_it_goes_on_from_there(store: MemoryStore) -> None:
    store.commit(ME, arriving(moved()))
    store.touch(ME, [7], later(1))
    store.commit(ME, editing(current(store, 7), text="new"))
    now = current(store, 7)
    assert (now.version, now.revision, now.use_count, now.text) == (4, 14, 10, "new")
    assert len(store.history(ME, "7", after=None, limit=9)) == 4


def test_its_past_may_come_before_it_and_nobody_sees_it_until_then(store: MemoryStore) -> None:
    whole = arriving(moved())
    store.commit(ME, whole.model_copy(update={"memories": (), "changes": whole.changes[:2]}))
    assert store.get(ME, 7) is None
    assert store.page(ME, after=None, limit=9) == []
    assert store.unprojected(ME, 9) == []
    with pytest.raises(StaleVersionError):
        store.commit(ME, whole)
    assert store.get(ME, 7) is None
    store.commit(ME, whole.model_copy(update={"changes": whole.changes[2:]}))
    assert len(store.history(ME, "7", after=None, limit=9)) == 3


def test_the_mark_of_an_erased_one_comes_as_such_and_takes_the_texts_that_came_before_it(
    store: MemoryStore,
) -> None:
    whole = arriving(moved())
    store.commit(ME, whole.model_copy(update={"memories": ()}))
    mark = erased(moved(), at=later(5))
    store.commit(
        ME,
        Commit(
            memories=(MemoryWrite(memory=mark, expected=None),),
            changes=(change(mark, "erase"),),
            strip=(7,),
        ),
    )
    assert current(store, 7) == mark
    assert [one.image for one in store.history(ME, "7", after=None, limit=9)] == [None] * 4
    assert store.finish_strip(ME, 7) is False
    store.put_vectors(ME, [vector(7)])
    assert store.vectors(ME, [7], vector(7).model) == []
    assert store.at_position(ME, [("talk", 4)]) == {}


def test_a_category_and_a_space_come_as_they_were(store: MemoryStore) -> None:
    deleted = category("cat_1", "Work", version=5, deleted=True)
    record = space_record(version=9, imported="exp_1", default_category="cat_1", created_at=OLD)
    store.commit(
        ME,
        Commit(
            categories=(CategoryWrite(category=deleted, expected=None),),
            spaces=(SpaceWrite(record=record, expected=None),),
        ),
    )
    assert store.categories(ME) == [deleted]
    assert store.space(ME) == record


def test_changes_of_long_ago_stand_where_they_belong(store: MemoryStore) -> None:
    store.commit(
        ME, Commit(memories=(MemoryWrite(memory=memory(1), expected=None),), changes=(change(memory(1)),))
    )
    store.commit(ME, arriving(moved()))
    listed = [one.id for one in store.changes(ME, after=None, limit=9).items]
    assert listed[0] == "1-1"
    assert sorted(listed[1:]) == ["7-1", "7-2", "7-3"]
