"""Searching a space: legs of the index, latest writes, ranking, threshold, and the re-check against the table.

The one place through which anything is found (M24). Its scope comes first; what the index says is never believed
without the table's word.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory
from chalicelib.domain.projection import ALL_LEGS, OWN_LEGS, Hit, IndexEntry, IndexQuery
from chalicelib.domain.query_facts import query_facts
from chalicelib.domain.ranking import DECIMALS, RankingWeights, rank
from chalicelib.domain.recall_limits import Thresholds
from chalicelib.errors import EmbeddingError, SearchIndexError
from chalicelib.ports import Analyzer, MemoryStore, Reranker, SearchIndex
from chalicelib.services.memory.context import Surroundings
from chalicelib.services.memory.embedding import FRESH_MAX, Embedding
from chalicelib.services.memory.thresholds import ThresholdsInForce

SPARE = 5
"""Memories that are read more than are wanted: some are not as the index says, or not related."""
DEEP = 1_000
"""Hits of each leg of words when there are no vectors and the best ones were not related enough: a rare word may be
in many memories that have no other word of the query, and they all come before those with most of its words."""
FALLBACK_MAX = 1_000
"""Memories that are compared by words when there is no index."""


class Found(NamedTuple):
    """A memory found: its score (for the order of this answer), each signal's share, the raw scores of the legs."""

    memory: Memory
    score: float
    why: dict[str, float]
    hit: Hit | None
    """Raw scores of the legs; None when no index was asked."""


@dataclass(frozen=True)
class Finding:
    """What a search gave. `below` = candidates that no threshold let through."""

    found: list[Found]
    matched_by: str
    degraded: str | None
    below: int = 0
    others: list[Memory] = field(default_factory=list)
    """Of a second filter: memories that would have been found, had they been wanted."""


class _How(NamedTuple):
    """How a query is matched: with which vector, and why not by meaning if it is not."""

    vector: bytes | None
    model: str | None
    degraded: str | None


@dataclass(frozen=True)
class Finder:
    """Finds memories of one space."""

    store: MemoryStore
    index: SearchIndex
    analyzer: Analyzer
    embedding: Embedding
    thresholds: ThresholdsInForce
    weights: RankingWeights
    reranker: Reranker | None = None
    depth: int = 40
    """Hits of each leg; more gain nothing (measured)."""

    def find(
        self,
        here: Surroundings,
        text: str,
        wanted: MemoryFilter,
        limit: int,
        also: MemoryFilter | None = None,
    ) -> Finding:
        """The best `limit` memories that match, best first. `also`: a second filter whose matches are counted.

        Falls back to words (no vectors), then to the newest memories of the table (no index), and says so.
        Raises StoreError only: the table is the one part without which there is no answer.
        """
        how = self._how(here, text)
        fresh, behind = self._fresh(here)
        depth = max(self.depth, limit)
        queries = [self._query(here, text, wanted, how, fresh, depth)]
        if also is not None:
            queries.append(self._query(here, text, also, how, fresh, depth=50))
        try:
            answers = self.index.search(here.scope, queries)
            if how.vector is not None and any(map(_lacks_vectors, queries, answers)):
                how = _How(None, None, "reindex_needed")
            gate = self._gate(here, text, how)
            found = self._best(here, answers[0], wanted, limit, gate)
            if how.vector is None and len(found) < limit and len(answers[0]) >= depth:
                [deeper] = self.index.search(here.scope, [self._query(here, text, wanted, how, fresh, DEEP)])
                gate = self._gate(here, text, how)
                found = self._best(here, deeper, wanted, limit, gate)
        except SearchIndexError as error:
            return self._without_index(here, text, wanted, limit, error.degraded)
        below = gate.below
        others: list[Found] = []
        if also is not None:
            others = self._best(here, answers[1], also, len(answers[1]), gate)
        return Finding(
            found=self._reranked(text, found),
            matched_by="meaning" if how.vector is not None else "words",
            degraded=how.degraded or ("index_behind" if behind else None),
            below=below,
            others=[one.memory for one in others],
        )

    def by_meaning(self, here: Surroundings) -> bool:
        """Whether this space is searched by meaning, if the embedder answers."""
        return self.embedding.complete(here.scope.space, here.record)

    def _how(self, here: Surroundings, text: str) -> _How:
        space = here.scope.space
        if not self.embedding.serves(space):
            return _How(None, None, None)
        if not self.embedding.complete(space, here.record):
            return _How(None, None, "reindex_needed")
        try:
            return _How(self.embedding.query(text), self.embedding.fingerprint, None)
        except EmbeddingError:
            return _How(None, None, "embedder_unavailable")

    def _gate(self, here: Surroundings, text: str, how: _How) -> "_Gate":
        unrelated = self.embedding.unrelated if how.model else None
        return _Gate(self.analyzer, text, self.thresholds.of(how.model), unrelated, here.now)

    def _fresh(self, here: Surroundings) -> tuple[list[IndexEntry], bool]:
        """The latest writes; and whether more may wait for the index than take part."""
        pending = self.store.unprojected(here.scope, FRESH_MAX)
        fresh = self.embedding.entries_from_table(here.scope, pending) if pending else []
        return fresh, len(pending) >= FRESH_MAX

    def _query(
        self,
        here: Surroundings,
        text: str,
        wanted: MemoryFilter,
        how: _How,
        fresh: Sequence[IndexEntry],
        depth: int,
    ) -> IndexQuery:
        with_context = here.record is None or here.record.with_context
        return IndexQuery(
            text=text,
            filter=wanted,
            depth=depth + len(wanted.exclude),
            model=how.model,
            vector=how.vector,
            legs=ALL_LEGS if with_context else OWN_LEGS,
            fresh=tuple(fresh),
        )

    def _best(
        self, here: Surroundings, hits: Sequence[Hit], wanted: MemoryFilter, limit: int, gate: "_Gate"
    ) -> list[Found]:
        """The best `limit` which the table confirms, the filter wants and the threshold lets through."""
        ranked = rank(hits, gate.facts, self.weights, gate.unrelated)
        hopeful = [place for place in ranked if gate.may_pass(place.hit)]
        found: list[Found] = []
        looked_at = 0
        while looked_at < len(hopeful):
            places = hopeful[looked_at : looked_at + limit - len(found) + SPARE]
            looked_at += len(places)
            memories = self.store.get_many(here.scope, [place.number for place in places])
            for place in places:
                memory = memories.get(place.number)
                if memory is None or not wanted.matches(memory) or not gate.passes(memory, place.hit):
                    continue
                found.append(Found(memory, round(place.score, DECIMALS), rounded(place.why), place.hit))
                if len(found) == limit:
                    return found
        return found

    def _reranked(self, text: str, found: list[Found]) -> list[Found]:
        if self.reranker is None or len(found) < 2:
            return found
        scores = self.reranker.scores(text, [one.memory.words for one in found])
        better = [
            one._replace(score=round(score, DECIMALS), why={**one.why, "reranker": score})
            for one, score in zip(found, scores, strict=True)
        ]
        return sorted(better, key=lambda one: (-one.score, -one.memory.number))

    def _without_index(
        self, here: Surroundings, text: str, wanted: MemoryFilter, limit: int, why: str
    ) -> Finding:
        """The newest memories of the table that share the query's words: what can be had without an index."""
        stems = self.analyzer.stems(text)
        related = self.thresholds.of(None)
        found = []
        for memory in self.store.page(here.scope, after=None, limit=FALLBACK_MAX, newest_first=True):
            if not wanted.matches(memory):
                continue
            share = self.analyzer.coverage(stems, self.analyzer.stems(memory.words))
            if share >= related.relevance_words and share > 0:
                found.append(Found(memory, round(share, DECIMALS), {"words": round(share, DECIMALS)}, None))
        best = sorted(found, key=lambda one: (-one.score, -one.memory.number))[:limit]
        return Finding(best, "words", why)


