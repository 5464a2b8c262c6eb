"""Texts of callers that come at the same time are computed together, and each gets its own."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import EmbedderUnavailableError, EmbeddingDimensionError
from chalicelib.providers.batching import Gathering, batches

SIZED = st.lists(st.tuples(st.text(max_size=3), st.integers(1, 20)), max_size=40)


@given(SIZED, st.integers(1, 5), st.integers(1, 30))
def test_batches_keep_the_order_and_the_bounds(texts: list[tuple[str, int]], count: int, weight: int) -> None:
    found = list(batches(texts, count=count, weight=weight))
    assert [one for batch in found for one in batch] == texts
    for batch in found:
        assert 1 <= len(batch) <= count
        assert len(batch) == 1 or sum(size for _, size in batch) <= weight


class Model:
    """Counts its calls; the first one waits until it is let go."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, texts: Sequence[str]) -> list[bytes]:
        self.calls.append(list(texts))
        if not self.begun.is_set():
            self.begun.set()
            assert self.go_on.wait(30)
        return [text.encode() for text in texts]


def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds, half a minute at most."""
    pause, end = threading.Event(), time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        pause.wait(0.001)


def test_what_comes_while_a_call_runs_goes_into_the_next_call() -> None:
    model = Model()
    gathering = Gathering(model, count=8, weight=100, at_once=1)
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(gathering, [("first", 1)])
        assert model.begun.wait(30)
        others = [threads.submit(gathering, [(f"text {number}", 1)]) for number in range(7)]
        until(lambda: len(gathering._waiting) == 7)
        model.go_on.set()
        assert first.result(30) == [b"first"]
        assert [other.result(30) for other in others] == [[f"text {number}".encode()] for number in range(7)]
    assert len(model.calls) == 2
    assert sorted(model.calls[1]) == [f"text {number}" for number in range(7)]


def test_a_caller_with_many_texts_lets_others_in_between() -> None:
    model = Model()
    gathering = Gathering(model, count=2, weight=100, at_once=1)
    with ThreadPoolExecutor(2) as threads:
        many = threads.submit(gathering, [(f"bulk {number}", 1) for number in range(10)])
        assert model.begun.wait(30)
        single = threads.submit(gathering, [("single", 1)])
        until(lambda: len(gathering._waiting) == 1)
        model.go_on.set()
        assert single.result(30) == [b"single"]
        assert many.result(30) == [f"bulk {number}".encode() for number in range(10)]
    place = next(place for place, call in enumerate(model.calls) if "single" in call)
    assert place <= 2, "it waits for the call that runs and at most one more"


def test_a_heavy_text_does_not_hold_up_light_ones_in_the_same_call() -> None:
    model = Model()
    model.begun.set()
    gathering = Gathering(model, count=8, weight=10, at_once=1)
    assert gathering([("a", 4), ("b", 4), ("heavy", 50), ("c", 1)]) == [b"a", b"b", b"heavy", b"c"]
    assert model.calls == [["a", "b"], ["heavy"], ["c"]]


def test_callers_share_a_call_only_as_far_as_it_stays_light() -> None:
    model = Model()
    gathering = Gathering(model, count=8, weight=10, at_once=1)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(gathering, [("first", 1)])
        assert model.begun.wait(30)
        others = [threads.submit(gathering, [(name, 6)]) for name in ("second", "third")]
        until(lambda: len(gathering._waiting) == 2)
        model.go_on.set()
        assert [future.result(30) for future in (first, *others)] == [[b"first"], [b"second"], [b"third"]]
    assert sorted(model.calls) == [["first"], ["second"], ["third"]]


def test_a_failure_reaches_each_caller_of_that_call_and_no_later_one() -> None:
    failures = [EmbeddingDimensionError("of another length")]

    def work(texts: Sequence[str]) -> list[bytes]:
        if failures:
            raise failures.pop()
        return [text.encode() for text in texts]

    gathering = Gathering(work, count=8, weight=100, at_once=1)
    with pytest.raises(EmbeddingDimensionError, match="of another length"):
        gathering([("a", 1), ("b", 1)])
    assert gathering([("a", 1)]) == [b"a"]


def test_nobody_waits_for_ever_when_the_thread_that_computes_is_interrupted() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(texts: Sequence[str]) -> list[bytes]:
        begun.set()
        assert go_on.wait(30)
        if "first" in texts:
            return [b"first"]
        raise KeyboardInterrupt

    gathering = Gathering(work, count=8, weight=100, at_once=1)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(gathering, [("first", 1)])
        assert begun.wait(30)
        others = [threads.submit(gathering, [(name, 1)]) for name in ("second", "third")]
        until(lambda: len(gathering._waiting) == 2)
        go_on.set()
        assert first.result(30) == [b"first"]
        ends = {type(other.exception(30)) for other in others}
    assert ends == {KeyboardInterrupt, EmbedderUnavailableError}


def test_so_many_calls_run_at_once_and_no_more() -> None:
    together = threading.Barrier(2, timeout=30)
    running, most = [], []

    def work(texts: Sequence[str]) -> list[bytes]:
        running.append(1)
        most.append(len(running))
        together.wait()
        running.pop()
        return [text.encode() for text in texts]

    gathering = Gathering(work, count=1, weight=100, at_once=2)
    with ThreadPoolExecutor(8) as threads:
        texts = [f"text {number}" for number in range(8)]
        found = list(threads.map(lambda text: gathering([(text, 1)]), texts))
    assert found == [[text.encode()] for text in texts]
    assert max(most) == 2


def test_a_caller_whose_text_another_has_in_hand_waits_for_it() -> None:
    gates = {name: threading.Event() for name in "abc"}
    calls: list[list[str]] = []

    def work(texts: Sequence[str]) -> list[bytes]:
        calls.append(list(texts))
        assert gates[texts[0]].wait(30)
        return [text.encode() for text in texts]

    gathering = Gathering(work, count=8, weight=100, at_once=2)
    with ThreadPoolExecutor(4) as threads:
        first = [threads.submit(gathering, [(name, 1)]) for name in "ab"]
        until(lambda: len(calls) == 2)
        others = [threads.submit(gathering, [(name, 1)]) for name in "cc"]
        until(lambda: len(gathering._waiting) == 2)
        gates["a"].set()
        until(lambda: len(calls) == 3)
        gates["b"].set()
        assert [future.result(30) for future in first] == [[b"a"], [b"b"]]
        gates["c"].set()
        assert [future.result(30) for future in others] == [[b"c"], [b"c"]]
    assert calls[2] == ["c", "c"]
