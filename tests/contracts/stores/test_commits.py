"""The unit of writing: conditions, all or nothing, once only, and what is refused for its size."""

from collections.abc import Callable

import pytest

from chalicelib.domain.memory import Source
from chalicelib.domain.records import CategoryWrite, Commit, JobWrite, MemoryWrite, SpaceWrite
from chalicelib.errors import AlreadyDoneError, ItemTooLargeError, StaleVersionError
from chalicelib.ports import InboxStore, MemoryStore
from tests.contracts.stores.given import (
    ME,
    add,
    adding,
    category,
    change,
    current,
    editing,
    job,
    later,
    memory,
    once,
    space_record,
    vector,
)


def untouched(store: MemoryStore, inbox: InboxStore) -> None:
    """Nothing of the refused commit is anywhere."""
    assert store.get(ME, 2) is None
    assert store.categories(ME) == []
    assert store.space(ME) is None
    assert store.job(ME, "job_1") is None
    assert store.change(ME, "2", 1) is None
    assert [c.id for c in store.changes(ME, after=None, limit=10).items] == ["1-1"]
    assert store.vectors(ME, [1, 2], vector(1).model) == []
    assert inbox.outcome("acc_1", "key-1", later(1)) is None
    assert store.at_position(ME, [("c", 5)]) == {}
    assert store.unprojected(ME, 10) == [1]


def everything(**fields: object) -> Commit:
    """One commit with one of each kind of item."""
    second = memory(2, source=Source(conversation="c", position=5))
    whole: dict[str, object] = {
        "memories": (MemoryWrite(memory=second, expected=None),),
        "categories": (CategoryWrite(category=category("cat_1", "Work"), expected=None),),
        "spaces": (SpaceWrite(record=space_record(), expected=None),),
        "jobs": (JobWrite(job=job("job_1"), expected=None),),
        "changes": (change(second),),
        "idempotency": once(),
        "vectors": (vector(2),),
    }
    return Commit.model_validate(whole | fields)


def test_one_commit_writes_one_of_each(store: MemoryStore, inbox: InboxStore) -> None:
    store.commit(ME, everything())
    assert current(store, 2).text == "fact 2"
    assert store.categories(ME) == [category("cat_1", "Work")]
    assert store.space(ME) == space_record()
    assert store.job(ME, "job_1") == job("job_1")
    assert store.change(ME, "2", 1) is not None
    assert inbox.outcome("acc_1", "key-1", later(1)) == once()
    assert store.vectors(ME, [2], vector(2).model) == [vector(2)]
    assert store.at_position(ME, [("c", 5)]) == {("c", 5): 2}


def test_an_empty_commit_is_no_error(store: MemoryStore) -> None:
    store.commit(ME, Commit())
    assert store.page(ME, after=None, limit=1) == []


def test_a_stale_edit_is_refused_and_the_first_edit_stands(store: MemoryStore) -> None:
    """SPEC M15."""
    seen = add(store, 1)
    store.commit(ME, editing(seen, text="first"))
    with pytest.raises(StaleVersionError) as refused:
        store.commit(ME, editing(seen, text="second"))
    assert refused.value.targets == ("1",)
    assert current(store, 1).text == "first"
    assert len(store.history(ME, "1", after=None, limit=9)) == 2


def test_a_number_in_use_is_not_written_as_new(store: MemoryStore) -> None:
    add(store, 1)
    with pytest.raises(StaleVersionError) as refused:
        store.commit(ME, adding(memory(1, text="another")))
    assert refused.value.targets == ("1",)
    assert current(store, 1).text == "fact 1"


def test_an_edit_of_what_does_not_exist_is_stale(store: MemoryStore) -> None:
    with pytest.raises(StaleVersionError) as refused:
        store.commit(ME, editing(memory(1), text="x"))
    assert refused.value.targets == ("1",)
    assert store.get(ME, 1) is None
    assert store.change(ME, "1", 2) is None


def test_a_version_from_the_future_is_stale(store: MemoryStore) -> None:
    seen = add(store, 1)
    with pytest.raises(StaleVersionError):
        store.commit(ME, editing(seen.model_copy(update={"version": 7}), text="x"))
    assert current(store, 1) == seen


