"""A World for one program, on each engine. Its projector runs when the program says so: what waits for it can be
taken whole or in part."""

from collections.abc import Callable, Sequence
from dataclasses import replace as replace_fields
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.bootstrap import Parts
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from chalicelib.ports import SearchIndex
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.services.memory.project import by_space
from chalicelib.stores.dynamodb.accounts import DynamoAccountStore
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.inbox import DynamoInboxStore
from chalicelib.stores.dynamodb.memories import DynamoMemoryStore
from tests.fakes.world import World

Place = tuple[str, int]
"""A memory: the key of its space, its number."""
Break = Callable[[Parts], Parts]
"""What a test does to the parts, to see whether it is found."""

BEGIN = datetime(2040, 5, 4, 9, 0, tzinfo=UTC)
"""A server removes what has expired by a clock of its own: nothing does before this."""

FRESH = timedelta(seconds=12)
"""How long a write to DynamoDB counts as one that the index may lack; the projector is never behind for longer."""


class Noting(DynamoMemoryStore):
    """Keeps what the table's stream would tell of, with the time of its oldest write."""

    def __init__(self, database: Database, **how: Any) -> None:
        super().__init__(database, **how)
        self.waiting: dict[Place, datetime] = {}

    def commit(self, scope: Scope, commit: Commit) -> None:
        super().commit(scope, commit)
        self._note(scope, [write.memory.number for write in commit.memories])

    def touch(self, scope: Scope, numbers: Sequence[int], at: datetime) -> None:
        super().touch(scope, numbers, at)
        self._note(scope, numbers)

    def _note(self, scope: Scope, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.waiting.setdefault((scope.space.key, number), self._clock())


class ProgramWorld(World):
    """An empty installation on SQLite, or (`tables`) on DynamoDB; with the embedded index, or another one."""

    def __init__(
        self,
        *,
        tables: Database | None = None,
        index: SearchIndex | None = None,
        broken: Break | None = None,
        **how: Any,
    ) -> None:
        self._stream = Noting(tables, clock=self.clock, unprojected_for=FRESH) if tables is not None else None

        def chosen(parts: Parts) -> Parts:
            if tables is not None and self._stream is not None:
                stores = {"accounts": DynamoAccountStore(tables), "inbox": DynamoInboxStore(tables)}
                parts = replace_fields(parts, memories=self._stream, **stores)  # type: ignore[arg-type]
            if index is not None:
                parts = replace_fields(parts, index=index)
            return broken(parts) if broken else parts

        super().__init__(admin=True, replace=chosen, **how)
        self.now = BEGIN

    def later(self, **elapsed: float) -> None:
        """Let time pass. On DynamoDB the projector is no longer behind than a write counts as fresh."""
        oldest = min(self._stream.waiting.values(), default=None) if self._stream else None
        if oldest is not None and self.now + timedelta(**elapsed) - oldest > FRESH / 2:
            self.settle()
        super().later(**elapsed)

    def waiting(self) -> list[Place]:
        """What the index may not have as it is, the longest waiting first."""
        if self._stream is not None:
            return list(self._stream.waiting)
        pending = self.outbox.pending(10_000)
        return [(record.space, int(record.id)) for record in pending if record.kind == "memory"]

    def project(self, places: Sequence[Place]) -> None:
        """Let the projector work off these, one space after the other."""
        for space, numbers in by_space(places):
            assert self.services.projector.project(space, numbers) == []
        if isinstance(self.parts.index, OpenSearchIndex):
            self.parts.index.refresh()
        if self._stream is not None:
            for place in places:
                self._stream.waiting.pop(place, None)
        else:
            pending = self.outbox.pending(10_000)
            done = [one.seq for one in pending if one.kind == "job" or (one.space, int(one.id)) in places]
            self.outbox.done(done)

    def settle(self) -> None:
        """Let the index catch up."""
        if places := self.waiting():
            self.project(places)
