"""What is no answer of DynamoDB is not taken for an empty one: botocore reads a page, or half an answer, as `{}`."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chalicelib.errors import StoreUnavailableError
from chalicelib.stores.dynamodb.connection import UnreadableAnswerError, refuse_unreadable
from chalicelib.stores.dynamodb.database import Access, Database
from chalicelib.stores.dynamodb.memories import DynamoMemoryStore
from chalicelib.stores.dynamodb.retries import Retries
from tests.contracts.embedders.endpoints import Endpoint, Reply, serving
from tests.contracts.stores.given import ME, add

PAGE = b"<html>Sign in to the network</html>"
BODIES = {
    "a page": PAGE,
    "half an answer": b'{"Item": {"pk": {"S": "a',
    "nothing": b"",
    "a list": b"[]",
    "noise": b"\xff\xfe",
}


@contextmanager
def store_that_is_answered(reply: Reply) -> Iterator[tuple[DynamoMemoryStore, Endpoint]]:
    """A store whose database answers so, whatever it is asked."""
    with serving() as endpoint:
        endpoint.always = reply
        retries = Retries(attempts=2, sleep=lambda _: None)
        access = Access("any-", "eu-central-1", endpoint.url, retries=retries, credentials=("test", "test"))
        yield DynamoMemoryStore(Database(access)), endpoint


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_memory_is_not_said_to_be_missing_when_no_answer_came(body: bytes) -> None:
    with store_that_is_answered(Reply(body=body)) as (store, endpoint):
        with pytest.raises(StoreUnavailableError, match="an answer that cannot be read") as raised:
            store.get(ME, 1)
        assert not raised.value.unknown
        assert len(endpoint.received) == 2


def test_a_write_is_not_acknowledged_when_no_answer_came() -> None:
    """It may have been done: a repeat with the same key tells."""
    with (
        store_that_is_answered(Reply(body=PAGE)) as (store, _),
        pytest.raises(StoreUnavailableError) as raised,
    ):
        add(store, 1)
    assert raised.value.unknown


def test_an_empty_answer_is_an_answer() -> None:
    with store_that_is_answered(Reply(body=b"{}")) as (store, _):
        assert store.get(ME, 1) is None


def test_what_is_an_error_already_is_left_to_those_who_read_errors() -> None:
    refuse_unreadable(response_dict={"status_code": 503, "body": PAGE})
    with pytest.raises(UnreadableAnswerError, match="the answer is not JSON"):
        refuse_unreadable(response_dict={"status_code": 200, "body": PAGE}, event_name="any")
