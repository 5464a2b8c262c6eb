"""DynamoDB's tables behind a gateway, and their stream as a laptop reads it."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import boto3
from botocore.config import Config

from chalicelib.bootstrap import Parts
from chalicelib.stores.dynamodb.accounts import DynamoAccountStore
from chalicelib.stores.dynamodb.connection import believing_only_json
from chalicelib.stores.dynamodb.database import Access, Database
from chalicelib.stores.dynamodb.inbox import DynamoInboxStore
from chalicelib.stores.dynamodb.memories import DynamoMemoryStore
from chalicelib.stores.dynamodb.provision import create_tables
from chalicelib.stores.dynamodb.retries import Retries
from chalicelib.stores.dynamodb.tables import DEFINITIONS, MEMORY
from infra.local.table_stream import TableStream
from tests.fakes.world import World

REGION = "eu-central-1"
CREDENTIALS = ("test", "test")


@dataclass(frozen=True)
class CloudTable:
    """Tables of their own, reached over `url`."""

    database: Database
    url: str
    silence_s: float

    @classmethod
    @contextmanager
    def made(cls, url: str, direct: str, silence_s: float) -> Iterator["CloudTable"]:
        """Make them at the emulator itself, and drop them at the end."""
        prefix = f"proof-{secrets.token_hex(4)}-"
        maker = Database(Access(prefix, REGION, direct, read_timeout=60.0, credentials=CREDENTIALS))
        create_tables(maker)
        retries = Retries(attempts=3, sleep=lambda _: None)
        access = Access(
            prefix,
            REGION,
            url,
            silence_s,
            4 * silence_s,
            connections=8,
            retries=retries,
            credentials=CREDENTIALS,
        )
        try:
            yield cls(Database(access), url, silence_s)
        finally:
            for table in DEFINITIONS:
                maker.connection.delete_table(maker.name(table))

    def adapt(self, parts: Parts, world: World, *, fresh: timedelta) -> Parts:
        """The stores of a world, here instead of in its file."""
        memories = DynamoMemoryStore(self.database, clock=world.clock, unprojected_for=fresh)
        accounts, inbox = DynamoAccountStore(self.database), DynamoInboxStore(self.database)
        return replace(parts, memories=memories, accounts=accounts, inbox=inbox)

    def stream(
        self, world: World, monotonic: Callable[[], float], missed: Callable[[], object]
    ) -> TableStream:
        """What brings the tables' changes into the world's outbox."""
        tables, streams = self._client("dynamodb"), self._client("dynamodbstreams")
        name = self.database.name(MEMORY)
        return TableStream(
            streams,
            lambda: str(tables.describe_table(TableName=name)["Table"]["LatestStreamArn"]),
            world.database,
            now=world.clock,
            monotonic=monotonic,
            missed=missed,
        )

    def _client(self, service: str) -> Any:
        config = Config(
            connect_timeout=self.silence_s, read_timeout=4 * self.silence_s, retries={"total_max_attempts": 1}
        )
        made = boto3.client(  # type: ignore[call-overload]
            service,
            region_name=REGION,
            endpoint_url=self.url,
            config=config,
            aws_access_key_id=CREDENTIALS[0],
            aws_secret_access_key=CREDENTIALS[1],
        )
        return believing_only_json(made)
