"""The service equals a model of what SPEC says, whatever people, models and time do (RELIABILITY R8).

The programs are a seeded slice; `python -m tests.prove.machine` is the full size. That the machine would find a fault is
shown by planting some.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chalicelib.bootstrap import Parts
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from chalicelib.services.memory import recall, revise
from chalicelib.services.memory.context import Surroundings
from chalicelib.services.memory.reading import only_recallable
from tests.prove.machine import command, model
from tests.prove.machine.engines import Name, on
from tests.prove.machine.program import STORED
from tests.prove.machine.run import run
from tests.prove.machine.worlds import Break

STEPS = 50


def prove(name: Name, url: str = "", *, programs: int, seed: int = 1) -> None:
    with on(name, url) as worlds:
        tally, found = run(name, worlds, programs=programs, steps=STEPS, seed=seed, shrink=False)
    if found is not None:
        raise found
    assert tally.programs >= programs
    assert tally.steps >= 0.8 * programs * STEPS


def test_the_model_fits_on_a_few_pages() -> None:
    assert len(Path(model.__file__).read_text().splitlines()) <= 150


@pytest.mark.slow
def test_sqlite_equals_the_model() -> None:
    prove("sqlite", programs=32)


@pytest.mark.slow
def test_dynamodb_on_moto_equals_the_model() -> None:
    prove("moto", programs=2)


@pytest.mark.ministack
@pytest.mark.xdist_group("ministack")
def test_dynamodb_on_ministack_equals_the_model(ministack_url: str) -> None:
    prove("ministack", ministack_url, programs=2)


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_a_real_opensearch_equals_the_model(opensearch_url: str) -> None:
    prove("opensearch", opensearch_url, programs=3)


# ---------------------------------------------------------------------------- planted faults


class Around:
    """A part with some of its methods broken."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)


class ScopeLeftOut(Around):
    """Reads memories by their number alone."""

    def get_many(self, scope: Scope, numbers: Sequence[int]) -> dict[int, Memory]:
        found: dict[int, Memory] = {}
        for space in STORED.values():
            elsewhere = scope.model_construct(**{**dict(scope), "space": space})
            found |= self._part.get_many(elsewhere, numbers)
        found |= self._part.get_many(scope, numbers)
        return found

    def get(self, scope: Scope, number: int) -> Memory | None:
        return self.get_many(scope, [number]).get(number)


class TombstonesSkipped(Around):
    """Leaves in the index what is erased."""

    def apply(self, entries: Sequence[IndexEntry]) -> Any:
        return self._part.apply([entry for entry in entries if entry.memory is not None])


class WritesDropped(Around):
    """Says that it holds an entry, and does not, now and then."""

    def apply(self, entries: Sequence[IndexEntry]) -> Any:
        return self._part.apply([entry for entry in entries if entry.number % 5])


class HistoryDropped(Around):
    """Records no moving to the trash."""

    def commit(self, scope: Scope, commit: Commit) -> None:
        kept = tuple(change for change in commit.changes if change.op != "trash")
        self._part.commit(scope, commit.model_copy(update={"changes": kept}))


def store(kind: Callable[[Any], Any]) -> Break:
    return lambda parts: replace(parts, memories=kind(parts.memories))


def index(kind: Callable[[Any], Any]) -> Break:
    return lambda parts: replace(parts, index=kind(parts.index))


def fault_found(broken: Break | None = None, *, seed: int = 2, programs: int = 60) -> str:
    """What the machine says of a system that is broken."""
    with on("sqlite", "", broken) as worlds:
        _, found = run("sqlite", worlds, programs=programs, steps=STEPS, seed=seed, shrink=False)
    assert isinstance(found, AssertionError), found
    return repr(found)


@pytest.mark.parametrize(
    "broken",
    [
        store(ScopeLeftOut),
        store(HistoryDropped),
        index(TombstonesSkipped),
        index(WritesDropped),
    ],
    ids=["scope left out", "history dropped", "tombstones skipped", "writes dropped"],
)
def test_a_broken_part_is_found(broken: Callable[[Parts], Parts]) -> None:
    assert fault_found(broken)


def test_a_version_that_is_not_checked_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revise, "_check_version", lambda here, memory, version: None)
    assert "409" in fault_found()


def test_a_trashed_memory_that_is_recalled_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    states = frozenset({State.ACTIVE, State.TRASHED})

    def too_wide(asked: MemoryFilter, recallable: frozenset[str] | None) -> MemoryFilter:
        return only_recallable(asked, recallable).model_copy(update={"states": states})

    monkeypatch.setattr(recall, "only_recallable", too_wide)
    assert "was given for" in fault_found()


def test_an_uncategorised_memory_that_a_model_sees_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Surroundings, "hides", lambda here, memory: False)
    assert fault_found()


# ---------------------------------------------------------------------------- the command


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--engine", "sqlite", "--programs", "1", "--steps", "5", "--seed", "3"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("R8 the model equals the system (sqlite): ")
    assert last.endswith(" programs x 5 steps, found 0, seed 3")
