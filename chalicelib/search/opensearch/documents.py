"""What an index keeps of a memory, as JSON ready to be sent.

A memory is one document among the words and two among the vectors of each model: that of its text and that of its
context, apart, for one may come later than the other. A tombstone is a document without content, not a deletion: an
engine forgets deletions after a minute, and a late record would then raise the dead. A vector that a memory does not
have (any more) is a tombstone too, so that the vectors of its former text are found no more.
"""

import json
import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.filters import milliseconds
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import NOT_SAID, IndexEntry, Leg, Said, content_hash
from chalicelib.domain.scope import Space
from chalicelib.ports import Analyzer
from chalicelib.search.opensearch.mappings import STEM_MAX_CHARS

LEVELS = 3
"""Versions of a vector for each revision: not there, there, erased. So one that comes later for the same revision is
added, and an entry that lacks it takes nothing away."""

_JSON = json.JSONDecoder()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def words_id(entry: IndexEntry) -> str:
    """`<space key>#<number>`: ids hold no `#`, so no two memories share one (CASES: mem0 PR#6892)."""
    return f"{entry.space.key}#{entry.number}"


def vector_id(entry: IndexEntry, leg: Leg) -> str:
    """`<space key>#<number>#<leg>`."""
    return f"{words_id(entry)}#{leg}"


def place(space: Space, leg: Leg | None = None) -> str:
    """What documents are found by first of all: the space, and among vectors the leg too (`<space key>#<leg>`)."""
    return space.key if leg is None else f"{space.key}#{leg}"


def words_document(entry: IndexEntry, analyzer: Analyzer) -> str:
    """The memory by its stems, with all that lists filter and sort by."""
    memory = _living(entry)
    if memory is None:
        return tombstone_document(entry)
    fields = _filtered(entry, memory) | {
        "recorded_at": milliseconds(memory.recorded_at),
        "updated_at": milliseconds(memory.updated_at),
        "used_since": milliseconds(memory.last_used_at or memory.recorded_at),
        "use_count": memory.use_count,
        "content_hash": content_hash(memory),
        "words": " ".join(cut(analyzer.stems(memory.words))),
        "context_words": " ".join(cut(analyzer.stems(memory.context or ""))),
    }
    return _json(fields)


def vector_document(entry: IndexEntry, model: str, leg: Leg) -> str:
    """One of the memory's two vectors of a model, with all that a search filters by."""
    memory, vector = _living(entry), _vector(entry, model, leg)
    if memory is None or vector is None:
        return tombstone_document(entry, leg)
    return f'{_json(_filtered(entry, memory, leg))[:-1]},"{leg}":{vector_json(vector)}}}'


def tombstone_document(entry: IndexEntry, leg: Leg | None = None) -> str:
    """That the number was used, and nothing else."""
    return _json({"space": place(entry.space, leg), "number": entry.number, "tombstone": True})


def vector_version(entry: IndexEntry, model: str, leg: Leg) -> int:
    """The external version of `vector_document`; `vector_revision` is the reverse."""
    if _living(entry) is None:
        return erased_version(entry.revision)
    return absent_version(entry.revision) + (_vector(entry, model, leg) is not None)


def absent_version(revision: int) -> int:
    """The version of a vector that a memory of this revision does not have: the lowest of the revision."""
    return revision * LEVELS


def erased_version(revision: int) -> int:
    """The version of a vector of a memory that was erased at this revision: the highest of the revision."""
    return revision * LEVELS + 2


def vector_revision(version: int) -> int:
    """The revision of the memory whose vector has this version."""
    return version // LEVELS


def said_of(hit: Mapping[str, Any]) -> Said:
    """What a hit's document says of the memory's source."""
    packed = hit["fields"].get("said")
    if packed is None:
        return NOT_SAID
    (conversation, position, author, said_at, has_context), _ = _JSON.raw_decode(packed[0])
    moment = None if said_at is None else _EPOCH + timedelta(milliseconds=said_at)
    return Said(conversation, position, author, moment, bool(has_context))


def vector_json(data: bytes) -> str:
    """A vector (float32, little endian) as a JSON list of unit length; eight decimals are all that float32 holds."""
    values = array("f", data)
    if sys.byteorder == "big":
        values.byteswap()
    length = math.hypot(*values) or 1.0
    if abs(length - 1) > 1e-6:
        values = array("f", (value / length for value in values))
    return "[" + ("%.8f," * len(values) % tuple(values))[:-1] + "]"


def cut(words: Sequence[str]) -> list[str]:
    """Stems as they are indexed."""
    return [word[:STEM_MAX_CHARS] for word in words]


def _living(entry: IndexEntry) -> Memory | None:
    return None if entry.memory is None or entry.memory.state is State.ERASED else entry.memory


def _filtered(entry: IndexEntry, memory: Memory, leg: Leg | None = None) -> dict[str, Any]:
    return {
        "space": place(entry.space, leg),
        "number": entry.number,
        "tombstone": False,
        "state": memory.state.value,
        "category": memory.category,
        "kind": memory.kind,
        "importance": memory.importance,
        "subject": memory.subject,
        "source": memory.source.conversation if memory.source else None,
        "said": _said(memory),
    }


def _said(memory: Memory) -> str | None:
    """All of `Said` in one text: one value is read faster than five."""
    source, has_context = memory.source, int(bool(memory.context))
    if source is None:
        return f"[null,null,null,null,{has_context}]" if has_context else None
    said_at = milliseconds(source.said_at) if source.said_at else None
    packed = [source.conversation, source.position, source.author, said_at, has_context]
    return json.dumps(packed, ensure_ascii=False, separators=(",", ":"))


def _vector(entry: IndexEntry, model: str, leg: Leg) -> bytes | None:
    vectors = entry.vectors.get(model)
    if vectors is None:
        return None
    return vectors.text if leg == "meaning" else vectors.context


def _json(fields: dict[str, Any]) -> str:
    given = {name: value for name, value in fields.items() if value is not None and value != ""}
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))
