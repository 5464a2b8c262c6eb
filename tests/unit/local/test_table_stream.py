"""The stream of a DynamoDB table on a laptop: every change reaches the outbox, whatever happens in between."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from chalicelib.domain.scope import Space
from chalicelib.errors import StoreUnavailableError
from chalicelib.sqlite_file import Database
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.sqlite.outbox import Outbox
from infra.local.table_stream import SHARDS_EVERY_S, TableStream
from tests.fakes.world import START

ANNA = Space.personal("anna").key


class Streams:
    """The client of boto3, as far as it is used: shards of records, whose numbers rise over all of them."""

    def __init__(self) -> None:
        self.arn = "arn:1"
        self.shards: dict[str, list[dict[str, Any]]] = {"s1": []}
        self.closed: set[str] = set()
        self.trimmed_to = 0
        self.page = 1_000
        self.shards_a_page = 1
        self.fail: Exception | None = None
        self.fails_of: dict[str, list[str]] = {}
        """By operation, error codes of the next calls."""
        self.calls: list[str] = []
        self._sequence = 0

    def write(self, sort_key: str, shard: str = "s1", space: str = ANNA) -> None:
        self._sequence += 1
        item = {"pk": {"S": space}, "sk": {"S": sort_key}}
        record = {"dynamodb": {"Keys": item, "SequenceNumber": str(self._sequence)}}
        self.shards[shard].append(record)

    def stream(self) -> str:
        return self.arn

    def describe_stream(self, **asked: str) -> dict[str, Any]:
        self._called("describe_stream")
        assert asked["StreamArn"] == self.arn
        names = sorted(self.shards)
        last = asked.get("ExclusiveStartShardId")
        begin = names.index(last) + 1 if last else 0
        page = names[begin : begin + self.shards_a_page]
        description: dict[str, Any] = {"Shards": [{"ShardId": name} for name in page]}
        if begin + self.shards_a_page < len(names):
            description["LastEvaluatedShardId"] = page[-1]
        return {"StreamDescription": description}

    def get_shard_iterator(self, **asked: str) -> dict[str, Any]:
        self._called("get_shard_iterator")
        after = int(asked.get("SequenceNumber", 0))
        if asked["ShardIteratorType"] == "AFTER_SEQUENCE_NUMBER" and after < self.trimmed_to:
            raise answered("TrimmedDataAccessException")
        return {"ShardIterator": f"{asked['ShardId']}:{max(after, self.trimmed_to)}"}

    def get_records(self, **asked: str) -> dict[str, Any]:
        self._called("get_records")
        shard, _, after = asked["ShardIterator"].partition(":")
        if shard not in self.shards:
            raise answered("ResourceNotFoundException")
        left = [r for r in self.shards[shard] if int(r["dynamodb"]["SequenceNumber"]) > int(after)]
        page = left[: self.page]
        last = page[-1]["dynamodb"]["SequenceNumber"] if page else after
        answer: dict[str, Any] = {"Records": page}
        if shard not in self.closed or len(left) > len(page):
            answer["NextShardIterator"] = f"{shard}:{last}"
        return answer

    def _called(self, operation: str) -> None:
        self.calls.append(operation)
        if self.fail is not None:
            raise self.fail
        codes = self.fails_of.get(operation)
        if codes:
            raise answered(codes.pop(0))


def answered(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "scripted"}}, "operation")


class Laptop:
    """What follows the stream, and the outbox that it fills."""

    def __init__(self) -> None:
        self.streams = Streams()
        self.database = Database(":memory:")
        self.outbox = Outbox(self.database, clock=lambda: START)
        self.now = 100.0
        self.missed = 0
        self.start()

    def start(self) -> None:
        """As a new process would."""
        self.table = TableStream(
            self.streams,
            self.streams.stream,
            self.database,
            now=lambda: START,
            monotonic=lambda: self.now,
            missed=self._miss,
        )

    def _miss(self) -> None:
        self.missed += 1

    def read(self) -> list[tuple[str, str]]:
        """Turns until there is no more; what came into the outbox, taken out of it."""
        while self.table.turn():
            pass
        records = self.outbox.pending(1_000)
        self.outbox.done([record.seq for record in records])
        return [(record.kind, record.id) for record in records]


@pytest.fixture
def laptop() -> Iterator[Laptop]:
    made = Laptop()
    yield made
    made.database.close()


def test_changes_of_memories_and_jobs_reach_the_outbox_in_order_and_nothing_else_does(laptop: Laptop) -> None:
    for sort_key in (keys.memory(7), "space", keys.job("job_1"), "change#m#7#1", keys.memory(8), "~counter"):
        laptop.streams.write(sort_key)
    assert laptop.read() == [("memory", "7"), ("job", "job_1"), ("memory", "8")]
    assert laptop.read() == []


def test_the_space_of_each_change_is_kept(laptop: Laptop) -> None:
    pool = Space.pool("rocket").key
    laptop.streams.write(keys.memory(1), space=pool)
    laptop.table.turn()
    (record,) = laptop.outbox.pending(10)
    assert record.space == pool


def test_a_new_process_goes_on_where_the_last_one_was(laptop: Laptop) -> None:
    laptop.streams.write(keys.memory(1))
    laptop.read()
    laptop.streams.write(keys.memory(2))
    laptop.start()
    assert laptop.read() == [("memory", "2")]


def test_a_process_that_dies_before_a_page_is_kept_reads_it_again(laptop: Laptop) -> None:
    laptop.streams.page = 2
    for number in range(1, 6):
        laptop.streams.write(keys.memory(number))
    laptop.table.turn()
    laptop.start()
    assert [name for _, name in laptop.read()] == ["1", "2", "3", "4", "5"]


def test_shards_that_are_split_off_are_found_and_ended_ones_are_read_to_their_end(laptop: Laptop) -> None:
    laptop.read()
    laptop.streams.write(keys.memory(1))
    laptop.streams.closed.add("s1")
    laptop.streams.shards.update(s2=[], s3=[])
    laptop.streams.write(keys.memory(2), "s2")
    laptop.streams.write(keys.memory(3), "s3")
    assert sorted(name for _, name in laptop.read()) == ["1", "2", "3"]
    laptop.streams.calls.clear()
    laptop.table.turn()
    assert laptop.streams.calls.count("get_records") == 2
    assert laptop.missed == 1  # at the very first start


def test_an_ended_shard_that_vanishes_is_forgotten_and_nothing_was_missed(laptop: Laptop) -> None:
    laptop.streams.write(keys.memory(1))
    laptop.streams.closed.add("s1")
    laptop.streams.shards["s2"] = []
    laptop.read()
    del laptop.streams.shards["s1"]
    laptop.now += SHARDS_EVERY_S
    laptop.read()
    laptop.start()
    laptop.read()
    assert laptop.missed == 1


def test_shards_are_not_looked_for_at_every_turn(laptop: Laptop) -> None:
    for _ in range(20):
        laptop.table.turn()
    assert laptop.streams.calls.count("describe_stream") == 1
    assert laptop.streams.calls.count("get_shard_iterator") == 1


def test_the_first_time_all_is_compared_for_the_stream_keeps_a_day_only(laptop: Laptop) -> None:
    laptop.read()
    assert laptop.missed == 1
    laptop.start()
    laptop.read()
    assert laptop.missed == 1


def test_a_laptop_that_slept_for_longer_than_the_stream_keeps_compares_all(laptop: Laptop) -> None:
    laptop.streams.write(keys.memory(1))
    laptop.read()
    for number in (2, 3):
        laptop.streams.write(keys.memory(number))
    laptop.streams.trimmed_to = 2
    laptop.start()
    assert laptop.read() == [("memory", "3")]
    assert laptop.missed == 2
    laptop.start()
    assert laptop.read() == []
    assert laptop.missed == 2


def test_a_shard_that_vanished_unread_compares_all(laptop: Laptop) -> None:
    laptop.read()
    laptop.streams.shards = {"s9": []}
    laptop.streams.write(keys.memory(1), "s9")
    laptop.start()
    assert laptop.read() == [("memory", "1")]
    assert laptop.missed == 2


def test_a_table_that_was_made_anew_is_read_from_its_beginning(laptop: Laptop) -> None:
    laptop.streams.write(keys.memory(1))
    laptop.read()
    laptop.streams.arn = "arn:2"
    laptop.streams.shards = {"s1": []}
    laptop.streams.write(keys.memory(5))
    laptop.now += SHARDS_EVERY_S
    assert laptop.read() == [("memory", "5")]
    assert laptop.missed == 2


def test_an_iterator_that_expired_is_asked_for_again(laptop: Laptop) -> None:
    laptop.read()
    laptop.streams.write(keys.memory(1))
    laptop.streams.fails_of["get_records"] = ["ExpiredIteratorException"]
    assert laptop.read() == [("memory", "1")]
    assert laptop.missed == 1


def test_a_stream_that_is_gone_while_it_is_read_is_looked_for_again(laptop: Laptop) -> None:
    laptop.read()
    laptop.streams.shards = {"s2": []}
    laptop.streams.write(keys.memory(1), "s2")
    laptop.read()
    assert laptop.read() == [("memory", "1")]


@pytest.mark.parametrize(
    "error", [EndpointConnectionError(endpoint_url="http://x"), answered("LimitExceededException")]
)
@pytest.mark.parametrize("begun", [True, False])
def test_a_stream_that_does_not_answer_is_a_part_that_is_down_and_nothing_is_lost(
    laptop: Laptop, error: Exception, begun: bool
) -> None:
    if begun:
        laptop.read()
    laptop.streams.write(keys.memory(1))
    laptop.streams.fail = error
    with pytest.raises(StoreUnavailableError):
        laptop.table.turn()
    laptop.streams.fail = None
    assert laptop.read() == [("memory", "1")]


def test_a_change_that_cannot_be_read_holds_back_nothing(laptop: Laptop) -> None:
    laptop.streams.write(keys.memory(1), space="nobody's")
    laptop.streams.write("memory#x")
    laptop.streams.write(keys.memory(2))
    assert laptop.read() == [("memory", "2")]
