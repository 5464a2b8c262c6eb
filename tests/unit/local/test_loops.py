"""The laptop's threads: what they are told is done, in order, whatever fails in between."""

import logging
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from chalicelib.domain.drafts import NewJob
from chalicelib.errors import IndexUnavailableError, StoreUnavailableError
from chalicelib.queues.sqlite import SqliteQueue
from infra.local import loops
from infra.local.loops import Loop, queue_turn, stream_turn
from tests.fakes.world import World

# ---------------------------------------------------------------------------- the loop


class Turns:
    """Turns that a test watches: each takes the next of `results` (an error is raised), then there is no more work."""

    def __init__(self, *results: bool | Exception) -> None:
        self._results = list(results)
        self._taken = threading.Condition()
        self.count = 0

    def __call__(self) -> bool:
        with self._taken:
            self.count += 1
            self._taken.notify_all()
            result = self._results.pop(0) if self._results else False
        if isinstance(result, Exception):
            raise result
        return result

    def wait_for(self, count: int) -> None:
        with self._taken:
            assert self._taken.wait_for(lambda: self.count >= count, timeout=20)


def ended(loop: Loop) -> None:
    loop.stop()
    loop.join(20)
    assert not loop.is_alive()


def test_while_there_is_work_it_goes_on_at_once() -> None:
    turns = Turns(*[True] * 50)
    loop = Loop("test", turns, idle=600)
    loop.start()
    turns.wait_for(51)
    ended(loop)


def test_it_sleeps_without_work_until_it_is_woken() -> None:
    turns = Turns()
    loop = Loop("test", turns, idle=600)
    loop.start()
    turns.wait_for(1)
    loop.wake()
    turns.wait_for(2)
    ended(loop)


def test_it_looks_by_itself_after_a_while() -> None:
    turns = Turns()
    loop = Loop("test", turns, idle=0.01)
    loop.start()
    turns.wait_for(3)
    ended(loop)


def test_it_ends_though_it_was_never_begun_or_sleeps_long() -> None:
    Loop("test", Turns(), idle=600).stop()
    turns = Turns()
    loop = Loop("test", turns, idle=600)
    loop.start()
    turns.wait_for(1)
    ended(loop)


@pytest.mark.parametrize(
    ("error", "message", "with_stack"),
    [
        (StoreUnavailableError("the disk is full"), "a part does not answer; it is tried again", False),
        (IndexUnavailableError("down"), "a part does not answer; it is tried again", False),
        (ZeroDivisionError(), "a turn failed; it is tried again", True),
    ],
)
def test_a_turn_that_fails_is_said_once_and_the_loop_goes_on(
    error: Exception,
    message: str,
    with_stack: bool,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loops, "FAILED_S", 0.01)
    turns = Turns(error, error, error, False, error)
    loop = Loop("test", turns, idle=0.01)
    loop.start()
    turns.wait_for(7)
    ended(loop)
    assert [record.message for record in caplog.records] == [message, "works again"] * 2
    assert bool(caplog.records[0].exc_info) is with_stack


def test_another_failure_is_news(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "FAILED_S", 0.01)
    turns = Turns(StoreUnavailableError("full"), ZeroDivisionError(), StoreUnavailableError("full"))
    loop = Loop("test", turns, idle=600)
    loop.start()
    turns.wait_for(4)
    ended(loop)
    assert len(caplog.records) == 4


def test_what_fails_because_it_ends_is_not_said(caplog: pytest.LogCaptureFixture) -> None:
    inside, closed = threading.Event(), threading.Event()

    def turn() -> bool:
        inside.set()
        assert closed.wait(20)
        raise StoreUnavailableError("the data file is closed")

    loop = Loop("test", turn)
    loop.start()
    assert inside.wait(20)
    loop.stop()
    closed.set()
    loop.join(20)
    assert not caplog.records


# ---------------------------------------------------------------------------- the stream


Project = Callable[[dict[str, Any], Any], dict[str, Any]]


class Stream:
    """The stream's function, watched: it refuses the memories that the test names."""

    def __init__(self, own: Project, *refused: int) -> None:
        self._own = own
        self.refused = set(refused)
        self.batches: list[list[int]] = []

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        numbers = [int(record["dynamodb"]["Keys"]["sk"]["S"].split("#")[1]) for record in event["Records"]]
        self.batches.append(numbers)
        if self.refused & set(numbers):
            failed = [r["dynamodb"]["SequenceNumber"] for r, n in zip(event["Records"], numbers, strict=True)]
            return {"batchItemFailures": [{"itemIdentifier": sequence} for sequence in failed]}
        return self._own(event, context)


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> Stream:
    watched = Stream(loops.project_changes)
    monkeypatch.setattr(loops, "project_changes", watched)
    return watched


def turn(world: World) -> bool:
    return stream_turn(world.outbox, world.clock)


def waiting(world: World) -> list[int]:
    return sorted(world.parts.memories.unprojected(world.scope(), 1_000))


def indexed(world: World) -> list[int]:
    return [state.number for state in world.parts.index.indexed(world.scope(), after=0, limit=1_000)]


def test_what_was_written_is_handed_on_in_order_and_then_done_with(world: World, stream: Stream) -> None:
    for number in range(5):
        world.add(f"fact {number}")
    assert turn(world) is True
    assert stream.batches == [[1, 2, 3, 4, 5]]
    assert waiting(world) == []
    assert indexed(world) == [1, 2, 3, 4, 5]
    assert turn(world) is False


