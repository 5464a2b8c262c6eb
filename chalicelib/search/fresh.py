"""What was just written takes part in a search before the index has it (SPEC M25), alike on every adapter.

An adapter reads the fresh entries of all its queries once (`FreshEntries`), searches without the numbers that they
replace, then has them `merged` with what it found. Plain Python: the OpenSearch adapter ships without numpy.
"""

import math
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import NOT_SAID, Hit, IndexEntry, IndexQuery, Leg, Said
from chalicelib.domain.scope import Space
from chalicelib.ports import Analyzer

K1, B = 0.6, 0.2
"""BM25 as measured best for short memories: counts saturate early, length matters little."""

_WORD_LEGS: tuple[Leg, ...] = ("words", "context_words")
_MEANING_LEGS: tuple[Leg, ...] = ("meaning", "context_meaning")
_NOTHING: frozenset[int] = frozenset()
_Scores = dict[Leg, dict[int, float]]
"""By leg, then number."""
Cosines = Callable[[bytes], Sequence[float]]
"""A vector's cosine with each of some vectors, all of unit length and as many dimensions."""


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


def plain_cosines(vectors: Sequence[bytes]) -> Cosines:
    """By way of the distance: two lengths and a distance give the dot product, and `math.dist` is four times as fast
    as a sum of products."""
    known = [(floats, math.hypot(*floats) ** 2) for floats in map(_floats, vectors)]

    def cosines(vector: bytes) -> Sequence[float]:
        asked = _floats(vector)
        square = math.hypot(*asked) ** 2
        return [(square + own - math.dist(asked, floats) ** 2) / 2 for floats, own in known]

    return cosines


def _floats(vector: bytes) -> Sequence[float]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


class FreshEntries:
    """The fresh entries of some queries in one space; those of other spaces are passed over (M24).

    Whatever the queries have in common, each text is taken apart once and each vector unpacked once, when a leg first
    needs it. `compare` makes the cosines. For one thread.
    """

    def __init__(
        self,
        queries: Sequence[IndexQuery],
        space: Space,
        analyzer: Analyzer,
        compare: Callable[[Sequence[bytes]], Cosines] = plain_cosines,
    ) -> None:
        given = {id(entry): entry for query in queries for entry in query.fresh}
        self._entries = [entry for entry in given.values() if entry.space is space or entry.space == space]
        self._places = {id(entry): place for place, entry in enumerate(self._entries)}
        self._living = {
            place: entry.memory
            for place, entry in enumerate(self._entries)
            if entry.memory is not None and entry.memory.state is not State.ERASED
        }
        self._queries = queries
        self._analyzer = analyzer
        self._compare = compare
        self._texts: dict[Leg, _Texts] = {}
        self._vectors: dict[tuple[str, Leg, int], tuple[list[int], Cosines]] = {}
        self._matching: dict[MemoryFilter, frozenset[int]] = {}

    def newest(self, query: IndexQuery) -> dict[int, IndexEntry]:
        """By number, the query's fresh entry of the highest revision."""
        found: dict[int, IndexEntry] = {}
        for entry in query.fresh:
            known = found.get(entry.number)
            if (known is None or entry.revision > known.revision) and id(entry) in self._places:
                found[entry.number] = entry
        return found

    def merged(
        self,
        query: IndexQuery,
        newest: Mapping[int, IndexEntry],
        hits: Iterable[Hit],
        statistics: Mapping[Leg, WordStatistics] | None = None,
    ) -> list[Hit]:
        """The index's `hits` with the entries `newest` in place of what the index has of those numbers.

        Each leg keeps its best `query.depth`. Cosines are exact. BM25 is exact with `statistics` (of the legs that are
        asked); without them it is estimated as the share of the query's stems that the text has, times the leg's best
        score.
        """
        scores: _Scores = {leg: {} for leg in query.legs}
        said: dict[int, Said] = {}
        for hit in hits:
            if hit.number not in newest:
                said[hit.number] = hit.said
                for leg, of_leg in scores.items():
                    if (score := getattr(hit, leg)) is not None:
                        of_leg[hit.number] = score
        wanted = self._wanted(query.filter, newest)
        for leg, of_entries in self._scores(query, scores, statistics):
            of_leg = scores[leg]
            for place, score in of_entries:
                if place in wanted:
                    of_leg[self._entries[place].number] = score
        best = {leg: _best(of_leg, query.depth) for leg, of_leg in scores.items()}
        numbers = set().union(*best.values())
        for number in numbers - said.keys():
            said[number] = said_of(self._living[self._places[id(newest[number])]])
        return [
            Hit(number, said[number], **{leg: of_leg.get(number) for leg, of_leg in best.items()})
            for number in numbers
        ]

    def _wanted(self, wanted: MemoryFilter, newest: Mapping[int, IndexEntry]) -> set[int]:
        """The places of the entries of `newest` that the filter lets through."""
        excluded = wanted.exclude
        if excluded:  # most filters of one search differ in nothing else
            wanted = wanted.model_copy(update={"exclude": _NOTHING})
        matching = self._matching.get(wanted)
        if matching is None:
            matching = self._matching[wanted] = frozenset(
                place for place, memory in self._living.items() if wanted.matches(memory)
            )
        places = self._places
        return {
            place
            for number, entry in newest.items()
            if (place := places[id(entry)]) in matching and number not in excluded
        }

    def _scores(
        self, query: IndexQuery, of_index: _Scores, statistics: Mapping[Leg, WordStatistics] | None
    ) -> Iterator[tuple[Leg, Iterable[tuple[int, float]]]]:
        """For each leg that is asked, the place and score of each entry that has one."""
        asked = Counter(self._analyzer.stems(query.text))
        for leg in _WORD_LEGS:
            if leg in query.legs and asked:
                texts = self._texts_of(leg)
                if statistics is None:
                    best = max(of_index[leg].values(), default=1.0)
                    yield leg, texts.shares(asked, best / len(asked)).items()
                else:
                    yield leg, texts.bm25(asked, statistics[leg]).items()
        for leg in _MEANING_LEGS:
            if leg in query.legs and query.model is not None and query.vector is not None:
                places, cosines = self._cosines_of(query.model, leg, len(query.vector))
                yield leg, zip(places, cosines(query.vector), strict=True)

    def _texts_of(self, leg: Leg) -> "_Texts":
        texts = self._texts.get(leg)
        if texts is None:
            stems = self._analyzer.stems
            asked = {stem for query in self._queries for stem in stems(query.text)}
            texts = self._texts[leg] = _Texts(asked)
            for place, memory in self._living.items():
                if text := memory.words if leg == "words" else memory.context:
                    texts.add(place, stems(text))
        return texts

    def _cosines_of(self, model: str, leg: Leg, length: int) -> tuple[list[int], Cosines]:
        """The places of the entries that have a vector of this model, leg and length in bytes; and their cosines."""
        key = (model, leg, length)
        if key not in self._vectors:
            vectors: dict[int, bytes] = {}
            for place in self._living:
                embedded = self._entries[place].vectors.get(model)
                vector = embedded and (embedded.text if leg == "meaning" else embedded.context)
                if vector and len(vector) == length:
                    vectors[place] = vector
            cosines = self._compare(list(vectors.values())) if vectors else _no_cosines
            self._vectors[key] = (list(vectors), cosines)
        return self._vectors[key]