STALE: dict[str, tuple[Callable[[], dict[str, object]], str]] = {
    "memory": (lambda: {"memories": (MemoryWrite(memory=memory(1, version=8), expected=7),)}, "1"),
    "category": (
        lambda: {"categories": (CategoryWrite(category=category("cat_1", "W", version=3), expected=2),)},
        "cat_1",
    ),
    "space": (lambda: {"spaces": (SpaceWrite(record=space_record(version=3), expected=2),)}, "space"),
    "job": (lambda: {"jobs": (JobWrite(job=job("job_1", version=3), expected=2),)}, "job_1"),
}


@pytest.mark.parametrize("kind", STALE)
def test_one_stale_item_of_any_kind_leaves_the_rest_unwritten(
    store: MemoryStore, inbox: InboxStore, kind: str
) -> None:
    add(store, 1)
    stale, target = STALE[kind]
    with pytest.raises(StaleVersionError) as refused:
        store.commit(ME, everything(**stale()))
    assert refused.value.targets == (target,)
    untouched(store, inbox)


def test_all_stale_items_are_named(store: MemoryStore) -> None:
    add(store, 1)
    add(store, 2)
    store.commit(ME, Commit(categories=(CategoryWrite(category=category("cat_1", "Work"), expected=None),)))
    commit = Commit(
        memories=(
            MemoryWrite(memory=memory(1, version=5), expected=4),
            MemoryWrite(memory=memory(2, version=2), expected=1),
            MemoryWrite(memory=memory(3, version=2), expected=1),
        ),
        categories=(CategoryWrite(category=category("cat_1", "Work"), expected=None),),
        spaces=(SpaceWrite(record=space_record(version=2), expected=1),),
        jobs=(JobWrite(job=job("job_9", version=2), expected=1),),
    )
    with pytest.raises(StaleVersionError) as refused:
        store.commit(ME, commit)
    assert set(refused.value.targets) == {"1", "3", "cat_1", "space", "job_9"}


@pytest.mark.parametrize("expected", [None, 1])
def test_categories_spaces_and_jobs_are_written_only_at_their_version(
    store: MemoryStore, expected: int | None
) -> None:
    def written(version: int, expected: int | None) -> Commit:
        return Commit(
            categories=(
                CategoryWrite(
                    category=category("cat_1", f"Work {version}", version=version), expected=expected
                ),
            ),
            spaces=(
                SpaceWrite(
                    record=space_record(default_category=f"cat_{version}", version=version), expected=expected
                ),
            ),
            jobs=(JobWrite(job=job("job_1", done=version, version=version), expected=expected),),
        )

    store.commit(ME, written(1, None))
    store.commit(ME, written(2, 1))
    with pytest.raises(StaleVersionError) as refused:
        store.commit(ME, written(3, expected))
    assert set(refused.value.targets) == {"cat_1", "space", "job_1"}
    assert [c.name for c in store.categories(ME)] == ["Work 2"]
    record, running = store.space(ME), store.job(ME, "job_1")
    assert record is not None
    assert record.default_category == "cat_2"
    assert running is not None
    assert running.done == 2


def test_a_repeated_request_writes_nothing_the_second_time(store: MemoryStore, inbox: InboxStore) -> None:
    store.commit(ME, adding(memory(1), idempotency=once()))
    with pytest.raises(AlreadyDoneError):
        store.commit(ME, adding(memory(2), idempotency=once(request_hash="h2", outcome={})))
    assert store.get(ME, 2) is None
    assert store.change(ME, "2", 1) is None
    assert inbox.outcome("acc_1", "key-1", later(1)) == once()


def test_already_done_goes_before_stale(store: MemoryStore) -> None:
    """A repeat of an edit that succeeded must be told so, though its version is stale by then."""
    seen = add(store, 1)
    edit = editing(seen, text="changed").model_copy(update={"idempotency": once()})
    store.commit(ME, edit)
    with pytest.raises(AlreadyDoneError):
        store.commit(ME, edit)
    assert current(store, 1).version == 2


