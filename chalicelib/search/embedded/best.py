"""The best of many scores."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Found = tuple[NDArray[np.integer[Any]], Floats]
"""Places and their scores, in no order."""

_STEP = 64
_SPARE = 4


def best(scores: Floats, allowed: Mask, depth: int, *, above: float = -math.inf) -> Found:
    """Exactly the `depth` highest scores among the `allowed` places, all that there are if fewer; only those
    `above`.

    A sample tells a score that some more than `depth` reach, so few have to be put in order (five times as fast).
    """
    floor = max(above, _floor(scores, allowed, depth))
    places = _reaching(scores, allowed, floor)
    if len(places) < depth and floor > above:
        places = _reaching(scores, allowed, above)
    if len(places) > depth:
        spare = len(places) - depth
        places = places[np.argpartition(scores[places], min(spare, len(places) - 1))[spare:]]
    return places, scores[places]


def _floor(scores: Floats, allowed: Mask, depth: int) -> float:
    """A score that probably a few times `depth` of the allowed exceed."""
    sample = scores[::_STEP][allowed[::_STEP]]
    rank = 1 + _SPARE * depth // _STEP + _SPARE
    if len(sample) <= 2 * rank:
        return -math.inf
    return float(np.partition(sample, len(sample) - rank)[len(sample) - rank])


def _reaching(scores: Floats, allowed: Mask, floor: float) -> NDArray[np.int64]:
    places = np.flatnonzero(scores > np.float32(floor))
    return places[allowed[places]]
