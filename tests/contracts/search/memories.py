"""Memories, entries and queries for the contract suite, with everything random drawn from a seed."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory, Source, State
from chalicelib.domain.projection import EmbeddedText, IndexEntry, IndexQuery
from chalicelib.domain.scope import Actor, Right, Scope, Space

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ALICE = Space.personal("alice")
BOB = Space.personal("bob")
LIVE = frozenset({State.ACTIVE, State.RETIRED, State.TRASHED})
WRITER = Actor(kind="pass", id="contract")
SMALL, LARGE = "scripted-small-8-00000000", "scripted-large-24-00000000"
DIMENSIONS = {SMALL: 8, LARGE: 24}

VOCABULARY = (
    "harbour lantern violin glacier pepper saddle orchid compass tractor velvet walnut marble anchor candle "
    "falcon garden hammer island jigsaw kettle ladder magnet needle onion parrot quartz ribbon salmon tunnel "
    "umbrella volcano whistle yogurt zebra střecha jablko moře kůň тетрадь берёза рыба окно"
).split()


def scope_of(space: Space) -> Scope:
    return Scope(actor=WRITER, space=space, rights=frozenset(Right), place="job")


def memory(
    number: int, text: str = "a lantern in the harbour", *, space: Space = ALICE, **fields: Any
) -> Memory:
    recorded = fields.pop("recorded_at", NOW - timedelta(days=40) + timedelta(minutes=number))
    given = {
        "kind": "user",
        "version": 1,
        "revision": 1,
        "updated_at": recorded,
        "recorded_by": WRITER,
    } | fields
    return Memory(text=text, space=space.key, number=number, recorded_at=recorded, **given)


def entry(kept: Memory, **vectors: EmbeddedText) -> IndexEntry:
    """`vectors` by fingerprint (dashes: pass a dict with `**`)."""
    return IndexEntry(Space.from_key(kept.space), kept.number, kept.revision, kept, vectors)


def tombstone(number: int, revision: int, *, space: Space = ALICE) -> IndexEntry:
    return IndexEntry(space, number, revision, None)


def unit(values: Any) -> bytes:
    """A vector's bytes, at unit length."""
    array = np.asarray(values, dtype="<f4")
    return (array / np.linalg.norm(array)).astype("<f4").tobytes()


def random_unit(rng: random.Random, dimension: int) -> bytes:
    return unit([rng.gauss(0, 1) for _ in range(dimension)])


def query(text: str = "", **fields: Any) -> IndexQuery:
    return IndexQuery(**({"text": text, "filter": MemoryFilter(), "depth": 50} | fields))


def random_text(rng: random.Random, shortest: int = 1, longest: int = 25) -> str:
    return " ".join(rng.choices(VOCABULARY, k=rng.randint(shortest, longest)))


def random_memory(
    rng: random.Random, number: int, *, space: Space = ALICE, text: str | None = None
) -> Memory:
    """One with every field that filters and sorts look at, in all its shapes."""
    recorded = NOW - timedelta(days=rng.randint(0, 200), minutes=rng.randint(0, 3))
    used = rng.choice([None, NOW - timedelta(hours=rng.randint(0, 2000))])
    return memory(
        number,
        random_text(rng) if text is None else text,
        space=space,
        kind=rng.choice(["user", "feedback", "project", "reference"]),
        importance=rng.choice([None, *range(1, 11)]),
        category=rng.choice([None, "cat-a", "cat-b", "cat-c", "cat-A"]),
        subject=rng.choice([None, "server", "Server", "member one", "сервер"]),
        key=rng.choice([None, None, "pet name"]),
        state=rng.choice([State.ACTIVE, State.ACTIVE, State.RETIRED, State.TRASHED]),
        source=rng.choice(
            [None, Source(conversation="talk-1", position=number), Source(conversation="talk-10")]
        ),
        context=rng.choice([None, random_text(rng)]),
        recorded_at=recorded,
        updated_at=recorded + timedelta(hours=rng.randint(0, 5)),
        use_count=rng.choice([0, 0, 1, 2, 7]) if used else 0,
        last_used_at=used,
    )


def random_filter(rng: random.Random, numbers: int) -> MemoryFilter:
    """Any combination of conditions, impossible ones too."""

    def some(values: list[str], *, chance: float = 0.3) -> frozenset[str] | None:
        return frozenset(rng.sample(values, rng.randint(0, len(values)))) if rng.random() < chance else None

    categories = ["cat-a", "cat-b", "cat-c", "cat-A", "cat-unknown"]
    return MemoryFilter(
        states=frozenset(rng.sample(sorted(LIVE), rng.randint(0 if rng.random() < 0.1 else 1, 3))),
        category_in=some(categories),
        category_not_in=some(categories),
        kinds=some(["user", "feedback", "project", "reference"]),
        importance_min=rng.choice([None, None, None, rng.randint(1, 10)]),
        importance_max=rng.choice([None, None, None, rng.randint(1, 10)]),
        subject=rng.choice([None, None, None, "server", "Server", "member", "сервер"]),
        source=rng.choice([None, None, None, "talk-1", "talk-10", "talk"]),
        exclude=frozenset(rng.sample(range(1, numbers + 1), rng.choice([0, 0, 5, 40]))),
    )
