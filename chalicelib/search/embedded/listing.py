"""Sorting a list and cutting its pages (M11, M26)."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.clock import DAY
from chalicelib.domain.filters import ASCENDING, Sort, milliseconds, order
from chalicelib.domain.projection import IndexPage
from chalicelib.domain.vitality import Retention
from chalicelib.search.embedded.columns import Columns, Mask

Integers = NDArray[np.int64]

_DEFAULT_IMPORTANCE = 5
_COLUMN: dict[Sort, str] = {
    "newest": "recorded_at",
    "oldest": "recorded_at",
    "updated": "updated_at",
    "importance": "importance",
    "used": "use_count",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """What sorts look at of some memories, as it was at one moment."""

    number: Integers
    importance: NDArray[np.uint8]
    recorded_at: Integers
    updated_at: Integers
    since: Integers
    use_count: Integers

    @classmethod
    def of(cls, columns: Columns, mask: Mask) -> "Listing":
        """Copies of the rows in `mask`."""
        return cls(*(columns[name][mask] for name in cls.__slots__))

    def page(
        self, sort: Sort, limit: int, after: tuple[int, int] | None, now: datetime, retention: Retention
    ) -> IndexPage:
        """`limit` numbers in the order of `domain.filters.order`, beyond the row with this (sort value, number)."""
        values, tied = self._keys(sort, now, retention)
        if after is not None:
            value, number = order(*after, sort)
            beyond = (values > value) | ((values == value) & (tied > number))
            values, tied = values[beyond], tied[beyond]
        first = _first(values, tied, limit + 1)
        numbers = np.abs(tied[first[:limit]]).tolist()
        return IndexPage(tuple(numbers), len(first) > limit)

    def _keys(self, sort: Sort, now: datetime, retention: Retention) -> tuple[Integers, Integers]:
        """`domain.filters.order` of each memory."""
        values = self._vitality(now, retention) if sort == "vitality" else getattr(self, _COLUMN[sort])
        values = values.astype(np.int64)
        return values if sort in ASCENDING else -values, self.number if sort == "oldest" else -self.number

    def _vitality(self, now: datetime, retention: Retention) -> Integers:
        """`domain.filters.sort_value` of each for the sort by vitality."""
        half_lives = np.array(retention.half_lives)
        importance = np.where(self.importance, self.importance, _DEFAULT_IMPORTANCE)
        strength = 50 + 50 * self.use_count / (self.use_count + 5)
        days = np.maximum(milliseconds(now) - self.since, 0) / (1000 * DAY)
        values: Integers = (strength * 0.5 ** (days / half_lives[importance - 1]) * 10_000 + 0.5).astype(
            np.int64
        )
        return values


def _first(values: Integers, tied: Integers, count: int) -> Integers:
    """The places of the `count` lowest, in order of (value, tied)."""
    places = np.arange(len(values))
    if len(values) > 2 * count:
        last = np.partition(values, count - 1)[count - 1]
        below, equal = np.flatnonzero(values < last), np.flatnonzero(values == last)
        spare = count - len(below)
        if len(equal) > spare:
            equal = equal[np.argpartition(tied[equal], spare - 1)[:spare]]
        places = np.concatenate([below, equal])
    return places[np.lexsort((tied[places], values[places]))]
