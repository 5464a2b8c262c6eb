"""Statistics of samples: quantiles, and the interval of a paired difference."""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

RESAMPLES = 2_000


class Interval(NamedTuple):
    """A mean, and where it is with 95 %."""

    mean: float
    low: float
    high: float

    @property
    def shown(self) -> str:
        """`+.012 (+.003 to +.020)`."""
        return f"{self.mean:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of `values` do not exceed (nearest rank). Raises ValueError for no values."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def mean(values: Sequence[float]) -> float:
    """Their mean; 0 for none."""
    return sum(values) / len(values) if values else 0.0


def paired_difference(
    one: Sequence[float], other: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 1
) -> Interval:
    """How much `one` is above `other`, item by item, with its 95 % bootstrap interval over the items."""
    differences = [a - b for a, b in zip(one, other, strict=True)]
    chance = random.Random(seed)
    count = len(differences)
    means = sorted(sum(chance.choices(differences, k=count)) / count for _ in range(resamples))
    return Interval(mean(differences), quantile(means, 0.025), quantile(means, 0.975))
