"""Fusion: the raw scores of the search legs and what is known of each memory's source, as one order (SPEC M23, M24).

Every signal is a small function that gives each candidate a value from 0 to 1. Those of relevance (`words`,
`meaning`, `context_words`, `context_meaning`, `conversation`) are summed by weight; those of the query's facts
(`author`, `day`) raise that sum by a part of itself, so they lift what is relevant and nothing else. A memory that
knows nothing of a signal takes its own relevance in its place: no source is never a disadvantage.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.domain.projection import Hit
from chalicelib.domain.query_facts import QueryFacts

Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class RankingWeights(BaseModel):
    """How much each signal counts; 0 switches it off. Defaults measured (`docs/ranking.md`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: Weight = 0.5
    meaning: Weight = 0.5
    context_words: Weight = 0.25
    context_meaning: Weight = 0.5
    conversation: Weight = 0.4
    author: Weight = 0.3
    """By which part a memory's relevance is raised when the query names who said it."""
    day: Weight = 0.5
    """By which part it is raised when the query names the day on which it was said."""


class Ranked(NamedTuple):
    """A hit's place: its score, 0 to 1, and the share of each signal in it; the shares add up to the score."""

    number: int
    score: float
    hit: Hit
    signals: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def why(self) -> dict[str, float]:
        """The share of each signal that has one. What a memory without context or conversation got in their place,
        from its own words and meaning, is told as the share of these."""
        why = {name: share for name, share in zip(self.signals, self.shares, strict=True) if share}
        if not self.hit.said.has_context:
            _move(why, "context_words", {"words": 1.0})
            _move(why, "context_meaning", {"meaning": 1.0})
        if self.hit.said.conversation is None:
            own = {name: share for name, share in why.items() if name in ("words", "meaning")}
            _move(why, "conversation", own)
        return why


DECIMALS = 4
"""Of a score or a share as it is shown. What differs by less, as the same vector does in an index and as it was just
written, is equal."""
Values = list[float]
"""One value, 0 to 1, for each candidate, in their order."""


def rank(
    hits: Sequence[Hit],
    facts: QueryFacts | None = None,
    weights: RankingWeights | None = None,
    unrelated: float | None = None,
) -> list[Ranked]:
    """The hits, best first; scores that are equal as they are shown, by newer (higher) number first (2 ms for 400).

    Works with any legs: without vectors the order is by words, without words by meaning. `unrelated` is the cosine
    below which texts have nothing in common (the model's relevance threshold): it keeps few and close candidates
    from being spread over the whole scale. The score orders one search's candidates; it is no probability, and
    scores of different searches do not compare.
    """
    facts = facts or QueryFacts()
    weights = weights or RankingWeights()
    count = len(hits)
    own = {"words": words(hits), "meaning": meaning(hits, unrelated)}
    values = own | {
        "context_words": context_words(hits, own["words"]),
        "context_meaning": context_meaning(hits, own["meaning"], unrelated),
        "conversation": conversation(hits, _sum(_weighted(own, weights), count)),
    }
    boosts = {"author": author(hits, facts), "day": day(hits, facts)}
    shares = _raised(_weighted(values, weights), boosts, weights, count)
    scores = _sum(shares, count)
    names = tuple(shares)
    rows = list(zip(*shares.values(), strict=True)) or [()] * count
    order = sorted(range(count), key=lambda place: (-round(scores[place], DECIMALS), -hits[place].number))
    return [Ranked(hits[place].number, scores[place], hits[place], names, rows[place]) for place in order]


def words(hits: Sequence[Hit]) -> Values:
    """How well the memory's words match: BM25 as a part of the best (BM25's least is no match: 0)."""
    raw = [hit.words for hit in hits]
    return _parts(raw, _best(raw))


def meaning(hits: Sequence[Hit], unrelated: float | None = None) -> Values:
    """How close the memory is in meaning: cosine on the scale of this leg (`_scale`)."""
    raw = [hit.meaning for hit in hits]
    return _on_scale(raw, raw, unrelated)


def context_words(hits: Sequence[Hit], own: Values) -> Values:
    """How well the words said just before match, as a part of the best match of either leg of words (so that the
    only memory with a context is not the best by that). A memory without context: `own`, its own words."""
    if not any(hit.said.has_context for hit in hits):
        return own
    raw = [hit.context_words for hit in hits]
    found = _parts(raw, max(_best(raw), _best([hit.words for hit in hits])))
    return [
        value if hit.said.has_context else mine for hit, value, mine in zip(hits, found, own, strict=True)
    ]


def context_meaning(hits: Sequence[Hit], own: Values, unrelated: float | None = None) -> Values:
    """How close context and memory together are in meaning, on the scale of both legs of meaning. A memory
    without context: `own`, its own closeness."""
    if not any(hit.said.has_context for hit in hits):
        return own
    raw = [hit.context_meaning if hit.said.has_context else None for hit in hits]
    found = _on_scale(raw, [*raw, *(hit.meaning for hit in hits)], unrelated)
    return [
        value if hit.said.has_context else mine for hit, value, mine in zip(hits, found, own, strict=True)
    ]


def conversation(hits: Sequence[Hit], own: Values) -> Values:
    """The best relevance in the memory's conversation; a memory that is from none: its own relevance."""
    best: dict[str, float] = {}
    for hit, value in zip(hits, own, strict=True):
        if hit.said.conversation is not None and value > best.get(hit.said.conversation, 0.0):
            best[hit.said.conversation] = value
    return [
        value if hit.said.conversation is None else best.get(hit.said.conversation, 0.0)
        for hit, value in zip(hits, own, strict=True)
    ]


def author(hits: Sequence[Hit], facts: QueryFacts) -> Values:
    """1 if the query names who said the memory, by any part of the name."""
    named = {name: facts.names_author(name) for name in {hit.said.author for hit in hits}}
    return [float(named[hit.said.author]) for hit in hits]


def day(hits: Sequence[Hit], facts: QueryFacts) -> Values:
    """1 if the query names the day on which the memory was said (the day, not its month or year)."""
    if not facts.days:
        return [0.0] * len(hits)
    return [float(facts.on_day(hit.said.said_at)) for hit in hits]


def _move(why: dict[str, float], signal: str, to: dict[str, float]) -> None:
    """Give the share of `signal` to others that have one, in proportion."""
    total = sum(to.values())
    if signal in why and total and all(name in why for name in to):
        share = why.pop(signal)
        for name, part in to.items():
            why[name] = why.get(name, 0.0) + share * part / total


def _best(raw: Sequence[float | None]) -> float:
    return max((score for score in raw if score is not None), default=0.0)


def _parts(raw: Sequence[float | None], best: float) -> Values:
    if best <= 0:
        return [0.0] * len(raw)
    return [score / best if score else 0.0 for score in raw]


def _on_scale(raw: Sequence[float | None], among: Sequence[float | None], unrelated: float | None) -> Values:
    """Min-max of cosines, stretched downward so that the least `among` those found counts half: a leg gives its
    best hits only, so the least is no bad one. What the leg did not find counts as the least. No hits: 0."""
    known = [score for score in among if score is not None]
    if not known:
        return [0.0] * len(raw)
    best, least = max(known), min(known)
    floor = 2 * least - best
    if unrelated is not None:
        floor = min(floor, unrelated)
    if best == floor:
        return [1.0] * len(raw)
    scale = 1 / (best - floor)
    return [((least if score is None else score) - floor) * scale for score in raw]


def _weighted(values: dict[str, Values], weights: RankingWeights) -> dict[str, Values]:
    """The share of each signal in the weighted mean, over those signals that say anything of these candidates."""
    said = {name: weight for name, of in values.items() if (weight := getattr(weights, name)) and any(of)}
    total = sum(said.values())
    return {name: [weight / total * value for value in values[name]] for name, weight in said.items()}


def _sum(shares: dict[str, Values], count: int) -> Values:
    return [sum(row) for row in zip(*shares.values(), strict=True)] if shares else [0.0] * count


def _raised(
    shares: dict[str, Values], boosts: dict[str, Values], weights: RankingWeights, count: int
) -> dict[str, Values]:
    """The shares of relevance with those of the boosts, all scaled so that no sum exceeds 1."""
    parts = {name: part for name, of in boosts.items() if (part := getattr(weights, name)) and any(of)}
    if not parts:
        return shares
    scale = 1 / (1 + sum(parts.values()))
    raised = {name: [share * scale for share in of] for name, of in shares.items()}
    relevance = _sum(raised, count)
    for name, part in parts.items():
        raised[name] = [part * value * one for value, one in zip(boosts[name], relevance, strict=True)]
    return raised
