"""What the index holds of a memory, and what it is asked. The table is the truth; this can be rebuilt from it."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Space

Leg = Literal["words", "context_words", "meaning", "context_meaning"]
OWN_LEGS: frozenset[Leg] = frozenset({"words", "meaning"})
"""Those of the memory itself, without what was said before it."""
ALL_LEGS: frozenset[Leg] = OWN_LEGS | {"context_words", "context_meaning"}


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A memory's vectors of one model, as float32 bytes: of its words, and of its context with its words."""

    text: bytes
    context: bytes | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One memory as the index is to hold it, or (memory None) the tombstone of an erased one.

    `revision` is the external version: an entry with a lower or equal revision than the index has changes nothing.
    """

    space: Space
    number: int
    revision: int
    memory: Memory | None
    vectors: dict[str, EmbeddedText] = field(default_factory=dict)
    """By fingerprint of the model. Empty: words only."""


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """One search, by the `legs` asked for. Without `vector` only those of words run."""

    text: str
    filter: MemoryFilter
    depth: int
    """How many hits each leg gives at most."""
    model: str | None = None
    """Fingerprint of the model that made `vector`."""
    vector: bytes | None = None
    legs: frozenset[Leg] = ALL_LEGS
    fresh: tuple[IndexEntry, ...] = ()
    """Entries that the index may not have yet: they take part as if it had, in place of what it has (M25)."""


class Said(NamedTuple):
    """What the index knows of a memory's source; it ranks hits without a read of the table."""

    conversation: str | None = None
    position: int | None = None
    author: str | None = None
    said_at: datetime | None = None
    has_context: bool = False
    """Whether the memory has a context, found by it or not."""


NOT_SAID = Said()


class Hit(NamedTuple):
    """One memory found, with the raw score of each leg that found it.

    words, context_words: BM25 (k1 .6, b .2), above 0. meaning, context_meaning: cosine, -1..1.
    """

    number: int
    said: Said = NOT_SAID
    words: float | None = None
    context_words: float | None = None
    meaning: float | None = None
    context_meaning: float | None = None


@dataclass(frozen=True, slots=True)
class IndexPage:
    """A page of a list: numbers in order (`domain.filters.order`), and whether more may follow."""

    numbers: tuple[int, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class IndexedState:
    """What the index says it holds of a number: for the reconciler (R5)."""

    number: int
    revision: int
    content_hash: str
    """`content_hash(memory)` of what was indexed; empty for a tombstone."""
    models: frozenset[str]
    """Fingerprints of the models of which every vector is there: of the text, and of the context if it has one."""


_NOT_CONTENT = {"revision", "use_count", "last_used_at", "reviewed_at"}


def content_hash(memory: Memory) -> str:
    """Hash of all that people can change of a memory, and its scope; equal in table and index, or one is wrong (R5)."""
    return hashlib.sha256(memory.model_dump_json(exclude=_NOT_CONTENT).encode("utf-8")).hexdigest()[:32]
