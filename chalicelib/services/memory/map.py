"""The map: a space's memories as points in the plane, near ones alike in meaning, or in words (M17)."""

import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.memory import Memory, State
from chalicelib.domain.plane import lay_out
from chalicelib.domain.scope import Right, Scope
from chalicelib.ports import Analyzer, MemoryStore
from chalicelib.services.memory.context import Spaces, Surroundings
from chalicelib.services.memory.embedding import Embedding

POINTS_MAX = 2_000
"""Memories on one map, the newest; `more` says whether there are others."""
_READ = 500
_WORD_DIMENSIONS = 128


@dataclass(frozen=True)
class Map:
    """The use case of looking at the map."""

    spaces: Spaces
    store: MemoryStore
    analyzer: Analyzer
    embedding: Embedding

    def draw(self, scope: Scope) -> dict[str, Any]:
        """`{"items": [{number, x, y, category}], "matched_by": "meaning" | "words", "degraded", "more"}`: the
        active memories, x and y from -1 to 1. By words where there are no complete vectors; `degraded` says so
        where there should be some. A memory whose vector is still to be made lies in the middle."""
        here = self.spaces.look(scope, Right.READ)
        memories, more = self._newest(here)
        by_meaning = self.embedding.complete(scope.space, here.record)
        points = (
            self._meanings(here, memories) if by_meaning else [self._words(memory) for memory in memories]
        )
        names = {category.id: category.name for category in here.categories}
        items = [
            {"number": memory.number, "x": x, "y": y, "category": names.get(memory.category or "")}
            for memory, (x, y) in zip(memories, lay_out(points), strict=True)
        ]
        degraded = "reindex_needed" if self.embedding.serves(scope.space) and not by_meaning else None
        matched_by = "meaning" if by_meaning else "words"
        return {"items": items, "matched_by": matched_by, "degraded": degraded, "more": more}

    def _newest(self, here: Surroundings) -> tuple[list[Memory], bool]:
        """The newest active memories, and whether there are more."""
        active: list[Memory] = []
        after = None
        while page := self.store.page(here.scope, after=after, limit=_READ, newest_first=True):
            active += [memory for memory in page if memory.state is State.ACTIVE and not here.hides(memory)]
            after = page[-1].number
            if len(active) > POINTS_MAX:
                break
        return active[:POINTS_MAX], len(active) > POINTS_MAX

    def _meanings(self, here: Surroundings, memories: Sequence[Memory]) -> list[Sequence[float]]:
        vectors, _ = self.embedding.kept(here.scope, memories)
        known = {vector.number: array("f", vector.data) for vector in vectors if vector.role == "text"}
        nowhere = array("f", bytes(4 * self.embedding.dimension))
        return [known.get(memory.number, nowhere) for memory in memories]

    def _words(self, memory: Memory) -> Sequence[float]:
        """A memory's stems as a vector: each stem moves one place, up or down."""
        point = [0.0] * _WORD_DIMENSIONS
        for stem in self.analyzer.stems(memory.words):
            digest = zlib.crc32(stem.encode())
            point[digest % _WORD_DIMENSIONS] += 1.0 if digest & 0x10000 else -1.0
        length = sum(value * value for value in point) ** 0.5
        return [value / length for value in point] if length else point
