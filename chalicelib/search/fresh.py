"""What was just written takes part in a search before the index has it (SPEC M25), alike on every adapter.

An adapter searches without the numbers that fresh entries replace, then calls `merged` with what it found. Plain
Python: the few fresh entries need no numpy, and the OpenSearch adapter ships without it.
"""

import math
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import NOT_SAID, Hit, IndexEntry, IndexQuery, Leg, Said
from chalicelib.domain.scope import Space
from chalicelib.ports import Analyzer

K1, B = 0.6, 0.2
"""BM25 as measured best for short memories: counts saturate early, length matters little."""

_WORD_LEGS: tuple[Leg, ...] = ("words", "context_words")
_Scores = dict[Leg, dict[int, float]]
"""By leg, then number."""


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """What BM25 must know of one leg in one space."""

    documents: int
    """How many memories have any word there."""
    average_length: float
    """Their mean length, in stems."""
    frequencies: Mapping[str, int]
    """How many memories have each of the query's stems; absent = none."""


def rarity(documents: int, holders: int) -> float:
    """The weight of a stem that `holders` of `documents` texts have; above 0."""
    return math.log(1 + (max(documents, holders) - holders + 0.5) / (holders + 0.5))


def said_of(memory: Memory) -> Said:
    """What ranking must know of where a memory was said."""
    source = memory.source
    if source is None:
        return Said(has_context=True) if memory.context else NOT_SAID
    return Said(source.conversation, source.position, source.author, source.said_at, bool(memory.context))


def newest(fresh: Iterable[IndexEntry], space: Space) -> dict[int, IndexEntry]:
    """By number, the entry of the highest revision; those of other spaces are passed over (M24)."""
    found: dict[int, IndexEntry] = {}
    for entry in fresh:
        known = found.get(entry.number)
        if entry.space == space and (known is None or entry.revision > known.revision):
            found[entry.number] = entry
    return found


def merged(
    query: IndexQuery,
    fresh: Mapping[int, IndexEntry],
    hits: Iterable[Hit],
    analyzer: Analyzer,
    statistics: Mapping[Leg, WordStatistics] | None = None,
) -> list[Hit]:
    """The index's `hits` with the `fresh` entries (of `newest`) in place of what the index has of those numbers.

    Each leg keeps its best `query.depth`. Cosines are exact. BM25 is exact with `statistics`; without them it is
    estimated as the share of the query's stems that the text has, times the leg's best score.
    """
    scores: _Scores = {leg: {} for leg in query.legs}
    said: dict[int, Said] = {}
    for hit in hits:
        if hit.number not in fresh:
            said[hit.number] = hit.said
            for leg, of_leg in scores.items():
                if (score := getattr(hit, leg)) is not None:
                    of_leg[hit.number] = score
    asked = Counter(analyzer.stems(query.text))
    best = {leg: max(of_leg.values(), default=1.0) for leg, of_leg in scores.items()}
    for number, entry in fresh.items():
        memory = entry.memory
        if memory is None or memory.state is State.ERASED or not query.filter.matches(memory):
            continue
        said[number] = said_of(memory)
        of_entry = _words(asked, memory, analyzer, best, statistics) | _meanings(query, entry)
        for leg in scores.keys() & of_entry.keys():
            scores[leg][number] = of_entry[leg]
    return _hits(scores, said, query.depth)


def _words(
    asked: Mapping[str, int],
    memory: Memory,
    analyzer: Analyzer,
    best: Mapping[Leg, float],
    statistics: Mapping[Leg, WordStatistics] | None,
) -> dict[Leg, float]:
    """The scores of both texts of a memory, where they are above 0."""
    scores: dict[Leg, float] = {}
    for leg, text in zip(_WORD_LEGS, (memory.words, memory.context or ""), strict=True):
        stems = analyzer.stems(text) if leg in best and asked else ()
        if not asked.keys() & set(stems):
            continue
        if statistics is None:
            scores[leg] = best[leg] * len(asked.keys() & set(stems)) / len(asked)
        else:
            scores[leg] = _bm25(asked, stems, statistics[leg])
    return scores


def _bm25(asked: Mapping[str, int], stems: Sequence[str], statistics: WordStatistics) -> float:
    counts = Counter(stems)
    norm = K1 * (1 - B + B * len(stems) / (statistics.average_length or len(stems)))
    return sum(
        times
        * rarity(statistics.documents, statistics.frequencies.get(stem, 0))
        * counts[stem]
        / (counts[stem] + norm)
        for stem, times in asked.items()
        if stem in counts
    )


def _meanings(query: IndexQuery, entry: IndexEntry) -> dict[Leg, float]:
    """The cosines of both vectors of the query's model, where there are any."""
    vectors = entry.vectors.get(query.model) if query.model is not None else None
    if vectors is None or query.vector is None:
        return {}
    asked = _floats(query.vector)
    kept: dict[Leg, bytes | None] = {"meaning": vectors.text, "context_meaning": vectors.context}
    return {
        leg: _cosine(asked, _floats(vector))
        for leg, vector in kept.items()
        if vector is not None and len(vector) == len(query.vector)
    }


def _floats(vector: bytes) -> Sequence[float]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    length = math.sqrt(sum(map(mul, one, one)) * sum(map(mul, other, other)))
    return sum(map(mul, one, other)) / length if length else 0.0


def _hits(scores: _Scores, said: Mapping[int, Said], depth: int) -> list[Hit]:
    """Hits of the best `depth` of each leg; of equal scores the newer numbers."""
    found: dict[int, dict[Leg, float]] = {}
    for leg, of_leg in scores.items():
        best = sorted(of_leg, key=lambda number: (of_leg[number], number), reverse=True)[:depth]
        for number in best:
            found.setdefault(number, {})[leg] = of_leg[number]
    return [
        Hit(
            number,
            said[number],
            of_number.get("words"),
            of_number.get("context_words"),
            of_number.get("meaning"),
            of_number.get("context_meaning"),
        )
        for number, of_number in found.items()
    ]
