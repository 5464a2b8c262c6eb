"""Which memories say much the same as a new one (M12)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chalicelib.domain.category import folded
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory
from chalicelib.domain.projection import OWN_LEGS, Hit, IndexEntry, IndexQuery
from chalicelib.domain.recall_limits import Thresholds
from chalicelib.domain.scope import Scope
from chalicelib.domain.vitality import Retention
from chalicelib.errors import SearchIndexError
from chalicelib.ports import Analyzer, MemoryStore, SearchIndex
from chalicelib.services.memory.embedding import FRESH_MAX, Embedding

SHOWN = 5
_DEPTH = 8
_KEYS_READ = 20
_BY_WORDS = 3
"""Of the hits that are not alike in meaning, so many are compared word by word: the best by words."""


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
        pending = self.store.unprojected(scope, FRESH_MAX)
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
                    legs=OWN_LEGS,
                    fresh=(*fresh, *entries[:place]),
                )
            )
        try:
            hits = self.index.search(scope, queries)
            closeness = [
                self._same_key(scope, entry, [*fresh, *entries[:place]]) | _promising(found, thresholds)
                for place, (entry, found) in enumerate(zip(entries, hits, strict=True))
            ]
        except SearchIndexError as error:
            return [[] for _ in entries], error.degraded
        known = self._memories(scope, {number for close in closeness for number in close}, entries)
        return [
            self._alike(entry.memory, {n: known[n] for n in close if n in known}, close, thresholds)
            for entry, close in zip(entries, closeness, strict=True)
            if entry.memory is not None
        ], "index_behind" if len(pending) >= FRESH_MAX else None

    def _same_key(
        self, scope: Scope, entry: IndexEntry, fresh: Sequence[IndexEntry]
    ) -> dict[int, float | None]:
        """Numbers of facts that may have the same key (C1): those of the index that hold its words, and the latest."""
        if entry.memory is None or entry.memory.key is None:
            return {}
        page = self.index.browse(
            scope,
            MemoryFilter(exclude=frozenset({entry.number})),
            sort="updated",
            limit=_KEYS_READ,
            text=entry.memory.key,
            now=entry.memory.recorded_at,
            retention=Retention(),
        )
        latest = [
            other.number
            for other in fresh
            if other.memory and other.memory.key and other.number != entry.number
        ]
        return dict.fromkeys((*page.numbers, *latest))

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


def _promising(hits: Sequence[Hit], thresholds: Thresholds) -> dict[int, float | None]:
    """Hits worth reading: alike in meaning, or among the best by words; with their closeness in meaning."""
    alike = {hit.number: hit.meaning for hit in hits if (hit.meaning or -1) >= thresholds.duplicate_meaning}
    by_words = sorted((hit for hit in hits if hit.words), key=lambda hit: -(hit.words or 0))[:_BY_WORDS]
    return {hit.number: hit.meaning for hit in by_words} | alike
