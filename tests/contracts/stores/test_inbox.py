"""What was done already: idempotency records."""

import pytest

from chalicelib.ports import InboxStore, MemoryStore
from tests.contracts.stores.given import ME, Commit, later, once


def test_a_record_comes_back_whole(store: MemoryStore, inbox: InboxStore) -> None:
    outcome = {
        "status": 201,
        "numbers": [1, 2],
        "score": 0.1,
        "none": None,
        "yes": True,
        "text": "ž\"'🦊",
        "e": {},
    }
    record = once(outcome=outcome)
    store.commit(ME, Commit(idempotency=record))
    assert inbox.outcome("acc_1", "key-1", later(1)) == record


def test_an_unknown_key_has_no_outcome(inbox: InboxStore) -> None:
    assert inbox.outcome("acc_1", "key-1", later(1)) is None


@pytest.mark.parametrize(("seconds", "there"), [(9, True), (10, False), (11, False)])
def test_an_expired_record_is_not_given(
    store: MemoryStore, inbox: InboxStore, seconds: int, there: bool
) -> None:
    store.commit(ME, Commit(idempotency=once(expires_at=later(10))))
    assert (inbox.outcome("acc_1", "key-1", later(seconds)) is not None) is there


def test_keys_of_different_owners_never_meet(store: MemoryStore, inbox: InboxStore) -> None:
    pairs = [
        ("a", "b"), ("a", "B"), ("a", "b#c"), ("a", "#b"), ("ab", "b"), ("a", "b "), ("a", "/"), ("a", "b:c"),
        ("A", "b"), ("a", "ž" * 300), ("a", "'"), ("a", "%"),
    ]  # fmt: skip
    for index, (owner, key) in enumerate(pairs):
        store.commit(ME, Commit(idempotency=once(key, owner, outcome={"index": index})))
    for index, (owner, key) in enumerate(pairs):
        found = inbox.outcome(owner, key, later(1))
        assert found is not None
        assert (found.owner, found.key, found.outcome) == (owner, key, {"index": index})
    assert inbox.outcome("b", "a", later(1)) is None
