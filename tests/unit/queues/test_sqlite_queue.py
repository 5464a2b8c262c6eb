"""The laptop's queue: in order within a group, at least once, nothing lost, nobody held up by poison."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from chalicelib.queues.sqlite import Message, SqliteQueue
from chalicelib.sqlite_file import Database
from tests.contracts.stores.given import T0


class Hand:
    """A clock that is set by hand."""

    now = T0

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def database() -> Iterator[Database]:
    opened = Database()
    yield opened
    opened.close()


@pytest.fixture
def queue(database: Database, clock: Hand) -> SqliteQueue:
    return SqliteQueue(database, clock=clock, lease=60, receives=3)


def send(queue: SqliteQueue, group: str, text: str) -> None:
    queue.send(group, {"text": text}, deduplicate=f"{group} {text}")


def received(queue: SqliteQueue) -> Message:
    message = queue.receive()
    assert message is not None
    return message


def test_a_message_arrives_whole(queue: SqliteQueue) -> None:
    body = {"text": "ž\"'🦊", "n": 1, "none": None, "list": [1, {"a": 0.1}]}
    queue.send("g", body, deduplicate="d")
    message = received(queue)
    assert (message.group, message.body, message.receives) == ("g", body, 1)
    assert queue.done(message)
    assert queue.receive() is None
    assert queue.waiting() == 0


def test_a_group_is_worked_off_in_order_one_at_a_time(queue: SqliteQueue) -> None:
    for text in "abc":
        send(queue, "g", text)
    for text in "abc":
        message = received(queue)
        assert message.body["text"] == text
        assert queue.receive() is None
        assert queue.done(message)


def test_groups_do_not_wait_for_one_another(queue: SqliteQueue) -> None:
    for group in "gh":
        for text in "ab":
            send(queue, group, text)
    first, second = received(queue), received(queue)
    assert [(m.group, m.body["text"]) for m in (first, second)] == [("g", "a"), ("h", "a")]
    assert queue.receive() is None
    queue.done(second)
    assert received(queue).body["text"] == "b"


def test_the_same_message_within_five_minutes_is_sent_once(queue: SqliteQueue, clock: Hand) -> None:
    queue.send("g", {"n": 1}, deduplicate="same")
    queue.done(received(queue))
    clock.forward(299)
    queue.send("g", {"n": 2}, deduplicate="same")
    assert queue.receive() is None
    clock.forward(1)
    queue.send("g", {"n": 3}, deduplicate="same")
    assert received(queue).body == {"n": 3}


def test_a_message_whose_receiver_died_is_given_out_again_before_its_followers(
    queue: SqliteQueue, clock: Hand
) -> None:
    send(queue, "g", "a")
    send(queue, "g", "b")
    lost = received(queue)
    clock.forward(59)
    assert queue.receive() is None
    clock.forward(1)
    again = received(queue)
    assert (again.body["text"], again.receives) == ("a", 2)
    assert not queue.done(lost), "the lease ran out: it is another's now"
    assert not queue.extend(lost)
    queue.release(lost)
    assert queue.receive() is None
    assert queue.done(again)
    assert received(queue).body["text"] == "b"


def test_a_lease_can_be_made_longer(queue: SqliteQueue, clock: Hand) -> None:
    send(queue, "g", "a")
    message = received(queue)
    clock.forward(50)
    assert queue.extend(message)
    clock.forward(50)
    assert queue.receive() is None
    assert queue.done(message)


def test_a_message_that_is_given_back_comes_again_after_its_delay(queue: SqliteQueue, clock: Hand) -> None:
    send(queue, "g", "a")
    queue.release(received(queue))
    queue.release(received(queue), delay=5)
    assert queue.receive() is None
    clock.forward(5)
    assert received(queue).receives == 3


def test_a_poison_message_is_set_aside_and_its_group_goes_on(queue: SqliteQueue, clock: Hand) -> None:
    """RELIABILITY R10."""
    send(queue, "g", "poison")
    send(queue, "g", "healthy")
    for _ in range(3):
        queue.release(received(queue))
    message = received(queue)
    assert message.body["text"] == "healthy"
    assert (queue.waiting(), queue.set_aside()) == (1, 1)
    queue.done(message)
    assert queue.receive() is None
    assert queue.redrive() == 1
    again = received(queue)
    assert (again.body["text"], again.receives) == ("poison", 1)
    assert queue.done(again)
    assert (queue.waiting(), queue.set_aside()) == (0, 0)


def test_when_only_poison_was_left_there_is_nothing_to_receive(queue: SqliteQueue) -> None:
    send(queue, "g", "poison")
    for _ in range(3):
        queue.release(received(queue))
    assert queue.receive() is None
    assert queue.set_aside() == 1


def test_messages_outlive_the_program(tmp_path: Path, clock: Hand) -> None:
    database = Database(tmp_path / "palimpsest.db")
    send(SqliteQueue(database, clock=clock), "g", "kept")
    database.close()
    database = Database(tmp_path / "palimpsest.db")
    queue = SqliteQueue(database, clock=clock)
    assert received(queue).body["text"] == "kept"
    database.close()


def test_many_receivers_get_every_message_once(queue: SqliteQueue) -> None:
    for n in range(40):
        send(queue, f"g{n % 8}", f"{n:02}")

    def work(_: int) -> list[str]:
        texts = []
        while queue.waiting():
            message = queue.receive()
            if message is not None:
                texts.append(message.body["text"])
                queue.done(message)
        return texts

    with ThreadPoolExecutor(4) as pool:
        texts = [text for batch in pool.map(work, range(4)) for text in batch]
    assert sorted(texts) == [f"{n:02}" for n in range(40)]
