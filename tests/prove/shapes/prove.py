"""The proof on one engine: named shapes, sizes at the edge, drawn texts, refusals."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fakes.engines import Engine, Servers, world_on
from tests.fakes.world import World
from tests.prove.shapes.refusals import REFUSED, refuse
from tests.prove.shapes.texts import LARGE, SHAPES, TEXTS
from tests.prove.shapes.trips import Readings, Traveller

A_WORLD = 20
"""Texts in one World: few enough that a search for any of them shows them all."""
WAYS = {
    "add text", "replay text", "get text", "get just written", "get indexed", "list just written", "list indexed",
    "history just written", "search just written", "search indexed", "recall just written", "recall indexed", "edit",
    "undo", "reason", "restore", "batch", "merge", "merged", "export", "get context", "get key", "get subject",
    "get source.author", "list by source", "list by subject",
}  # fmt: skip
"""Readings each of which must have happened."""

Open = Callable[[], AbstractContextManager[World]]


@dataclass
class Proof:
    """What was tried on one engine, and what was found."""

    engine: Engine
    seed: int
    texts: int = 0
    refusals: int = 0
    readings: Readings = field(default_factory=Readings)
    categories: set[str] = field(default_factory=set)

    @property
    def found(self) -> list[str]:
        """What came back otherwise than it was said, or was taken though it cannot be kept."""
        return self.readings.found

    def untried(self) -> list[str]:
        """Ways by which nothing was read: nothing is proved of them."""
        return sorted(WAYS - set(self.readings.ways))

    def met(self, text: str) -> None:
        """Count a text."""
        self.texts += 1
        self.categories.update(map(unicodedata.category, text[:1_000]))


def prove(engine: Engine, texts: int, chosen: int, servers: Servers | None = None) -> Proof:
    """All that is said here, with `texts` drawn texts from the seed `chosen`. Raises NotThereError without servers."""

    def an_installation() -> AbstractContextManager[World]:
        return world_on(engine, servers, admin=True)

    proof = Proof(engine, chosen)
    named_shapes(proof, an_installation)
    large_texts(proof, an_installation)
    drawn_texts(proof, an_installation, texts)
    with an_installation() as world:
        proof.refusals = refuse(world, proof.readings)
        assert proof.refusals >= len(REFUSED)
    return proof


def named_shapes(proof: Proof, an_installation: Open, texts: Sequence[str] = tuple(SHAPES.values())) -> None:
    """Every named shape, beside the one that follows it."""
    with _travellers(proof, an_installation) as next_one:
        for place, text in enumerate(texts):
            proof.met(text)
            next_one().send(text, texts[(place + 1) % len(texts)])


def large_texts(proof: Proof, an_installation: Open, texts: Sequence[str] = tuple(LARGE.values())) -> None:
    """Texts at the edge of what may be stored. (moto refuses to edit them: it adds the sizes of an item before and
    after an update, where DynamoDB counts the item as it will be.)"""
    for text in texts:
        with _travellers(proof, an_installation) as next_one:
            proof.met(text)
            next_one().store(text, edits=proof.engine != "moto")


def drawn_texts(proof: Proof, an_installation: Open, count: int) -> None:
    """Texts from all of Unicode, drawn from the seed."""
    if not count:
        return
    with _travellers(proof, an_installation) as next_one:

        @seed(proof.seed)
        @settings(
            max_examples=count,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=False,
            database=None,
            deadline=None,
        )
        @given(TEXTS, TEXTS)
        def each(text: str, other: str) -> None:
            proof.met(text)
            next_one().send(text, other)

        each()


@contextmanager
def _travellers(proof: Proof, an_installation: Open) -> Iterator[Callable[[], Traveller]]:
    """Gives the traveller for the next text: a new one, in a new World, after so many texts. What each has stored is
    read whole when it has done."""
    opened: list[tuple[AbstractContextManager[World], Traveller]] = []
    sent = 0

    def close() -> None:
        while opened:
            manager, traveller = opened.pop()
            traveller.read_all()
            manager.__exit__(None, None, None)

    def next_one() -> Traveller:
        nonlocal sent
        if sent % A_WORLD == 0:
            close()
            manager = an_installation()
            opened.append((manager, Traveller(manager.__enter__(), proof.readings)))
        sent += 1
        return opened[-1][1]

    try:
        yield next_one
        close()
    finally:
        while opened:
            opened.pop()[0].__exit__(None, None, None)
