"""What DynamoDB refuses, refused before the first write by every store: so code that works on a laptop works in
the cloud, and no half-written commit is left behind (CASES: Chainlit#1776).

Sizes are counted as DynamoDB counts them: names of attributes and UTF-8 bytes of values.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    ApiKey,
    Community,
    Entity,
    EntityWrite,
    Installation,
    Login,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.memory import Memory
from chalicelib.domain.records import Commit
from chalicelib.errors import ItemTooLargeError

ITEM_MAX_BYTES = 400 * 1024
TRANSACTION_MAX_BYTES = 4_000_000
ACTIONS_MAX = 100
_OVERHEAD = 2_560
"""What an adapter may add to an item: its keys, attributes of its own, and its entries in local indexes (which
DynamoDB counts as part of the item)."""

_IDENTITY: dict[type[Entity], tuple[str, ...]] = {
    Account: ("id",),
    Login: ("issuer", "subject"),
    ApiKey: ("id",),
    Project: ("id",),
    Member: ("project", "account"),
    Community: ("platform", "id"),
    TeamMember: ("platform", "community", "account"),
    Installation: (),
}


def size_of(value: Any) -> int:
    """Bytes of one JSON value as a DynamoDB attribute. Numbers are counted at their upper bound."""
    if isinstance(value, str):
        return len(value.encode("utf-8"))
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, int | float):
        return 21
    if isinstance(value, Mapping):
        return 3 + sum(1 + len(name.encode("utf-8")) + size_of(inner) for name, inner in value.items())
    return 3 + sum(1 + size_of(inner) for inner in value)


def item_size(model: BaseModel) -> int:
    """Bytes of a record as one item."""
    return _OVERHEAD + size_of(model.model_dump(mode="json"))


def has_place(memory: Memory) -> bool:
    """Whether a memory says where it was said exactly; then one more item points from there to it."""
    return memory.source is not None and memory.source.position is not None


def check_commit(commit: Commit) -> None:
    """Raise ItemTooLargeError when `commit` is more than DynamoDB takes: an item above 400 KB, more than 100 actions,
    or above 4 MB in all. ValueError when it writes one item twice, which only a mistake of ours can ask for.

    Actions: a memory 1 (2 with its place), a change, category, space, job and idempotency record 1 each.
    Vectors and the stripping of old changes are not part of the transaction.
    """
    _once_each([f"memory {write.memory.number}" for write in commit.memories])
    _once_each([f"change {change.id}" for change in commit.changes])
    _once_each([f"category {write.category.id}" for write in commit.categories])
    _once_each([f"space {write.record.space}" for write in commit.spaces])
    _once_each([f"job {write.job.id}" for write in commit.jobs])
    places = sum(has_place(write.memory) for write in commit.memories)
    _check(_items(commit), extra=places)


def check_account_commit(commit: AccountCommit) -> None:
    """As `check_commit`: an entity, an audit entry and an idempotency record are one action each. A key, a member and a
    team member take one more when they come or go: what leads to them from their account."""
    _once_each([str((type(write.entity).__name__, *identity(write.entity))) for write in commit.writes])
    records: list[BaseModel] = [write.entity for write in commit.writes]
    records.extend(commit.audit)
    if commit.idempotency is not None:
        records.append(commit.idempotency)
    _check(records, extra=sum(moves_pointer(write) for write in commit.writes))


def moves_pointer(write: EntityWrite) -> bool:
    """Whether something that is found from its account, too, comes or goes by this write."""
    return isinstance(write.entity, ApiKey | Member | TeamMember) and (write.delete or write.expected is None)


def identity(entity: Entity) -> tuple[str, ...]:
    """The fields that tell an entity from others of its kind; none for the installation, of which there is one."""
    return tuple(getattr(entity, name) for name in _IDENTITY[type(entity)])


def _items(commit: Commit) -> Iterator[BaseModel]:
    for memory_write in commit.memories:
        yield memory_write.memory
    yield from commit.changes
    for category_write in commit.categories:
        yield category_write.category
    for space_write in commit.spaces:
        yield space_write.record
    for job_write in commit.jobs:
        yield job_write.job
    if commit.idempotency is not None:
        yield commit.idempotency


def _once_each(names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"written twice in one commit: {', '.join(repeated)}")


def _check(records: Iterable[BaseModel], *, extra: int) -> None:
    sizes = [item_size(record) for record in records]
    if len(sizes) + extra > ACTIONS_MAX:
        raise ItemTooLargeError(f"{len(sizes) + extra} actions in one transaction, at most {ACTIONS_MAX}")
    if max(sizes, default=0) > ITEM_MAX_BYTES:
        raise ItemTooLargeError(f"an item of {max(sizes)} bytes, at most {ITEM_MAX_BYTES}")
    if sum(sizes) > TRANSACTION_MAX_BYTES:
        raise ItemTooLargeError(f"a transaction of {sum(sizes)} bytes, at most {TRANSACTION_MAX_BYTES}")
