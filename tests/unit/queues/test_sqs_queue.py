"""The cloud's queue does what the laptop's does, and fails in our words."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from boto3 import Session
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from moto import mock_aws

from chalicelib.errors import StoreUnavailableError
from chalicelib.ports import Queue
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.queues.sqs import SqsQueue
from chalicelib.sqlite_file import Database
from tests.contracts.stores.given import T0

REGION = "eu-central-1"
Receive = Callable[[], list[tuple[str, Any]]]
"""All that waits, in order: (group, body)."""


@pytest.fixture(params=["sqlite", "sqs"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[Queue, Receive]]:
    """Either queue, and what takes everything out of it."""
    if request.param == "sqlite":
        database = Database()
        queue = SqliteQueue(database, clock=lambda: T0, lease=60, receives=3)
        yield queue, lambda: list(_all_of(queue))
        database.close()
        return
    with mock_aws():
        client: Any = Session().client("sqs", region_name=REGION)
        url = client.create_queue(QueueName="inbox.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        yield SqsQueue(url, REGION, client=lambda: client), lambda: list(_all_at(client, url))


def _all_of(queue: SqliteQueue) -> Iterator[tuple[str, Any]]:
    while (message := queue.receive()) is not None:
        yield message.group, message.body
        assert queue.done(message)


def _all_at(client: Any, url: str) -> Iterator[tuple[str, Any]]:
    while messages := client.receive_message(
        QueueUrl=url, AttributeNames=["MessageGroupId"], MaxNumberOfMessages=10
    ).get("Messages"):
        for message in messages:
            yield message["Attributes"]["MessageGroupId"], json.loads(message["Body"])
            client.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])


def test_messages_of_a_group_come_whole_and_in_order(both: tuple[Queue, Receive]) -> None:
    queue, receive = both
    for number in range(3):
        queue.send("account:anna", {"text": "ž🦊", "n": number}, deduplicate=f"d{number}")
    assert queue.depth() == 3
    assert receive() == [("account:anna", {"text": "ž🦊", "n": number}) for number in range(3)]
    assert queue.depth() == 0


def test_what_is_sent_twice_comes_once(both: tuple[Queue, Receive]) -> None:
    queue, receive = both
    for _ in range(2):
        queue.send("g", {"n": 1}, deduplicate="same")
    assert receive() == [("g", {"n": 1})]


@pytest.mark.parametrize("name", ["community:discord:" + "9" * 150, "skupina ž", "a b", "x" * 128])
def test_names_that_sqs_would_refuse_still_tell_groups_apart(name: str) -> None:
    with mock_aws():
        client: Any = Session().client("sqs", region_name=REGION)
        url = client.create_queue(QueueName="inbox.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        queue = SqsQueue(url, REGION, client=lambda: client)
        queue.send(name, {"n": 1}, deduplicate=name)
        queue.send(name + "'", {"n": 2}, deduplicate=name + "'")
        groups = [group for group, _ in _all_at(client, url)]
    assert len(set(groups)) == 2
    assert all(len(group) <= 128 and group.isascii() and " " not in group for group in groups)


class Failing:
    """A client whose every call fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, _name: str) -> Callable[..., Any]:
        def call(**_: Any) -> Any:
            raise self._error

        return call


REFUSED = ClientError({"Error": {"Code": "AccessDenied", "Message": "secret"}}, "SendMessage")
SILENT = ReadTimeoutError(endpoint_url="https://sqs.example")
AWAY = EndpointConnectionError(endpoint_url="https://sqs.example")


@pytest.mark.parametrize(("error", "unknown"), [(REFUSED, False), (SILENT, True), (AWAY, True)])
def test_a_queue_that_fails_says_so_and_whether_the_message_may_be_there(
    error: Exception, unknown: bool
) -> None:
    client: Any = Failing(error)
    queue = SqsQueue("https://sqs.example/q.fifo", REGION, client=lambda: client)
    with pytest.raises(StoreUnavailableError) as raised:
        queue.send("g", {"n": 1}, deduplicate="d")
    assert raised.value.unknown is unknown
    assert "secret" not in str(raised.value)
    with pytest.raises(StoreUnavailableError) as raised:
        queue.depth()
    assert raised.value.unknown is False


def test_an_answer_that_is_none_is_no_depth() -> None:
    class Empty:
        def get_queue_attributes(self, **_: Any) -> dict[str, Any]:
            return {}

    client: Any = Empty()
    with pytest.raises(StoreUnavailableError):
        SqsQueue("https://sqs.example/q.fifo", REGION, client=lambda: client).depth()


def test_a_client_of_its_own_has_time_outs_and_is_made_at_first_use() -> None:
    queue = SqsQueue("https://sqs.example/q.fifo", REGION)
    client: Any = queue._client
    config = client.meta.config
    assert (config.connect_timeout, config.read_timeout) == (1.0, 3.0)
    assert config.retries["total_max_attempts"] == 3
