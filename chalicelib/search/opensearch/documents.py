"""What an index keeps of a memory, as JSON ready to be sent.

A tombstone is a document without content, not a deletion: an engine forgets deletions after a minute, and a late
record would then raise the dead. A memory without vectors of a model is a tombstone in that model's index, so that
the vectors of its former text are found no more.
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
from chalicelib.domain.projection import NOT_SAID, EmbeddedText, IndexEntry, Said, content_hash
from chalicelib.ports import Analyzer
from chalicelib.search.opensearch.mappings import STEM_MAX_CHARS

LEVELS = 4
"""Versions of vectors for each revision: without, with those of the text, of text and context, erased. So a vector
that comes later for the same revision adds to it, and an entry that lacks it takes nothing away."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def document_id(entry: IndexEntry) -> str:
    """`<space key>#<number>`: ids hold no `#`, so no two memories share one (CASES: mem0 PR#6892)."""
    return f"{entry.space.key}#{entry.number}"


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


def vectors_document(entry: IndexEntry, model: str) -> str:
    """The memory by its vectors of one model, with all that a search filters by."""
    memory, vectors = _living(entry), entry.vectors.get(model)
    if memory is None or vectors is None:
        return tombstone_document(entry)
    return f"{_json(_filtered(entry, memory))[:-1]},{_vector_fields(vectors)}}}"


def tombstone_document(entry: IndexEntry) -> str:
    """That the number was used, and nothing else."""
    return _json({"space": entry.space.key, "number": entry.number, "tombstone": True})


def vectors_version(entry: IndexEntry, model: str) -> int:
    """The external version of `vectors_document`; `vectors_revision` is the reverse."""
    if _living(entry) is None:
        return entry.revision * LEVELS + 3
    vectors = entry.vectors.get(model)
    level = 0 if vectors is None else 1 if vectors.context is None else 2
    return entry.revision * LEVELS + level


def vectors_at(revision: int) -> int:
    """The lowest external version of vectors of a revision."""
    return revision * LEVELS


def vectors_revision(version: int) -> int:
    """The revision of the memory whose vectors have this version."""
    return version // LEVELS


def said_of(hit: Mapping[str, Any]) -> Said:
    """What a hit's document says of the memory's source."""
    packed = hit["fields"].get("said")
    if packed is None:
        return NOT_SAID
    conversation, position, author, said_at, has_context = json.loads(packed[0])
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


def _filtered(entry: IndexEntry, memory: Memory) -> dict[str, Any]:
    return {
        "space": entry.space.key,
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


def _vector_fields(vectors: EmbeddedText) -> str:
    text = f'"meaning":{vector_json(vectors.text)}'
    return text if vectors.context is None else f'{text},"context_meaning":{vector_json(vectors.context)}'


def _json(fields: dict[str, Any]) -> str:
    given = {name: value for name, value in fields.items() if value is not None and value != ""}
    return json.dumps(given, ensure_ascii=False, separators=(",", ":"))
