"""A table's stream as it may come: in shards and batches, late, out of order, repeated; acknowledged in part."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from chalicelib.jobs.stream import project_changes
from chalicelib.stores.dynamodb import keys
from tests.fakes.world import World
from tests.prove.projection.faults import Faults, KilledError

SHARDS = 4
BATCHES = (1, 2, 8, 30, 128)
BACKLOG = 250
"""What waits is worked off from here on, so that searches stay as quick as they are."""
REMEMBERED = 40

Handler = Callable[[Any, Any], Any]


class Record(NamedTuple):
    """One write of one memory."""

    seq: int
    space: str
    number: int

    def event(self) -> dict[str, Any]:
        """As a table's stream gives it."""
        item = {"pk": {"S": self.space}, "sk": {"S": keys.memory(self.number)}}
        return {"eventName": "MODIFY", "dynamodb": {"Keys": item, "SequenceNumber": str(self.seq)}}


def _of_something_else(space: str, place: int) -> dict[str, Any]:
    """A record of an item that the index has no business with."""
    sort_key = keys.change("1", 1) if place % 2 else keys.SPACE
    item = {"pk": {"S": space}, "sk": {"S": sort_key}}
    return {"eventName": "INSERT", "dynamodb": {"Keys": item, "SequenceNumber": f"other-{place}"}}


class Stream:
    """Takes the records of a world's writes, and gives them to the projector. `restart` is called when it was killed."""

    def __init__(
        self,
        world: World,
        faults: Faults,
        restart: Callable[[], object],
        handler: Handler = project_changes,
    ) -> None:
        self._world = world
        self._faults = faults
        self._chance: random.Random = faults.chance
        self._restart = restart
        self._handler = handler
        self._shards: list[list[Record]] = [[] for _ in range(SHARDS)]
        self._former: list[Record] = []
        self._taken = 0
        self.seen: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """Records that are not acknowledged."""
        return sum(map(len, self._shards))

    def take(self) -> None:
        """What was written since. Records stay in the outbox until they are acknowledged, as on a laptop."""
        with self._world.database.read() as connection:
            rows = connection.execute(
                "SELECT seq, kind, space, id FROM outbox WHERE seq > ? ORDER BY seq", (self._taken,)
            ).fetchall()
        for seq, kind, space, identifier in rows:
            self._taken = seq
            if kind == "memory":
                self._chance.choice(self._shards).append(Record(seq, space, int(identifier)))
        self._world.outbox.done([seq for seq, kind, _, _ in rows if kind != "memory"])

    def deliver(self) -> None:
        """One batch of one shard."""
        waiting = [shard for shard in self._shards if shard]
        if waiting:
            shard = self._chance.choice(waiting)
            batch = self._batch(shard)
            done = self._acknowledged(batch, self._handed_on(batch))
            self._world.outbox.done([record.seq for record in done])
            self._former = [*self._former, *done][-REMEMBERED:]
            shard[:] = [record for record in shard if record not in done]

    def drain(self) -> None:
        """Until nothing waits. Raises AssertionError when it does not come to an end."""
        for _ in range(1_000):
            self.take()
            if not self.waiting:
                return
            for _ in range(10):
                self.deliver()
        raise AssertionError(f"{self.waiting} records are never worked off")

    def _batch(self, shard: list[Record]) -> list[Record]:
        size = min(len(shard), self._chance.choice(BATCHES))
        if self._chance.random() < 0.5:
            return shard[:size]
        self.seen["batches out of order"] += size > 1
        return self._chance.sample(shard, size)

    def _handed_on(self, batch: list[Record]) -> set[str] | None:
        """Identifiers of those that failed; None when the projector was killed."""
        repeated = self._chance.sample(
            self._former, min(len(self._former), self._chance.choice((0, 0, 1, 5)))
        )
        self.seen["records repeated"] += len(repeated)
        self.seen["records delivered"] += len(batch)
        events = [record.event() for record in [*batch, *repeated]]
        events += [
            _of_something_else(batch[0].space, place) for place in range(self._chance.choice((0, 0, 3)))
        ]
        if repeated:
            self._chance.shuffle(events)
        self._faults.armed = self._armed
        try:
            answer = self._handler({"Records": events}, None)
        except KilledError:
            self._faults.armed = False
            self._killed()
            return None
        finally:
            self._faults.armed = False
        return {item["itemIdentifier"] for item in answer["batchItemFailures"]}

    def _acknowledged(self, batch: list[Record], failed: set[str] | None) -> list[Record]:
        if failed is None:
            return []
        if self._armed and self._chance.random() < 0.01:
            self._faults.fire("killed before the acknowledgement")
            self._killed()
            return []
        places = [place for place, record in enumerate(batch) if str(record.seq) in failed]
        if not places:
            return batch
        self.seen["batches answered in part"] += len(places) < len(batch)
        if self._chance.random() < 0.5:  # as Lambda does: all from the first that failed
            return batch[: places[0]]
        return [record for place, record in enumerate(batch) if place not in places]

    def _killed(self) -> None:
        self.seen["kills"] += 1
        self._restart()

    _armed = True

    def calm(self) -> None:
        """From now on nothing fails."""
        self._armed = False
