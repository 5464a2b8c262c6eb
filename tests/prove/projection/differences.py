"""Differences that are put into an index on purpose: the reconciler must find each, by its kind, and repair it."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from chalicelib import bootstrap
from chalicelib.bootstrap import Services
from chalicelib.domain.drafts import NewMemory
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import IndexEntry
from chalicelib.jobs.schedules import reconcile
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.services.memory.project import STEP, Differences, pages
from tests.fakes.world import World
from tests.prove.projection.compare import Compared, compare
from tests.prove.projection.engines import Engine

FOUND_AS = {
    "missing entry": "missing",
    "missing tombstone": "missing",
    "older revision": "stale",
    "newer revision": "stale",
    "other content of the same revision": "stale",
    "content of another space": "stale",
    "erased, though it lives": "stale",
    "alive, though it is erased": "stale",
    "alive at an older revision, though it is erased": "stale",
    "no vectors": "unembedded",
    "no vector of its context": "unembedded",
    "entry of a number never used": "extra",
    "duplicate under another number": "extra",
    "tombstone of a number never used": "extra",
}
"""Kind of difference -> what the reconciler calls it."""
OF_ERASED = {kind for kind in FOUND_AS if kind.endswith("it is erased")} | {"missing tombstone"}
OF_NOBODY = {kind for kind, found in FOUND_AS.items() if found == "extra"}
OF_LIVING = tuple(kind for kind in FOUND_AS if kind not in OF_ERASED | OF_NOBODY)
BATCH = 100
DIMENSION = 32


@dataclass
class Planted:
    """Kinds of difference by number."""

    kinds: dict[int, str] = field(default_factory=dict)

    def wrongly_told(self, found: Differences) -> Iterator[str]:
        """Planted ones that were not found, or found as what they are not, and found ones that nobody planted."""
        told = {n: kind for kind in set(FOUND_AS.values()) for n in getattr(found, kind)}
        for number in sorted(self.kinds.keys() | told.keys()):
            kind = self.kinds.get(number, "nothing")
            if told.get(number) != FOUND_AS.get(kind):
                yield f"#{number} ({kind}) was found as {told.get(number)}"
        if found.count != len(told):
            yield "a number was told twice"


class Field:
    """A space with many memories, some of them erased, and numbers between them that nobody uses."""

    def __init__(self, engine: Engine, memories: int, seed: int) -> None:
        self.engine = engine
        self.chance = random.Random(seed)
        self.world = World(
            embedder=ScriptedEmbedder(dimension=DIMENSION),
            replace=lambda parts: replace(parts, index=engine.make(parts.memories._database)),  # type: ignore[attr-defined]
        )
        bootstrap.use(self.world.services)
        self.scope = self.world.scope()
        self.unused: list[int] = []
        self._fill(memories)

    @property
    def services(self) -> Services:
        """The use cases."""
        return self.world.services

    def _fill(self, memories: int) -> None:
        for start in range(0, memories, BATCH):
            count = min(BATCH, memories - start)
            drafts = [
                NewMemory(text=f"fact {start + n} about {self.chance.random()}", context=f"asked for {n}")
                for n in range(count)
            ]
            added = self.services.remember.add_many(self.scope, drafts, self.world.request())
            numbers = [one["memory"]["number"] for one in added if isinstance(one, dict)]
            for number in self.chance.sample(numbers, count // 8):
                self.services.revise.erase(self.scope, number, None, self.world.request())
            self.unused.append(self.world.parts.memories.reserve(self.scope, 2))
            self.world.settle()
        self.unused += [number + 1 for number in self.unused]

    def plant(self, share: float) -> Planted:
        """Differences of all kinds in this share of the memories: always in the first, the last and those at the
        borders of the reconciler's steps."""
        memories = [memory for page in pages(self.world.parts.memories, self.scope) for memory in page]
        border = {0, len(memories) - 1}
        border |= {p + d for p in range(STEP, len(memories), STEP) for d in (-1, 0)}
        planted, entries, forgotten = Planted(), list[IndexEntry](), list[int]()
        for place, memory in enumerate(memories):
            if place in border or self.chance.random() < share:
                erased = memory.state is State.ERASED
                kind = self.chance.choice(sorted(OF_ERASED) if erased else OF_LIVING)
                planted.kinds[memory.number] = kind
                if kind.startswith("missing"):
                    forgotten.append(memory.number)
                else:
                    entries.append(self._wrong(kind, memory))
        newest = memories[-1].number
        for number in [*self.unused, newest + 1, newest + 500]:
            if not planted.kinds.get(number):
                planted.kinds[number] = kind = self.chance.choice(sorted(OF_NOBODY))
                entries.append(self._nobodys(kind, number, self.chance.choice(memories)))
        for start in range(0, len(entries), BATCH):
            self.world.parts.index.repair(entries[start : start + BATCH])
        self.engine.forget(self.world.parts.index, self.scope, forgotten)
        return planted

    def _entry(self, memory: Memory) -> IndexEntry:
        [entry] = self.services.projector.embedding.entries_from_table(self.scope, [memory.number])
        return entry

    def _wrong(self, kind: str, memory: Memory) -> IndexEntry:
        entry = self._entry(memory)
        former = memory.model_copy(update={"text": "what it was once", "state": State.ACTIVE})
        revision = {"older revision": -1, "newer revision": 5}.get(kind, 0)
        if kind == "alive at an older revision, though it is erased":
            revision = -1
        if kind == "no vectors":
            return replace(entry, vectors={})
        if kind == "no vector of its context":
            return replace(entry, vectors={m: replace(v, context=None) for m, v in entry.vectors.items()})
        if kind == "erased, though it lives":
            return replace(entry, memory=None, vectors={})
        if kind == "content of another space":
            former = memory.model_copy(update={"space": "project#rocket"})
        if kind == "newer revision":
            former = memory
        return replace(entry, memory=former, revision=entry.revision + revision, vectors=entry.vectors)

    def _nobodys(self, kind: str, number: int, like: Memory) -> IndexEntry:
        if kind == "tombstone of a number never used":
            return IndexEntry(self.scope.space, number, 3, None)
        text = like.text if kind.startswith("duplicate") else "something that nobody said"
        stranger = like.model_copy(update={"number": number, "text": text, "state": State.ACTIVE})
        return IndexEntry(self.scope.space, number, 3, stranger)

    def end(self) -> None:
        """Leave nothing behind."""
        self.engine.end(self.world.parts.index)
        self.world.database.close()


