"""The laptop's clock: everything that the cloud fires is fired, and an index that went away comes back by itself."""

from collections.abc import Mapping
from typing import Any

import pytest

from chalicelib.errors import IndexUnavailableError, SearchIndexError
from infra.local import clock as module
from infra.local.clock import Clock


class Index:
    """An index that the test breaks."""

    def __init__(self) -> None:
        self.state: bool | SearchIndexError = True

    def ready(self) -> bool:
        if isinstance(self.state, SearchIndexError):
            raise self.state
        return self.state


class Fired:
    """The jobs that the clock fires, watched; time as the test has it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        self.index = Index()
        self.jobs: list[tuple[float, str]] = []
        self.backs = 0
        self.rebuild_works = True
        for name in ("reconcile", "clean_up", "sweep"):
            monkeypatch.setattr(module, name, self._watched(name))
        self.clock = Clock(self.index, lambda: self.now, self._back)  # type: ignore[arg-type]

    def _watched(self, name: str) -> Any:
        def job(event: Mapping[str, Any], _context: Any) -> None:
            what = "".join(key for key in ("whole", "all") if event.get(key))
            self.jobs.append((self.now - 1_000, f"{name} {what}".strip()))
            if name == "reconcile" and self.index.state is False and self.rebuild_works:
                self.index.state = True

        return job

    def _back(self) -> None:
        self.backs += 1

    def run(self, seconds: float, step: float = 1.0) -> list[tuple[float, str]]:
        """What is fired meanwhile."""
        before = len(self.jobs)
        for _ in range(int(seconds / step)):
            assert self.clock.turn() is False
            self.now += step
        return self.jobs[before:]


@pytest.fixture
def fired(monkeypatch: pytest.MonkeyPatch) -> Fired:
    return Fired(monkeypatch)


def test_at_start_lost_messages_are_sent_and_soon_a_sample_is_compared(fired: Fired) -> None:
    assert fired.run(20) == [(0, "sweep all"), (10, "reconcile")]


def test_in_a_day_all_is_fired_as_often_as_it_should_be(fired: Fired) -> None:
    names = [name for _, name in fired.run(86_401)]
    assert {name: names.count(name) for name in set(names)} == {
        "sweep all": 1,
        "sweep": 1_440,
        "reconcile": 144,
        "reconcile whole": 1,
        "clean_up": 1,
    }


def test_a_missing_index_is_built_anew_within_seconds(fired: Fired) -> None:
    fired.run(20)
    fired.index.state = False
    ((moment, name),) = fired.run(10)
    assert name == "reconcile"
    assert moment <= 25
    assert fired.backs == 0


def test_an_index_that_does_not_answer_is_said_once_and_nothing_is_fired_that_needs_it(
    fired: Fired, caplog: pytest.LogCaptureFixture
) -> None:
    fired.index.state = IndexUnavailableError("down")
    assert {name for _, name in fired.run(3_000)} == {"sweep all", "sweep"}
    assert caplog.messages == ["the index does not answer"]


def test_an_index_that_comes_back_is_noticed_within_seconds(fired: Fired) -> None:
    fired.index.state = IndexUnavailableError("down")
    fired.run(3_000)
    fired.index.state = True
    fired.run(6)
    assert fired.backs == 1
    fired.run(60)
    assert fired.backs == 1


def test_an_engine_that_comes_back_empty_is_filled(fired: Fired) -> None:
    fired.index.state = IndexUnavailableError("down")
    fired.run(60)
    fired.index.state = False
    fired.run(6)
    assert fired.index.state is True
    assert fired.backs == 1


def test_a_rebuild_that_keeps_failing_is_tried_less_often_but_never_given_up(fired: Fired) -> None:
    fired.rebuild_works = False
    fired.index.state = False
    tries = [moment for moment, name in fired.run(600) if name == "reconcile"]
    assert 10 <= len(tries) <= 20
    fired.rebuild_works = True
    fired.run(61)
    assert fired.index.state is True
    fired.index.state = False
    assert [name for _, name in fired.run(6) if name == "reconcile"]


def test_what_may_have_been_missed_is_compared_at_the_next_turn(fired: Fired) -> None:
    fired.run(20)
    fired.clock.compare_all()
    assert fired.run(1) == [(20, "reconcile whole")]


def test_after_a_long_sleep_of_the_laptop_each_is_fired_once(fired: Fired) -> None:
    fired.run(20)
    fired.now += 10 * 86_400
    assert sorted(name for _, name in fired.run(1)) == ["clean_up", "reconcile", "reconcile whole", "sweep"]
