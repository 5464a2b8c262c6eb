"""R5: the index equals the table, whatever happens to its projector; a seeded slice of `tests.prove.projection`.

That a difference would be found is shown by breaking the index, and the projector, in the ways that matter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.scope import Space
from chalicelib.jobs.stream import project_changes
from chalicelib.services.memory.project import Projector
from tests.prove.projection.__main__ import FULL
from tests.prove.projection.engines import Embedded, OpenSearch
from tests.prove.projection.equality import Life, Outcome, Sabotage, prove
from tests.prove.projection.stream import Handler

BROKEN_LIFE = 200


@pytest.fixture(autouse=True)
def _own_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logging.disable", lambda _level: None)


def test_the_index_equals_the_table_after_kills_repeats_and_reorders() -> None:
    told = prove(Embedded(), 1_000, 500, 1, print)
    assert told.compared.differences == []
    assert told.operations.total() >= 1_000
    assert told.never() == []
    assert told.compared.tombstones > 20


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_a_real_engine_equals_the_table_too(opensearch_url: str) -> None:
    told = prove(OpenSearch(opensearch_url), 60, 60, 1, print)
    assert told.compared.differences == []
    assert told.seen["kills"] > 0
    assert told.compared.memories > 10


def test_a_life_repeats_by_its_seed() -> None:
    first, again = (Life(Embedded(), 7).live(150) for _ in range(2))
    assert (first.operations, first.faults, first.seen) == (again.operations, again.faults, again.seen)


def test_full_size_is_what_is_promised() -> None:
    assert FULL["embedded"].operations >= 100_000
    assert FULL["opensearch"].operations >= 10_000


# ---------------------------------------------------------------------------- broken on purpose


class Broken:
    """An index that does with a batch what it should not."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def apply(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        return list(self._inner.apply(self.taken(entries)))

    def taken(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        raise NotImplementedError


class SkipsTombstones(Broken):
    def taken(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        return [entry for entry in entries if entry.memory is not None]


class LosesTheLastOfABatch(Broken):
    def taken(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        return list(entries[:-1]) if len(entries) > 5 else list(entries)


class MixesSpaces(Broken):
    def taken(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        wrong, right = Space.pool("rocket"), Space.pool("rocket1")
        return [replace(entry, space=right if entry.space == wrong else entry.space) for entry in entries]


class DropsVectors(Broken):
    def taken(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        return [replace(entry, vectors={}) for entry in entries]


class ForgetsWhoSpoke(Broken):
    """Keeps everything but a part that no hash covers."""

    def taken(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        return [
            replace(entry, memory=entry.memory.model_copy(update={"use_count": 0})) if entry.memory else entry
            for entry in entries
        ]


class LetsTheLastOneWin(Broken):
    """Without the condition on the revision: a late record stands."""

    def apply(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        self._inner.repair(entries)
        return []


def swallows_a_failure(event: Any, context: Any) -> Any:
    """Says that all went well with a batch of which some did not."""
    project_changes(event, context)
    return {"batchItemFailures": []}


def broken_lives(sabotage: Sabotage, handler: Handler, lives: int = 6) -> Iterator[Outcome]:
    for seed in range(1, lives + 1):
        yield Life(Embedded(), seed, sabotage=sabotage, handler=handler).live(BROKEN_LIFE)


@pytest.mark.parametrize(
    "sabotage",
    [SkipsTombstones, LosesTheLastOfABatch, MixesSpaces, DropsVectors, ForgetsWhoSpoke, LetsTheLastOneWin],
)
def test_an_index_that_is_broken_is_found(sabotage: Sabotage) -> None:
    assert any(life.compared.differences for life in broken_lives(sabotage, project_changes))


def test_a_stream_that_loses_what_failed_is_found() -> None:
    assert any(life.compared.differences for life in broken_lives(lambda index: index, swallows_a_failure))


def test_a_projector_that_loses_a_record_of_a_batch_taken_in_part_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = Projector.project

    def careless(self: Projector, space: Space, numbers: Sequence[int]) -> list[int]:
        project(self, space, numbers)
        return []

    monkeypatch.setattr(Projector, "project", careless)
    assert any(life.compared.differences for life in broken_lives(lambda index: index, project_changes))


def test_a_life_that_is_calm_proves_nothing() -> None:
    assert "killed after apply" in Outcome().never()
    assert "erase" in Outcome().never()