@dataclass
class Reconciled:
    """What became of the planted differences."""

    planted: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    compared: Compared = field(default_factory=Compared)

    def never(self) -> list[str]:
        """Kinds that were not planted."""
        return [kind for kind in FOUND_AS if not self.planted[kind]]


def reconciled(engine: Engine, memories: int, seed: int) -> Reconciled:
    """Plant, find, repair; by the whole pass, and by the sample that goes on to the whole."""
    told = Reconciled()
    here = Field(engine, memories, seed)
    planted = here.plant(0.3)
    told.planted += Counter(planted.kinds.values())
    found = here.services.reconciler.compare(here.scope.space)
    told.faults += planted.wrongly_told(found)
    _nothing_left(here, told, "the whole pass")
    told.planted += Counter(here.plant(0.5).kinds.values())
    reconcile({}, None)
    _nothing_left(here, told, "the sample")
    _numbers_are_free(here, told)
    here.end()
    return told


def rebuilt(engine: Engine, memories: int, seed: int) -> tuple[int, float, list[str]]:
    """How many entries a rebuild writes, in how many seconds, and what differs afterwards."""
    here = Field(engine, memories, seed)
    began = time.perf_counter()
    entries = here.services.rebuild.rebuild()
    seconds = time.perf_counter() - began
    differences = compare(here.services, engine).differences
    here.end()
    return entries, seconds, differences


def _nothing_left(here: Field, told: Reconciled, after: str) -> None:
    told.compared += compare(here.services, here.engine)
    left = here.services.reconciler.compare(here.scope.space).count
    told.faults += [f"{left} differences are left after {after}"] if left else []
    told.faults += [f"after {after}: {one}" for one in told.compared.differences]


def _numbers_are_free(here: Field, told: Reconciled) -> None:
    """Memories that get a number which the index had by mistake are found as others are."""
    here.world.add("a lantern at the harbour")
    here.world.settle()
    told.faults += [f"after the next add: {one}" for one in compare(here.services, here.engine).differences]
