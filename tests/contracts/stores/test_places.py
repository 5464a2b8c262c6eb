"""Where a memory was said, and what was said before it: the two ways from one memory to another."""

from chalicelib.domain.memory import Source, State
from chalicelib.domain.scope import Space
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import ME, add, current, editing, erasing, scope_of


def said(conversation: str, position: int | None) -> Source:
    return Source(conversation=conversation, position=position)


def test_a_memory_is_found_by_where_it_was_said(store: MemoryStore) -> None:
    add(store, 1, source=said("c1", 0))
    add(store, 2, source=said("c1", 1))
    add(store, 3, source=said("c2", 1))
    add(store, 4, source=said("c1", None))
    add(store, 5)
    wanted = [("c1", 0), ("c1", 1), ("c2", 1), ("c2", 0), ("c3", 1)]
    assert store.at_position(ME, wanted) == {("c1", 0): 1, ("c1", 1): 2, ("c2", 1): 3}
    assert store.at_position(ME, []) == {}


def test_the_newest_is_found_when_several_were_said_there(store: MemoryStore) -> None:
    for number in (2, 9, 10):
        add(store, number, source=said("c", 4))
    assert store.at_position(ME, [("c", 4)]) == {("c", 4): 10}


def test_an_edit_of_an_older_one_does_not_make_it_the_newest(store: MemoryStore) -> None:
    older = add(store, 1, source=said("c", 4))
    add(store, 2, source=said("c", 4))
    store.commit(ME, editing(older, text="changed"))
    assert store.at_position(ME, [("c", 4)]) == {("c", 4): 2}


def test_an_erased_memory_is_not_found_and_uncovers_the_one_before(store: MemoryStore) -> None:
    add(store, 1, source=said("c", 4))
    add(store, 2, source=said("c", 4))
    store.commit(ME, erasing(current(store, 2)))
    assert store.at_position(ME, [("c", 4)]) == {("c", 4): 1}
    store.commit(ME, erasing(current(store, 1)))
    assert store.at_position(ME, [("c", 4)]) == {}


def test_a_trashed_memory_is_still_found_where_it_was_said(store: MemoryStore) -> None:
    add(store, 1, source=said("c", 4), state=State.TRASHED)
    assert store.at_position(ME, [("c", 4)]) == {("c", 4): 1}


def test_a_memory_that_moves_is_found_only_at_its_new_place(store: MemoryStore) -> None:
    before = add(store, 1, source=said("c", 4))
    store.commit(ME, editing(before, source=said("c", 5)))
    assert store.at_position(ME, [("c", 4), ("c", 5)]) == {("c", 5): 1}


def test_no_name_of_a_conversation_reaches_into_another(store: MemoryStore) -> None:
    """CASES: mem0 PR#6892."""
    places = [
        ("a", 11), ("a#1", 1), ("a#", 11), ("a:1", 1), ("a/1", 1), ("a|1", 1), ("a%231", 1), ("A", 11),
        ("a ", 11), ("á", 11), ("a\u0301", 11), ("a_", 11), ("%", 11), ("*", 11), ("'", 11), ("🦊" * 200, 10**12),
    ]  # fmt: skip
    for number, place in enumerate(places, start=1):
        add(store, number, source=said(*place))
    assert store.at_position(ME, places) == {place: n for n, place in enumerate(places, start=1)}


def test_many_places_are_asked_for_at_once(store: MemoryStore) -> None:
    for number in range(1, 31):
        add(store, number, source=said("c", number))
    found = store.at_position(ME, [("c", n) for n in range(130)])
    assert found == {("c", n): n for n in range(1, 31)}


def test_a_place_in_another_space_is_not_found(store: MemoryStore) -> None:
    elsewhere = scope_of(Space.personal("acc_10"))
    add(store, 1, scope=elsewhere, source=said("c", 1))
    assert store.at_position(ME, [("c", 1)]) == {}


def test_memories_whose_context_was_taken_from_one_are_found(store: MemoryStore) -> None:
    add(store, 1)
    add(store, 2, context="fact 1", context_from=1)
    add(store, 3, context="fact 2", context_from=2)
    add(store, 11, context="fact 1", context_from=1)
    add(store, 12, context="fact 11", context_from=11)
    add(store, 13, context="given by the caller")
    assert sorted(store.context_of(ME, 1)) == [2, 11]
    assert store.context_of(ME, 11) == [12]
    assert store.context_of(ME, 12) == []
    assert store.context_of(scope_of(Space.personal("acc_10")), 1) == []


def test_an_erased_memory_has_no_context_any_more(store: MemoryStore) -> None:
    add(store, 1)
    add(store, 2, context="fact 1", context_from=1)
    store.commit(ME, erasing(current(store, 2)))
    assert store.context_of(ME, 1) == []


def test_a_context_that_was_replaced_leads_nowhere(store: MemoryStore) -> None:
    add(store, 1)
    before = add(store, 2, context="fact 1", context_from=1)
    store.commit(ME, editing(before, context=None, context_from=None))
    assert store.context_of(ME, 1) == []
