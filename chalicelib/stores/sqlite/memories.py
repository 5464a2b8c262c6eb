"""MemoryStore in the file. Every statement names the space of the scope; there is no way around it (M24)."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from chalicelib.domain.category import Category, folded
from chalicelib.domain.change import Change
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.memory import Memory
from chalicelib.domain.pages import Page
from chalicelib.domain.records import Commit, Job, SpaceRecord, Vector
from chalicelib.domain.scope import Scope, Space
from chalicelib.ports import Clock
from chalicelib.sqlite_file import Database
from chalicelib.stores.limits import check_commit
from chalicelib.stores.sqlite import commits, rows
from chalicelib.stores.sqlite.outbox import announce
from chalicelib.stores.sqlite.schema import prepare

_SPACES_AT_ONCE = 500

_PAGE_UP = """
SELECT body, revision, use_count, last_used_at FROM memory
WHERE space = :space AND (:after IS NULL OR number > :after) ORDER BY number LIMIT :limit
"""
_PAGE_DOWN = """
SELECT body, revision, use_count, last_used_at FROM memory
WHERE space = :space AND (:after IS NULL OR number < :after) ORDER BY number DESC LIMIT :limit
"""
# Jumps from space to space in the index: a space of a million memories costs one step.
_NEXT_SPACES = """
WITH RECURSIVE with_memories (key) AS (
    SELECT min(space) FROM memory WHERE space > :after
    UNION ALL
    SELECT (SELECT min(space) FROM memory WHERE space > key) FROM with_memories WHERE key IS NOT NULL
)
SELECT key FROM (SELECT key FROM with_memories WHERE key IS NOT NULL LIMIT :limit)
UNION
SELECT space FROM (SELECT space FROM space WHERE space > :after ORDER BY space LIMIT :limit)
ORDER BY 1 LIMIT :limit
"""


class SqliteMemoryStore:
    """The spaces, in the file. As `ports.MemoryStore` promises; `clock` dates the outbox, nothing else."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        prepare(database)
        self._database = database
        self._clock = clock

    # ------------------------------------------------------------------ memories

    def get(self, scope: Scope, number: int) -> Memory | None:
        return self.get_many(scope, (number,)).get(number)

    def get_many(self, scope: Scope, numbers: Sequence[int]) -> dict[int, Memory]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body, revision, use_count, last_used_at FROM memory "
                "WHERE space = ? AND number IN (SELECT value FROM json_each(?))",
                (scope.space.key, json.dumps(list(numbers))),
            ).fetchall()
        return {memory.number: memory for memory in map(rows.to_memory, found)}

    def page(
        self, scope: Scope, *, after: int | None, limit: int, newest_first: bool = False
    ) -> list[Memory]:
        query = _PAGE_DOWN if newest_first else _PAGE_UP
        with self._database.read() as connection:
            found = connection.execute(
                query, {"space": scope.space.key, "after": after, "limit": limit}
            ).fetchall()
        return [rows.to_memory(row) for row in found]

    def unprojected(self, scope: Scope, limit: int) -> list[int]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT id FROM outbox WHERE space = ? AND kind = 'memory' ORDER BY seq DESC LIMIT ?",
                (scope.space.key, limit),
            ).fetchall()
        return [int(identifier) for (identifier,) in found]

    def waiting(self, scope: Scope, numbers: Sequence[int]) -> dict[int, datetime]:
        wanted = json.dumps([str(number) for number in numbers])
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT id, since FROM outbox WHERE space = ? AND kind = 'memory' "
                "AND id IN (SELECT value FROM json_each(?))",
                (scope.space.key, wanted),
            ).fetchall()
        return {int(identifier): datetime.fromtimestamp(since, UTC) for identifier, since in found}

    def at_position(self, scope: Scope, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        newest: dict[tuple[str, int], int] = {}
        with self._database.read() as connection:
            for place in places:
                row = connection.execute(
                    "SELECT max(number) FROM memory WHERE space = ? AND conversation = ? AND position = ?",
                    (scope.space.key, *place),
                ).fetchone()
                if row[0] is not None:
                    newest[place] = row[0]
        return newest

    def context_of(self, scope: Scope, number: int) -> list[int]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT number FROM memory WHERE space = ? AND context_from = ? ORDER BY number",
                (scope.space.key, number),
            ).fetchall()
        return [row[0] for row in found]

    # ------------------------------------------------------------------ writing

    def reserve(self, scope: Scope, count: int) -> int:
        # Not flushed: a number is told to nobody before the commit that uses it is.
        with self._database.write(durable=False) as connection:
            last: int = connection.execute(
                "INSERT INTO counter (space, last) VALUES (?, ?) "
                "ON CONFLICT (space) DO UPDATE SET last = last + excluded.last RETURNING last",
                (scope.space.key, count),
            ).fetchone()[0]
        return last - count + 1

    def last_number(self, scope: Scope) -> int:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT last FROM counter WHERE space = ?", (scope.space.key,)
            ).fetchone()
        return row[0] if row else 0

    def pass_numbers(self, scope: Scope, last: int) -> None:
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO counter (space, last) VALUES (?, ?) "
                "ON CONFLICT (space) DO UPDATE SET last = max(last, excluded.last)",
                (scope.space.key, last),
            )

    def commit(self, scope: Scope, commit: Commit) -> None:
        check_commit(commit)
        with self._database.write(scrub=bool(commit.strip)) as connection:
            commits.apply(connection, scope.space.key, commit, self._clock())

    def finish_strip(self, scope: Scope, number: int) -> bool:  # noqa: ARG002 - as the port says
        """Never anything left: stripping is part of the commit's transaction."""
        return False

    def touch(self, scope: Scope, numbers: Sequence[int], at: datetime) -> None:
        wanted = list(dict.fromkeys(numbers))
        if not wanted:
            return
        with self._database.write() as connection:
            touched: list[str] = []
            for number in wanted:
                row = connection.execute(
                    "UPDATE memory SET use_count = use_count + 1, last_used_at = ?, revision = revision + 1 "
                    "WHERE space = ? AND number = ? AND NOT erased",
                    (rfc3339(at), scope.space.key, number),
                )
                touched += [str(number)] * row.rowcount
            announce(connection, "memory", scope.space.key, touched, self._clock())

    # ------------------------------------------------------------------ changes

    def history(self, scope: Scope, target: str, *, after: int | None, limit: int) -> list[Change]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body, image FROM change WHERE space = :space AND target = :target "
                "AND (:after IS NULL OR version < :after) ORDER BY version DESC LIMIT :limit",
                {"space": scope.space.key, "target": target, "after": after, "limit": limit},
            ).fetchall()
        return [rows.to_change(row) for row in found]

    def change(self, scope: Scope, target: str, version: int) -> Change | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT body, image FROM change WHERE space = ? AND target = ? AND version = ?",
                (scope.space.key, target, version),
            ).fetchone()
        return rows.to_change(row) if row else None

    def changes(self, scope: Scope, *, after: str | None, limit: int) -> Page[Change]:
        with self._database.read() as connection:
            return rows.journal(
                connection,
                "SELECT at, seq, body, image FROM change WHERE space = ?",
                (scope.space.key,),
                after=after,
                limit=limit,
                read=rows.to_change,
            )

    def group(self, scope: Scope, group: str) -> list[Change]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body, image FROM change WHERE space = ? AND grp = ?",
                (scope.space.key, group),
            ).fetchall()
        return [rows.to_change(row) for row in found]

    # ------------------------------------------------------------------ what lies beside memories

    def categories(self, scope: Scope) -> list[Category]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body FROM category WHERE space = ?", (scope.space.key,)
            ).fetchall()
        listed = [Category.model_validate_json(body) for (body,) in found]
        return sorted(listed, key=lambda category: (folded(category.name), category.name, category.id))

    def space(self, scope: Scope) -> SpaceRecord | None:
        with self._database.read() as connection:
            row = connection.execute("SELECT body FROM space WHERE space = ?", (scope.space.key,)).fetchone()
        return SpaceRecord.model_validate_json(row[0]) if row else None

    def vectors(self, scope: Scope, numbers: Sequence[int], model: str) -> list[Vector]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT number, role, text_hash, data FROM vector "
                "WHERE space = ? AND number IN (SELECT value FROM json_each(?)) AND model = ?",
                (scope.space.key, json.dumps(list(numbers)), model),
            ).fetchall()
        return [
            Vector(number=number, role=role, model=model, text_hash=text_hash, data=data)
            for number, role, text_hash, data in found
        ]

    def put_vectors(self, scope: Scope, vectors: Sequence[Vector]) -> None:
        if not vectors:
            return
        with self._database.write() as connection:
            commits.keep_vectors(connection, scope.space.key, vectors)

    def job(self, scope: Scope, job: str) -> Job | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT body FROM job WHERE space = ? AND id = ?", (scope.space.key, job)
            ).fetchone()
        return Job.model_validate_json(row[0]) if row else None

    def jobs(self, scope: Scope, limit: int) -> list[Job]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body FROM job WHERE space = ? ORDER BY created_at DESC, id DESC LIMIT ?",
                (scope.space.key, limit),
            ).fetchall()
        return [Job.model_validate_json(body) for (body,) in found]

    def spaces(self) -> Iterator[Space]:
        after = ""
        while True:
            with self._database.read() as connection:
                found = connection.execute(
                    _NEXT_SPACES, {"after": after, "limit": _SPACES_AT_ONCE}
                ).fetchall()
            for (key,) in found:
                yield Space.from_key(key)
            if len(found) < _SPACES_AT_ONCE:
                return
            after = found[-1][0]
