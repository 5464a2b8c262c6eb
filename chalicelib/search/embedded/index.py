"""The SearchIndex of a laptop and of the fast tests: tables in the SQLite file, searched in memory with numpy.

- index, generations: the port; which index is in use, which is being built
- schema, tables, terms, record, writing: what is on disk
- cache, segment, columns, postings, vectors: what is in memory, space by space
- searching, best, listing: queries and lists over that
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from types import MappingProxyType
from typing import TypeVar

from chalicelib.domain.diagnosis import IndexSeen
from chalicelib.domain.filters import MemoryFilter, Sort
from chalicelib.domain.memory import State
from chalicelib.domain.projection import Hit, IndexedState, IndexEntry, IndexPage, IndexQuery
from chalicelib.domain.scope import Scope
from chalicelib.domain.vitality import Retention
from chalicelib.errors import IndexUnavailableError, StoreUnavailableError
from chalicelib.ports import Analyzer
from chalicelib.search.embedded import generations, schema, searching, tables, vectors, writing
from chalicelib.search.embedded.cache import SegmentCache
from chalicelib.search.embedded.generations import Generations
from chalicelib.search.embedded.record import Record
from chalicelib.search.embedded.segment import Segment
from chalicelib.search.embedded.terms import term
from chalicelib.search.fresh import FreshEntries
from chalicelib.sqlite_file import Database

MEMORY_LIMIT = 400 * 1024 * 1024
_SIDE_BY_SIDE_FROM = 5_000
_NO_MODELS: Mapping[str, int] = MappingProxyType({})
Seen = TypeVar("Seen")


@contextmanager
def _engine() -> Iterator[None]:
    """Turns what the disk or another program causes into IndexUnavailableError."""
    try:
        yield
    except StoreUnavailableError as error:
        raise IndexUnavailableError(str(error)) from error


class EmbeddedIndex:
    """The index in `database`'s file, for all threads of this process; no other process may write to it meanwhile.

    `memory_limit`: bytes of the spaces kept in memory. The space used last is kept however large it is (about
    3.5 KB a memory with both vectors of 384 dimensions). Raises DataFolderError when the tables are of a newer
    version, IndexUnavailableError when the file cannot be read.
    """

    def __init__(self, database: Database, analyzer: Analyzer, *, memory_limit: int = MEMORY_LIMIT) -> None:
        self._database = database
        self._analyzer = analyzer
        self._cache = SegmentCache(memory_limit)
        self._writing = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="search")
        with _engine():
            database.migrate(schema.PART, schema.STEPS)
            with database.read() as connection:
                self._known: Generations | None = generations.current(connection)
                self._dimensions = tables.models(connection)
        self._leftover = True

    # ------------------------------------------------------------------ reading

    def search(self, scope: Scope, queries: Sequence[IndexQuery]) -> list[list[Hit]]:
        models = self._models(queries)
        fresh = FreshEntries(queries, scope.space, self._analyzer, vectors.cosines)
        asked = [(query.filter, fresh.newest(query)) for query in queries]
        snapshot = self._look(scope, lambda segment: segment.snapshot(models, asked), models)
        return searching.answers(snapshot, queries, fresh, self._analyzer, self._run)

    def browse(
        self,
        scope: Scope,
        wanted: MemoryFilter,
        *,
        sort: Sort,
        limit: int,
        after: tuple[int, int] | None = None,
        text: str | None = None,
        now: datetime,
        retention: Retention,
    ) -> IndexPage:
        terms = list({term(stem) for stem in self._analyzer.stems(text or "")})
        listing = self._look(scope, lambda segment: segment.listing(wanted, terms))
        return listing.page(sort, limit, after, now, retention)

    def counts(self, scope: Scope) -> Mapping[State, int]:
        return self._look(scope, lambda segment: segment.counts())

    def indexed(self, scope: Scope, *, after: int, limit: int) -> list[IndexedState]:
        with _engine(), self._database.read() as connection:
            in_use = generations.current(connection).in_use
            return tables.states(connection, in_use, scope.space.key, after, limit, self._dimensions)

    def ready(self) -> bool:
        with _engine(), self._database.read() as connection:
            return generations.current(connection).live is not None

    def inspect(self) -> IndexSeen:
        with _engine(), self._database.read() as connection:
            live = generations.current(connection).live
            return IndexSeen(
                complete=live is not None,
                dimensions=tables.dimensions_of(connection, live) if live is not None else {},
            )

    def _look(
        self, scope: Scope, look: Callable[[Segment], Seen], models: Mapping[str, int] = _NO_MODELS
    ) -> Seen:
        """What `look` sees of the scope's space in the index in use.

        Once more when another index took its place meanwhile: the rows of the former are deleted then, and it may
        have been read only in part.
        """
        while True:
            generation = self._generations().in_use
            segment = self._cache.get(generation, scope.space.key)
            with _engine():
                if segment.prepare(self._database, models):
                    self._cache.weigh(segment)
            seen = look(segment)
            if self._generations().live == generation:
                return seen
            self._cache.forget(segment)

    def _generations(self) -> Generations:
        """Which index is in use and which is being built; from the file while a change of it is under way, or when
        the fate of one is unknown."""
        known = self._known
        if known is not None:
            return known
        with _engine(), self._database.read() as connection:
            return generations.current(connection)

    def _models(self, queries: Sequence[IndexQuery]) -> dict[str, int]:
        """The known models that the queries' vectors are of, and their dimensions."""
        models: dict[str, int] = {}
        for query in queries:
            dimension = self._dimensions.get(query.model or "")
            if query.model and query.vector is not None and dimension:
                if len(query.vector) != 4 * dimension:
                    raise IndexUnavailableError(
                        f"a vector of {query.model} has {dimension} dimensions in the index"
                    )
                models[query.model] = dimension
        return models

    def _run(self, tasks: Sequence[searching.Task], rows: int) -> Iterable[searching.Answer]:
        """Every second one in another thread, when they take longer than handing them over does."""
        if rows < _SIDE_BY_SIDE_FROM:
            return [task() for task in tasks]
        elsewhere = [self._pool.submit(task) for task in tasks[1::2]]
        here = [task() for task in tasks[::2]]
        return [*here, *(each.result() for each in elsewhere)]

    # ------------------------------------------------------------------ writing

    def apply(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        with self._writing:
            return self._write(entries, self._generations().written)

    def repair(self, entries: Sequence[IndexEntry]) -> None:
        with self._writing:
            failed = self._write(entries, self._generations().written, force=True)
        if failed:
            raise IndexUnavailableError(
                f"{len(failed)} of {len(entries)} entries have vectors that cannot be kept"
            )

    def rebuild_apply(self, name: str, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        with self._writing:
            return self._write(entries, (self._generations().named(name),))

    def rebuild_begin(self) -> str:
        with self._writing:
            begun = self._change(generations.begin)
        self._sweep()
        return begun.name

    def rebuild_finish(self, name: str) -> None:
        with self._writing:
            self._generations().named(name)
            self._change(generations.finish)
        self._sweep()

    def drop(self) -> None:
        with self._writing:
            self._change(generations.abandon)
        self._sweep()

    def _change(self, change: Callable[[sqlite3.Connection], Generations]) -> Generations:
        """Change which index is in use or being built."""
        self._known = None
        with _engine(), self._database.write() as connection:
            changed = change(connection)
        self._known = changed
        self._cache.keep_only(changed.live)
        return changed

    def _sweep(self) -> None:
        """Delete what generations hold that are not used any more. What an error leaves goes with later writes."""
        self._leftover = True
        with _engine():
            while generations.sweep_step(self._database):
                pass
        self._leftover = False

    def _write(
        self, entries: Sequence[IndexEntry], targets: Sequence[int], *, force: bool = False
    ) -> list[IndexEntry]:
        """Write `entries` to these generations, then to what is in memory of them. The caller holds the lock."""
        batch = writing.batch_of(entries, self._analyzer, self._dimensions)
        models = {**self._dimensions, **batch.new_models}
        followed = False
        try:
            with _engine():
                # Not flushed: the outbox says that it was done later, in the same log.
                erases = self._erases(targets, batch.records)
                with self._database.write(scrub=erases, durable=False) as connection:
                    writing.add_models(connection, batch.new_models)
                    written = {
                        generation: writing.write(connection, generation, batch.records, models, force=force)
                        for generation in targets
                    }
                self._leftover = self._leftover and generations.sweep_step(self._database)
            self._dimensions = models
            for generation, of_generation in written.items():
                self._follow(generation, of_generation)
            followed = True
        finally:
            if not followed:  # the write may have happened all the same: read it from the file again
                self._forget(targets, batch.records)
        return list(batch.failed)

    def _erases(self, targets: Sequence[int], records: Sequence[Record]) -> bool:
        """Whether a tombstone among `records` will take the place of content, which must not stay in the file (M13)."""
        tombstones = [record for record in records if record.row.state is None]
        if not tombstones:
            return False
        with self._database.read() as connection:
            return any(
                tables.has_content(connection, generation, record.space, record.row.number)
                for generation in targets
                for record in tombstones
            )

    def _follow(self, generation: int, written: Iterable[writing.Written]) -> None:
        """Bring what is in memory to what is on disk now."""
        touched: dict[str, Segment] = {}
        for each in written:
            segment = self._cache.peek(generation, each.record.space)
            if segment is not None:
                segment.put(each.record, renewed=each.renewed)
                touched[each.record.space] = segment
        for segment in touched.values():
            segment.tidy()
            if segment.worn:
                self._cache.forget(segment)
            else:
                self._cache.weigh(segment)

    def _forget(self, targets: Iterable[int], records: Iterable[Record]) -> None:
        for generation in targets:
            for space in {record.space for record in records}:
                segment = self._cache.peek(generation, space)
                if segment is not None:
                    self._cache.forget(segment)
