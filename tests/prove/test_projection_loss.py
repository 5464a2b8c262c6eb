"""R6: a lost index comes back while people are answered, and the reconciler mends every difference; a seeded slice of
`tests.prove.projection`, and what shows that it would find a fault."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.domain.projection import IndexEntry
from chalicelib.jobs import schedules
from chalicelib.services.memory.project import Rebuild, Reconciler
from infra.local import clock
from tests.fakes.caller import Answer, Caller, wait_until
from tests.prove.projection.compare import compare
from tests.prove.projection.differences import FOUND_AS, Field, rebuilt, reconciled
from tests.prove.projection.engines import Embedded, OpenSearch
from tests.prove.projection.loss import Clients, Lost, lose


@pytest.fixture(autouse=True)
def _own_services(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing index is noticed at once, not within seconds."""
    monkeypatch.setattr(clock, "LOOK_EVERY_S", 0.1)


# ---------------------------------------------------------------------------- the reconciler


def test_every_planted_difference_is_found_by_its_kind_and_repaired() -> None:
    told = reconciled(Embedded(), 400, 1)
    assert told.faults == []
    assert told.never() == []
    assert told.planted.total() > 150


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_a_real_engine_is_repaired_too(opensearch_url: str) -> None:
    told = reconciled(OpenSearch(opensearch_url), 150, 1)
    assert told.faults == []
    assert told.planted.total() > 80


def test_the_comparison_itself_sees_every_kind_of_difference() -> None:
    here = Field(Embedded(), 150, 2)
    planted = here.plant(0.5)
    seen = "\n".join(compare(here.services, here.engine).differences)
    for number, kind in planted.kinds.items():
        assert f"#{number} " in seen, kind


def test_a_reconciler_that_leaves_a_kind_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    difference = Reconciler._difference

    def blind(self: Reconciler, *asked: Any) -> str | None:
        found = difference(self, *asked)
        return None if found == "unembedded" else found

    monkeypatch.setattr(Reconciler, "_difference", blind)
    assert any("no vectors" in fault for fault in reconciled(Embedded(), 120, 1).faults)


def test_a_sample_that_does_not_go_on_to_the_whole_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_a_sample(here: Any, space: Any, sample: int | None) -> None:
        here.reconciler.compare(space, sample=sample)

    monkeypatch.setattr(schedules, "_compare", only_a_sample)
    monkeypatch.setattr(schedules, "SAMPLE", 20)
    assert any("after the sample" in fault for fault in reconciled(Embedded(), 300, 1).faults)


def test_every_kind_of_difference_is_one_that_the_reconciler_has_a_name_for() -> None:
    assert set(FOUND_AS.values()) == {"missing", "stale", "extra", "unembedded"}


# ---------------------------------------------------------------------------- the loss


def test_people_are_answered_while_the_index_is_dropped_and_nothing_differs(
    tmp_path: Path, soon: None
) -> None:
    lost = lose(Embedded(), {}, tmp_path, memories=100, drops=2, seed=1)
    assert lost.faults == []
    assert (lost.drops, lost.degraded > 0) == (2, True)
    assert lost.answers.total() > 20


def test_a_rebuild_that_leaves_one_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fill = Rebuild._fill

    def careless(self: Rebuild, name: str, entries: Sequence[IndexEntry]) -> None:
        fill(self, name, list(entries)[1:])

    assert rebuilt(Embedded(), 150, 1)[2] == []
    monkeypatch.setattr(Rebuild, "_fill", careless)
    assert rebuilt(Embedded(), 150, 1)[2] != []


class Refusing(Caller):
    """A service that answers 503 while it has no index, as ours must not."""

    def __init__(self) -> None:
        super().__init__("", "")

    def ask(self, method: str, path: str, body: object = None, *, seconds: float = 30.0) -> Answer:
        return Answer(503, {"error": {"code": "unavailable"}})


def test_an_answer_that_is_an_error_is_found() -> None:
    lost = Lost()
    clients = Clients(Refusing(), 1, lost)
    wait_until(lambda: lost.faults)
    clients.end()
    assert any("503" in fault for fault in lost.faults)


class Blind(Caller):
    """A service that does not find what was just written."""

    def ask(self, method: str, path: str, body: object = None, *, seconds: float = 30.0) -> Answer:
        if path.endswith("/memories"):
            return Answer(201, {"memory": {"number": 7}})
        return Answer(200, {"items": [{"memory": {"number": 1}}], "degraded": "index_missing"})


def test_a_write_that_is_not_found_at_once_is_found() -> None:
    lost = Lost()
    clients = Clients(Blind("", ""), 1, lost)
    clients.end()
    clients._write(random.Random(1))
    assert any("#7 was not found" in fault for fault in lost.faults)
