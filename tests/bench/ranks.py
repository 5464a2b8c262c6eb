"""How well the right turns were found: recall at 5, 10 and 20, hit at 10, reciprocal rank."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tests.bench.quantiles import mean

DEPTH = 20


class Rank(NamedTuple):
    """What one question got. recall_k: the share of its evidence among the first k."""

    recall_5: float
    recall_10: float
    recall_20: float
    hit_10: float
    reciprocal: float

    @classmethod
    def of(cls, found: Sequence[str], evidence: Collection[str]) -> "Rank":
        """The rank of an answer: the ids found, best first, and those that are right."""
        places = [place for place, one in enumerate(found[:DEPTH], start=1) if one in evidence]

        def recall(depth: int) -> float:
            return sum(place <= depth for place in places) / len(evidence)

        hit = float(bool(places) and places[0] <= 10)
        return cls(recall(5), recall(10), recall(20), hit, 1 / places[0] if places else 0.0)


HEADER = ("questions", "R@5", "R@10", "R@20", "hit@10", "MRR")


def averaged(ranks: Sequence[Rank]) -> Rank:
    """The mean of each over many questions."""
    return Rank(*(mean(values) for values in zip(*ranks, strict=True))) if ranks else Rank(0, 0, 0, 0, 0)


def row(name: str, ranks: Sequence[Rank]) -> list[str]:
    """A line of a table: the name, how many questions, the means."""
    return [name, str(len(ranks)), *(f"{value:.3f}" for value in averaged(ranks))]
