"""One space of one generation in memory: columns, the postings of both texts, and the vectors that were asked for."""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import State
from chalicelib.domain.projection import IndexEntry, Said
from chalicelib.search.embedded import tables
from chalicelib.search.embedded.columns import Columns, Mask
from chalicelib.search.embedded.listing import Listing
from chalicelib.search.embedded.postings import Postings, PostingsView, Texts
from chalicelib.search.embedded.record import Record, VectorKey, floats
from chalicelib.search.embedded.vectors import Matrix, MatrixView
from chalicelib.sqlite_file import Database

_WORN_FROM = 1_000
_TOMBSTONE_BYTES = 100
_OWN_BYTES = 8_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one query may find: the rows that its filter lets through and no fresh entry replaces, and those entries
    (by number) that the index has not outrun."""

    mask: Mask
    count: int
    """Of those rows."""
    fresh: Mapping[int, IndexEntry]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A space as it was at one moment, for some queries."""

    numbers: NDArray[np.int64]
    said: Sequence[Said]
    words: PostingsView
    context: PostingsView
    matrices: Mapping[VectorKey, MatrixView]
    wanted: Sequence[Wanted]


class Segment:
    """Read from the file on first use, then kept up to date by each write; never read again for one write.

    Readers hold the lock only while it is read, and for the fraction of a millisecond that a snapshot takes.
    There is one writer at a time.
    """

    def __init__(self, generation: int, space: str) -> None:
        self.generation = generation
        self.space = space
        self._lock = threading.Lock()
        self._loaded = False
        self._columns = Columns()
        self._words = Postings()
        self._context = Postings()
        self._matrices: dict[VectorKey, Matrix] = {}
        self._tombstones: dict[int, int] = {}

    # ------------------------------------------------------------------ from the file

    def prepare(self, database: Database, models: Mapping[str, int]) -> bool:
        """Have in memory what a search with these models (and their dimensions) needs. True: it was not yet."""
        with self._lock:
            missing = [model for model in models if (model, "text") not in self._matrices]
            if self._loaded and not missing:
                return False
            with database.read() as connection:
                if not self._loaded:
                    self._load(connection)
                for model in missing:
                    self._load_vectors(connection, model, models[model])
            return True

    def _load(self, connection: sqlite3.Connection) -> None:
        columns, words, context = Columns(), Texts(), Texts()
        for rows in tables.live_rows(connection, self.generation, self.space):
            columns.append(rows)
            words.extend([row.words for row in rows])
            context.extend([row.context for row in rows])
        self._tombstones = tables.tombstones(connection, self.generation, self.space)
        self._columns = columns
        self._words = Postings.loaded(words)
        self._context = Postings.loaded(context)
        self._loaded = True

    def _load_vectors(self, connection: sqlite3.Connection, model: str, dimension: int) -> None:
        """Numbers that are not in memory yet are passed over: their write is about to come with its vectors."""
        for role in tables.ROLES:
            matrix = Matrix(dimension)
            for chunk in tables.vectors(connection, self.generation, self.space, model, role):
                there = [
                    (row, data) for number, data in chunk if (row := self._columns.row_of(number)) is not None
                ]
                vectors = floats(b"".join(data for _row, data in there)).reshape(-1, dimension)
                matrix.extend([row for row, _data in there], vectors)
            self._matrices[model, role] = matrix

    # ------------------------------------------------------------------ writing

    def put(self, record: Record, *, renewed: bool) -> None:
        """Follow a write that is on disk. `renewed`: the texts or vectors are not what they were.

        What was read from the file in the meantime may have it already: then it changes nothing.
        """
        with self._lock:
            if not self._loaded:
                return
            if record.row.state is None:
                self._remove(record.row.number)
                self._tombstones[record.row.number] = record.row.revision
                return
            self._tombstones.pop(record.row.number, None)
            row = self._columns.row_of(record.row.number)
            if row is None or renewed:
                self._remove(record.row.number)
                row = self._columns.append([record.row])
                self._words.append(row, record.row.words)
                self._context.append(row, record.row.context)
            else:
                self._columns.rewrite(row, record.row)
            for key, data in record.vectors.items():
                if key in self._matrices and row not in self._matrices[key]:
                    self._matrices[key].extend([row], floats(data)[np.newaxis])

    def tidy(self) -> None:
        """What is due now and then after writes. By the writer, without keeping readers."""
        self._words.merge_if_due(self._columns.live)
        self._context.merge_if_due(self._columns.live)

    def _revision_of(self, number: int) -> int:
        return max(self._columns.revision_of(number), self._tombstones.get(number, 0))

    def _remove(self, number: int) -> None:
        row = self._columns.remove(number)
        if row is not None:
            self._words.remove(row)
            self._context.remove(row)

    # ------------------------------------------------------------------ reading

    def snapshot(
        self,
        models: Mapping[str, int],
        asked: Sequence[tuple[MemoryFilter, Mapping[int, IndexEntry]]],
    ) -> Snapshot:
        """The space as it is now, for queries with these filters and fresh entries. After `prepare`."""
        with self._lock:
            live = self._columns.live.copy() if self._columns.dead else None
            return Snapshot(
                self._columns["number"],
                self._columns.said,
                self._words.view(self._columns.size, live),
                self._context.view(self._columns.size, live),
                {key: matrix.view() for key, matrix in self._matrices.items() if key[0] in models},
                self._wanted(asked),
            )

    def _wanted(self, asked: Sequence[tuple[MemoryFilter, Mapping[int, IndexEntry]]]) -> list[Wanted]:
        """What each query may find. Filters that differ in nothing but what they exclude are evaluated once."""
        masks: dict[MemoryFilter, Mask] = {}
        revisions = {number: self._revision_of(number) for number in set().union(*(of for _, of in asked))}
        found = []
        for wanted, fresh in asked:
            alike = wanted.model_copy(update={"exclude": frozenset()}) if wanted.exclude else wanted
            if alike not in masks:
                masks[alike] = self._columns.matching(alike)
            newer = {number: entry for number, entry in fresh.items() if entry.revision >= revisions[number]}
            mask = self._columns.without(masks[alike], wanted.exclude | newer.keys())
            found.append(Wanted(mask, int(np.count_nonzero(mask)), newer))
        return found

    def listing(self, wanted: MemoryFilter, terms: Sequence[int]) -> Listing:
        """The memories that match and whose text has all `terms`, ready to be sorted. After `prepare`."""
        with self._lock:
            mask = self._columns.matching(wanted)
            if terms:
                live = self._columns.live if self._columns.dead else None
                mask &= self._words.view(self._columns.size, live).having_all(terms)
            return Listing.of(self._columns, mask)

    def counts(self) -> dict[State, int]:
        """How many memories are in each state. After `prepare`."""
        with self._lock:
            found = self._columns.counts("state")
        return {state: found.get(state, 0) for state in State if state is not State.ERASED}

    @property
    def worn(self) -> bool:
        """Whether so many rows are dead that reading it again from the file pays."""
        return self._columns.dead > _WORN_FROM + self._columns.size // 2

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        return (
            _OWN_BYTES
            + self._columns.nbytes
            + self._words.nbytes
            + self._context.nbytes
            + sum(matrix.nbytes for matrix in self._matrices.values())
            + _TOMBSTONE_BYTES * len(self._tombstones)
        )
