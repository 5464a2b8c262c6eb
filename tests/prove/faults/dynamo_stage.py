"""The same installation on DynamoDB, whose single calls fail as those of AWS do."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from chalicelib.bootstrap import Parts
from chalicelib.domain.accounts import Account, AccountCommit, EntityWrite
from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Space
from chalicelib.jobs import schedules
from chalicelib.stores.dynamodb.accounts import DynamoAccountStore
from chalicelib.stores.dynamodb.inbox import DynamoInboxStore
from chalicelib.stores.dynamodb.memories import DynamoMemoryStore
from chalicelib.stores.dynamodb.tables import DEFINITIONS
from tests.prove.faults.engines import DynamoFaults
from tests.prove.faults.injector import Injector
from tests.prove.faults.stage import QUIET_ROUNDS, Plant, Stage
from tests.unit.stores import dynamodb_faults

FRESH = timedelta(seconds=60)


class DynamoStage(Stage):
    """Stores on moto; the index and the queue as on a laptop. The table's stream gives out each change until it was
    worked off."""

    watched = frozenset({"memories", "accounts", "inbox"})
    often = frozenset({"erase"})

    def __init__(
        self, injector: Injector, plant: Plant = lambda parts: parts, file: Path | None = None
    ) -> None:
        self._opened = ExitStack()
        self._database = self._opened.enter_context(dynamodb_faults.opened()).database
        dynamodb_faults._client()[1].append(DynamoFaults(injector))
        self._projected: dict[tuple[Space, int], int] = {}
        super().__init__(injector, plant, file)

    def close(self) -> None:
        super().close()
        self._opened.close()

    def _adapters(self) -> Parts:
        memories = DynamoMemoryStore(self._database, clock=self.world.clock, unprojected_for=FRESH)
        accounts, inbox = DynamoAccountStore(self._database), DynamoInboxStore(self._database)
        return replace(super()._adapters(), memories=memories, accounts=accounts, inbox=inbox)

    def _give_accounts(self) -> None:
        anna = Account(id="anna", name="anna", admin=True, created_at=self.world.now)
        self.truth.accounts.commit(AccountCommit(writes=(EntityWrite(entity=anna, expected=None),)))

    def findable(self, memory: Memory) -> bool:
        """The table does not know what the index has: a search adds what was written within the last minute (M25)."""
        projected = self._projected.get((Space.from_key(memory.space), memory.number))
        return projected is not None or self.world.now - memory.updated_at < FRESH

    def stream(self) -> bool:
        """Whether there was anything to hand on. What fails stays, and is given out again."""
        changed = dict(self._changed())
        for space in {space for space, _ in changed}:
            numbers = sorted(number for of, number in changed if of == space)
            failed = set(self.world.services.projector.project(space, numbers))
            done = {(space, number): changed[space, number] for number in numbers if number not in failed}
            self._projected.update(done)
        for space in list(self.truth.memories.spaces()):
            for job in self.truth.memories.jobs(self.scope(space), 10):
                self.world.services.jobs.wake(space, job.id)
        return bool(changed)

    def _changed(self) -> Iterator[tuple[tuple[Space, int], int]]:
        """Every memory whose last write was not worked off, with its revision."""
        for space in self.truth.memories.spaces():
            for memory in self.memories(space):
                if self._projected.get((space, memory.number)) != memory.revision:
                    yield (space, memory.number), memory.revision

    def quiet(self) -> None:
        for _ in range(QUIET_ROUNDS):
            self.world.later(minutes=6)
            worked = self.stream()
            schedules.sweep({"all": True}, None)
            while self.work_off():
                worked = True
            if not worked and not self.queue.waiting():
                return

    def everything(self) -> str:
        return f"{super().everything()}\n{list(self._items())!r}"

    def _items(self) -> Iterator[object]:
        """Every item of every table."""
        client = self._database.connection.client  # type: ignore[attr-defined]
        for table in DEFINITIONS:
            following: dict[str, object] = {}
            while following is not None:
                answer = client.scan(TableName=self._database.name(table), **following)
                yield from answer["Items"]
                last = answer.get("LastEvaluatedKey")
                if last is None:
                    break
                following = {"ExclusiveStartKey": last}
