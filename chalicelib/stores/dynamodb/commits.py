"""A commit of a space as one transaction: each item with the condition that it is at the version expected."""

from collections import defaultdict
from datetime import datetime

from pydantic import BaseModel
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path

from chalicelib.domain.change import Change
from chalicelib.domain.records import CategoryWrite, Commit, JobWrite, MemoryWrite, SpaceWrite
from chalicelib.domain.scope import Scope
from chalicelib.stores.dynamodb import items, keys
from chalicelib.stores.dynamodb.keys import in_space, partition
from chalicelib.stores.dynamodb.tables import (
    LINK,
    NUMBERS,
    PK,
    PLACE,
    REVISION,
    STRIP_PENDING,
    VERSION,
    WHEN,
)
from chalicelib.stores.dynamodb.transactions import Put, Transaction, Update, Write
from chalicelib.stores.dynamodb.values import TRUE, Item, text, whole, wholes

ABSENT: Condition = Path([PK]).does_not_exist()
PRESENT: Condition = Path([PK]).exists()


def at_version(expected: int | None) -> Condition:
    """That an item is at this version, or (None) does not exist. Our own attribute: PynamoDB's starts again at 1 after
    a blind update (CASES: pynamodb#1247)."""
    return ABSENT if expected is None else Path([VERSION]) == whole(expected)


def transaction_of(scope: Scope, commit: Commit, written: datetime) -> Transaction:
    """All of `commit` but its idempotency record and its vectors. `written` is now, by our clock. Nothing is committed
    without a scope, not even what is in no space."""
    partition(scope)
    stripped = set(commit.strip)
    transaction = Transaction()
    for memory in commit.memories:
        strip = memory.memory.number in stripped
        transaction.writes.append(_memory(scope, memory, written, strip=strip))
        stripped.discard(memory.memory.number)
    transaction.writes += [_mark(scope, number) for number in sorted(stripped)]
    transaction.writes += _places(scope, commit)
    transaction.writes += [_change(scope, change) for change in commit.changes]
    transaction.writes += [_category(scope, write) for write in commit.categories]
    transaction.writes += [_space(scope, write) for write in commit.spaces]
    transaction.writes += [_job(scope, write) for write in commit.jobs]
    return transaction


def _memory(scope: Scope, write: MemoryWrite, written: datetime, *, strip: bool) -> Write:
    memory = write.memory
    key = in_space(scope, keys.memory(memory.number))
    content = items.content(memory, keys.when_written(written, memory.number))
    if strip:
        content[STRIP_PENDING] = TRUE
    about = str(memory.number)
    if write.expected is None:
        return Put(key=key, item=content | items.counts(memory), condition=ABSENT, about=about)
    return Update(
        key=key,
        sets=content,
        adds={REVISION: whole(1)},
        removes=tuple(name for name in (LINK, PLACE) if name not in content),
        condition=at_version(write.expected),
        about=about,
    )


def _mark(scope: Scope, number: int) -> Update:
    """Note that a memory that this commit does not write is to be stripped."""
    key = in_space(scope, keys.memory(number))
    return Update(key=key, sets={STRIP_PENDING: TRUE}, condition=PRESENT, about=str(number))


def _places(scope: Scope, commit: Commit) -> list[Write]:
    """One write a place: a transaction may name an item only once."""
    said: dict[str, set[int]] = defaultdict(set)
    for write in commit.memories:
        place = items.place(write.memory)
        if place is not None:
            said[place].add(write.memory.number)
    return [
        Update(key=in_space(scope, place), adds={NUMBERS: wholes(numbers)}) for place, numbers in said.items()
    ]


def _change(scope: Scope, change: Change) -> Put:
    key = in_space(scope, keys.change(change.target, change.version))
    return Put(key=key, item=items.of_change(change), condition=ABSENT, about=change.target)


def _category(scope: Scope, write: CategoryWrite) -> Put:
    category = write.category
    return _versioned(
        scope, keys.category(category.id), category, category.version, write.expected, category.id
    )


def _space(scope: Scope, write: SpaceWrite) -> Put:
    return _versioned(scope, keys.SPACE, write.record, write.record.version, write.expected, keys.SPACE)


def _job(scope: Scope, write: JobWrite) -> Put:
    job = write.job
    put = _versioned(scope, keys.job(job.id), job, job.version, write.expected, job.id)
    put.item[WHEN] = text(keys.when_asked(job.created_at, job.id))
    return put


def _versioned(
    scope: Scope, sort_key: str, thing: BaseModel, version: int, expected: int | None, about: str
) -> Put:
    item: Item = items.versioned(thing, version)
    return Put(key=in_space(scope, sort_key), item=item, condition=at_version(expected), about=about)
