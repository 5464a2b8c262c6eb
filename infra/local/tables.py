"""The DynamoDB tables of a laptop that uses them instead of its own file: whether they are there, and their stream."""

from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import PynamoDBException

from chalicelib.bootstrap import tables_of
from chalicelib.errors import StoreUnavailableError
from chalicelib.settings import Settings
from chalicelib.stores.dynamodb.connection import believing_only_json
from chalicelib.stores.dynamodb.provision import create_tables
from chalicelib.stores.dynamodb.tables import DEFINITIONS, MEMORY, TableDefinition
from infra.local.cannot_start import CannotStartError
from infra.local.table_stream import name_of

ATTEMPTS = 3


class CloudTables:
    """The tables that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = self._made("dynamodb")

    def prepare(self) -> None:
        """See that all are there. On an emulator (an endpoint is set) missing ones are made; on AWS the stack does
        that. Raises CannotStartError."""
        try:
            missing = [table for table in DEFINITIONS if self._described(table) is None]
            if missing and not self._settings.dynamodb_endpoint:
                names = ", ".join(self._name(table) for table in missing)
                raise CannotStartError(
                    f"There is no table {names} in {self._settings.region}. Deploy it first, or name others with "
                    "PALIMPSEST_TABLE_PREFIX."
                )
            create_tables(tables_of(self._settings), missing)
            self.stream()
        except StoreUnavailableError as error:
            raise CannotStartError(
                f"{error}, so the index would learn of nothing. Deploy it anew."
            ) from error
        except (BotoCoreError, ClientError, PynamoDBException) as error:
            why = type(error).__name__ if isinstance(error, PynamoDBException) else name_of(error)
            raise CannotStartError(
                f"The tables at {self._settings.dynamodb_endpoint or 'AWS'} cannot be used ({why}). See that "
                "PALIMPSEST_DYNAMODB_ENDPOINT and the region are right, and that AWS credentials are set."
            ) from error

    def stream(self) -> str:
        """The ARN of the memory table's stream. Raises StoreUnavailableError when it has none, and what boto3 does."""
        described = self._described(MEMORY) or {}
        if not described.get("StreamSpecification", {}).get("StreamEnabled"):
            raise StoreUnavailableError(f"The table {self._name(MEMORY)} has no stream")
        return str(described["LatestStreamArn"])

    def streams(self) -> Any:
        """A client for the tables' streams."""
        return self._made("dynamodbstreams")

    def _name(self, table: TableDefinition) -> str:
        return f"{self._settings.table_prefix}{table.name}"

    def _described(self, table: TableDefinition) -> dict[str, Any] | None:
        """What AWS says of a table; None when there is none."""
        try:
            return dict(self._client.describe_table(TableName=self._name(table))["Table"])
        except ClientError as error:
            if name_of(error) == "ResourceNotFoundException":
                return None
            raise

    def _made(self, service: str) -> Any:
        settings = self._settings
        config = Config(
            connect_timeout=settings.dynamodb_connect_timeout,
            read_timeout=settings.dynamodb_read_timeout,
            retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
        )
        client: Any = boto3.client  # which services there are, its types do not know
        made = client(
            service, region_name=settings.region, endpoint_url=settings.dynamodb_endpoint, config=config
        )
        return believing_only_json(made)
