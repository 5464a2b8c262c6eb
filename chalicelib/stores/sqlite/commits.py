"""One commit of a space, inside one transaction: first every condition, then every write."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from chalicelib.domain.clock import rfc3339
from chalicelib.domain.records import Commit, MemoryWrite, Vector
from chalicelib.errors import StaleVersionError
from chalicelib.stores.sqlite import rows
from chalicelib.stores.sqlite.inbox import claim
from chalicelib.stores.sqlite.outbox import announce


def apply(connection: sqlite3.Connection, space: str, commit: Commit, now: datetime) -> None:
    """Write all of `commit` into `space`. Raises AlreadyDoneError before it looks at any version, then
    StaleVersionError with every target that is not at its version."""
    if commit.idempotency is not None:
        claim(connection, commit.idempotency)
    stale = tuple(_stale(connection, space, commit))
    if stale:
        raise StaleVersionError(stale)
    for write in commit.memories:
        _write_memory(connection, space, write)
    _write_changes(connection, space, commit)
    _write_records(connection, space, commit)
    strip(connection, space, commit.strip)
    connection.executemany(
        "DELETE FROM vector WHERE space = ? AND number = ? AND role = 'context'",
        [(space, number) for number in commit.strip_context],
    )
    keep_vectors(connection, space, commit.vectors)
    announce(connection, "memory", space, [str(write.memory.number) for write in commit.memories], now)
    announce(connection, "job", space, [write.job.id for write in commit.jobs], now)


def keep_vectors(connection: sqlite3.Connection, space: str, vectors: Iterable[Vector]) -> None:
    """Keep vectors of memories that are there and not erased; the others are dropped."""
    connection.executemany(
        "INSERT OR REPLACE INTO vector (space, number, model, role, text_hash, data) "
        "SELECT :space, :number, :model, :role, :text_hash, :data "
        "WHERE EXISTS (SELECT 1 FROM memory WHERE space = :space AND number = :number AND NOT erased)",
        [{"space": space, **vector.model_dump()} for vector in vectors],
    )


def strip(connection: sqlite3.Connection, space: str, numbers: Sequence[int]) -> None:
    """Take the images of these memories' changes, and their vectors (M13)."""
    connection.executemany(
        "UPDATE change SET image = NULL WHERE space = ? AND target = ?", [(space, str(n)) for n in numbers]
    )
    connection.executemany("DELETE FROM vector WHERE space = ? AND number = ?", [(space, n) for n in numbers])


def _stale(connection: sqlite3.Connection, space: str, commit: Commit) -> Iterator[str]:
    """Targets of `commit` that are not at the version it expects."""
    conditions: list[tuple[str, str, tuple[object, ...], int | None]] = [
        *(
            (str(w.memory.number), "SELECT version FROM memory WHERE space = ? AND number = ?",
             (space, w.memory.number), w.expected)
            for w in commit.memories
        ),
        *(
            (w.category.id, "SELECT version FROM category WHERE space = ? AND id = ?",
             (space, w.category.id), w.expected)
            for w in commit.categories
        ),
        *(("space", "SELECT version FROM space WHERE space = ?", (space,), w.expected) for w in commit.spaces),
        *(
            (w.job.id, "SELECT version FROM job WHERE space = ? AND id = ?", (space, w.job.id), w.expected)
            for w in commit.jobs
        ),
        # A change that is there already must never be written over: history is only added to.
        *(
            (c.target, "SELECT version FROM change WHERE space = ? AND target = ? AND version = ?",
             (space, c.target, c.version), None)
            for c in commit.changes
        ),
    ]  # fmt: skip
    named = set()
    for target, query, parameters, expected in conditions:
        row = connection.execute(query, parameters).fetchone()
        if (row[0] if row else None) != expected and target not in named:
            named.add(target)
            yield target


def _write_memory(connection: sqlite3.Connection, space: str, write: MemoryWrite) -> None:
    columns = {"space": space, "number": write.memory.number, **rows.of_memory(write.memory)}
    if write.expected is None:
        connection.execute(
            "INSERT INTO memory (space, number, version, revision, use_count, last_used_at, erased, "
            "conversation, position, context_from, body) VALUES (:space, :number, :version, :revision, "
            ":use_count, :last_used_at, :erased, :conversation, :position, :context_from, :body)",
            columns,
        )
        return
    connection.execute(
        "UPDATE memory SET version = :version, revision = revision + 1, erased = :erased, "
        "conversation = :conversation, position = :position, context_from = :context_from, body = :body "
        "WHERE space = :space AND number = :number",
        columns,
    )


def _write_changes(connection: sqlite3.Connection, space: str, commit: Commit) -> None:
    connection.executemany(
        "INSERT INTO change (space, target, version, at, grp, body, image) "
        "VALUES (:space, :target, :version, :at, :grp, :body, :image)",
        [{"space": space, **rows.of_change(change)} for change in commit.changes],
    )


def _write_records(connection: sqlite3.Connection, space: str, commit: Commit) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO category (space, id, version, body) VALUES (?, ?, ?, ?)",
        [(space, w.category.id, w.category.version, w.category.model_dump_json()) for w in commit.categories],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO space (space, version, body) VALUES (?, ?, ?)",
        [(space, w.record.version, w.record.model_dump_json()) for w in commit.spaces],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO job (space, id, version, created_at, body) VALUES (?, ?, ?, ?, ?)",
        [
            (space, w.job.id, w.job.version, rfc3339(w.job.created_at), w.job.model_dump_json())
            for w in commit.jobs
        ],
    )
