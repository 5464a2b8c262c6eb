"""Which memories say much the same as a new one (M12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chalicelib.domain.category import folded
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory
from chalicelib.domain.projection import IndexEntry, IndexQuery
from chalicelib.domain.recall_limits import Thresholds
from chalicelib.domain.scope import Scope
from chalicelib.errors import SearchIndexError
from chalicelib.ports import Analyzer, MemoryStore, SearchIndex
from chalicelib.services.memory.embedding import Embedding

SHOWN = 5
_DEPTH = 10


class Alike(NamedTuple):
    """A memory that says much the same, and how much: 0..1 (cosine, or share of words; 1 for an equal key)."""

    number: int
    score: float


@dataclass(frozen=True)
class Similar:
    """Finds similar memories through the index, the latest writes included."""

    store: MemoryStore
    index: SearchIndex
    analyzer: Analyzer
    embedding: Embedding

    def find(
        self, scope: Scope, entries: Sequence[IndexEntry], thresholds: Thresholds, *, by_meaning: bool
    ) -> tuple[list[list[Alike]], str | None]:
        """For each new entry (not yet in the index) the alike ones, best first, at most SHOWN; and `degraded`.

        An entry is also compared with those before it in `entries`.
        """
        pending = self.store.unprojected(scope, 500)
        fresh = self.embedding.entries_from_table(scope, pending) if pending else []
        model = self.embedding.fingerprint if by_meaning else None
        queries = []
        for place, entry in enumerate(entries):
            vector = entry.vectors[model].text if model and model in entry.vectors else None
            queries.append(
                IndexQuery(
                    text=entry.memory.words if entry.memory else "",
                    filter=MemoryFilter(exclude=frozenset({entry.number})),
                    depth=_DEPTH,
                    model=model if vector else None,
                    vector=vector,
                    legs=frozenset({"words", "meaning"}),
                    fresh=(*fresh, *entries[:place]),
                )
            )
        try:
            hits = self.index.search(scope, queries)
        except SearchIndexError:
            return [[] for _ in entries], "index_unavailable"
        known = self._memories(scope, {hit.number for found in hits for hit in found}, entries)
        closeness = [{hit.number: hit.meaning for hit in found} for found in hits]
        return [
            self._alike(entry.memory, {n: known[n] for n in close if n in known}, close, thresholds)
            for entry, close in zip(entries, closeness, strict=True)
            if entry.memory is not None
        ], None

    def _memories(self, scope: Scope, numbers: set[int], entries: Sequence[IndexEntry]) -> dict[int, Memory]:
        new = {entry.number: entry.memory for entry in entries if entry.memory is not None}
        stored = self.store.get_many(scope, sorted(numbers - set(new)))
        return {**{n: m for n, m in stored.items() if m.state == "active"}, **new}

    def _alike(
        self,
        memory: Memory,
        others: dict[int, Memory],
        close: dict[int, float | None],
        thresholds: Thresholds,
    ) -> list[Alike]:
        stems = self.analyzer.stems(memory.words)
        found = []
        for number, other in others.items():
            meaning = close.get(number)
            words = self.analyzer.overlap(stems, self.analyzer.stems(other.words))
            if memory.key and other.key and folded(memory.key) == folded(other.key):
                found.append(Alike(number, 1.0))
            elif meaning is not None and meaning >= thresholds.duplicate_meaning:
                found.append(Alike(number, round(min(meaning, 1.0), 4)))
            elif words >= thresholds.duplicate_words:
                found.append(Alike(number, round(words, 4)))
        return sorted(found, key=lambda alike: (-alike.score, -alike.number))[:SHOWN]
