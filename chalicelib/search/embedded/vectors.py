"""The vectors of one model and role in one space, and their cosines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chalicelib.search.embedded.arrays import grown
from chalicelib.search.fresh import Cosines

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]
Rows = NDArray[np.int32]

_BLOCK_MAX = 8_192
_BLOCK_MIN = 16
_SHARED = 1_024
"""Vectors that several queries are compared with while a processor's own cache holds them (1.5 MB)."""


@dataclass(frozen=True, slots=True)
class MatrixView:
    """The vectors as they were at one moment: `size` of them, of the rows `rows`."""

    dimension: int
    blocks: Sequence[Floats]
    rows: Rows
    size: int
    in_order: bool
    """The n-th vector is that of row n."""

    def those(self, rows: Mask) -> Mask:
        """For each vector whether its row is among `rows`."""
        return rows[: self.size] if self.in_order else rows[self.rows]

    def cosines(self, queries: Sequence[Floats]) -> list[Floats]:
        """For each query the cosine of each vector.

        One dot product a row (`vecdot`), block after block: that is as fast as memory is read, while BLAS's own
        products start threads, which wait for one another (16 times slower beside seven other busy threads).
        """
        scores = [np.empty(self.size, np.float32) for _ in queries]
        step = _SHARED if len(queries) > 1 else _BLOCK_MAX
        start = 0
        for block in self.blocks:
            for part in (block[begin : begin + step] for begin in range(0, len(block), step)):
                end = min(start + len(part), self.size)
                for query, out in zip(queries, scores, strict=True):
                    np.vecdot(part[: end - start], query, out=out[start:end])
                start = end
        return scores

    def cosines_at(self, places: Places, query: Floats) -> Floats:
        """The cosines of the vectors at some places, in order."""
        scores = np.empty(len(places), np.float32)
        start = done = 0
        for block in self.blocks:
            end = start + len(block)
            upto = int(np.searchsorted(places, end))
            np.vecdot(block[places[done:upto] - start], query, out=scores[done:upto])
            start, done = end, upto
        return scores


def cosines(vectors: Sequence[bytes]) -> Cosines:
    """`fresh.plain_cosines`, faster."""
    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)

    def of(vector: bytes) -> list[float]:
        scores: list[float] = np.vecdot(rows, np.frombuffer(vector, "<f4")).tolist()
        return scores

    return of


class Matrix:
    """Grows at its end, block by block, so nothing is copied and readers are never disturbed. A row has one vector
    at most. One writer; readers take a `view`."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._blocks: list[Floats] = []
        self._room = 0
        self._rows = np.zeros(0, np.int32)
        self._has = np.zeros(0, np.bool_)
        self._size = 0
        self._in_order = True

    def __contains__(self, row: int) -> bool:
        return row < len(self._has) and bool(self._has[row])

    def extend(self, rows: Sequence[int], vectors: Floats) -> None:
        """Add the vectors of rows that have none: shape (number of rows, dimension), at unit length."""
        done = 0
        while done < len(rows):
            if self._size == self._room:
                self._add_block(len(rows) - done)
            block = self._blocks[-1]
            at = len(block) - (self._room - self._size)
            fits = min(len(block) - at, len(rows) - done)
            block[at : at + fits] = vectors[done : done + fits]
            self._note(rows[done : done + fits])
            done += fits

    def _add_block(self, coming: int) -> None:
        length = min(_BLOCK_MAX, max(_BLOCK_MIN, coming, self._size // 8))
        self._blocks = [*self._blocks, np.zeros((length, self.dimension), np.float32)]
        self._room += length

    def _note(self, rows: Sequence[int]) -> None:
        start, end = self._size, self._size + len(rows)
        self._rows = grown(self._rows, end)
        self._rows[start:end] = rows
        self._in_order = self._in_order and list(rows) == list(range(start, end))
        self._has = grown(self._has, max(rows) + 1)
        self._has[rows] = True
        self._size = end

    def view(self) -> MatrixView:
        """What a reader sees of it, whatever is added meanwhile."""
        return MatrixView(self.dimension, self._blocks, self._rows[: self._size], self._size, self._in_order)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(block.nbytes for block in self._blocks) + self._rows.nbytes + self._has.nbytes
