"""What the index has other than the table, looked at in a part of each space: for `Diagnosis`.

A small space is compared whole; of a larger one its newest changes, and stretches of numbers that chance chooses."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Self

from chalicelib.domain.memory import State
from chalicelib.domain.projection import IndexedState, content_hash
from chalicelib.domain.scope import Scope, Space
from chalicelib.ports import Clock, MemoryStore, SearchIndex
from chalicelib.services.memory.embedding import Embedding
from chalicelib.services.memory.project import pass_scope

LATE = timedelta(minutes=5)
"""A write that the index lacks for longer is late: the stream takes seconds."""
NEWEST = 50
"""Changes of a space that are compared with the index: its newest."""
WHOLE = 200
"""A space of so many numbers is compared whole."""
STRETCHES, STRETCH = 4, 25
"""Of a larger one so many stretches of so many numbers."""
STATES = 100

Wrong = Literal["other", "extra", "unembedded"]


@dataclass
class Compared:
    """What was seen: how many `memories` were compared, and whether that is `whole`."""

    memories: int = 0
    whole: bool = True
    late: list[datetime] = field(default_factory=list)
    """When those were written here that wait for the index for too long."""
    lost: int = 0
    """Memories that the index has not, or not as the table has them, and that wait no more."""
    extra: int = 0
    """Memories that the index has and the table has not."""
    unembedded: int = 0
    """Memories whose vectors of the model in use the index has not, in spaces that count as complete."""
    incomplete: int = 0
    """Spaces without complete vectors of the model in use."""

    def __iadd__(self, other: "Compared") -> Self:
        self.memories += other.memories
        self.whole = self.whole and other.whole
        self.late += other.late
        self.lost += other.lost
        self.extra += other.extra
        self.unembedded += other.unembedded
        self.incomplete += other.incomplete
        return self


@dataclass(frozen=True)
class Comparison:
    """Looks, and changes nothing."""

    memories: MemoryStore
    index: SearchIndex
    embedding: Embedding
    clock: Clock
    chance: random.Random = field(default_factory=random.Random)

    def look(self, space: Space) -> Compared:
        """One space. Raises StoreError, SearchIndexError."""
        scope = pass_scope(space, "diagnosis")
        complete = self.embedding.complete(space, self.memories.space(scope))
        numbers, whole = self._chosen(scope)
        first, count = self._wrong(scope, numbers, complete=complete)
        seen = Compared(count, whole, incomplete=self.embedding.serves(space) and not complete)
        if not first:
            return seen
        # What waits is asked for before the second look: what it holds no more by then, the index has by then. And
        # what is written between two reads of one look is not so in both.
        waiting = self.memories.waiting(scope, list(first))
        again, _ = self._wrong(scope, sorted(first), complete=complete)
        for number, kind in again.items():
            self._note(seen, kind, waiting.get(number))
        return seen

    def _note(self, seen: Compared, kind: Wrong, since: datetime | None) -> None:
        if since is not None and self.clock() - since <= LATE:
            return
        if kind == "extra":
            seen.extra += 1
        elif kind == "unembedded":
            seen.unembedded += 1
        elif since is not None:
            seen.late.append(since)
        else:
            seen.lost += 1

    def _chosen(self, scope: Scope) -> tuple[list[int], bool]:
        """Numbers to be compared, in order, and whether those are all of the space."""
        last = self.memories.last_number(scope)
        if last <= WHOLE:
            return list(range(1, last + 1)), True
        changes = self.memories.changes(scope, after=None, limit=NEWEST).items
        numbers = {int(change.target) for change in changes if change.target.isdecimal()}
        for _ in range(STRETCHES):
            begin = self.chance.randrange(1, last + 1)
            numbers.update(range(begin, min(begin + STRETCH, last + 1)))
        return sorted(numbers), False

    def _wrong(self, scope: Scope, numbers: Sequence[int], *, complete: bool) -> tuple[dict[int, Wrong], int]:
        """What is wrong with which of `numbers`, which are in order; and how many of them are memories."""
        memories = self.memories.get_many(scope, numbers)
        held = self._held(scope, numbers)
        wrong: dict[int, Wrong] = {}
        for number in numbers:
            memory, state = memories.get(number), held.get(number)
            content = state.content_hash if state is not None else ""
            if memory is None:
                if content:
                    wrong[number] = "extra"
            elif content != ("" if memory.state is State.ERASED else content_hash(memory)):
                wrong[number] = "other"
            elif (
                complete and content and state is not None and self.embedding.fingerprint not in state.models
            ):
                wrong[number] = "unembedded"
        return wrong, len(memories)

    def _held(self, scope: Scope, numbers: Iterable[int]) -> dict[int, IndexedState]:
        """What the index holds of these numbers, which are in order, and of others between them."""
        held: dict[int, IndexedState] = {}
        reached = 0
        for number in numbers:
            if number <= reached:
                continue
            states = self.index.indexed(scope, after=number - 1, limit=STATES)
            held |= {state.number: state for state in states}
            if len(states) < STATES:
                break
            reached = states[-1].number
        return held
