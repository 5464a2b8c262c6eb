"""What filters and sorts look at, of all memories of a space, as columns of numbers."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.projection import Said
from chalicelib.search.embedded.arrays import grown
from chalicelib.search.embedded.record import Row

Mask = NDArray[np.bool_]

_TYPES: dict[str, Any] = {
    "number": np.int64,
    "revision": np.int64,
    "live": np.bool_,
    "state": np.uint8,
    "kind": np.uint8,
    "importance": np.uint8,
    "category": np.int32,
    "subject": np.int32,
    "conversation": np.int32,
    "recorded_at": np.int64,
    "updated_at": np.int64,
    "since": np.int64,
    "use_count": np.int64,
}
_NAMED = ("state", "kind", "category", "subject", "conversation")
_FACTORS = ("importance", "recorded_at", "updated_at", "use_count")
_NAME_BYTES = 150
_SAID_BYTES = 150


class Columns:
    """A row is used for one memory and never again: a changed text gets a new row, and the old one is not `live`.

    Importance 0 stands for none. `since` is when the memory was last used, or recorded. Names are codes from 1;
    0 stands for none. `said` has where the memory of each row was said. Not locked: the segment sees to that.
    """

    def __init__(self) -> None:
        self.size = 0
        self.dead = 0
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(0, dtype) for name, dtype in _TYPES.items()}
        self._codes: dict[str, dict[str, int]] = {name: {} for name in _NAMED}
        self._row_of: dict[int, int] = {}
        self.said: list[Said] = []
        self._texts: dict[str, str] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self.size]

    @property
    def live(self) -> Mask:
        """Which rows stand for a memory."""
        return self["live"]

    def row_of(self, number: int) -> int | None:
        """The live row of a memory."""
        return self._row_of.get(number)

    def revision_of(self, number: int) -> int:
        """The revision in its row; 0 when it has none."""
        row = self._row_of.get(number)
        return 0 if row is None else int(self["revision"][row])

    def append(self, rows: list[Row]) -> int:
        """Rows for memories that have none; the first one's place."""
        start, end = self.size, self.size + len(rows)
        if end > len(self._columns["number"]):
            self._columns = {name: grown(column, end) for name, column in self._columns.items()}
        self.size = end
        self.said += map(self._said, rows)
        if rows:
            self._fill(slice(start, end), rows)
            self._columns["live"][start:end] = True
            self._row_of.update(zip((row.number for row in rows), range(start, end), strict=True))
        return start

    def rewrite(self, row: int, kept: Row) -> None:
        """Other fields of the same text."""
        self._fill(slice(row, row + 1), [kept])
        self.said[row] = self._said(kept)

    def remove(self, number: int) -> int | None:
        """The row of `number` does not stand for it any more; which one that was."""
        row = self._row_of.pop(number, None)
        if row is not None:
            self._columns["live"][row] = False
            self.dead += 1
        return row

    def _said(self, row: Row) -> Said:
        """The same names are the same objects: thousands share a conversation."""
        said = row.said
        if said.conversation is None:
            return said
        same = self._texts.setdefault
        conversation = same(said.conversation, said.conversation)
        author = None if said.author is None else same(said.author, said.author)
        return Said(conversation, said.position, author, said.said_at, said.has_context)

    def _fill(self, places: slice, rows: list[Row]) -> None:
        fields = dict(zip(Row._fields, zip(*rows, strict=True), strict=True))
        for name in ("number", "revision", *_FACTORS):
            self._columns[name][places] = [value or 0 for value in fields[name]]
        self._columns["since"][places] = [
            used if used is not None else recorded
            for used, recorded in zip(fields["last_used_at"], fields["recorded_at"], strict=True)
        ]
        for name, codes in self._codes.items():
            self._columns[name][places] = [
                0 if value is None else codes.setdefault(value, len(codes) + 1) for value in fields[name]
            ]

    def matching(self, wanted: MemoryFilter) -> Mask:
        """Which rows `wanted.matches`: a new array."""
        mask = self.live & self._any_of("state", wanted.states)
        if wanted.category_in is not None:
            mask &= self._any_of("category", wanted.category_in)
        if wanted.category_not_in:
            mask &= ~self._any_of("category", wanted.category_not_in)
        if wanted.kinds is not None:
            mask &= self._any_of("kind", wanted.kinds)
        if wanted.importance_min is not None or wanted.importance_max is not None:
            mask &= self["importance"] >= max(1, wanted.importance_min or 1)
            mask &= self["importance"] <= (wanted.importance_max or 10)
        if wanted.subject is not None:
            mask &= self._any_of("subject", {wanted.subject})
        if wanted.source is not None:
            mask &= self._any_of("conversation", {wanted.source})
        return self.without(mask, wanted.exclude) if wanted.exclude else mask

    def without(self, mask: Mask, numbers: Iterable[int]) -> Mask:
        """`mask` without the rows of `numbers`: another array, unless none of them is here."""
        rows = [row for number in numbers if (row := self._row_of.get(number)) is not None]
        if rows:
            mask = mask.copy()
            mask[rows] = False
        return mask

    def _any_of(self, name: str, values: Collection[str]) -> Mask:
        codes = [code for value in values if (code := self._codes[name].get(value))]
        if len(codes) == 1:
            return np.asarray(self[name] == codes[0], np.bool_)
        table = np.zeros(len(self._codes[name]) + 1, np.bool_)
        table[codes] = True
        return np.asarray(table[self[name]], np.bool_)

    def counts(self, name: str) -> dict[str, int]:
        """How many live rows have each value of a named column."""
        found = np.bincount(self[name][self.live], minlength=len(self._codes[name]) + 1)
        return {value: int(found[code]) for value, code in self._codes[name].items()}

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        names = len(self._texts) + sum(len(codes) for codes in self._codes.values())
        return (
            sum(column.nbytes for column in self._columns.values())
            + _NAME_BYTES * names
            + _NAME_BYTES * len(self._row_of)
            + _SAID_BYTES * len(self.said)
        )
