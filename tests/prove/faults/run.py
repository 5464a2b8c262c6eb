"""Programs of real use cases, one installation each, and what became of what they were told."""

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from chalicelib import bootstrap
from chalicelib.domain import ids
from chalicelib.domain.memory import State
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.scope import Space
from chalicelib.domain.vitality import Retention
from chalicelib.jobs import schedules
from chalicelib.services import comparison
from tests.prove.faults.book import Book
from tests.prove.faults.comparison import Comparison
from tests.prove.faults.customer import Customer, Findings, Tally
from tests.prove.faults.injector import Injector, Site
from tests.prove.faults.memories import Memories
from tests.prove.faults.moves import Moves
from tests.prove.faults.people import People
from tests.prove.faults.stage import Plant, Stage

STEPS = 200
ON_DISK = 4
"""One program of so many has its data in a file, closed and opened at each kill."""

UNREPAIRED = 2
"""In one program of so many the index is not compared before the end: nothing makes up for what a projector leaves."""
OFTEN = 4
NEVER = 900_000
"""A number that no memory will have."""

MakeStage = Callable[[Injector, Plant, Path | None], Stage]


@dataclass
class Outcome:
    """What one program, or many, came to."""

    findings: Findings = field(default_factory=Findings)
    tally: Tally = field(default_factory=Tally)
    fired: Counter[Site] = field(default_factory=Counter)
    starts: int = 0

    def add(self, other: "Outcome", name: str) -> None:
        """Count another program's with this; its findings begin with its name."""
        for kind, found in vars(other.findings).items():
            getattr(self.findings, kind).extend(f"{name}: {one}" for one in found)
        for what, number in vars(other.tally).items():
            setattr(self.tally, what, getattr(self.tally, what) + number)
        self.fired += other.fired
        self.starts += other.starts


