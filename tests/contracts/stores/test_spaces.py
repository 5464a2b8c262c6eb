"""Spaces: apart from one another, their own record, categories and jobs."""

from itertools import pairwise

import pytest

from chalicelib.domain.records import CategoryWrite, Commit, JobWrite, SpaceWrite
from chalicelib.domain.scope import Scope, Space
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import (
    ME,
    MODEL,
    add,
    category,
    current,
    editing,
    job,
    later,
    scope_of,
    space_record,
    vector,
)

SPACES = [
    Space.personal("acc_1"),
    Space.personal("acc_10"),
    Space.personal("acc_"),
    Space.personal("ACC_1"),
    Space.pool("acc_1"),
    Space.pool("account"),
    Space.community("discord", "acc_1"),
    Space.community("discord-", "1"),
    Space.community("discord", "-1"),
    Space.community("discord", "1"),
    Space.community("discord", "12"),
    Space.community("telegram", "12"),
    Space.community("telegram", "-12"),
]


def fill(store: MemoryStore, scope: Scope, mark: str) -> None:
    """One of everything, with the mark in it."""
    add(store, 1, scope=scope, text=f"text {mark}", group="grp_same")
    store.commit(
        scope,
        Commit(
            categories=(CategoryWrite(category=category("cat_1", mark, scope=scope), expected=None),),
            spaces=(SpaceWrite(record=space_record(scope, default_category=mark), expected=None),),
            jobs=(JobWrite(job=job("job_1", scope=scope, error=mark), expected=None),),
            vectors=(vector(1, text_hash=mark),),
        ),
    )


def holds_only(store: MemoryStore, scope: Scope, mark: str) -> None:
    """Every way of reading gives this space's own, and nothing else."""
    assert current(store, 1, scope).text == f"text {mark}"
    assert [m.text for m in store.page(scope, after=None, limit=99)] == [f"text {mark}"]
    assert [m.text for m in store.page(scope, after=None, limit=99, newest_first=True)] == [f"text {mark}"]
    assert [m.text for m in store.get_many(scope, range(1, 99)).values()] == [f"text {mark}"]
    changes = [
        *store.changes(scope, after=None, limit=99).items,
        *store.history(scope, "1", after=None, limit=99),
        *store.group(scope, "grp_same"),
    ]
    assert [c.image and c.image["text"] for c in changes] == [f"text {mark}"] * 3
    assert [c.name for c in store.categories(scope)] == [mark]
    record = store.space(scope)
    assert record is not None
    assert (record.space, record.default_category) == (scope.space.key, mark)
    assert [j.error for j in store.jobs(scope, 99)] == [mark]
    found = store.job(scope, "job_1")
    assert found is not None
    assert found.error == mark
    assert [v.text_hash for v in store.vectors(scope, [1], MODEL)] == [mark]
    assert store.unprojected(scope, 99) == [1]


def test_no_space_sees_anything_of_a_space_with_a_similar_name(store: MemoryStore) -> None:
    """RELIABILITY S1; CASES: mem0 PR#6892."""
    scopes = [scope_of(space) for space in SPACES]
    for index, scope in enumerate(scopes):
        fill(store, scope, f"m{index}")
    for index, scope in enumerate(scopes):
        holds_only(store, scope, f"m{index}")


def test_an_edit_in_one_space_changes_no_other(store: MemoryStore) -> None:
    for space in SPACES:
        add(store, 1, scope=scope_of(space))
    mine = current(store, 1)
    store.commit(ME, editing(mine, text="changed"))
    store.touch(ME, [1], later(9))
    for space in SPACES[1:]:
        other = current(store, 1, scope_of(space))
        assert (other.text, other.version, other.use_count) == ("fact 1", 1, 0)


def test_every_space_that_holds_something_is_found_once(store: MemoryStore) -> None:
    assert list(store.spaces()) == []
    for space in SPACES[:7]:
        add(store, 1, scope=scope_of(space))
        add(store, 2, scope=scope_of(space))
    for space in SPACES[5:]:
        scope = scope_of(space)
        store.commit(scope, Commit(spaces=(SpaceWrite(record=space_record(scope), expected=None),)))
    found = list(store.spaces())
    assert len(found) == len(set(found))
    assert set(found) == set(SPACES)


def test_many_spaces_are_all_found(store: MemoryStore) -> None:
    wanted = {Space.personal(f"acc_{index}") for index in range(150)}
    for space in wanted:
        scope = scope_of(space)
        store.commit(scope, Commit(spaces=(SpaceWrite(record=space_record(scope), expected=None),)))
    assert set(store.spaces()) == wanted


def test_a_space_nobody_wrote_to_has_nothing(store: MemoryStore) -> None:
    assert store.space(ME) is None
    assert store.categories(ME) == []
    assert store.jobs(ME, 5) == []
    assert store.job(ME, "job_1") is None
    assert store.page(ME, after=None, limit=5) == []
    assert store.unprojected(ME, 5) == []


def test_a_space_record_comes_back_whole(store: MemoryStore) -> None:
    record = space_record(version=4, default_category="cat_1", embedded_with=("a-1", "b-2"))
    store.commit(ME, Commit(spaces=(SpaceWrite(record=record, expected=None),)))
    assert store.space(ME) == record
    changed = record.model_copy(update={"version": 5, "embedded_with": (), "default_category": None})
    store.commit(ME, Commit(spaces=(SpaceWrite(record=changed, expected=4),)))
    assert store.space(ME) == changed


def test_categories_are_listed_by_name_with_the_deleted(store: MemoryStore) -> None:
    wanted = [
        category("cat_3", "Arts", project="prj_1", description=""),
        category("cat_1", "Music", deleted=True, description='it\'s "loud"\n🦊'),
        category("cat_2", "Work"),
    ]
    for one in (wanted[2], wanted[0], wanted[1]):
        store.commit(ME, Commit(categories=(CategoryWrite(category=one, expected=None),)))
    assert store.categories(ME) == wanted


def test_all_200_categories_are_listed(store: MemoryStore) -> None:
    for first in range(0, 200, 50):
        writes = tuple(
            CategoryWrite(
                category=category(f"cat_{n}", f"Name {n:03}", description="d" * 2000), expected=None
            )
            for n in range(first, first + 50)
        )
        store.commit(ME, Commit(categories=writes))
    names = [c.name for c in store.categories(ME)]
    assert len(names) == 200
    assert all(a < b for a, b in pairwise(names))


def test_a_job_comes_back_whole_and_goes_on(store: MemoryStore) -> None:
    begun = job(
        "job_1",
        kind="recategorise",
        state="running",
        total=10,
        done=3,
        failed=1,
        cursor=4,
        error="one failed",
    )
    store.commit(ME, Commit(jobs=(JobWrite(job=begun, expected=None),)))
    assert store.job(ME, "job_1") == begun
    ended = begun.model_copy(update={"state": "done", "version": 2, "updated_at": later(9), "cursor": 10})
    store.commit(ME, Commit(jobs=(JobWrite(job=ended, expected=1),)))
    assert store.job(ME, "job_1") == ended
    assert store.jobs(ME, 5) == [ended]


@pytest.mark.parametrize("limit", [1, 2, 3, 10])
def test_the_newest_jobs_are_listed(store: MemoryStore, limit: int) -> None:
    for index in (2, 1, 3):
        identifier = f"job_{index}"
        made = job(identifier, created_at=later(index), updated_at=later(index))
        store.commit(ME, Commit(jobs=(JobWrite(job=made, expected=None),)))
    assert [j.id for j in store.jobs(ME, limit)] == ["job_3", "job_2", "job_1"][:limit]
