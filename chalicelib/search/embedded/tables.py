"""Reading and writing the rows of one generation. Every statement on them names generation and space."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from chalicelib.domain.projection import IndexedState
from chalicelib.domain.records import Role
from chalicelib.search.embedded.record import Record, Row, VectorKey

ROLES: tuple[Role, ...] = ("text", "context")
_COLUMNS = ", ".join(Row._fields)
_PLACES = ", ".join("?" * len(Row._fields))
_CHUNK = 4_096


def models(connection: sqlite3.Connection) -> dict[str, int]:
    """The dimension of each model that any vector is or was of, by fingerprint."""
    return dict(connection.execute("SELECT model, dimension FROM search_model"))


def dimensions_of(connection: sqlite3.Connection, generation: int) -> dict[str, int]:
    """The dimension of each model that a generation holds vectors of, by fingerprint."""
    return dict(
        connection.execute(
            "SELECT model, dimension FROM search_model WHERE EXISTS "
            "(SELECT 1 FROM search_vector AS v WHERE v.generation = ? AND v.model = search_model.model)",
            (generation,),
        )
    )


def kept(connection: sqlite3.Connection, generation: int, space: str, number: int) -> Row | None:
    """What is there of a number, a tombstone too."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM search_entry WHERE generation = ? AND space = ? AND number = ?",  # noqa: S608
        (generation, space, number),
    ).fetchone()
    return Row(*row) if row else None


def has_content(connection: sqlite3.Connection, generation: int, space: str, number: int) -> bool:
    """Whether a number is there and not erased."""
    row = connection.execute(
        "SELECT state FROM search_entry WHERE generation = ? AND space = ? AND number = ?",
        (generation, space, number),
    ).fetchone()
    return row is not None and row[0] is not None


def kept_vectors(
    connection: sqlite3.Connection, generation: int, space: str, number: int, models: Iterable[str]
) -> dict[VectorKey, bytes]:
    """The float16 vectors of a number, of those `models` (all that there are)."""
    found: dict[VectorKey, bytes] = {}
    for model in models:
        for role in ROLES:
            row = connection.execute(
                "SELECT data FROM search_vector "
                "WHERE generation = ? AND space = ? AND model = ? AND role = ? AND number = ?",
                (generation, space, model, role, number),
            ).fetchone()
            if row:
                found[model, role] = row[0]
    return found


def put(
    connection: sqlite3.Connection, generation: int, record: Record, before: Mapping[VectorKey, bytes]
) -> None:
    """Write a record in place of what is there, whose vectors are `before`."""
    space, number = record.space, record.row.number
    connection.execute(
        f"INSERT OR REPLACE INTO search_entry (generation, space, {_COLUMNS}) VALUES (?, ?, {_PLACES})",  # noqa: S608
        (generation, space, *record.row),
    )
    connection.executemany(
        "DELETE FROM search_vector "
        "WHERE generation = ? AND space = ? AND model = ? AND role = ? AND number = ?",
        [
            (generation, space, model, role, number)
            for model, role in before
            if (model, role) not in record.vectors
        ],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO search_vector (generation, space, model, role, number, data) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (generation, space, model, role, number, data)
            for (model, role), data in record.vectors.items()
            if before.get((model, role)) != data
        ],
    )


def live_rows(connection: sqlite3.Connection, generation: int, space: str) -> Iterator[list[Row]]:
    """All rows of a space but the tombstones, in order of number, some thousands at a time."""
    cursor = connection.execute(
        f"SELECT {_COLUMNS} FROM search_entry "  # noqa: S608
        "WHERE generation = ? AND space = ? AND state IS NOT NULL ORDER BY number",
        (generation, space),
    )
    while rows := cursor.fetchmany(_CHUNK):
        yield [Row._make(row) for row in rows]


def vectors(
    connection: sqlite3.Connection, generation: int, space: str, model: str, role: Role
) -> Iterator[list[tuple[int, bytes]]]:
    """All (number, float16 vector) of one model and role in a space, in order of number."""
    cursor = connection.execute(
        "SELECT number, data FROM search_vector "
        "WHERE generation = ? AND space = ? AND model = ? AND role = ? ORDER BY number",
        (generation, space, model, role),
    )
    while rows := cursor.fetchmany(_CHUNK):
        yield rows


def tombstones(connection: sqlite3.Connection, generation: int, space: str) -> dict[int, int]:
    """The revisions of the erased, by number."""
    return dict(
        connection.execute(
            "SELECT number, revision FROM search_entry WHERE generation = ? AND space = ? AND state IS NULL",
            (generation, space),
        )
    )


def states(
    connection: sqlite3.Connection,
    generation: int,
    space: str,
    after: int,
    limit: int,
    models: Iterable[str],
) -> list[IndexedState]:
    """What is on disk of the numbers beyond `after`, tombstones too, in order."""
    rows = connection.execute(
        "SELECT number, revision, content_hash, has_context FROM search_entry "
        "WHERE generation = ? AND space = ? AND number > ? ORDER BY number LIMIT ?",
        (generation, space, after, limit),
    ).fetchall()
    if not rows:
        return []
    embedded: dict[Role, dict[int, set[str]]] = {role: {} for role in ROLES}
    for model in models:
        for number, role in connection.execute(
            "SELECT number, role FROM search_vector "
            "WHERE generation = ? AND space = ? AND model = ? AND number BETWEEN ? AND ?",
            (generation, space, model, rows[0][0], rows[-1][0]),
        ):
            embedded[role].setdefault(number, set()).add(model)
    return [
        IndexedState(number, revision, digest, _whole(embedded, number, bool(has_context)))
        for number, revision, digest, has_context in rows
    ]


def _whole(embedded: Mapping[Role, Mapping[int, set[str]]], number: int, has_context: bool) -> frozenset[str]:
    """The models of which a memory has every vector: that of its text, and that of its context if it has one."""
    of_text = frozenset(embedded["text"].get(number, ()))
    return of_text & embedded["context"].get(number, set()) if has_context else of_text
