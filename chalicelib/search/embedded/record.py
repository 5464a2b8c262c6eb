"""An index entry as the embedded index keeps it: on disk a row and its vectors, in memory a row of columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.filters import milliseconds
from chalicelib.domain.memory import State
from chalicelib.domain.projection import NOT_SAID, IndexEntry, Said, content_hash
from chalicelib.domain.records import Role
from chalicelib.ports import Analyzer
from chalicelib.search.embedded.terms import counted
from chalicelib.search.fresh import said_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONLY_CONTEXT = Said(has_context=True)
VectorKey = tuple[str, Role]
"""Fingerprint of the model, and which text was embedded."""


class Row(NamedTuple):
    """The columns of `search_entry` after generation and space. A tombstone has no state and no content."""

    number: int
    revision: int
    content_hash: str = ""
    state: str | None = None
    kind: str | None = None
    importance: int | None = None
    category: str | None = None
    subject: str | None = None
    conversation: str | None = None
    position: int | None = None
    author: str | None = None
    said_at: int | None = None
    has_context: int = 0
    recorded_at: int = 0
    updated_at: int = 0
    use_count: int = 0
    last_used_at: int | None = None
    words: bytes = b""
    context: bytes = b""

    @property
    def said(self) -> Said:
        """Where the memory was said."""
        if self.conversation is None:
            return _ONLY_CONTEXT if self.has_context else NOT_SAID
        said_at = None if self.said_at is None else _EPOCH + timedelta(milliseconds=self.said_at)
        return Said(self.conversation, self.position, self.author, said_at, bool(self.has_context))


@dataclass(frozen=True, slots=True)
class Record:
    """One entry, ready to be written."""

    space: str
    row: Row
    vectors: Mapping[VectorKey, bytes] = field(default_factory=dict)
    """float16 bytes."""


def halved(vector: bytes) -> bytes | None:
    """float16 bytes of float32 bytes; None when they are no vector (odd length, NaN, infinity)."""
    if not vector or len(vector) % 4:
        return None
    floats = np.frombuffer(vector, "<f4")
    if not np.abs(floats).max() < 60_000:
        return None
    return floats.astype("<f2").tobytes()


def floats(data: bytes) -> NDArray[np.float32]:
    """The reverse of `halved`, as an array."""
    return np.frombuffer(data, "<f2").astype(np.float32)


def record(entry: IndexEntry, analyzer: Analyzer) -> Record | None:
    """What is to be written of `entry`; None when one of its vectors is no vector."""
    memory = entry.memory
    if memory is None or memory.state is State.ERASED:
        return Record(entry.space.key, Row(entry.number, entry.revision))
    vectors: dict[VectorKey, bytes] = {}
    for model, embedded in entry.vectors.items():
        for role, vector in _roles(embedded.text, embedded.context):
            half = halved(vector)
            if half is None:
                return None
            vectors[model, role] = half
    said = said_of(memory)
    row = Row(
        number=entry.number,
        revision=entry.revision,
        content_hash=content_hash(memory),
        state=memory.state.value,
        kind=memory.kind,
        importance=memory.importance,
        category=memory.category,
        subject=memory.subject,
        conversation=said.conversation,
        position=said.position,
        author=said.author,
        said_at=milliseconds(said.said_at) if said.said_at else None,
        has_context=int(said.has_context),
        recorded_at=milliseconds(memory.recorded_at),
        updated_at=milliseconds(memory.updated_at),
        use_count=memory.use_count,
        last_used_at=milliseconds(memory.last_used_at) if memory.last_used_at else None,
        words=counted(analyzer.stems(memory.words)),
        context=counted(analyzer.stems(memory.context or "")),
    )
    return Record(entry.space.key, row, vectors)


def _roles(text: bytes, context: bytes | None) -> Sequence[tuple[Role, bytes]]:
    return [("text", text)] if context is None else [("text", text), ("context", context)]
