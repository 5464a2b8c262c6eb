"""From the table to the index: projecting changes, rebuilding, comparing. Safe to repeat, in any order (R5, R6)."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import IndexedState, IndexEntry, content_hash
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.errors import EmbeddingError, IndexUnavailableError
from chalicelib.ports import MemoryStore, SearchIndex
from chalicelib.services.memory.embedding import Embedding

TRIES = 3
STEP = 128
"""Memories read, embedded and applied at a time."""
NEVER_USED = 0
"""The revision of what stands in the index for a number that no memory has: the first memory to get it wins."""


def pass_scope(space: Space, name: str) -> Scope:
    """The scope of a named pass over one space: reads and writes what is there, speaks for nobody."""
    return Scope(
        actor=Actor(kind="pass", id=name),
        space=space,
        rights=frozenset({Right.READ, Right.WRITE}),
        place="job",
    )


@dataclass(frozen=True)
class Projector:
    """Makes the index hold what the table holds."""

    store: MemoryStore
    index: SearchIndex
    embedding: Embedding

    def project(self, space: Space, numbers: Sequence[int]) -> list[int]:
        """Project these memories as the table has them now; returns those to be tried again. An erase that was
        interrupted before all of its text was gone is finished here (M13).

        A memory whose vectors cannot be made is found by words at once, and tried again for its vectors.
        Raises IndexMissingError (rebuild), IndexUnavailableError, StoreError.
        """
        scope = pass_scope(space, "projector")
        memories = list(self.store.get_many(scope, numbers).values())
        for memory in memories:
            if memory.state is State.ERASED:
                self.store.finish_strip(scope, memory.number)
        entries, lacking = self.entries(scope, memories)
        failed = self.index.apply(entries) if entries else []
        return sorted({entry.number for entry in failed} | lacking)

    def entries(self, scope: Scope, memories: Sequence[Memory]) -> tuple[list[IndexEntry], set[int]]:
        """Index entries with all vectors that can be had (missing ones are made and kept), and numbers that lack some."""
        living = [memory for memory in memories if memory.state is not State.ERASED]
        kept, lacking = self.embedding.kept(scope, living)
        try:
            made = self.embedding.make(lacking)
        except EmbeddingError:
            return self.embedding.entries(scope, memories, kept), {memory.number for memory in lacking}
        if made:
            self.store.put_vectors(scope, made)
        return self.embedding.entries(scope, memories, [*kept, *made]), set()


@dataclass(frozen=True)
class Rebuild:
    """Builds the whole index anew from the table, while the old one goes on answering (R6)."""

    store: MemoryStore
    index: SearchIndex
    projector: Projector

    def rebuild(self) -> int:
        """How many memories the new index holds. Afterwards it is in use. Raises SearchIndexError, StoreError."""
        name = self.index.rebuild_begin()
        count = 0
        for space in self.store.spaces():
            scope = pass_scope(space, "rebuild")
            for memories in pages(self.store, scope):
                entries, _ = self.projector.entries(scope, memories)
                self._fill(name, entries)
                count += len(memories)
        self.index.rebuild_finish(name)
        return count

    def _fill(self, name: str, entries: list[IndexEntry]) -> None:
        """Raises IndexUnavailableError rather than finish an index that lacks something."""
        for _ in range(TRIES):
            entries = self.index.rebuild_apply(name, entries)
            if not entries:
                return
        raise IndexUnavailableError(f"the index refused {len(entries)} memories; the old one stays in use")


def pages(store: MemoryStore, scope: Scope, after: int = 0) -> Iterator[list[Memory]]:
    """All memories of a space in order of number, some at a time."""
    while memories := store.page(scope, after=after, limit=STEP):
        yield memories
        after = memories[-1].number


@dataclass
class Differences:
    """What the index had wrong, by kind, as numbers of memories; all of it is repaired when reported."""

    missing: list[int] = field(default_factory=list)
    stale: list[int] = field(default_factory=list)
    extra: list[int] = field(default_factory=list)
    unembedded: list[int] = field(default_factory=list)
    checked: int = 0

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self.missing) + len(self.stale) + len(self.extra) + len(self.unembedded)


@dataclass(frozen=True)
class Reconciler:
    """Compares index and table, and repairs the index (R5)."""

    store: MemoryStore
    index: SearchIndex
    embedding: Embedding
    projector: Projector

    def compare(
        self, space: Space, *, sample: int | None = None, chance: random.Random | None = None
    ) -> Differences:
        """Compare a space, whole or (`sample`) that many memories at least, from a random place on and then from the
        first, and repair what differs. A space that holds no more than `sample` is compared whole.

        What the index is only behind with (`unprojected`), or is changed meanwhile, is left to the projector. Raises
        SearchIndexError, StoreError.
        """
        scope = pass_scope(space, "reconciler")
        found = Differences()
        begin = self._somewhere(scope, chance or random.Random()) if sample else 0  # noqa: S311 - a sample, no secret
        behind = set(self.store.unprojected(scope, 10_000))
        self._compare_from(scope, begin, None, sample, behind, found)
        if begin:
            self._compare_from(scope, 0, begin, sample, behind, found)
        return found

    def _compare_from(
        self,
        scope: Scope,
        after: int,
        until: int | None,
        sample: int | None,
        behind: set[int],
        found: Differences,
    ) -> None:
        """Compare what comes after `after`, up to `until` (inclusive; None: to the end), if not enough is compared."""
        while sample is None or found.checked < sample:
            page = self.store.page(scope, after=after, limit=STEP)
            memories = [memory for memory in page if until is None or memory.number <= until]
            last = memories[-1].number if memories else until
            self._compare(scope, memories, self._indexed(scope, after, last), behind, found)
            if not memories or last is None:
                return
            after = last

    def _somewhere(self, scope: Scope, chance: random.Random) -> int:
        newest = self.store.page(scope, after=None, limit=1, newest_first=True)
        return chance.randrange(newest[0].number) if newest else 0

    def _indexed(self, scope: Scope, after: int, last: int | None) -> dict[int, IndexedState]:
        """What the index holds from `after` (exclusive) to `last` (inclusive; None: to the end)."""
        states: dict[int, IndexedState] = {}
        while page := self.index.indexed(scope, after=after, limit=STEP):
            states |= {state.number: state for state in page if last is None or state.number <= last}
            after = page[-1].number
            if last is not None and after >= last:
                break
        return states

    def _compare(
        self,
        scope: Scope,
        memories: Sequence[Memory],
        indexed: dict[int, IndexedState],
        behind: set[int],
        found: Differences,
    ) -> None:
        complete = self.embedding.complete(scope.space, self.store.space(scope))
        found.checked += len(memories)
        wrong = {
            memory.number: kind
            for memory in memories
            if (kind := self._difference(memory, indexed.get(memory.number), complete))
        }
        known = {memory.number: memory for memory in memories}
        wrong |= {
            number: "extra"
            for number, state in indexed.items()
            if number not in known and state.revision != NEVER_USED
        }
        suspected = [number for number in wrong if number not in behind]
        now = self.store.get_many(scope, suspected)
        settled = [n for n in suspected if _same(known.get(n), now.get(n))]
        for number in settled:
            kind_list: list[int] = getattr(found, wrong[number])
            kind_list.append(number)
        self._repair(scope, settled)

    def _difference(self, memory: Memory, state: IndexedState | None, complete: bool) -> str | None:
        gone = memory.state is State.ERASED
        if state is None:
            return "missing"
        if state.revision != memory.revision or state.content_hash != ("" if gone else content_hash(memory)):
            return "stale"
        if not gone and complete and self.embedding.fingerprint not in state.models:
            return "unembedded"
        return None

    def _repair(self, scope: Scope, numbers: Sequence[int]) -> None:
        """Write these as the table has them, whatever the index has: again when they are changed meanwhile, for a
        projector may have given the index the newer state already, which this took back."""
        while numbers:
            memories = self.store.get_many(scope, numbers)
            entries, _ = self.projector.entries(scope, list(memories.values()))
            unused = [number for number in numbers if number not in memories]
            entries += [IndexEntry(scope.space, number, NEVER_USED, None) for number in unused]
            self.index.repair(entries)
            now = self.store.get_many(scope, numbers)
            numbers = [n for n in numbers if not _same(memories.get(n), now.get(n))]


def _same(before: Memory | None, now: Memory | None) -> bool:
    """Whether nothing was written to a memory, or to its number, in between."""
    return (before and before.revision) == (now and now.revision)


def by_space(places: Sequence[tuple[str, int]]) -> list[tuple[Space, list[int]]]:
    """(space key, number) pairs gathered by space."""
    ordered = sorted(set(places))
    return [
        (Space.from_key(key), [number for _, number in group])
        for key, group in groupby(ordered, key=lambda p: p[0])
    ]