class _Texts:
    """Which of some texts have which of the stems that any query asks, how often, and how long they are."""

    def __init__(self, asked: Iterable[str]) -> None:
        self._holders: dict[str, list[tuple[int, int]]] = {stem: [] for stem in asked}
        self._lengths: dict[int, int] = {}

    def add(self, place: int, stems: Sequence[str]) -> None:
        self._lengths[place] = len(stems)
        for stem in self._holders.keys() & stems:
            self._holders[stem].append((place, stems.count(stem)))

    def shares(self, asked: Iterable[str], weight: float) -> dict[int, float]:
        """`weight` for each of the asked stems that a text has."""
        found: Counter[int] = Counter()
        for stem in asked:
            found.update(place for place, _count in self._holders[stem])
        return {place: weight * shared for place, shared in found.items()}

    def bm25(self, asked: Mapping[str, int], statistics: WordStatistics) -> dict[int, float]:
        """The scores of the texts that have any of the asked stems."""
        scores: dict[int, float] = {}
        for stem, times in asked.items():
            weight = times * rarity(statistics.documents, statistics.frequencies.get(stem, 0))
            for place, count in self._holders[stem]:
                length = self._lengths[place]
                norm = K1 * (1 - B + B * length / (statistics.average_length or length))
                scores[place] = scores.get(place, 0.0) + weight * count / (count + norm)
        return scores


def _no_cosines(_vector: bytes) -> Sequence[float]:
    return ()


def _best(scores: dict[int, float], depth: int) -> dict[int, float]:
    """The best `depth` scores, by number; of equal ones those of newer numbers."""
    if len(scores) <= depth:
        return scores
    highest = sorted(scores.values(), reverse=True)[:depth]
    last = highest[-1] if highest else math.inf
    best = {number: score for number, score in scores.items() if score > last}
    equal = sorted((number for number, score in scores.items() if score == last), reverse=True)
    return best | dict.fromkeys(equal[: depth - len(best)], last)
