"""What the code asks of AWS while a test lets it work: each call as the action that a role must allow, and on what."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from boto3 import Session

from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.queues.sqs import SqsQueue
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.stores.dynamodb.database import Database
from infra.aws.functions import On

Asked = set[tuple[On, str]]
IN_A_TRANSACTION = {
    "ConditionCheck": "ConditionCheckItem", "Delete": "DeleteItem", "Put": "PutItem", "Update": "UpdateItem",
}  # fmt: skip
REGION = "eu-central-1"


class Recorder:
    """Keeps what is asked. `now` is where it goes; a test puts a new set there for each function."""

    def __init__(self) -> None:
        self.now: Asked = set()

    def note(self, on: On, action: str) -> None:
        """One call."""
        self.now.add((on, action))

    @contextmanager
    def into(self, asked: Asked) -> Iterator[None]:
        """Note in this set for a while."""
        before, self.now = self.now, asked
        try:
            yield
        finally:
            self.now = before

    # ------------------------------------------------------------------ who is listened to

    def hear_tables(self, database: Database) -> None:
        """Every call to DynamoDB."""
        connection: Any = database.connection
        call = connection._make_api_call

        def heard(operation: str, said: dict[str, Any], *more: Any, **others: Any) -> Any:
            for on, action in _of_dynamodb(operation, said):
                self.note(on, f"dynamodb:{action}")
            return call(operation, said, *more, **others)

        connection._make_api_call = heard

    def hear_index(self, index: OpenSearchIndex) -> None:
        """Every request to OpenSearch, by its verb: that is what roles allow there."""
        client: Any = index._client
        call = client.call

        def heard(method: str, *more: Any, **others: Any) -> Any:
            self.note("search", f"es:ESHttp{method.title()}")
            return call(method, *more, **others)

        client.call = heard

    def queue(self) -> SqsQueue:
        """A queue of SQS, made where `mock_aws` is in force."""
        client: Any = Session().client("sqs", region_name=REGION)
        url = client.create_queue(QueueName="inbox.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]

        def hear(model: Any, **_: Any) -> None:
            self.note("queue", f"sqs:{model.name}")

        client.meta.events.register("before-call.sqs", hear)
        return SqsQueue(url, REGION, client=lambda: client)

    def embedder(self, name: str = "scripted") -> ScriptedEmbedder:
        """A model whose every use is noted as a call to Bedrock."""
        recorder = self

        class Heard(ScriptedEmbedder):
            def passages(self, texts: Sequence[str]) -> list[bytes]:
                recorder.note("model", "bedrock:InvokeModel")
                return super().passages(texts)

            def query(self, text: str) -> bytes:
                recorder.note("model", "bedrock:InvokeModel")
                return super().query(text)

        return Heard(name=name)


def _of_dynamodb(operation: str, said: dict[str, Any]) -> Iterator[tuple[On, str]]:
    if operation == "TransactWriteItems":
        for item in said["TransactItems"]:
            for kind, inner in item.items():
                yield _table(inner["TableName"]), IN_A_TRANSACTION[kind]
    elif operation in {"BatchGetItem", "BatchWriteItem"}:
        for name in said["RequestItems"]:
            yield _table(name), operation
    elif "IndexName" in said:
        yield "memory indexes", operation
    else:
        yield _table(said["TableName"]), operation


def _table(name: str) -> On:
    kind: Any = name.rsplit("-", 1)[-1]
    return kind
