"""The outbox: every write is given out until it was worked off, and a poison record holds nobody up."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.records import Commit, JobWrite
from chalicelib.domain.scope import Space
from chalicelib.errors import StaleVersionError
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from chalicelib.stores.sqlite.outbox import Outbox, OutboxRecord
from tests.contracts.stores.given import (
    ME,
    T0,
    add,
    adding,
    current,
    editing,
    erasing,
    job,
    later,
    memory,
    scope_of,
)


class Hand:
    """A clock that is set by hand."""

    now = T0

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def database() -> Iterator[Database]:
    opened = Database()
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database, clock: Hand) -> SqliteMemoryStore:
    return SqliteMemoryStore(database, clock=clock)


@pytest.fixture
def outbox(database: Database, clock: Hand) -> Outbox:
    return Outbox(database, clock=clock)


def ids(outbox: Outbox, limit: int = 100) -> list[str]:
    return [record.id for record in outbox.pending(limit)]


def test_every_write_of_a_memory_and_a_job_waits_to_be_worked_off(
    store: SqliteMemoryStore, outbox: Outbox
) -> None:
    add(store, 1)
    store.commit(ME, Commit(jobs=(JobWrite(job=job("job_1"), expected=None),)))
    add(store, 1, scope=scope_of(Space.pool("prj_1")))
    assert [(r.kind, r.space, r.id) for r in outbox.pending(10)] == [
        ("memory", "account#acc_1", "1"),
        ("job", "account#acc_1", "job_1"),
        ("memory", "project#prj_1", "1"),
    ]
    assert outbox.pending(1)[0] == OutboxRecord(seq=1, kind="memory", space="account#acc_1", id="1")


def test_what_is_done_does_not_come_again(store: SqliteMemoryStore, outbox: Outbox) -> None:
    store.commit(ME, adding(*(memory(n) for n in range(1, 6))))
    outbox.done([record.seq for record in outbox.pending(3)])
    outbox.done([])
    assert ids(outbox) == ["4", "5"]
    assert store.unprojected(ME, 10) == [5, 4]


def test_several_writes_of_one_memory_are_one_record(store: SqliteMemoryStore, outbox: Outbox) -> None:
    seen = add(store, 1)
    add(store, 2)
    store.commit(ME, editing(seen, text="changed"))
    store.touch(ME, [1, 9], later(1))
    assert ids(outbox) == ["2", "1"]
    assert store.unprojected(ME, 10) == [1, 2]


def test_a_write_during_the_work_is_given_out_again(store: SqliteMemoryStore, outbox: Outbox) -> None:
    seen = add(store, 1)
    taken = outbox.pending(10)
    store.commit(ME, editing(seen, text="changed meanwhile"))
    outbox.done([record.seq for record in taken])
    assert ids(outbox) == ["1"]


def test_a_write_after_all_was_done_never_gets_a_number_that_was_done(
    store: SqliteMemoryStore, outbox: Outbox
) -> None:
    seen = add(store, 1)
    taken = outbox.pending(10)
    outbox.done([record.seq for record in taken])
    store.commit(ME, editing(seen, text="changed"))
    outbox.done([record.seq for record in taken])
    assert ids(outbox) == ["1"]


def test_a_refused_commit_leaves_nothing_to_do(store: SqliteMemoryStore, outbox: Outbox) -> None:
    with pytest.raises(StaleVersionError):
        store.commit(ME, editing(memory(1), text="x"))
    assert outbox.pending(10) == []
    assert outbox.oldest_age() == 0.0
    assert outbox.next_try() is None


def test_an_erase_is_worked_off_too(store: SqliteMemoryStore, outbox: Outbox) -> None:
    add(store, 1)
    outbox.done([record.seq for record in outbox.pending(10)])
    store.commit(ME, erasing(current(store, 1)))
    assert ids(outbox) == ["1"]


def test_a_poison_record_waits_longer_each_time_and_holds_nobody_up(
    store: SqliteMemoryStore, outbox: Outbox, clock: Hand
) -> None:
    add(store, 1)
    for wait in (1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300):
        (poison,) = outbox.pending(1)
        outbox.failed([poison.seq], clock())
        add(store, 100 + wait if store.get(ME, 100 + wait) is None else 1000)
        outbox.done([record.seq for record in outbox.pending(10)])
        assert outbox.pending(10) == []
        assert outbox.next_try() == clock() + timedelta(seconds=wait)
        clock.forward(wait - 0.1)
        assert outbox.pending(10) == []
        clock.forward(0.1)
        assert ids(outbox) == ["1"]
    assert outbox.pending(1)[0].attempts == 11
    outbox.failed([], clock())


def test_a_new_write_of_what_failed_is_tried_at_once(
    store: SqliteMemoryStore, outbox: Outbox, clock: Hand
) -> None:
    seen = add(store, 1)
    outbox.failed([outbox.pending(1)[0].seq], clock())
    assert outbox.pending(1) == []
    store.commit(ME, editing(seen, text="mended"))
    assert outbox.pending(1)[0].attempts == 0


def test_the_age_is_that_of_the_first_write_that_still_waits(
    store: SqliteMemoryStore, outbox: Outbox, clock: Hand
) -> None:
    seen = add(store, 1)
    clock.forward(10)
    store.commit(ME, editing(seen, text="changed"))
    add(store, 2)
    clock.forward(5)
    assert outbox.oldest_age() == 15.0
    outbox.done([record.seq for record in outbox.pending(10) if record.id == "1"])
    assert outbox.oldest_age() == 5.0


def test_the_worker_is_woken_by_a_write_and_not_by_a_refused_one(
    store: SqliteMemoryStore, database: Database
) -> None:
    woken: list[int] = []
    outbox = Outbox(database, clock=lambda: datetime.now(UTC), on_commit=lambda: woken.append(1))
    add(store, 1)
    assert woken == [1]
    with pytest.raises(StaleVersionError):
        add(store, 1)
    assert woken == [1]
    assert ids(outbox) == ["1"]
