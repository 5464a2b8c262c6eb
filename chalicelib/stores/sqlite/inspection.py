"""The tables of the SQLite file, as an operator looks at them."""

from chalicelib.domain.diagnosis import TablesSeen
from chalicelib.sqlite_file import Database

NAMES = ("change", "entity", "idempotency", "memory", "outbox")


class SqliteStorage:
    """A `Storage`. The outbox is in the same file as the rest, so changes are always handed on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def look(self) -> TablesSeen:
        with self._database.read() as connection:
            there = {
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
        return TablesSeen(missing=tuple(name for name in NAMES if name not in there))
