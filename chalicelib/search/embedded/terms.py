"""Stems as 64-bit numbers: short on disk, quick to compare, and gone with the memory that had them.

A dictionary of stems would keep words of erased memories (M13). Two stems of the 10^6 of a large space share a
number with a probability of about 10^-8.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

TERM = np.dtype([("stem", "<u8"), ("count", "<u2")])
"""One stem of a text and how often it has it; a text is kept as an array of these, in order of stem."""

Terms = NDArray[np.void]


@lru_cache(maxsize=1 << 16)
def term(stem: str) -> int:
    """The number of a stem of any length."""
    return int.from_bytes(blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def counted(stems: Sequence[str]) -> Terms:
    """A text's stems as `TERM`s. Counts end at 65,535: BM25 is flat long before."""
    counts = Counter(map(term, stems))
    terms = np.empty(len(counts), TERM)
    terms["stem"] = np.fromiter(counts.keys(), np.uint64, len(counts))
    terms["count"] = np.minimum(np.fromiter(counts.values(), np.int64, len(counts)), 65_535)
    terms.sort(order="stem")
    return terms
