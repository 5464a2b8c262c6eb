"""Numbers of a space: counted from 1, never given twice (SPEC M3)."""

from concurrent.futures import ThreadPoolExecutor

from chalicelib.domain.scope import Space
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import ME, add, scope_of


def test_numbers_begin_at_one_and_follow_one_another(store: MemoryStore) -> None:
    assert store.reserve(ME, 1) == 1
    assert store.reserve(ME, 3) == 2
    assert store.reserve(ME, 1) == 5


def test_each_space_counts_its_own(store: MemoryStore) -> None:
    assert store.reserve(ME, 50) == 1
    assert store.reserve(scope_of(Space.personal("acc_10")), 1) == 1
    assert store.reserve(scope_of(Space.pool("acc_1")), 1) == 1
    assert store.reserve(ME, 1) == 51


def test_a_number_that_was_taken_but_never_written_is_not_given_again(store: MemoryStore) -> None:
    first = store.reserve(ME, 2)
    add(store, first)
    assert store.reserve(ME, 1) == first + 2


def test_the_last_number_is_known_without_taking_one(store: MemoryStore) -> None:
    assert store.last_number(ME) == 0
    store.reserve(ME, 7)
    assert (store.last_number(ME), store.last_number(ME)) == (7, 7)
    assert store.last_number(scope_of(Space.personal("acc_10"))) == 0
    assert list(store.spaces()) == []


def test_numbers_that_are_passed_over_are_never_given_out(store: MemoryStore) -> None:
    store.pass_numbers(ME, 40)
    assert (store.last_number(ME), store.reserve(ME, 2)) == (40, 41)
    assert store.reserve(scope_of(Space.personal("acc_10")), 1) == 1


def test_passing_numbers_over_again_takes_none_back(store: MemoryStore) -> None:
    store.reserve(ME, 50)
    for last in (40, 50, 0, 50):
        store.pass_numbers(ME, last)
        assert store.last_number(ME) == 50
    assert store.reserve(ME, 1) == 51


def test_numbers_are_passed_over_while_others_take_some(store: MemoryStore) -> None:
    def work(worker: int) -> list[int]:
        if worker % 2:
            store.pass_numbers(ME, 25)
            return []
        return [store.reserve(ME, 1) for _ in range(10)]

    with ThreadPoolExecutor(8) as pool:
        numbers = [number for batch in pool.map(work, range(8)) for number in batch]
    assert len(numbers) == len(set(numbers)) == 40
    assert store.last_number(ME) >= 40
    assert store.reserve(ME, 1) == store.last_number(ME)


def test_eight_threads_never_get_the_same_number(store: MemoryStore) -> None:
    def take(worker: int) -> list[int]:
        taken = []
        for turn in range(10):
            count = 1 + (worker + turn) % 3
            first = store.reserve(ME, count)
            taken.extend(range(first, first + count))
        return taken

    with ThreadPoolExecutor(8) as pool:
        numbers = [number for batch in pool.map(take, range(8)) for number in batch]
    assert len(numbers) == len(set(numbers))
    assert min(numbers) == 1
