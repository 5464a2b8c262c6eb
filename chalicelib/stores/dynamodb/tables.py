"""The three tables: their names, attributes, indexes. Plain values, so that whoever creates tables can read them.

    memory      a space's memories, categories, changes, vectors, jobs; one partition a space
    account     people, logins, keys, projects, communities, settings of the installation
    inbox       idempotency records; DynamoDB deletes them some time after they expire

The memory table has two local indexes, since only those can be read with strong consistency, and both are sparse:

    by_time     `when`: changes and jobs by their time, memories by the time of their last write
    by_link     `link`: changes by their group, memories by the memory that their context was taken from

A local index binds all items of a space to one partition of DynamoDB: 10 GB, and about 1,000 small writes a second.
"""

from dataclasses import dataclass
from typing import Any

PK = "pk"
SK = "sk"
BODY = "body"
TEXT = "text"
VERSION = "version"
WHEN = "when"
LINK = "link"

REVISION = "revision"
USE_COUNT = "use_count"
LAST_USED_AT = "last_used_at"
STATE = "state"
PLACE = "place"
STRIP_PENDING = "strip_pending"

IMAGE = "image"
IMAGE_TEXT = "image_text"
NUMBERS = "numbers"
COUNT = "count"
TEXT_HASH = "text_hash"
DATA = "data"
EXPIRES = "expires"
EXPIRES_AT = "expires_at"

BY_TIME = "by_time"
BY_LINK = "by_link"


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """One table: what it is called after the prefix, and what DynamoDB has to know of it. All keys are strings."""

    name: str
    sort_key: str | None = None
    local_indexes: tuple[tuple[str, str], ...] = ()
    """(name, sort key) of each; an index holds keys only."""
    stream: str | None = None
    """What a record of the table's stream shows."""
    expires: str | None = None
    """The attribute with the second (since 1970) after which DynamoDB may delete an item."""

    def keys(self) -> list[dict[str, str]]:
        """The key schema of the table, as AWS writes it."""
        return _key_schema(self.sort_key)

    def indexes(self) -> list[dict[str, Any]]:
        """The local indexes, as AWS writes them."""
        return [
            {
                "IndexName": name,
                "KeySchema": _key_schema(sort_key),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
            for name, sort_key in self.local_indexes
        ]

    def attributes(self) -> list[dict[str, str]]:
        """The attributes that keys are made of, as AWS writes them."""
        names = [PK, *([self.sort_key] if self.sort_key else []), *(key for _, key in self.local_indexes)]
        return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def _key_schema(sort_key: str | None) -> list[dict[str, str]]:
    schema = [{"AttributeName": PK, "KeyType": "HASH"}]
    if sort_key:
        schema.append({"AttributeName": sort_key, "KeyType": "RANGE"})
    return schema


MEMORY = TableDefinition(
    "memory",
    sort_key=SK,
    local_indexes=((BY_TIME, WHEN), (BY_LINK, LINK)),
    stream="KEYS_ONLY",
)
ACCOUNT = TableDefinition("account", sort_key=SK)
INBOX = TableDefinition("inbox", expires=EXPIRES)

DEFINITIONS: tuple[TableDefinition, ...] = (MEMORY, ACCOUNT, INBOX)
