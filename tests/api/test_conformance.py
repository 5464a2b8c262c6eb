"""The contract holds for every operation, whatever is asked: a seeded slice of R9 (RELIABILITY R9).

`python -m tests.api.conformance` is the full size.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.web import operations
from tests.api import conformance
from tests.api.judge import Found, Judge

SEED = 1


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    """A judge on a stage of its own."""
    monkeypatch.setattr(bootstrap, "_services", None)
    made = Judge()
    yield made
    made.close()


@pytest.mark.parametrize("operation", conformance.labels())
def test_an_operation_conforms_and_is_reached_with_success(judge: Judge, operation: str) -> None:
    conformance.run(judge, 0, SEED, [operation])
    conformance.generate(judge, 8, SEED, operation)
    assert list(judge.found.faults.values()) == []
    assert judge.found.server_errors == 0
    assert judge.found.reached == {operation}


def test_what_was_made_is_there_and_what_was_deleted_is_gone(judge: Judge) -> None:
    conformance.sequences(judge, 10, SEED)
    assert list(judge.found.faults.values()) == []
    assert judge.found.server_errors == 0
    assert judge.found.cases > 50


# ------------------------------------------------------------------ answers that break the contract on purpose


def _without_a_field(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "memory"}


BREACHES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lacks a field": _without_a_field,
    "has a field of another kind": lambda answer: {**answer, "memory": "a text"},
    "has a field that nobody declared": lambda answer: {**answer, "secret": "x"},
    "is an unexpected error": lambda answer: answer["nothing"],
}


@pytest.mark.parametrize("breach", sorted(BREACHES))
def test_an_answer_that_breaks_the_contract_is_found(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, breach: str
) -> None:
    answer = operations.answer

    def broken(status: int, body: Mapping[str, Any]) -> Any:
        return answer(status, BREACHES[breach](dict(body)) if "memory" in body else body)

    operation = "GET /v1/spaces/{space}/memories/{number}"
    judge.fresh_stage()
    monkeypatch.setattr(operations, "answer", broken)
    conformance.generate(judge, 40, SEED, operation)
    assert judge.found.faults or judge.found.server_errors


def test_a_status_that_nobody_declared_is_found(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = operations.answer
    judge.fresh_stage()
    monkeypatch.setattr(
        operations, "answer", lambda status, body: answer(206 if status == 200 else status, body)
    )
    conformance.generate(judge, 20, SEED, "GET /v1/me")
    assert judge.found.faults


@pytest.mark.parametrize(
    ("statuses", "held"),
    [
        ({"GET /v1/me": {200: 5, 422: 1}}, True),
        ({"GET /v1/me": {401: 5, 422: 1}}, False),
        ({"GET /v1/me": {200: 5, 500: 1}}, False),
        ({}, False),
    ],
)
def test_a_run_that_never_succeeded_or_met_a_5xx_has_failed(
    statuses: dict[str, dict[int, int]], held: bool
) -> None:
    found = Found(statuses={name: Counter(seen) for name, seen in statuses.items()})
    assert conformance.report(found, SEED, ["GET /v1/me"]) == (0 if held else 1)
