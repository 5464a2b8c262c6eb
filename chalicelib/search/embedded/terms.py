"""Stems as 64-bit numbers: short on disk, quick to compare, and gone with the memory that had them.

A dictionary of stems would keep words of erased memories (M13). Two stems of the 10^6 of a large space share a
number with a probability of about 10^-8.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

TERM = np.dtype([("stem", "<u8"), ("count", "<u2")])
"""One stem of a text and how often it has it; a text is kept as an array of these, in order of stem."""

_ONE_TERM = "QH"
_MOST = 65_535


@lru_cache(maxsize=1 << 16)
def term(stem: str) -> int:
    """The number of a stem of any length."""
    return int.from_bytes(blake2b(stem.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def counted(stems: Sequence[str]) -> bytes:
    """A text's stems as `TERM`s. Counts end at 65,535: BM25 is flat long before."""
    counts = sorted(Counter(map(term, stems)).items())
    numbers = [number for stem, count in counts for number in (stem, min(count, _MOST))]
    return struct.pack("<" + _ONE_TERM * len(counts), *numbers)


def terms_of(text: bytes) -> Iterable[tuple[int, int]]:
    """The stems of a kept text, and how often it has each."""
    return struct.iter_unpack("<" + _ONE_TERM, text)