class Program:
    """Everything that can be done with one installation, step by step, by chance."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.stage = stage
        self.chance = random.Random(seed)
        self.customer = Customer(stage, self.chance)
        marks = count(1)
        self.books = [Book(self.customer, space) for space in (Space.personal("anna"), self._pool())]
        self.spaces = [Memories(book, self.chance, marks) for book in self.books]
        moves = Moves(self.customer, self.books, self.chance)
        self.people = People(self.customer, self.chance)
        self._background = (
            (14, self._stream), (3, self._queue), (1, self._months_later), (1, self._sweep), (1, self._change_model),
            (1, self._minutes_later), (3, self._ask_around), (2, moves.take_out), (1, moves.take_in),
        )  # fmt: skip
        if seed % UNREPAIRED:
            self._background += ((2, self._reconcile), (1, self._lose_index), (1, self._damage_index))

    def _pool(self) -> Space:
        reply, _ = self.customer.ask("POST", "/v1/projects", {"name": "pool", "pool": True}, faults=0)
        assert reply is not None
        return Space.pool(reply.json["project"]["id"])

    def run(self, steps: int) -> Findings:
        """So many steps, then quiet, then the comparison of all that was acknowledged. Ends at the first finding."""
        for _ in range(steps):
            kind = self.chance.random()
            if kind < 0.55:
                self._step(self.chance.choice(self.spaces).steps)
            elif kind < 0.73:
                self._step(self.people.steps)
            else:
                self._step(self._background)
            if self.customer.findings.all():
                return self.customer.findings
        self._compare()
        return self.customer.findings

    def _step(self, steps: "tuple[tuple[int, Callable[[], None]], ...]") -> None:
        weights = [weight * (OFTEN if step.__name__ in self.stage.often else 1) for weight, step in steps]
        [step] = self.chance.choices([step for _, step in steps], weights)
        step()

    def _compare(self) -> None:
        stage, findings = self.stage, self.customer.findings
        if not stage.ready():
            stage.reconcile()
        stage.quiet()
        for book in self.books:
            Comparison(book).compare()
        self.people.register.compare()
        stage.world.database.scrub()
        everything = stage.everything()
        for book in self.books:
            findings.phantom += [
                f"{mark} was erased, and is stored" for mark in book.erased if mark in everything
            ]

    # -------------------------------------------------------------- what happens by itself

    def _stream(self) -> None:
        self.stage.work(self.stage.stream)
        self.stage.world.later(seconds=self.chance.randint(1, 20))

    def _queue(self) -> None:
        self.stage.work(self.stage.work_off)

    def _reconcile(self) -> None:
        self.stage.work(self.stage.reconcile)

    def _sweep(self) -> None:
        self.stage.work(lambda: schedules.sweep({}, None))

    def _lose_index(self) -> None:
        """An accident; the clock builds it anew."""
        if self.chance.random() < 0.5:
            self.stage.work(lambda: self.stage.world.parts.index.drop())
        for _ in range(5):
            self.stage.work(lambda: self.stage.world.services.rebuild.rebuild(), faults=1)

    def _damage_index(self) -> None:
        """Somebody else wrote to the index: some memories as they were before, and one that never was. A diagnosis
        looks into it; the clock finds it, tried again after each failure."""
        index = self.stage.truth.index
        for book in self.books:
            some = [told.memory for told in book.some(State.ACTIVE)][:3]
            old = [memory.model_copy(update={"text": "another", "revision": 0}) for memory in some]
            never = [memory.model_copy(update={"number": NEVER, "revision": 1}) for memory in some[:1]]
            if old and index.ready():
                index.repair(
                    [IndexEntry(book.space, one.number, one.revision, one) for one in [*old, *never]]
                )
        self.stage.world.later(minutes=2)  # what was written just now is the projector's business
        for book in self.books:
            self.stage.work(partial(self._look_into, book.space), faults=1)
        for faults in (1, 1, 1, 1, 0):
            self.stage.work(self.stage.reconcile, faults)

    def _look_into(self, space: Space) -> None:
        """As a diagnosis does."""
        services = self.stage.world.services
        parts, embedding = services.parts, services.remember.embedding
        comparison.Comparison(parts.memories, parts.index, embedding, self.stage.world.clock).look(space)

    def _minutes_later(self) -> None:
        self.stage.world.later(minutes=7)

    def _change_model(self) -> None:
        self.stage.change_model()

    def _ask_around(self) -> None:
        """What monitors and consoles ask."""
        path = self.chance.choice(("/v1/health", "/v1/spaces", "/v1/diagnosis"))
        with_faults, _ = self.customer.ask("GET", path, faults=2)
        if path != "/v1/spaces" and with_faults is not None and with_faults.status not in (200, 503):
            self.customer.findings.wrong.append(f"{path} answers {with_faults}")

    def _months_later(self) -> None:
        """Memories have faded, and cleanup runs, again after each failure: never more than a day's limit goes."""
        self.stage.world.later(days=self.chance.choice((1, 60)))
        for _ in range(3):
            self.stage.work(lambda: schedules.clean_up({}, None), faults=1)
        limit = Retention().daily_limit
        for book in self.books:
            active = {told.number for told in book.some(State.ACTIVE)}
            book.adopt(active, op="trash")
            gone = [number for number in active if book.told[number].state is not State.ACTIVE]
            self.customer.tally.ops["cleanup"] += len(gone)
            if len(gone) > limit or any(book.told[number].state is not State.TRASHED for number in gone):
                self.customer.findings.wrong.append(
                    f"{book.path}: cleanup took {gone}, at most {limit} a day"
                )


@contextmanager
def _repeatable_ids(seed: int) -> Iterator[None]:
    """Ids that a seed gives, one after the other: with them, a program takes the same way again."""
    chance, moments = random.Random(seed), count(1)
    with (
        patch.object(ids, "secrets", SimpleNamespace(randbits=chance.getrandbits)),
        patch.object(ids, "time", SimpleNamespace(time_ns=lambda: next(moments) * 1_000_000)),
    ):
        yield


@contextmanager
def opened(
    seed: int,
    make: MakeStage = Stage,
    plant: Plant = lambda parts: parts,
    *,
    on_disk: bool = False,
    only: frozenset[Site] = frozenset(),
) -> Iterator[Stage]:
    """A new installation, whose faults are chosen by `seed`, of `only` these or of all."""
    before = bootstrap._services
    with tempfile.TemporaryDirectory() as folder, _repeatable_ids(seed):
        stage = make(Injector(seed, only), plant, Path(folder) / "palimpsest.sqlite" if on_disk else None)
        try:
            yield stage
        finally:
            stage.close()
            bootstrap._services = before


def run_program(
    seed: int,
    steps: int = STEPS,
    make: MakeStage = Stage,
    plant: Plant = lambda parts: parts,
    only: frozenset[Site] = frozenset(),
) -> Outcome:
    """One program from its first step to the comparison; `only` these (method, kind) fail, or all."""
    with opened(seed, make, plant, on_disk=seed % ON_DISK == 3, only=only) as stage:
        program = Program(stage, seed)
        findings = program.run(steps)
        return Outcome(findings, program.customer.tally, stage.injector.fired, stage.starts)
