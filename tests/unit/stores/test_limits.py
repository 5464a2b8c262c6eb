"""What DynamoDB refuses is refused before the first write."""

import pytest

from chalicelib.domain.accounts import Account, AccountCommit, EntityWrite
from chalicelib.domain.records import CategoryWrite, Commit, JobWrite, MemoryWrite, SpaceWrite
from chalicelib.stores.limits import check_account_commit, check_commit, size_of
from tests.contracts.stores.given import T0, category, change, job, memory, space_record


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("", 0),
        ("abc", 3),
        ("žluť", 6),
        ("🦊", 4),
        (None, 1),
        (True, 1),
        (7, 21),
        (0.1, 21),
        ([], 3),
        (["ab", 1], 3 + 1 + 2 + 1 + 21),
        ({}, 3),
        ({"é": "ab", "n": None}, 3 + 1 + 2 + 2 + 1 + 1 + 1),
    ],
)
def test_sizes_are_counted_as_dynamodb_counts_them(value: object, size: int) -> None:
    assert size_of(value) == size


TWICE = {
    "memory": Commit(memories=(MemoryWrite(memory=memory(1), expected=None),) * 2),
    "change": Commit(changes=(change(memory(1)),) * 2),
    "category": Commit(categories=(CategoryWrite(category=category("cat_1", "A"), expected=None),) * 2),
    "space": Commit(spaces=(SpaceWrite(record=space_record(), expected=None),) * 2),
    "job": Commit(jobs=(JobWrite(job=job("job_1"), expected=None),) * 2),
}


@pytest.mark.parametrize("kind", TWICE)
def test_one_item_written_twice_in_a_commit_is_our_mistake(kind: str) -> None:
    with pytest.raises(ValueError, match=f"twice in one commit: {kind}"):
        check_commit(TWICE[kind])


def test_one_entity_written_twice_in_a_commit_is_our_mistake() -> None:
    write = EntityWrite(entity=Account(id="acc_1", name="A", created_at=T0), expected=None)
    with pytest.raises(ValueError, match="twice in one commit"):
        check_account_commit(AccountCommit(writes=(write, write)))
