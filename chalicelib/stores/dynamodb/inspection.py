"""The tables of DynamoDB, as an operator looks at them: there or not, with a stream or not, and AWS's own clock."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from chalicelib.domain.diagnosis import TablesSeen
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.tables import DEFINITIONS


class DynamoStorage:
    """A `Storage`. Asks for one description of each table (`dynamodb:DescribeTable`)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def look(self) -> TablesSeen:
        seen = {table: self._database.described(table) for table in DEFINITIONS}
        missing = [table for table, answer in seen.items() if answer is None]
        return TablesSeen(
            missing=tuple(self._database.name(table) for table in missing),
            streamless=tuple(
                self._database.name(table)
                for table, answer in seen.items()
                if table.stream and answer is not None and not _streams(answer)
            ),
            clock=max(filter(None, map(_clock, seen.values())), default=None),
        )


def _streams(answer: Mapping[str, Any]) -> bool:
    return bool(answer["Table"].get("StreamSpecification", {}).get("StreamEnabled"))


def _clock(answer: Mapping[str, Any] | None) -> datetime | None:
    """When AWS gave the answer, by its own clock."""
    said = (answer or {}).get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    try:
        return parsedate_to_datetime(said).astimezone(UTC) if said else None
    except ValueError:
        return None
