"""Many at once: no edit and no recall is lost (RELIABILITY R7)."""

from concurrent.futures import ThreadPoolExecutor

from chalicelib.errors import AlreadyDoneError, StaleVersionError
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import ME, add, adding, current, editing, later, memory, once

WRITERS = 16
EDITS = 3


def edit_until_done(store: MemoryStore, mark: str) -> None:
    """Add `mark` to the memory's text; read again and try again while others were faster."""
    while True:
        seen = current(store, 1)
        try:
            store.commit(ME, editing(seen, text=f"{seen.text} {mark}"))
        except StaleVersionError:
            continue
        return


def test_sixteen_editors_of_one_memory_lose_nothing(store: MemoryStore) -> None:
    add(store, 1, text="start")

    def edit(writer: int) -> None:
        for turn in range(EDITS):
            edit_until_done(store, f"w{writer}t{turn}")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(edit, range(WRITERS)))
    last = current(store, 1)
    wanted = {f"w{writer}t{turn}" for writer in range(WRITERS) for turn in range(EDITS)}
    assert set(last.text.split()[1:]) == wanted
    assert len(last.text.split()) == len(wanted) + 1
    assert last.version == 1 + len(wanted)
    assert len(store.history(ME, "1", after=None, limit=100)) == 1 + len(wanted)


def test_recalls_during_edits_are_all_counted(store: MemoryStore) -> None:
    add(store, 1, text="start")

    def work(worker: int) -> None:
        for turn in range(5):
            if worker % 2:
                store.touch(ME, [1], later(turn))
            else:
                edit_until_done(store, f"w{worker}t{turn}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    last = current(store, 1)
    assert (last.use_count, last.version, last.revision) == (20, 21, 41)
    assert len(last.text.split()) == 21


def test_of_equal_requests_sent_at_once_exactly_one_is_done(store: MemoryStore) -> None:
    def send(number: int) -> bool:
        try:
            store.commit(ME, adding(memory(number), idempotency=once()))
        except AlreadyDoneError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(send, range(1, 9)))
    assert done.count(True) == 1
    assert [m.number for m in store.page(ME, after=None, limit=9)] == [done.index(True) + 1]


def test_of_writers_of_the_same_new_number_exactly_one_succeeds(store: MemoryStore) -> None:
    def send(writer: int) -> bool:
        try:
            store.commit(ME, adding(memory(1, text=f"by {writer}")))
        except StaleVersionError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(send, range(8)))
    assert done.count(True) == 1
    assert current(store, 1).text == f"by {done.index(True)}"


def test_what_was_written_is_read_at_once_by_another_thread(store: MemoryStore) -> None:
    with ThreadPoolExecutor(4) as pool:
        for number in range(1, 11):
            pool.submit(add, store, number).result()
            seen = [pool.submit(store.get, ME, number) for _ in range(4)]
            assert all(reading.result() is not None for reading in seen)
