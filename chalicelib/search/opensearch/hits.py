"""What the engine answers, as raw scores of our own scale: BM25 without the factor k1 + 1, and the cosine."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chalicelib.domain.projection import Hit, IndexedState, Leg, Said
from chalicelib.errors import IndexUnavailableError
from chalicelib.search.fresh import K1
from chalicelib.search.opensearch import errors
from chalicelib.search.opensearch.documents import said_of, vector_revision

_WHOLE = "{0}status,{0}error,{0}timed_out,{0}_shards.failed"
_BUNDLE, _ALONE = _WHOLE.format("responses."), _WHOLE.format("")
SCORES_ONLY = {
    "filter_path": f"{_BUNDLE},responses.hits.hits._score,responses.hits.hits._version,responses.hits.hits.fields"
}
PLACES_ONLY = {"filter_path": f"{_ALONE},hits.hits.sort"}
STATES_ONLY = {"filter_path": f"{_ALONE},hits.hits.sort,hits.hits._version,hits.hits.fields"}
COUNTS_ONLY = {"filter_path": f"{_ALONE},aggregations.states.buckets"}


@errors.reading()
def found(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The hits of one answer.

    Raises IndexMissingError, or IndexUnavailableError also when only a part of the shards answered: what is missing
    must not look as if it were not there (CASES: mem0 PR#6519). An answer that does not say that it is whole is none.
    """
    if "error" in answer or answer.get("status", 200) >= 300:
        raise errors.from_answer(answer.get("status", 500), answer.get("error"))
    if answer["timed_out"] is not False or answer["_shards"]["failed"] != 0:
        raise IndexUnavailableError("the search engine answered for a part of its shards only")
    hits: list[Mapping[str, Any]] = answer.get("hits", {}).get("hits", [])
    return hits


@errors.reading()
def places(answer: Mapping[str, Any]) -> list[int]:
    """The numbers of one answer to a list, in its order."""
    return [int(hit["sort"][-1]) for hit in found(answer)]


@errors.reading()
def counts(answer: Mapping[str, Any]) -> dict[str, int]:
    """How many there are, by state; states without any may be left out."""
    found(answer)
    buckets = answer.get("aggregations", {}).get("states", {}).get("buckets", [])
    return {str(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets}


def any_refused(answer: Mapping[str, Any]) -> bool:
    """Whether a part of a bundle was not answered for a moment only: too much to do, or its index just went."""
    return any(part.get("status") in errors.RETRIED for part in answer.get("responses", []))


def number_of(hit: Mapping[str, Any]) -> int:
    """The number of the memory that was found."""
    return int(hit["fields"]["number"][0])


@errors.reading()
def words_factor(about: Mapping[str, Any]) -> float:
    """What an engine's BM25 is to be multiplied by; `about` is what it says of itself.

    OpenSearch 2 keeps the factor k1 + 1 in every score, OpenSearch 3 leaves it out. An engine that calls itself by
    another version (compatibility mode) is an older one. Raises IndexUnavailableError when it says nothing of itself.
    """
    version = about["version"]
    major = int(version["number"].split(".")[0])
    modern = version.get("distribution") == "opensearch" and major >= 3
    return 1.0 if modern else 1 / (K1 + 1)


class Findings:
    """What the legs of one query found, brought together by memory."""

    def __init__(self) -> None:
        self._scores: dict[Leg, dict[int, float]] = {}
        self._said: dict[int, Said] = {}

    @errors.reading()
    def add_words(self, leg: Leg, answers: Iterable[Mapping[str, Any]], factor: float, depth: int) -> None:
        """The best `depth` by BM25, added up over the parts that a long query was cut into."""
        scores: dict[int, float] = defaultdict(float)
        for answer in answers:
            for hit in found(answer):
                scores[self._number(hit)] += hit["_score"] * factor
        best = sorted(scores, key=lambda number: (scores[number], number), reverse=True)[:depth]
        self._scores[leg] = {number: scores[number] for number in best}

    @errors.reading()
    def add_meaning(self, leg: Leg, answer: Mapping[str, Any]) -> None:
        """Cosines. The engine's score is 1 + cosine, or 1 / (1 - cosine) for those below zero."""
        scores = {self._number(hit): float(hit["_score"]) for hit in found(answer)}
        self._scores[leg] = {n: score - 1 if score >= 1 else 1 - 1 / score for n, score in scores.items()}

    def hits(self) -> list[Hit]:
        """One hit for each memory that any leg found."""
        words, context_words = self._scores.get("words", {}), self._scores.get("context_words", {})
        meaning, context_meaning = self._scores.get("meaning", {}), self._scores.get("context_meaning", {})
        return [
            Hit(n, self._said[n], words.get(n), context_words.get(n), meaning.get(n), context_meaning.get(n))
            for n in dict.fromkeys((*words, *context_words, *meaning, *context_meaning))
        ]

    def _number(self, hit: Mapping[str, Any]) -> int:
        number = number_of(hit)
        if number not in self._said:
            self._said[number] = said_of(hit)
        return number


@errors.reading()
def models_by_state(
    vectors: Iterable[tuple[str, Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]],
) -> dict[tuple[int, int], frozenset[str]]:
    """Models by (number, revision) of which they have every vector. `vectors`: of each model those of texts and those
    of contexts."""
    models: dict[tuple[int, int], set[str]] = defaultdict(set)
    for model, of_texts, of_contexts in vectors:
        with_context = {_state(hit) for hit in of_contexts}
        for hit in of_texts:
            if _state(hit) in with_context or not said_of(hit).has_context:
                models[_state(hit)].add(model)
    return {state: frozenset(of_state) for state, of_state in models.items()}


def _state(hit: Mapping[str, Any]) -> tuple[int, int]:
    return number_of(hit), vector_revision(hit["_version"])


@errors.reading()
def states(
    page: Iterable[Mapping[str, Any]], models: Mapping[tuple[int, int], frozenset[str]]
) -> list[IndexedState]:
    """What the index holds, in order of number. A tombstone has no hash."""
    return [
        IndexedState(
            number=hit["sort"][0],
            revision=hit["_version"],
            content_hash=hit.get("fields", {}).get("content_hash", [""])[0],
            models=models.get((hit["sort"][0], hit["_version"]), frozenset()),
        )
        for hit in page
    ]
