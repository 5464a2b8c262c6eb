"""A transaction in the making: its actions, and whom each of its conditions is about."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from chalicelib.errors import ItemTooLargeError
from chalicelib.stores.dynamodb.keys import Key
from chalicelib.stores.dynamodb.values import Item, size_of
from chalicelib.stores.limits import ACTIONS_MAX, ITEM_MAX_BYTES, TRANSACTION_MAX_BYTES

_INDEX_ENTRIES = 2_048
"""DynamoDB counts an item's entries in local indexes as part of it; these are under 2 KB."""
_UPDATE_KEEPS = 256
"""At most so many bytes are in attributes that an update leaves as they are: counters and a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One action. `about` names the target of a condition, for those who must be told that it failed."""

    key: Key
    condition: Condition | None = None
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Write):
    """Nothing but the condition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Write):
    """The item is to be gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Put(Write):
    """The item as it is to be, whole; `item` is without the key."""

    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Write):
    """Some attributes are set, counted up or removed; the others stay as they are, or an item is made of them."""

    sets: Item = field(default_factory=dict)
    adds: Item = field(default_factory=dict)
    removes: tuple[str, ...] = ()

    def actions(self) -> list[Action]:
        """The same as PynamoDB wants it."""
        return [
            *(Path([name]).set(value) for name, value in self.sets.items()),
            *(Path([name]).remove() for name in self.removes),
            *(Path([name]).add(value) for name, value in self.adds.items()),
        ]


Kind = TypeVar("Kind", bound=Write)


class Transaction:
    """Writes that happen all or not at all."""

    def __init__(self, writes: Iterable[Write] = ()) -> None:
        self.writes: list[Write] = list(writes)

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Its writes of one kind, in the order in which they were added."""
        return [write for write in self.writes if isinstance(write, kind)]

    def about(self, places: Sequence[int]) -> tuple[str, ...]:
        """Targets of the conditions at these places, each once. Places are counted as PynamoDB sends the actions and
        as DynamoDB gives its reasons: checks, deletes, puts, updates, whatever the order of adding."""
        sent = [*self.of(Check), *self.of(Delete), *self.of(Put), *self.of(Update)]
        return tuple(dict.fromkeys(sent[place].about for place in places))

    def fits(self, more: Sequence[Write]) -> bool:
        """Whether there is room for these writes too."""
        together = Transaction([*self.writes, *more])
        return len(together.writes) <= ACTIONS_MAX and together.size <= TRANSACTION_MAX_BYTES

    @property
    def size(self) -> int:
        """Bytes of all its items, at most."""
        return sum(_size(write) for write in self.writes)

    def refuse_too_large(self) -> None:
        """Raises ItemTooLargeError for what DynamoDB would refuse for its size, before anything is sent."""
        if len(self.writes) > ACTIONS_MAX:
            raise ItemTooLargeError(f"more than {ACTIONS_MAX} actions in a transaction")
        if any(_size(write) > ITEM_MAX_BYTES - _INDEX_ENTRIES for write in self.writes):
            raise ItemTooLargeError("an item is above 400 KB")
        if self.size > TRANSACTION_MAX_BYTES:
            raise ItemTooLargeError("a transaction is above 4 MB")


def _size(write: Write) -> int:
    size = size_of(write.key.item())
    if isinstance(write, Put):
        size += size_of(write.item)
    elif isinstance(write, Update):
        size += size_of(write.sets) + size_of(write.adds) + _UPDATE_KEEPS
    return size
