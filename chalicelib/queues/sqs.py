"""The queue in the cloud: an SQS FIFO queue. In order within a group, at least once; what fails too often goes to the
dead-letter queue that the stack gives it. Its receiving end is Lambda's (`jobs/inbox.py`)."""

import json
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from chalicelib.errors import StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.literals import QueueAttributeNameType

CONNECT_TIMEOUT_S = 1.0
READ_TIMEOUT_S = 3.0
ATTEMPTS = 3
LONGEST_ID = 128
"""Characters of a group's name and of a deduplication id."""
COUNTS: "tuple[QueueAttributeNameType, ...]" = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
)


class SqsQueue:
    """`ports.Queue` on SQS. `url`: of a FIFO queue. Nothing is sent before the first call. Raises
    StoreUnavailableError; `unknown` is true where the message may have been taken."""

    def __init__(self, url: str, region: str, *, client: "Callable[[], SQSClient] | None" = None) -> None:
        self._url = url
        self._make = client or (lambda: sqs_client(region))

    def send(self, group: str, body: Mapping[str, object], *, deduplicate: str) -> None:
        with _answering(writes=True):
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=json.dumps(body, ensure_ascii=False),
                MessageGroupId=_short(group),
                MessageDeduplicationId=_short(deduplicate),
            )

    def depth(self) -> int:
        with _answering(writes=False):
            answer = self._client.get_queue_attributes(QueueUrl=self._url, AttributeNames=list(COUNTS))
            return sum(int(answer["Attributes"][name]) for name in COUNTS)

    @cached_property
    def _client(self) -> "SQSClient":
        return self._make()


def sqs_client(
    region: str,
    *,
    endpoint: str | None = None,
    connect_s: float = CONNECT_TIMEOUT_S,
    read_s: float = READ_TIMEOUT_S,
) -> "SQSClient":
    """A client with time-outs, in seconds. `endpoint`: URL of SQS, if it is not AWS's own."""
    from boto3 import Session
    from botocore.config import Config

    config = Config(
        connect_timeout=connect_s,
        read_timeout=read_s,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
    )
    return Session().client("sqs", region_name=region, endpoint_url=endpoint, config=config)


def _short(name: str) -> str:
    """The name, or what stands for it where SQS would refuse it: SQS takes 128 characters of ASCII."""
    allowed = len(name) <= LONGEST_ID and all("!" <= character <= "~" for character in name)
    return name if allowed else sha256(name.encode()).hexdigest()


@contextmanager
def _answering(*, writes: bool) -> "Iterator[None]":
    """Turns what botocore raises, and an answer that is none, into our own error."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", "unknown"))
        raise StoreUnavailableError(f"the queue refused: {code}") from error
    except (BotoCoreError, KeyError, ValueError) as error:
        raise StoreUnavailableError(
            f"the queue does not answer: {type(error).__name__}", unknown=writes
        ) from error
