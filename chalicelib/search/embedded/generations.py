"""Which index is in use and which is being built: at most one of each, swapped in one transaction."""

import sqlite3
from dataclasses import dataclass

from chalicelib.errors import IndexMissingError
from chalicelib.sqlite_file import Database

STEP = 1_000
"""Rows that one transaction deletes of a generation that is not used any more: others write in between."""
_PREFIX = "embedded-"


@dataclass(frozen=True, slots=True)
class Generations:
    """The ids of the index in use and of the one being built."""

    live: int | None = None
    building: int | None = None

    @property
    def in_use(self) -> int:
        """The one to read. Raises IndexMissingError when there is none."""
        if self.live is None:
            raise IndexMissingError("there is no complete index")
        return self.live

    @property
    def written(self) -> tuple[int, ...]:
        """Those that writes go to. Raises IndexMissingError when there is none."""
        found = tuple(generation for generation in (self.live, self.building) if generation is not None)
        if not found:
            raise IndexMissingError("there is no index")
        return found

    @property
    def name(self) -> str:
        """The name of the one being built."""
        return f"{_PREFIX}{self.building}"

    def named(self, name: str) -> int:
        """The one being built, whose name this must be. Raises IndexMissingError."""
        if self.building is None or name != self.name:
            raise IndexMissingError(f"{name} is not being built")
        return self.building


def current(connection: sqlite3.Connection) -> Generations:
    """As the file says."""
    return Generations(
        **dict(connection.execute("SELECT state, id FROM search_generation WHERE state != 'old'"))
    )


def begin(connection: sqlite3.Connection) -> Generations:
    """A new one is being built; the one that was is abandoned."""
    connection.execute("UPDATE search_generation SET state = 'old' WHERE state = 'building'")
    connection.execute("INSERT INTO search_generation (state) VALUES ('building')")
    return current(connection)


def finish(connection: sqlite3.Connection) -> Generations:
    """The one being built is in use from now on."""
    connection.execute("UPDATE search_generation SET state = 'old' WHERE state = 'live'")
    connection.execute("UPDATE search_generation SET state = 'live' WHERE state = 'building'")
    return current(connection)


def abandon(connection: sqlite3.Connection) -> Generations:
    """None is in use, none is being built."""
    connection.execute("UPDATE search_generation SET state = 'old'")
    return current(connection)


def sweep_step(database: Database) -> bool:
    """Delete some of what abandoned and replaced generations hold; False when nothing is left of them."""
    with database.read() as connection:
        row = connection.execute("SELECT min(id) FROM search_generation WHERE state = 'old'").fetchone()
    (old,) = row
    if old is None:
        return False
    with database.write() as connection:
        if not sum(_delete(connection, table, key, old) for table, key in _KEYS):
            connection.execute("DELETE FROM search_generation WHERE id = ?", (old,))
    return True


_KEYS = (
    ("search_entry", "space, number"),
    ("search_vector", "space, model, role, number"),
)


def _delete(connection: sqlite3.Connection, table: str, key: str, generation: int) -> int:
    return connection.execute(
        f"DELETE FROM {table} WHERE generation = ? AND ({key}) IN "  # noqa: S608 - names of our own tables
        f"(SELECT {key} FROM {table} WHERE generation = ? LIMIT {STEP})",
        (generation, generation),
    ).rowcount
