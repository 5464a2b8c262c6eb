"""What the scores should be, the slow and obvious way."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from chalicelib.search import text

K1, B = 0.6, 0.2


def bm25(query: str, documents: Mapping[int, str | None]) -> dict[int, float]:
    """The score above 0 of each document, counted over exactly these documents.

    `log(1 + (N - n + .5) / (n + .5)) * f / (f + k1 * (1 - b + b * length / average length))`, summed over the
    query's stems; N and the average count the documents that have any stem at all, as engines do.
    """
    counted = {number: Counter(text.stems(words)) for number, words in documents.items() if words}
    lengths = {number: stems.total() for number, stems in counted.items() if stems}
    average = sum(lengths.values()) / max(1, len(lengths))
    scores: dict[int, float] = {}
    for stem in text.stems(query):
        holders = [number for number, stems in counted.items() if stem in stems]
        rarity = math.log(1 + (len(lengths) - len(holders) + 0.5) / (len(holders) + 0.5))
        for number in holders:
            times = counted[number][stem]
            weight = times / (times + K1 * (1 - B + B * lengths[number] / average))
            scores[number] = scores.get(number, 0.0) + rarity * weight
    return scores


def cosine(one: bytes, other: bytes) -> float:
    """Of two vectors given as float32 bytes."""
    a, b = np.frombuffer(one, dtype="<f4").astype(float), np.frombuffer(other, dtype="<f4").astype(float)
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def disorders(numbers: Sequence[int], scores: Mapping[int, float], clear: float) -> list[tuple[int, int]]:
    """Pairs that stand the wrong way round although the reference sees a clear difference (a share of the
    higher score) between them."""
    return [
        (first, second)
        for place, first in enumerate(numbers)
        for second in numbers[place + 1 :]
        if scores[second] - scores[first] > clear * scores[second]
    ]
