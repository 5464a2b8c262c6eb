"""Answering queries from a snapshot: the legs, each cut to its depth, and fresh entries merged in."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from chalicelib.domain.projection import Hit, IndexQuery, Leg
from chalicelib.domain.records import Role
from chalicelib.ports import Analyzer
from chalicelib.search.embedded.best import Found, best
from chalicelib.search.embedded.postings import PostingsView
from chalicelib.search.embedded.segment import Snapshot
from chalicelib.search.embedded.terms import term
from chalicelib.search.embedded.vectors import Floats, MatrixView
from chalicelib.search.fresh import FreshEntries, WordStatistics

Answer = dict[tuple[int, Leg], Found]
"""By place of the query, and leg."""
Task = Callable[[], Answer]
Run = Callable[[Sequence[Task], int], Iterable[Answer]]

_TOGETHER = 8
"""Queries of one task: their scores of all vectors are in memory at once."""
_FEW = 8
"""One in so many rows is wanted, or fewer: then those are picked out, instead of going through all."""
_ORDER: tuple[Leg, ...] = ("words", "context_words", "meaning", "context_meaning")
_ROLE_OF: dict[Leg, Role] = {"meaning": "text", "context_meaning": "context"}


def answers(
    snapshot: Snapshot,
    queries: Sequence[IndexQuery],
    fresh: FreshEntries,
    analyzer: Analyzer,
    run: Run,
) -> list[list[Hit]]:
    """The hits of each query. `run(tasks, rows)` does the tasks, one after the other or side by side."""
    stems = [analyzer.stems(query.text) for query in queries]
    # Vectors first: while they are gone through, Python is free for the tasks of another thread.
    tasks: list[Task] = [*_meanings(snapshot, queries), partial(_by_words, snapshot, queries, stems)]
    found: Answer = {}
    for of_task in run(tasks, len(snapshot.numbers)):
        found.update(of_task)
    results = []
    for place, query in enumerate(queries):
        hits = _hits(snapshot, [found.get((place, leg)) for leg in _ORDER])
        newer = snapshot.wanted[place].fresh
        if newer:
            hits = fresh.merged(query, newer, hits, _statistics(snapshot, query, stems[place]))
        results.append(hits)
    return results


def _by_words(snapshot: Snapshot, queries: Sequence[IndexQuery], stems: Sequence[Sequence[str]]) -> Answer:
    found: Answer = {}
    for place, query in enumerate(queries):
        asked = Counter(map(term, stems[place]))
        for leg, postings in _postings(snapshot, query).items():
            if asked and postings.documents:
                found[place, leg] = best(
                    postings.scores(asked), snapshot.wanted[place].mask, query.depth, above=0.0
                )
    return found


def _postings(snapshot: Snapshot, query: IndexQuery) -> dict[Leg, PostingsView]:
    """Of the legs of words that the query asks."""
    both: dict[Leg, PostingsView] = {"words": snapshot.words, "context_words": snapshot.context}
    return {leg: postings for leg, postings in both.items() if leg in query.legs}


def _meanings(snapshot: Snapshot, queries: Sequence[IndexQuery]) -> list[Task]:
    """A task for each model, role and some of the queries, for which the vectors are gone through once."""
    asked: dict[tuple[str, Leg], list[int]] = {}
    for place, query in enumerate(queries):
        if query.model is not None and query.vector is not None:
            for leg in query.legs & _ROLE_OF.keys():
                asked.setdefault((query.model, leg), []).append(place)
    return [
        partial(_by_meaning, snapshot, queries, places[start : start + _TOGETHER], leg, matrix)
        for (model, leg), places in asked.items()
        if (matrix := snapshot.matrices.get((model, _ROLE_OF[leg]))) is not None and matrix.size
        for start in range(0, len(places), _TOGETHER)
    ]


def _by_meaning(
    snapshot: Snapshot, queries: Sequence[IndexQuery], places: Sequence[int], leg: Leg, matrix: MatrixView
) -> Answer:
    found: Answer = {}
    through: list[int] = []
    for place in places:
        wanted = snapshot.wanted[place]
        if wanted.count * _FEW > matrix.size:
            through.append(place)
        else:
            slots = np.flatnonzero(matrix.those(wanted.mask))
            scores = matrix.cosines_at(slots, _vector(queries[place]))
            few, of_few = best(scores, np.ones(len(slots), np.bool_), queries[place].depth)
            found[place, leg] = (matrix.rows[slots[few]], of_few)
    cosines = matrix.cosines([_vector(queries[place]) for place in through])
    for place, scores in zip(through, cosines, strict=True):
        top, of_top = best(scores, matrix.those(snapshot.wanted[place].mask), queries[place].depth)
        found[place, leg] = (matrix.rows[top], of_top)
    return found


def _vector(query: IndexQuery) -> Floats:
    return np.frombuffer(query.vector or b"", "<f4").astype(np.float32)


def _hits(snapshot: Snapshot, of_legs: Sequence[Found | None]) -> list[Hit]:
    """One hit for each row that any leg found."""
    scores = [
        dict(zip(found[0].tolist(), found[1].tolist(), strict=True)) if found else {} for found in of_legs
    ]
    rows = list({row: None for of_leg in scores for row in of_leg})
    numbers = snapshot.numbers[rows].tolist()
    said = map(snapshot.said.__getitem__, rows)
    return list(map(Hit, numbers, said, *(map(of_leg.get, rows) for of_leg in scores)))


def _statistics(snapshot: Snapshot, query: IndexQuery, stems: Sequence[str]) -> Mapping[Leg, WordStatistics]:
    """Of the legs of words that the query asks."""
    distinct = list(dict.fromkeys(stems))
    return {
        leg: WordStatistics(
            postings.documents,
            postings.average_length,
            dict(zip(distinct, postings.frequencies(list(map(term, distinct))), strict=True)),
        )
        for leg, postings in _postings(snapshot, query).items()
    }
