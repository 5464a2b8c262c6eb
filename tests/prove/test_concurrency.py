"""R7: nothing is lost between those who write at once; a seeded slice of `tests.prove.concurrency`, and what shows that
a store, or an index, that loses something is found.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.bootstrap import Parts
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from tests.prove.concurrency.__main__ import FULL, WRITERS
from tests.prove.concurrency.hot import Hot
from tests.prove.concurrency.numbers import add_at_once
from tests.prove.concurrency.projectors import Projectors
from tests.prove.concurrency.stages import at_once, stage
from tests.prove.projection.compare import indexed
from tests.prove.projection.engines import Embedded, OpenSearch


@pytest.fixture(autouse=True)
def _own_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.mark.parametrize(("store", "writers", "each"), [("sqlite", WRITERS, 3), ("moto", 6, 2)])
def test_no_edit_of_a_hot_memory_is_lost(store: str, writers: int, each: int) -> None:
    with stage(store) as client:
        edited = Hot(client, writers, each, 1).run()
    assert (edited.lost, edited.doubled, edited.faults) == (0, 0, [])
    assert edited.acknowledged == writers * each
    assert edited.conflicts > 0


@pytest.mark.parametrize(("store", "writers", "each"), [("sqlite", WRITERS, 2), ("moto", 6, 2)])
def test_every_memory_that_is_added_at_once_has_a_number_of_its_own(
    store: str, writers: int, each: int
) -> None:
    with stage(store) as client:
        numbered = add_at_once(client, writers, each)
    assert (numbered.lost, numbered.doubled, numbered.faults) == (0, 0, [])
    assert numbered.acknowledged == writers * each


@pytest.mark.ministack
def test_nothing_is_lost_on_an_emulator_that_is_a_server(ministack_url: str) -> None:
    with stage("ministack", url=ministack_url) as client:
        edited = Hot(client, 6, 2, 1).run()
        assert (edited.acknowledged, edited.found) == (12, 0)
    with stage("ministack", url=ministack_url) as client:
        numbered = add_at_once(client, 6, 2)
        assert (numbered.acknowledged, numbered.found) == (12, 0)


def test_projectors_of_the_same_records_leave_no_difference() -> None:
    projected = Projectors(Embedded(), 1).run(200)
    assert projected.compared.differences == []
    assert projected.records > 100


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_projectors_leave_no_difference_on_a_real_engine(opensearch_url: str) -> None:
    projected = Projectors(OpenSearch(opensearch_url), 1).run(60)
    assert projected.compared.differences == []
    assert projected.records > 30


def test_full_size_is_what_is_promised() -> None:
    assert (FULL["sqlite"].writers, FULL["sqlite"].edits) == (64, 1_000)


# ---------------------------------------------------------------------------- broken on purpose


class Wrapped:
    """A part of which a test breaks one thing."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class LastWriterWins(Wrapped):
    """Without the condition on the version: whatever was written meanwhile is written over."""

    def commit(self, scope: Scope, commit: Commit) -> None:
        with self._lock:
            memories, changes = [], []
            for write, change in zip(commit.memories, commit.changes, strict=True):
                now = self._inner.get(scope, write.memory.number)
                version = now.version if now else 0
                memory = write.memory.model_copy(update={"version": version + 1})
                memories.append(write.model_copy(update={"memory": memory, "expected": version or None}))
                changes.append(change.model_copy(update={"version": version + 1}))
            done = {"memories": tuple(memories), "changes": tuple(changes)}
            self._inner.commit(scope, commit.model_copy(update=done))


class CountsInTwoSteps(Wrapped):
    """Its number is read, and written a moment later."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self._last = 0

    def reserve(self, scope: Scope, count: int) -> int:
        last = self._last
        time.sleep(0.001)
        self._last = last + count
        return last + 1


class WritesOverWhatIsThere(CountsInTwoSteps):
    """And takes whatever is given that number."""

    def commit(self, scope: Scope, commit: Commit) -> None:
        LastWriterWins.commit(self, scope, commit)  # type: ignore[arg-type]


def broken(kind: type[Wrapped]) -> Any:
    def change(parts: Parts) -> Parts:
        return replace(parts, memories=kind(parts.memories))

    return change


def test_a_store_without_the_condition_on_the_version_is_found() -> None:
    with stage("sqlite", change=broken(LastWriterWins)) as client:
        edited = Hot(client, 16, 4, 1).run()
    assert edited.lost > 0
    assert any("counts" in fault for fault in edited.faults)


def test_a_counter_that_is_not_atomic_is_found() -> None:
    with stage("sqlite", change=broken(CountsInTwoSteps)) as client:
        assert add_at_once(client, 8, 4).found > 0


def test_memories_that_are_written_over_are_found() -> None:
    with stage("sqlite", change=broken(WritesOverWhatIsThere)) as client:
        numbered = add_at_once(client, 8, 4)
    assert numbered.lost > 0
    assert numbered.doubled > 0


class ComparesThenWrites(Wrapped):
    """Its condition on the revision is looked at first, and not held while it writes."""

    _services: Any
    _scope: Any

    def apply(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        known = {
            (entry.space.key, state.number): state.revision
            for entry in entries[:1]
            for state in indexed(self._services, self._scope)
        }
        newer = [one for one in entries if known.get((one.space.key, one.number), 0) <= one.revision]
        if "Pool" in threading.current_thread().name:  # of those that lag behind
            time.sleep(0.004 * (time.monotonic_ns() % 13))
        self._inner.repair(newer)
        return []


def test_an_index_that_compares_before_it_writes_is_found() -> None:
    assert any(_differences_of_a_careless_index(seed) for seed in range(1, 13))


def _differences_of_a_careless_index(seed: int) -> list[str]:
    made: list[ComparesThenWrites] = []

    def careless(index: Any) -> Any:
        made.append(ComparesThenWrites(index))
        return made[0]

    here = Projectors(Embedded(), seed, sabotage=careless)
    made[0]._services, made[0]._scope = here.world.services, here.world.scope()
    return here.run(150).compared.differences


def test_an_error_of_one_thread_is_not_passed_over() -> None:
    def work(place: int) -> None:
        if place == 3:
            raise ValueError("one of them")

    with pytest.raises(ValueError, match="one of them"):
        at_once(5, work)
