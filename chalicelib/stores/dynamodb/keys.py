"""How items are addressed. Whatever is in a space begins with the key of the space, which comes from a scope (M24).

Sort keys in the partition of a space:

    memory#<number>                           a memory, or the mark of an erased one
    change#m#<number>#<version>               a change of a memory
    change#c#<category>#<version>             a change of a category
    category#<id>     job#<id>     space
    vector#<number>#<model>#<role>            a kept vector
    source#<hash of conversation>#<position>  which numbers were said there
    ~counter                                  how many numbers were given out; the last of a partition

Numbers and versions are padded with zeros, so that texts sort as numbers do. Ids hold no `#`.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from chalicelib.domain.clock import rfc3339
from chalicelib.domain.ids import is_id
from chalicelib.domain.records import Role
from chalicelib.domain.scope import Scope, Space
from chalicelib.stores.dynamodb.tables import MEMORY, PK, SK, TableDefinition
from chalicelib.stores.dynamodb.values import Item, text

DIGITS = 16
LAST = "~"
"""Sorts behind every character that ids, numbers and times are made of."""

MEMORIES = "memory#"
CATEGORIES = "category#"
JOBS = "job#"
SPACE = "space"
COUNTER = "~counter"
BEHIND_ALL = "~~"
CHANGED = "change#"
WRITTEN = "written#"
ASKED = "asked#"
ROLES: tuple[Role, ...] = ("text", "context")


@dataclass(frozen=True, slots=True)
class Key:
    """One item of one table. `sk` is None in a table without sort keys."""

    table: TableDefinition
    pk: str
    sk: str | None = None

    def item(self) -> Item:
        """The key as attributes."""
        return {PK: text(self.pk)} | ({} if self.sk is None else {SK: text(self.sk)})


def partition(scope: Scope) -> str:
    """The partition of the scope's space: the only way to one."""
    return scope.space.key


def in_space(scope: Scope, sort_key: str) -> Key:
    """An item of the scope's space."""
    return Key(MEMORY, partition(scope), sort_key)


def padded(number: int) -> str:
    """A number as text that sorts as the number does."""
    return f"{number:0{DIGITS}d}"


def memory(number: int) -> str:
    """The sort key of a memory."""
    return MEMORIES + padded(number)


def number_of(sort_key: str) -> int:
    """The number in the sort key of a memory."""
    return int(sort_key.removeprefix(MEMORIES))


def written(partition_key: str, sort_key: str) -> tuple[Literal["memory", "job"], Space, str] | None:
    """What a record of the memory table's stream is about, from the item's keys: a memory, by its number as text, or a
    job, by its id. None for the other kinds of items, which nobody follows."""
    if sort_key.startswith(MEMORIES):
        return "memory", Space.from_key(partition_key), str(number_of(sort_key))
    if sort_key.startswith(JOBS):
        return "job", Space.from_key(partition_key), sort_key.removeprefix(JOBS)
    return None


def changes_of(target: str) -> str | None:
    """What the sort keys of a target's changes begin with; None for what can be no target."""
    if target.isascii() and target.isdigit():
        canonical = len(target) <= DIGITS and not target.startswith("0")
        return f"change#m#{padded(int(target))}#" if canonical else None
    return f"change#c#{target}#" if is_id(target) else None


def change(target: str, version: int) -> str:
    """The sort key of a change. Raises ValueError when `target` is neither a number nor an id."""
    prefix = changes_of(target)
    if prefix is None:
        raise ValueError("a change is of a memory's number or a category's id")
    return prefix + padded(version)


def category(category: str) -> str:
    """The sort key of a category."""
    return CATEGORIES + category


def job(job: str) -> str:
    """The sort key of a job."""
    return JOBS + job


def vectors_of(number: int) -> str:
    """What the sort keys of a memory's vectors begin with, of all models."""
    return f"vector#{padded(number)}#"


def vector(number: int, model: str, role: str) -> str:
    """The sort key of a vector."""
    return f"{vectors_of(number)}{model}#{role}"


def source(conversation: str, position: int) -> str:
    """The sort key of a place in a conversation, whose name is free text and is hashed."""
    return f"source#{digest(conversation)}#{padded(position)}"


def when_changed(at: datetime, sort_key: str) -> str:
    """Where a change stands among all of the space."""
    return f"{CHANGED}{rfc3339(at)}#{sort_key}"


def when_written(at: datetime, number: int) -> str:
    """Where a memory stands in the order of last writes."""
    return f"{WRITTEN}{rfc3339(at)}#{padded(number)}"


def written_at(when: str) -> datetime:
    """The moment in what `when_written` says."""
    return datetime.fromisoformat(when.removeprefix(WRITTEN).partition("#")[0])


def when_asked(at: datetime, job: str) -> str:
    """Where a job stands in the order of their making."""
    return f"{ASKED}{rfc3339(at)}#{job}"


def link_of_group(group: str) -> str:
    """What the changes of one group share."""
    return f"group#{group}"


def link_of_context(number: int) -> str:
    """What the memories share whose context was taken from memory `number`."""
    return f"context#{padded(number)}"


def idempotency(owner: str, key: str) -> str:
    """The key of an idempotency record; the caller's key is free text and is hashed."""
    return f"idempotency#{owner}#{digest(key)}"


def digest(*texts: str) -> str:
    """A hash of free texts as one part of a key; different lists of texts have different hashes."""
    return hashlib.sha256(json.dumps(texts).encode("ascii")).hexdigest()


def is_cursor(text: str) -> bool:
    """Whether `text` may be the `next` of one of our pages: printable, short, ASCII."""
    return 0 < len(text) <= 500 and text.isascii() and text.isprintable()