def _lacks_vectors(query: IndexQuery, hits: Sequence[Hit]) -> bool:
    """Whether the index found by words alone, although vectors were asked for too: it has none then, for some vectors
    are always the nearest. What is fresh may have none yet, or may be all of the nearest."""
    late = {entry.number for entry in query.fresh}
    near = {hit.number for hit in hits if hit.meaning is not None or hit.context_meaning is not None}
    settled = {hit.number for hit in hits} - late
    return bool(settled) and not settled & near and len(near) < query.depth


def rounded(why: dict[str, float]) -> dict[str, float]:
    """Shares as they are shown, those of nothing left out."""
    return {signal: share for signal, exact in why.items() if (share := round(exact, DECIMALS))}


class _Gate:
    """Lets through what is related: close in meaning, or sharing enough of the query's words (M23).

    `below` counts what it held back.
    """

    def __init__(
        self, analyzer: Analyzer, query: str, related: Thresholds, unrelated: float | None, now: datetime
    ) -> None:
        """`unrelated`: the cosine under which texts have nothing in common, by the model's measured default; None
        when nothing is compared by meaning."""
        self.unrelated = unrelated
        self.facts = query_facts(query, now)
        self._analyzer = analyzer
        self._stems = analyzer.stems(query)
        self._related = related
        self._held: set[int] = set()

    @property
    def below(self) -> int:
        """How many were held back so far."""
        return len(self._held)

    def may_pass(self, hit: Hit) -> bool:
        """Whether it is worth to look at the text of this hit."""
        if hit.words is not None or hit.context_words is not None or self._close(hit):
            return True
        self._held.add(hit.number)
        return False

    def passes(self, memory: Memory, hit: Hit) -> bool:
        """Whether this memory is related to the query."""
        if self._close(hit):
            return True
        said = f"{memory.context} {memory.words}" if hit.context_words is not None else memory.words
        share = self._analyzer.coverage(self._stems, self._analyzer.stems(said))
        if share > 0 and share >= self._related.relevance_words:
            return True
        self._held.add(hit.number)
        return False

    def _close(self, hit: Hit) -> bool:
        """Close in meaning; or said on the day that the query names, which is what was asked for."""
        if self.facts.days and self.facts.on_day(hit.said.said_at):
            return True
        closest = max(hit.meaning or -1.0, hit.context_meaning or -1.0)
        return closest >= self._related.relevance_meaning
