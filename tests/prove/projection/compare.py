"""Index against table: after quiet, every memory and every mark of an erased one must be in both, alike."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

from chalicelib.bootstrap import Services
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import IndexedState, content_hash
from chalicelib.domain.scope import Scope
from chalicelib.services.memory.project import NEVER_USED, pages, pass_scope
from tests.prove.projection.engines import ALL_STATES, Engine

PAGE = 777


@dataclass
class Compared:
    """How much was compared, and what differs."""

    memories: int = 0
    tombstones: int = 0
    embedded: int = 0
    differences: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Compared") -> Self:
        self.memories += other.memories
        self.tombstones += other.tombstones
        self.embedded += other.embedded
        self.differences += other.differences
        return self


def compare(services: Services, engine: Engine) -> Compared:
    """All spaces; `engine` looks beneath the port, too."""
    compared = Compared()
    for space in services.parts.memories.spaces():
        scope = pass_scope(space, "proof")
        memories = [memory for page in pages(services.parts.memories, scope) for memory in page]
        found = [*_of_space(services, scope, memories, compared)]
        found += _as_listed(services, scope, memories)
        entries = services.projector.embedding.entries_from_table(scope, [m.number for m in memories])
        inner = getattr(services.parts.index, "inner", services.parts.index)
        found += engine.inside(inner, scope, entries)
        compared.differences += [f"{space.key}: {one}" for one in found]
    return compared


def indexed(services: Services, scope: Scope) -> list[IndexedState]:
    """All that the index says it holds of a space."""
    states: list[IndexedState] = []
    while page := services.parts.index.indexed(scope, after=states[-1].number if states else 0, limit=PAGE):
        states += page
    return states


def _of_space(services: Services, scope: Scope, memories: list[Memory], compared: Compared) -> Iterator[str]:
    embedding = services.projector.embedding
    complete = embedding.complete(scope.space, services.parts.memories.space(scope))
    states = indexed(services, scope)
    by_number = {state.number: state for state in states}
    if len(by_number) < len(states):
        yield f"{len(states) - len(by_number)} numbers are there twice"
    used = {memory.number for memory in memories}
    yield from (
        f"#{n} is in the index only"
        for n, state in by_number.items()
        if n not in used and state.revision != NEVER_USED
    )
    for memory in memories:
        gone = memory.state is State.ERASED
        compared.tombstones += gone
        compared.memories += not gone
        state = by_number.get(memory.number)
        if state is None:
            yield f"#{memory.number} is not in the index"
            continue
        compared.embedded += embedding.fingerprint in state.models
        if state.revision != memory.revision:
            yield f"#{memory.number} is at revision {state.revision}, not {memory.revision}"
        if state.content_hash != ("" if gone else content_hash(memory)):
            yield f"#{memory.number} has other content than revision {memory.revision} in the table"
        if complete and not gone and embedding.fingerprint not in state.models:
            yield f"#{memory.number} lacks its vectors"
        if state.models and (gone or not embedding.serves(scope.space)):
            yield f"#{memory.number} has vectors that it may not have"


def _as_listed(services: Services, scope: Scope, memories: list[Memory]) -> Iterator[str]:
    """What lists and counts show of the space."""
    services_index, now = services.parts.index, services.clock()
    retention = services.parts.accounts.installation().retention
    refresh = getattr(services_index, "refresh", None)
    if refresh is not None:
        refresh()
    living = {memory.number: memory.state for memory in memories if memory.state is not State.ERASED}
    counts = services_index.counts(scope)
    for state in ALL_STATES:
        real = sum(one is state for one in living.values())
        if counts.get(state, 0) != real:
            yield f"{counts.get(state, 0)} are counted as {state.value}, not {real}"
    page = services_index.browse(
        scope,
        MemoryFilter(states=ALL_STATES),
        sort="newest",
        limit=min(9_000, len(memories) + 10),
        now=now,
        retention=retention,
    )
    if not page.more and sorted(page.numbers) != sorted(living):
        yield "the list shows others than there are"