def test_a_batch_is_bounded_and_the_rest_comes_at_once(
    world: World, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "BATCH", 2)
    for number in range(5):
        world.add(f"fact {number}")
    while turn(world):
        pass
    assert [number for batch in stream.batches for number in batch] == [1, 2, 3, 4, 5]
    assert max(map(len, stream.batches)) == 2


def test_a_record_that_keeps_failing_goes_alone_and_the_others_are_done(world: World, stream: Stream) -> None:
    """The watched function fails whatever comes with the poison, as one that crashes on it would."""
    stream.refused = {2}
    for number in range(4):
        world.add(f"fact {number}")
    for _ in range(12):
        turn(world)
        world.later(seconds=20)
    assert indexed(world) == [1, 3, 4]
    assert waiting(world) == [2]
    world.add("fact 5")
    turn(world)
    assert indexed(world) == [1, 3, 4, 5]
    stream.refused = set()
    world.later(minutes=10)
    turn(world)
    assert indexed(world) == [1, 2, 3, 4, 5]
    assert waiting(world) == []


def test_what_fails_waits_longer_each_time(world: World, stream: Stream) -> None:
    stream.refused = {1}
    world.add("fact")
    tries = 0
    for _ in range(3_600):
        tries += turn(world)
        world.later(seconds=1)
    assert 8 < tries < 30


def test_when_a_part_is_back_all_are_tried_at_once(world: World, stream: Stream) -> None:
    stream.refused = {1}
    world.add("fact")
    for _ in range(10):
        turn(world)
        world.later(minutes=6)
    turn(world)
    stream.refused = set()
    assert turn(world) is False
    assert world.outbox.retry_now() == 1
    turn(world)
    assert indexed(world) == [1]


def test_a_write_during_the_handing_on_is_not_lost(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add("fact")
    own = loops.project_changes

    def and_touch(event: dict[str, Any], context: Any) -> Any:
        answer = own(event, context)
        world.parts.memories.touch(world.scope(), [1], world.now)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(loops, "project_changes", and_touch)
        turn(world)
    assert waiting(world) == [1]
    turn(world)
    assert waiting(world) == []


def test_records_stay_until_searches_see_them_in_the_index(world: World) -> None:
    """So a memory is found in every moment: from the table while it waits, from the index afterwards (M25)."""
    world.add("fact")

    def down() -> None:
        assert indexed(world) == [1]
        raise IndexUnavailableError("down")

    with pytest.raises(IndexUnavailableError):
        stream_turn(world.outbox, world.clock, down)
    assert waiting(world) == [1]
    stream_turn(world.outbox, world.clock, lambda: None)
    assert waiting(world) == []


def test_when_all_failed_nothing_is_settled(world: World, stream: Stream) -> None:
    stream.refused = {1}
    world.add("fact")
    stream_turn(world.outbox, world.clock, lambda: pytest.fail("nothing was applied"))
    assert waiting(world) == [1]


# ---------------------------------------------------------------------------- the queue


@pytest.fixture
def queue(world: World) -> SqliteQueue:
    assert isinstance(world.parts.queue, SqliteQueue)
    return world.parts.queue


def new_job(world: World) -> str:
    world.add("Tea is green.")
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    return str(job)


def state(world: World, job: str) -> str:
    return str(world.services.jobs.get(world.scope(), job)["job"]["state"])


def test_a_new_job_goes_through_stream_and_queue_to_its_end(world: World, queue: SqliteQueue) -> None:
    job = new_job(world)
    while stream_turn(world.outbox, world.clock):
        pass
    assert queue_turn(queue) is True
    assert state(world, job) == "done"
    assert queue.waiting() == 0
    assert queue_turn(queue) is False


def test_a_message_that_fails_comes_again_later_each_time_and_is_set_aside_in_the_end(
    world: World, queue: SqliteQueue
) -> None:
    queue.send("g", {"space": "nobody's", "job": "job_1"}, deduplicate="1")
    moments = []
    for second in range(300):
        if queue_turn(queue):
            moments.append(second)
        world.later(seconds=1)
    gaps = [after - before for before, after in pairwise(moments)]
    assert len(moments) == 5
    assert gaps == sorted(gaps)
    assert (queue.waiting(), queue.set_aside()) == (0, 1)


def test_a_message_that_fails_holds_back_its_group_only(world: World, queue: SqliteQueue) -> None:
    job = new_job(world)
    queue.send("a", {"space": "nobody's", "job": "job_1"}, deduplicate="1")
    queue.send("b", {"space": world.scope().space.key, "job": job}, deduplicate="2")
    assert queue_turn(queue)
    assert queue_turn(queue)
    assert state(world, job) == "done"
    assert queue.waiting() == 1


def test_what_a_killed_process_had_in_hand_is_taken_back_at_once(world: World, queue: SqliteQueue) -> None:
    queue.send("a", {"n": 1}, deduplicate="1")
    queue.send("a", {"n": 2}, deduplicate="2")
    lost = queue.receive()
    assert lost is not None
    assert queue.receive() is None
    assert queue.reclaim() == 1
    again = queue.receive()
    assert again is not None
    assert again.body == {"n": 1}
    assert queue.done(lost) is False
    assert queue.done(again) is True


def test_log_lines_of_loops_carry_only_what_is_allowed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    turns = Turns(StoreUnavailableError("secret text"))
    loop = Loop("test", turns, idle=600)
    loop.start()
    turns.wait_for(1)
    ended(loop)
    assert all("secret" not in record.getMessage() for record in caplog.records)
