"""No acknowledged write is lost, doubled or made up, whatever fails (RELIABILITY R1).

A seeded slice; `python -m tests.prove.faults` is the full size. That it would find what is wrong is shown by breaking the
service on purpose.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.bootstrap import Parts
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from chalicelib.errors import IndexUnavailableError, StoreUnavailableError
from chalicelib.services.memory.project import Projector
from chalicelib.web import operations, problems
from tests.prove.faults.dynamo_stage import DynamoStage
from tests.prove.faults.founding import found
from tests.prove.faults.injector import Injector
from tests.prove.faults.kinds import DECISIONS, Kind, port_names, undecided
from tests.prove.faults.run import run_program
from tests.prove.faults.stage import Plant

STEPS = 110
PROGRAMS = 12
"""A planted fault is found by one of so many programs."""


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


# ------------------------------------------------------------------ the list of calls


def test_every_method_of_every_port_has_its_faults() -> None:
    assert undecided() == []


def test_a_new_method_without_a_decision_fails_the_build() -> None:
    known = port_names()
    known["MemoryStore"].append("rename")
    known["Mailer"] = ["send"]
    assert [one.split(":")[0] for one in undecided(known)] == ["Mailer.send", "MemoryStore.rename"]


def test_a_decision_on_a_method_that_is_gone_fails_the_build() -> None:
    decisions = {**DECISIONS, "Queue": {**DECISIONS["Queue"], "peek": DECISIONS["Queue"]["depth"]}}
    assert undecided(decisions=decisions) == ["Queue.peek: it is gone"]


def test_what_has_no_faults_says_why() -> None:
    decisions = [one for methods in DECISIONS.values() for one in methods.values()]
    assert all(one.kinds or one.why for one in decisions)
    assert {kind for one in decisions for kind in one.kinds} == set(Kind)


# ------------------------------------------------------------------ programs under faults


@pytest.mark.parametrize("seed", [3, 6, 9])
def test_what_was_acknowledged_is_there_once(seed: int) -> None:
    outcome = run_program(seed, STEPS)
    assert outcome.findings.all() == []
    assert outcome.fired.total() > 50
    assert outcome.tally.acknowledged > 50
    assert outcome.starts > 10
    assert {kind for _, kind in outcome.fired} == set(Kind)


def test_a_fault_that_seldom_comes_is_made_to_come() -> None:
    """What chance has left out when all else is reached: the programs that follow have these faults only."""
    rare = frozenset({("MemoryStore.waiting", Kind.THROTTLE), ("MemoryStore.categories", Kind.KILL)})
    outcome = run_program(3, 25, only=rare)
    assert outcome.findings.all() == []
    assert outcome.fired.keys() & rare
    assert outcome.fired.keys() <= rare


def test_what_was_acknowledged_is_there_once_on_dynamodb() -> None:
    outcome = run_program(6, 25, DynamoStage)
    assert outcome.findings.all() == []
    assert any(site.startswith("DynamoDB") for site, _ in outcome.fired)
    assert outcome.tally.acknowledged > 5


@pytest.mark.parametrize("seed", range(1, 6))
def test_an_interrupted_first_start_leaves_one_owner(seed: int) -> None:
    injector = Injector(seed)
    assert found(injector) == []
    assert injector.fired.total() > 0


# ------------------------------------------------------------------ faults that are planted


class Mistaken:
    """A part, one method of which does something else (`instead`, which is given the method itself)."""

    def __init__(self, part: Any, method: str, instead: Callable[..., Any]) -> None:
        self._part, self._method, self._instead = part, method, instead

    def __getattr__(self, name: str) -> Any:
        good = getattr(self._part, name)
        return good if name != self._method else lambda *given, **named: self._instead(good, *given, **named)


def mistaken(field: str, method: str, instead: Callable[..., Any]) -> Plant:
    """Parts with that mistake."""

    def plant(parts: Parts) -> Parts:
        return replace(parts, **{field: Mistaken(getattr(parts, field), method, instead)})

    return plant


def found_by_some_program(
    kinds: Sequence[str], plant: Plant = lambda parts: parts, *, first: int = 1
) -> bool:
    """Whether one of some programs has a finding of one of these kinds; the first that has any is enough."""
    for seed in range(first, first + PROGRAMS):
        findings = run_program(seed, STEPS, plant=plant).findings
        if findings.all():
            return any(getattr(findings, kind) for kind in kinds)
    return False


def test_a_write_that_is_dropped_is_found() -> None:
    def drop(commit: Callable[..., None], scope: Scope, what: Commit) -> None:
        if not (what.memories and what.memories[0].memory.number % 7 == 5):
            commit(scope, what)

    assert found_by_some_program(["lost"], mistaken("memories", "commit", drop))


def test_a_change_that_is_dropped_among_people_is_found() -> None:
    def drop(commit: Callable[..., None], what: Any) -> None:
        if not any(entry.op == "project.edit" for entry in what.audit):
            commit(what)

    assert found_by_some_program(["lost"], mistaken("accounts", "commit", drop))


def test_an_add_without_its_idempotency_record_is_found() -> None:
    def forget(commit: Callable[..., None], scope: Scope, what: Commit) -> None:
        adds = any(change.op == "add" for change in what.changes)
        commit(scope, what.model_copy(update={"idempotency": None}) if adds else what)

    assert found_by_some_program(["doubled", "phantom"], mistaken("memories", "commit", forget))


def test_a_swallowed_error_of_the_store_is_found() -> None:
    def swallow(get_many: Callable[..., Any], *what: Any) -> Any:
        try:
            return get_many(*what)
        except StoreUnavailableError:
            return {}

    assert found_by_some_program(["wrong", "lost"], mistaken("memories", "get_many", swallow))


def test_a_swallowed_error_of_the_index_is_found() -> None:
    def swallow(search: Callable[..., Any], scope: Scope, queries: Sequence[Any]) -> Any:
        try:
            return search(scope, queries)
        except IndexUnavailableError:
            return [[] for _ in queries]

    assert found_by_some_program(["wrong"], mistaken("index", "search", swallow), first=9)


def test_a_projector_that_drops_what_failed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    project = Projector.project

    def dropping(self: Projector, *what: Any) -> list[int]:
        with suppress(IndexUnavailableError):
            project(self, *what)
        return []

    monkeypatch.setattr(Projector, "project", dropping)
    assert found_by_some_program(["lost"])


def test_an_answer_that_wrongly_says_nothing_was_changed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_adapter(error: Any, *, may_have_written: bool) -> Any:
        return problems.of_adapter(error, may_have_written=False)

    monkeypatch.setattr(operations, "of_adapter", of_adapter)
    assert found_by_some_program(["wrong"])
