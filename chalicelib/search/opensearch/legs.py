"""One search: the legs of its queries as one bundle, and what they found."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.projection import IndexQuery, Leg
from chalicelib.domain.scope import Scope
from chalicelib.errors import IndexMissingError
from chalicelib.ports import Analyzer
from chalicelib.search.opensearch import queries
from chalicelib.search.opensearch.documents import vector_json
from chalicelib.search.opensearch.hits import Findings
from chalicelib.search.opensearch.layout import Names

WORDS: tuple[Leg, ...] = ("words", "context_words")
MEANING: tuple[Leg, ...] = ("meaning", "context_meaning")


@dataclass(frozen=True, slots=True)
class LegAsked:
    """One leg: where it goes, and the queries it is sent as (several for a very long text)."""

    leg: Leg
    header: str
    bodies: list[str]

    @property
    def lines(self) -> list[str]:
        """As the engine takes it in a bundle: where, what, where, what, …"""
        return [line for body in self.bodies for line in (self.header, body)]


def legs_of(
    scope: Scope, names: Names, query: IndexQuery, analyzer: Analyzer, *, without: Collection[int]
) -> list[LegAsked]:
    """The legs that a query runs, leaving out the numbers `without`: those of words when its text has any, those of
    meaning when it has a vector."""
    words = analyzer.stems(query.text)
    header = queries.header(scope, names.words())
    asked = [
        LegAsked(leg, header, queries.by_words(scope, leg, words, query.filter, query.depth, without))
        for leg in WORDS
        if words and leg in query.legs
    ]
    if query.model is None or query.vector is None:
        return asked
    header, vector = queries.header(scope, names.vectors(query.model)), vector_json(query.vector)
    return asked + [
        LegAsked(leg, header, [queries.by_meaning(scope, leg, vector, query.filter, query.depth, without)])
        for leg in MEANING
        if leg in query.legs
    ]


def found_by(asked: Sequence[LegAsked], answers: Iterator[Any], depth: int, factor: float) -> Findings | None:
    """What the legs of one query found, of which `answers` is about to give the answers; None when no leg found an
    index. A model without one has no vectors yet, which is no fault while there are words.

    Raises IndexMissingError when the words have none, IndexUnavailableError.
    """
    findings = Findings()
    without_index = 0
    for leg in asked:
        of_leg = [next(answers) for _ in leg.bodies]
        if leg.leg in WORDS:
            findings.add_words(leg.leg, of_leg, factor, depth)
            continue
        try:
            findings.add_meaning(leg.leg, of_leg[0])
        except IndexMissingError:
            without_index += 1
    return findings if without_index < len(asked) or not asked else None
