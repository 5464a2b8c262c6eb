"""The contract holds for every operation, whatever is asked: a seeded slice of R9 (RELIABILITY R9).

`python -m tests.api.conformance` is the full size.
"""

from collections.abc import Iterator

import pytest

from chalicelib import bootstrap
from tests.api import conformance
from tests.api.judge import Judge

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
