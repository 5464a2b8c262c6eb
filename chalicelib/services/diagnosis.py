"""What is wrong with this installation, and which command mends it: asked by whoever looks after it (`palimpsest
doctor`). Nothing is changed by looking, and no text of a memory is in what is said."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from chalicelib import __version__
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.diagnosis import Finding, Fixes, IndexSeen, Part, TablesSeen
from chalicelib.domain.scope import Space
from chalicelib.errors import EmbeddingDimensionError, EmbeddingError, SearchIndexError, StoreError
from chalicelib.ports import AccountStore, Clock, Embedder, MemoryStore, Queue, SearchIndex, Storage
from chalicelib.services.comparison import Compared, Comparison
from chalicelib.services.memory.embedding import Embedding
from chalicelib.services.memory.project import pass_scope

COMPARING_S = 8.0
"""How long spaces are compared; an answer must be there within 29 s."""
SKEW = timedelta(minutes=1)
FORGETFUL = timedelta(days=7)
"""So far behind, a clock calls a record valid that DynamoDB has deleted already: a repeated write is done twice."""
_NOBODY = pass_scope(Space.personal("nobody"), "diagnosis")
"""A space that is nobody's: what is written there changes nothing."""


@dataclass(frozen=True)
class Diagnosis:
    """Looks at each part, and between them."""

    memories: MemoryStore
    accounts: AccountStore
    storage: Storage
    index: SearchIndex
    embedder: Embedder | None
    queue: Queue
    embedding: Embedding
    clock: Clock
    fixes: Fixes
    writable: Callable[[], object] = lambda: None
    """Raises StoreError when what the table is kept in cannot be written now (a laptop's full disk)."""
    monotonic: Callable[[], float] = time.monotonic

    def look(self) -> dict[str, Any]:
        """`{"at", "version", "findings": [{severity, part, message, fix}], "compared": {"spaces", "memories",
        "all"}}`: how many were compared with the index, and whether those were all. Each part is asked, whatever fails
        before."""
        findings = [*self._tables(), *self._embedder(), *self._queue()]
        compared = _compared(0, 0, everything=False)
        usable = all(finding.part != "table" for finding in findings)
        seen, index = self._index()
        findings += index
        if usable and seen:
            between, compared = self._between()
            findings += between
        return {
            "at": rfc3339(self.clock()),
            "version": __version__,
            "findings": [asdict(finding) for finding in findings],
            "compared": compared,
        }

    # ------------------------------------------------------------------ the table

    def _tables(self) -> list[Finding]:
        try:
            seen = self.storage.look()
        except StoreError as error:
            return [self._fault("table", f"The tables do not answer: {error}.", self.fixes.tables)]
        if seen.missing:
            names = ", ".join(seen.missing)
            return [self._fault("table", f"There is no table {names}.", self.fixes.tables)]
        return [*self._streams(seen), *self._clock(seen.clock), *self._readable()]

    def _streams(self, seen: TablesSeen) -> Iterator[Finding]:
        for name in seen.streamless:
            message = f"The table {name} has no stream, so the index learns of nothing."
            yield self._fault("stream", message, self.fixes.streams)

    def _readable(self) -> Iterator[Finding]:
        try:
            self.accounts.installation()
            self.memories.get(_NOBODY, 1)
        except StoreError as error:
            yield self._fault("table", f"The tables cannot be read: {error}.", self.fixes.tables)
            return
        try:
            self.memories.touch(_NOBODY, [1], self.clock())
            self.writable()
        except StoreError as error:
            yield self._fault("table", f"The tables cannot be written: {error}.", self.fixes.tables)

    def _clock(self, theirs: datetime | None) -> Iterator[Finding]:
        if theirs is None:
            return
        behind = theirs - self.clock()
        if abs(behind) <= SKEW:
            return
        told = (
            f"This service's clock is {in_words(behind)} {'behind' if behind > timedelta(0) else 'ahead of'} "
        )
        if behind > FORGETFUL:
            worse = "DynamoDB's, which deletes records too early for it: a repeated write may be done twice."
            yield self._fault("clock", told + worse, self.fixes.clock)
        else:
            yield Finding("warning", "clock", f"{told}DynamoDB's.", self.fixes.clock)

    # ------------------------------------------------------------------ embedder, queue, index

    def _embedder(self) -> Iterator[Finding]:
        if self.embedder is None:
            return
        wanted = self.embedder.model.dimension
        try:
            [vector] = self.embedder.passages(["diagnosis"])
        except EmbeddingDimensionError as error:
            yield self._fault("embedder", _sentence(error), self._dimension(error.answered))
        except EmbeddingError as error:
            told = _sentence(error)
            message = told if "by words" in told else f"{told} Recall goes by words."
            yield self._fault("embedder", message, self.fixes.embedder)
        else:
            if len(vector) != 4 * wanted:
                message = f"The embedder makes vectors of {len(vector) // 4} numbers, and its settings say {wanted}."
                yield self._fault("embedder", message, self._dimension(len(vector) // 4))

    def _dimension(self, answered: int | None) -> str:
        return self.fixes.dimension.format(answered or "")

    def _queue(self) -> Iterator[Finding]:
        try:
            self.queue.depth()
        except StoreError as error:
            yield self._fault("queue", f"The queue does not answer: {error}.", self.fixes.queue)

    def _index(self) -> tuple[bool, list[Finding]]:
        """Whether it is there and answers, and what is wrong with it."""
        try:
            seen = self.index.inspect()
            if seen.complete:
                self.index.counts(_NOBODY)
        except SearchIndexError as error:
            message = f"The search index does not answer: {error}."
            return False, [self._fault("index", message, self.fixes.engine)]
        if not seen.complete:
            return False, [self._fault("index", _missing(seen), self.fixes.index)]
        return True, list(self._vectors(seen))

    def _vectors(self, seen: IndexSeen) -> Iterator[Finding]:
        """The index must hold vectors of the model in use, of its dimension."""
        if self.embedder is None:
            return
        model = self.embedder.model
        held = seen.dimensions.get(model.fingerprint)
        if held is not None and held != model.dimension:
            message = f"The index takes vectors of {held} numbers, and the embedder makes {model.dimension}."
            yield self._fault("index", message, self.fixes.index)
        elif held is None and seen.dimensions:
            others = ", ".join(f"{name} ({size} numbers)" for name, size in sorted(seen.dimensions.items()))
            message = (
                f"The index holds vectors of {others}, none of {model.fingerprint} ({model.dimension} numbers), "
                "which is in use: recall goes by words."
            )
            yield self._fault("index", message, self.fixes.reindex)

    # ------------------------------------------------------------------ between table and index

    def _between(self) -> tuple[list[Finding], dict[str, Any]]:
        """What index and table have other than each other, and spaces without complete vectors."""
        comparison = Comparison(self.memories, self.index, self.embedding, self.clock)
        until = self.monotonic() + COMPARING_S
        seen = Compared()
        spaces = 0
        failed: list[Finding] = []
        try:
            for space in self.memories.spaces():
                if self.monotonic() > until:
                    seen.whole = False
                    break
                seen += comparison.look(space)
                spaces += 1
        except StoreError as error:
            failed = [self._fault("table", f"The tables cannot be read: {error}.", self.fixes.tables)]
        except SearchIndexError as error:
            message = f"The search index does not answer: {error}."
            failed = [self._fault("index", message, self.fixes.engine)]
        findings = [*failed, *self._of_late(seen.late), *self._of_lost(seen), *self._of_vectors(seen)]
        return findings, _compared(spaces, seen.memories, everything=seen.whole and not failed)

    def _of_late(self, late: list[datetime]) -> Iterator[Finding]:
        if late:
            behind = in_words(self.clock() - min(late))
            told = "1 written memory is" if len(late) == 1 else f"{len(late)} written memories are"
            message = f"{told} not in the index; the oldest was written here {behind} ago."
            yield self._fault("stream", message, self.fixes.stream)

    def _of_lost(self, seen: Compared) -> Iterator[Finding]:
        if seen.lost:
            told = "1 memory is" if seen.lost == 1 else f"{seen.lost} memories are"
            message = f"{told} not in the index as in the table, and nothing is on its way."
            yield self._fault("index", message, self.fixes.rebuild)
        if seen.extra:
            told = "1 memory" if seen.extra == 1 else f"{seen.extra} memories"
            message = f"The index holds {told} that the table has not: see that no data was lost."
            yield self._fault("index", message, self.fixes.rebuild)

    def _of_vectors(self, seen: Compared) -> Iterator[Finding]:
        if seen.unembedded:
            told = "1 memory has" if seen.unembedded == 1 else f"{seen.unembedded} memories have"
            message = f"{told} no vectors of the model in use in the index: meaning does not find them."
            yield self._fault("index", message, self.fixes.rebuild)
        if seen.incomplete:
            told = "1 space has" if seen.incomplete == 1 else f"{seen.incomplete} spaces have"
            message = f"{told} no complete vectors of the model in use: recall goes by words there."
            yield Finding("warning", "index", message, self.fixes.reindex)

    def _fault(self, part: Part, message: str, fix: str) -> Finding:
        return Finding("fault", part, message, fix)


def _compared(spaces: int, memories: int, *, everything: bool) -> dict[str, Any]:
    return {"spaces": spaces, "memories": memories, "all": everything}


def _missing(seen: IndexSeen) -> str:
    if seen.foreign:
        return (
            f"There is no complete index; {', '.join(seen.foreign)} is of another format, or somebody else's."
        )
    return "There is no complete index: answers come from the table meanwhile."


def _sentence(error: Exception) -> str:
    text = str(error) or type(error).__name__
    return text if text.endswith(".") else f"{text}."


def in_words(length: timedelta) -> str:
    """A length of time for people: its largest unit."""
    seconds = int(abs(length).total_seconds())
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