def test_a_stale_commit_leaves_no_idempotency_record(store: MemoryStore, inbox: InboxStore) -> None:
    seen = add(store, 1)
    store.commit(ME, editing(seen, text="changed"))
    with pytest.raises(StaleVersionError):
        store.commit(ME, editing(seen, text="late").model_copy(update={"idempotency": once()}))
    assert inbox.outcome("acc_1", "key-1", later(1)) is None
    store.commit(ME, editing(current(store, 1), text="again").model_copy(update={"idempotency": once()}))
    assert current(store, 1).text == "again"


def test_an_expired_idempotency_record_may_be_replaced(store: MemoryStore, inbox: InboxStore) -> None:
    store.commit(ME, adding(memory(1), idempotency=once(expires_at=later(10))))
    renewed = once(at=later(11), expires_at=later(500), outcome={"numbers": [2]})
    store.commit(ME, adding(memory(2), idempotency=renewed))
    assert inbox.outcome("acc_1", "key-1", later(12)) == renewed


def test_an_item_above_400_kilobytes_is_refused_before_anything_is_written(
    store: MemoryStore, inbox: InboxStore
) -> None:
    add(store, 1)
    large = memory(3, text="x" * 410_000)
    with pytest.raises(ItemTooLargeError):
        store.commit(ME, everything(memories=(MemoryWrite(memory=large, expected=None),), changes=()))
    untouched(store, inbox)
    assert store.get(ME, 3) is None


@pytest.mark.parametrize(("letter", "count"), [("ж", 204_900), ("🦊", 102_500), ("x", 409_700)])
def test_sizes_are_counted_in_bytes(store: MemoryStore, letter: str, count: int) -> None:
    with pytest.raises(ItemTooLargeError):
        store.commit(
            ME, Commit(memories=(MemoryWrite(memory=memory(1, text=letter * count), expected=None),))
        )
    assert store.get(ME, 1) is None


def test_a_large_change_is_refused_though_its_memory_is_small(store: MemoryStore) -> None:
    small = memory(1)
    image = memory(1, text="x" * 410_000).model_dump(mode="json")
    record = change(small).model_copy(update={"image": image})
    with pytest.raises(ItemTooLargeError):
        store.commit(ME, Commit(memories=(MemoryWrite(memory=small, expected=None),), changes=(record,)))
    assert store.get(ME, 1) is None


def test_a_large_outcome_is_refused(store: MemoryStore) -> None:
    with pytest.raises(ItemTooLargeError):
        store.commit(ME, adding(memory(1), idempotency=once(outcome={"x": "y" * 410_000})))
    assert store.get(ME, 1) is None


def test_a_transaction_above_four_megabytes_is_refused(store: MemoryStore) -> None:
    with pytest.raises(ItemTooLargeError):
        store.commit(ME, adding(*(memory(n, text="x" * 240_000) for n in range(1, 11))))
    assert store.page(ME, after=None, limit=1) == []
    store.commit(ME, adding(*(memory(n, text="x" * 240_000) for n in range(1, 8))))
    assert len(store.page(ME, after=None, limit=10)) == 7


def test_a_hundred_actions_are_written_and_one_more_is_refused(store: MemoryStore) -> None:
    store.commit(ME, adding(*(memory(n) for n in range(1, 51))))
    with pytest.raises(ItemTooLargeError):
        store.commit(ME, adding(*(memory(n) for n in range(51, 101)), idempotency=once()))
    assert [m.number for m in store.page(ME, after=50, limit=100)] == []
    assert len(store.page(ME, after=None, limit=100)) == 50


def test_a_memory_said_at_a_place_takes_one_action_more(store: MemoryStore) -> None:
    def said(count: int) -> Commit:
        return adding(*(memory(n, source=Source(conversation="c", position=n)) for n in range(1, count + 1)))

    with pytest.raises(ItemTooLargeError):
        store.commit(ME, said(34))
    assert store.page(ME, after=None, limit=1) == []
    store.commit(ME, said(33))
    assert len(store.page(ME, after=None, limit=50)) == 33
