"""Daily cleanup: faded memories go to the trash, few at a time, and never by surprise (M26-M31).

What is due is asked of the index, in order of vitality as of now with the admin's settings of now; each memory is
computed again from the table before it is trashed. Nothing is dated in advance, so nothing needs to be dated anew when
a setting changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.change import of_memory
from chalicelib.domain.filters import MemoryFilter, sort_value
from chalicelib.domain.ids import new_id
from chalicelib.domain.memory import Memory, State, next_version
from chalicelib.domain.records import Commit, MemoryWrite, SpaceRecord, SpaceWrite
from chalicelib.domain.scope import Scope, Space, SpaceKind
from chalicelib.domain.vitality import Retention, eligible_at
from chalicelib.errors import StaleVersionError
from chalicelib.ports import AccountStore, Clock, MemoryStore, SearchIndex
from chalicelib.services.memory.project import pass_scope

WINDOW = timedelta(hours=24)
STEP = 100
CHUNK = 30
NAME = "retention"


@dataclass(frozen=True)
class Retain:
    """The pass over one space."""

    store: MemoryStore
    accounts: AccountStore
    index: SearchIndex
    clock: Clock

    def clean(self, space: Space) -> list[int]:
        """Numbers moved to the trash: eligible ones, lowest vitality first, at most the daily limit in any 24 hours.

        Counted from what is recorded in the space, in the same transaction, so neither a restart nor a second pass
        at the same moment exceeds the limit. Communities are exempt. Raises SearchIndexError, StoreError.
        """
        retention = self.accounts.installation().retention
        scope = pass_scope(space, NAME)
        record = self.store.space(scope)
        if space.kind is SpaceKind.COMMUNITY or not retention.automatic or record is None:
            return []
        now = self.clock()
        recent = tuple(at for at in record.trashed_at if at > now - WINDOW)
        room = retention.daily_limit - len(recent)
        due: list[Memory] = []
        for memory in self._due(scope, retention, now):
            if len(due) >= room:
                break
            due.append(memory)
        trashed: list[int] = []
        for start in range(0, len(due), CHUNK):
            chunk = due[start : start + CHUNK]
            recent += (now,) * len(chunk)
            record = self._trash(scope, record, chunk, recent, now)
            if record is None:
                break
            trashed += [memory.number for memory in chunk]
        return trashed

    def _due(self, scope: Scope, retention: Retention, now: datetime) -> Iterator[Memory]:
        """Eligible memories, lowest vitality first; reads on only while the index has some below the threshold."""
        after = None
        more = True
        while more:
            page = self.index.browse(
                scope, MemoryFilter(), sort="vitality", limit=STEP, after=after, now=now, retention=retention
            )
            found = self.store.get_many(scope, page.numbers)
            faded = [found[number] for number in page.numbers if number in found]
            yield from (m for m in faded if m.state is State.ACTIVE and eligible_at(m, retention) <= now)
            if not faded:
                return
            value = sort_value(faded[-1], "vitality", now, retention)
            after, more = (value, faded[-1].number), page.more and value < retention.threshold * 10_000

    def _trash(
        self,
        scope: Scope,
        record: SpaceRecord,
        due: list[Memory],
        recent: tuple[datetime, ...],
        now: datetime,
    ) -> SpaceRecord | None:
        """One transaction; None when somebody changed one of them meanwhile: the rest waits for the next pass."""
        group = new_id("grp")
        changed = record.model_copy(update={"trashed_at": recent, "version": record.version + 1})
        writes = [next_version(memory, now, {"state": State.TRASHED}) for memory in due]
        commit = Commit(
            memories=tuple(
                MemoryWrite(memory=new, expected=old.version) for new, old in zip(writes, due, strict=True)
            ),
            spaces=(SpaceWrite(record=changed, expected=record.version),),
            changes=tuple(of_memory(memory, "trash", scope.actor, group) for memory in writes),
        )
        try:
            self.store.commit(scope, commit)
        except StaleVersionError:
            return None
        return changed
