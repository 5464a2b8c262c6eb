"""R5: whatever happens on the way, after quiet the index equals the table."""

import logging
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from chalicelib import bootstrap
from chalicelib.bootstrap import Parts
from chalicelib.domain.drafts import NewJob
from chalicelib.domain.scope import SpaceKind
from chalicelib.errors import EmbedderUnavailableError
from chalicelib.jobs.stream import project_changes
from chalicelib.providers.scripted import ScriptedEmbedder
from tests.fakes.world import World
from tests.prove.projection.compare import Compared, compare
from tests.prove.projection.engines import Engine
from tests.prove.projection.faults import KINDS, Faults, FaultyIndex, FaultyStore
from tests.prove.projection.programs import OPERATIONS, Program
from tests.prove.projection.stream import BACKLOG, Handler, Stream

ATTEMPTS = 4
"""Steps for one operation at most: some find nothing that they could be done to."""
SEEN = ("kills", "records repeated", "batches out of order", "batches answered in part")
DIMENSION = 32


@dataclass
class Outcome:
    """What one or more lives of an index came to."""

    operations: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    compared: Compared = field(default_factory=Compared)

    def __iadd__(self, other: "Outcome") -> Self:
        self.operations += other.operations
        self.faults += other.faults
        self.seen += other.seen
        self.compared += other.compared
        return self

    def never(self) -> list[str]:
        """What never happened, and so is not proved to do no harm."""
        wanted = {"operations": OPERATIONS, "faults": KINDS, "seen": SEEN}
        return [name for kind, names in wanted.items() for name in names if not getattr(self, kind)[name]]


Sabotage = Callable[[Any], Any]
"""Makes of an index, of which the life is to be lived, a broken one."""


class Life:
    """One world, whose projector and engine fail by chance; all of it repeats by its seed."""

    def __init__(
        self,
        engine: Engine,
        seed: int,
        *,
        sabotage: Sabotage = lambda index: index,
        handler: Handler = project_changes,
    ) -> None:
        self.engine = engine
        self.chance = random.Random(seed)
        self._sabotage = sabotage
        self.faults = Faults(self.chance)
        self.world = World(embedder=ScriptedEmbedder(dimension=DIMENSION), replace=self._faulty)
        bootstrap.use(self.world.services)
        self.program = Program(self.world, self.chance)
        self.stream = Stream(self.world, self.faults, self._restart, handler)

    def _faulty(self, parts: Parts) -> Parts:
        self._made = self.engine.make(self._database(parts))
        self.index = FaultyIndex(self._sabotage(self._made), self.faults)
        return replace(parts, index=self.index, memories=FaultyStore(parts.memories, self.faults))

    def _database(self, parts: Parts) -> Any:
        return parts.memories._database  # type: ignore[attr-defined]

    def _restart(self) -> None:
        """A new projector goes on where the killed one was."""
        self._made = self.engine.restarted(self._made, self.world.database)
        self.index.inner = self._sabotage(self._made)

    def live(self, operations: int) -> Outcome:
        """So many operations, then quiet, then the comparison."""
        other_model = self.chance.randrange(operations) if self.chance.random() < 0.3 else None
        steps = 0
        while self.program.done.total() < operations and steps < ATTEMPTS * operations:
            steps += 1
            if steps == other_model:
                self._change_model()
            self._disturb()
            self.program.step()
            self.stream.take()
            self._deliver()
        self._quiet()
        compared = compare(self.world.services, self.engine)
        outcome = Outcome(self.program.done, self.faults.fired, self.stream.seen, compared)
        self.end()
        return outcome

    def end(self) -> None:
        """Leave nothing behind."""
        self.engine.end(self._made)
        self.world.database.close()

    def _disturb(self) -> None:
        if self.chance.random() < 0.01:
            self.faults.fire("embedder down")
            embedder = self.world.embedder
            assert isinstance(embedder, ScriptedEmbedder)
            embedder.fail(EmbedderUnavailableError("scripted"), self.chance.choice((1, 3, 10)))
        if self.chance.random() < 0.02:
            self.index.write_late(self.chance.random())

    def _deliver(self) -> None:
        """Sometimes at once, sometimes after a while."""
        if self.stream.waiting > BACKLOG:
            for _ in range(8):
                self.stream.deliver()
        elif self.chance.random() < 0.15:
            for _ in range(self.chance.randint(1, 6)):
                self.stream.deliver()

    def _change_model(self) -> None:
        """Another embedding model from now on, and every space indexed anew with it. (Not at the end: it would mend
        what was lost before.)"""
        self.world.change_embedder(ScriptedEmbedder(name="other", dimension=DIMENSION // 2))
        bootstrap.use(self.world.services)
        for person in self.program.people:
            if person.scope.space.kind is not SpaceKind.COMMUNITY and person.known:
                self._reindex(person.scope)

    def _quiet(self) -> None:
        """Nothing fails any more, and all that waits is worked off; some late writes come even after that."""
        self.index.write_late(0.5)
        self.world.break_embedder(0)
        self.stream.calm()
        self.stream.drain()
        self.index.write_late(1.0)

    def _reindex(self, scope: Any) -> None:
        jobs = self.world.services.jobs
        job = jobs.start(scope, NewJob(kind="reindex"), self.world.request())["job"]["id"]
        while not jobs.run(scope, job, lambda: True):
            pass


def prove(engine: Engine, operations: int, each: int, seed: int, say: Callable[[str], object]) -> Outcome:
    """Lives of `each` operations until there are `operations`; stops at the first that ends with a difference."""
    logging.disable(logging.CRITICAL)
    total = Outcome()
    while total.operations.total() < operations and not total.compared.differences:
        wanted = min(each, operations - total.operations.total())
        outcome = Life(engine, seed).live(wanted)
        total += outcome
        if outcome.compared.differences:
            say(f"life of seed {seed}, {wanted} operations:")
            for one in outcome.compared.differences[:20]:
                say(f"  {one}")
        if outcome.operations.total() < wanted:
            say(f"life of seed {seed}: only {outcome.operations.total()} of {wanted} operations were done")
            break
        seed += 1
    return total
