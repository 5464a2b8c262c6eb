"""Vectors of memories: made once for each unchanged text, kept in the table, given to the index (M23, A6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.embedding import text_hash
from chalicelib.domain.memory import Memory
from chalicelib.domain.projection import EmbeddedText, IndexEntry
from chalicelib.domain.records import SpaceRecord, Vector
from chalicelib.domain.scope import Scope, Space, SpaceKind
from chalicelib.errors import EmbeddingError
from chalicelib.ports import Embedder, MemoryStore

CONTEXT_EMBEDDED = 400
"""Characters of a context, its last ones, that are embedded: models cut long texts at the end, and the memory itself
stands there."""


def passage_texts(memory: Memory) -> dict[str, str]:
    """Role -> text to embed: the memory's words; and, where it has a context, that with the words."""
    texts = {"text": memory.words}
    if memory.context:
        texts["context"] = f"{memory.context[-CONTEXT_EMBEDDED:]}\n{memory.words}"
    return texts


FRESH_MAX = 500
"""Writes that the index may not have yet and that take part all the same. Are there as many, an answer says that it
may lack others."""


@dataclass(frozen=True)
class Embedding:
    """The embedding model in use, if any, and its vectors."""

    embedder: Embedder | None
    store: MemoryStore

    def serves(self, space: Space) -> bool:
        """Whether vectors are made here at all: never for communities of types 1-5 (C4)."""
        return self.embedder is not None and space.kind is not SpaceKind.COMMUNITY

    def first_record(self, space: Space, at: datetime) -> SpaceRecord:
        """The record of a space that has none. Such a space holds no memory either (the first one comes with a
        record), so whatever comes gets vectors of the model in use, and nothing has a context yet."""
        models = (self.fingerprint,) if self.fingerprint is not None and self.serves(space) else ()
        return SpaceRecord(space=space.key, created_at=at, embedded_with=models, with_context=False)

    @property
    def fingerprint(self) -> str | None:
        """Fingerprint of the model in use."""
        return self.embedder.model.fingerprint if self.embedder else None

    @property
    def dimension(self) -> int:
        """Numbers in one vector of the model in use; 0 without one."""
        return self.embedder.model.dimension if self.embedder else 0

    @property
    def unrelated(self) -> float | None:
        """The cosine under which texts have nothing in common: the model's measured default, whatever the admin's
        threshold is, for it scales the ranking. None without a model."""
        return self.embedder.model.relevance if self.embedder else None

    def complete(self, space: Space, record: SpaceRecord | None) -> bool:
        """Whether this space's vectors of the model in use are complete, so that meaning may answer (A6)."""
        if not self.serves(space):
            return False
        return record is None or self.fingerprint in record.embedded_with

    def make(self, memories: Sequence[Memory]) -> list[Vector]:
        """Vectors of these memories' texts; equal texts are embedded once. Raises EmbeddingError."""
        if self.embedder is None or not memories:
            return []
        wanted = [(m.number, role, text) for m in memories for role, text in passage_texts(m).items()]
        texts = list(dict.fromkeys(text for _, _, text in wanted))
        found = dict(zip(texts, self.embedder.passages(texts), strict=True))
        model = self.embedder.model.fingerprint
        return [
            Vector.model_validate(
                {
                    "number": number,
                    "role": role,
                    "model": model,
                    "text_hash": text_hash(text),
                    "data": found[text],
                }
            )
            for number, role, text in wanted
        ]

    def kept(self, scope: Scope, memories: Sequence[Memory]) -> tuple[list[Vector], list[Memory]]:
        """(vectors that the table has for these memories' present texts, memories that lack some)."""
        if not self.serves(scope.space) or self.fingerprint is None or not memories:
            return [], []
        stored = self.store.vectors(scope, [memory.number for memory in memories], self.fingerprint)
        by_place = {(vector.number, vector.role, vector.text_hash): vector for vector in stored}
        valid: list[Vector] = []
        lacking: list[Memory] = []
        for memory in memories:
            places = [(memory.number, role, text_hash(text)) for role, text in passage_texts(memory).items()]
            have = [by_place[place] for place in places if place in by_place]
            valid += have
            if len(have) < len(places):
                lacking.append(memory)
        return valid, lacking

    def entries(
        self, scope: Scope, memories: Sequence[Memory], vectors: Sequence[Vector]
    ) -> list[IndexEntry]:
        """Index entries of these memories (tombstones for erased ones) with such of `vectors` as are theirs."""
        parts: dict[int, dict[str, bytes]] = {}
        for vector in vectors:
            parts.setdefault(vector.number, {})[vector.role] = vector.data
        entries = []
        for memory in memories:
            gone = memory.state == "erased"
            mine = parts.get(memory.number, {})
            embedded = {}
            if not gone and self.fingerprint and "text" in mine:
                embedded[self.fingerprint] = EmbeddedText(mine["text"], mine.get("context"))
            entries.append(
                IndexEntry(scope.space, memory.number, memory.revision, None if gone else memory, embedded)
            )
        return entries

    def entries_from_table(self, scope: Scope, numbers: Sequence[int]) -> list[IndexEntry]:
        """Index entries of these numbers as the table has them now, with the vectors it keeps; none are made."""
        memories = list(self.store.get_many(scope, numbers).values())
        living = [memory for memory in memories if memory.state != "erased"]
        return self.entries(scope, memories, self.kept(scope, living)[0])

    def query(self, text: str) -> bytes:
        """The vector of a query. Raises EmbeddingError."""
        if self.embedder is None:
            raise EmbeddingError("no embedding model is set")
        return self.embedder.query(text)
