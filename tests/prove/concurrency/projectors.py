"""R7: several projectors work on the same records at once, while people write; nothing is lost, nothing differs."""

import random
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from chalicelib import bootstrap
from chalicelib.domain.drafts import Edit, NewMemory
from chalicelib.errors import PalimpsestError
from chalicelib.jobs.stream import project_changes
from chalicelib.providers.scripted import ScriptedEmbedder
from tests.fakes.world import World
from tests.prove.concurrency.stages import at_once
from tests.prove.projection.compare import Compared, compare
from tests.prove.projection.engines import Engine
from tests.prove.projection.stream import Record

WRITERS = 4
MEMORIES = 40
DIMENSION = 16
BATCH = 50
LAGGING = 3
"""Projectors besides the one that acknowledges."""


@dataclass
class Projected:
    """What several projectors made of the same records."""

    writes: int = 0
    records: int = 0
    seconds: float = 0.0
    compared: Compared = field(default_factory=Compared)


class Projectors:
    """One table, one index, those who project, and people who write."""

    def __init__(
        self, engine: Engine, seed: int, sabotage: Callable[[Any], Any] = lambda index: index
    ) -> None:
        self._engine = engine
        self._seed = seed
        self._folder = tempfile.TemporaryDirectory(prefix="palimpsest-prove-")
        self.world = World(
            embedder=ScriptedEmbedder(dimension=DIMENSION),
            replace=lambda parts: replace(parts, index=sabotage(self._made(parts))),
            file=Path(self._folder.name) / "palimpsest.sqlite",
        )
        self.projected = Projected()
        self._writing = True
        self._lock = threading.Lock()

    def _made(self, parts: Any) -> Any:
        self._index = self._engine.make(parts.memories._database)
        return self._index

    def run(self, writes: int) -> Projected:
        """So many writes of people, and then until nothing waits."""
        before = bootstrap._services
        bootstrap.use(self.world.services)
        began = time.monotonic()
        try:
            self._fill()
            projecting = threading.Thread(target=self._project_all, daemon=True)
            projecting.start()
            at_once(WRITERS, lambda place: self._write(place, writes // WRITERS))
            self._writing = False
            projecting.join(600)
            assert not projecting.is_alive(), "the projectors never come to an end"
            self.projected.seconds = time.monotonic() - began
            self.projected.compared = compare(self.world.services, self._engine)
        finally:
            bootstrap._services = before
            self._engine.end(self._index)
            self.world.database.close()
            self._folder.cleanup()
        return self.projected

    def _fill(self) -> None:
        drafts = [NewMemory(text=f"fact {number} about tea") for number in range(MEMORIES)]
        self.world.services.remember.add_many(self.world.scope(), drafts, self.world.request())

    def _write(self, place: int, writes: int) -> None:
        """Edit few memories again and again; now and then erase one, trash one, add another."""
        chance = random.Random(self._seed * 100 + place)
        revise, scope = self.world.services.revise, self.world.scope()
        newest = MEMORIES
        for turn in range(writes):
            number, request = chance.randint(max(1, newest - MEMORIES), newest), self.world.request()
            try:
                kind = chance.random()
                if kind < 0.03:
                    revise.erase(scope, number, None, request)
                elif kind < 0.1:
                    newest = self.world.add(f"writer {place} adds {turn}")["memory"]["number"]
                elif kind < 0.2:
                    revise.trash(scope, number, None, request)
                elif kind < 0.3:
                    revise.restore(scope, number, None, request)
                else:
                    current = self.world.parts.memories.get(scope, number)
                    version = current.version if current else 1
                    text = f"writer {place} says {turn} about tea"
                    revise.edit(scope, number, Edit(version=version, text=text), request)
            except PalimpsestError:
                continue
            with self._lock:
                self.projected.writes += 1

    def _project_all(self) -> None:
        """One acknowledges; the others, which were thought to be dead, are given the same and lag behind."""
        with ThreadPoolExecutor(LAGGING) as others:
            while self._writing or self.world.outbox.pending(1):
                pending = self.world.outbox.pending(BATCH)
                events = [Record(one.seq, one.space, int(one.id)).event() for one in pending]
                others.submit(self._projected, events[::-1])
                failed = {int(item["itemIdentifier"]) for item in self._projected(events)}
                self.world.outbox.done([one.seq for one in pending if one.seq not in failed])
                self.projected.records += 2 * len(pending)
                if not pending:
                    time.sleep(0.001)

    def _projected(self, events: list[dict[str, Any]]) -> list[dict[str, str]]:
        answer: dict[str, list[dict[str, str]]] = project_changes({"Records": events}, None)
        return answer["batchItemFailures"]
