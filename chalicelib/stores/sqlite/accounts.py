"""AccountStore in the file: every entity is a row of one table, by its kind and what identifies it."""

import sqlite3
from datetime import datetime
from typing import TypeVar

from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    ApiKey,
    AuditEntry,
    Community,
    Entity,
    EntityWrite,
    Installation,
    Login,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.pages import Page
from chalicelib.errors import StaleVersionError
from chalicelib.sqlite_file import Database
from chalicelib.stores.limits import check_account_commit, identity
from chalicelib.stores.sqlite import rows
from chalicelib.stores.sqlite.inbox import claim
from chalicelib.stores.sqlite.schema import prepare

AnyEntity = TypeVar("AnyEntity", Account, Login, ApiKey, Project, Member, Community, TeamMember, Installation)

_OF_ACCOUNT = (ApiKey, Member, TeamMember)
"""Kinds that are also listed by their account."""


class SqliteAccountStore:
    """People and what they belong to, in the file. As `ports.AccountStore` promises."""

    def __init__(self, database: Database) -> None:
        prepare(database)
        self._database = database

    def account(self, account: str) -> Account | None:
        return self._one(Account, account)

    def accounts(self, *, after: str | None, limit: int) -> Page[Account]:
        return self._page(Account, after, limit)

    def login(self, issuer: str, subject: str) -> Login | None:
        return self._one(Login, issuer, subject)

    def key(self, key: str) -> ApiKey | None:
        return self._one(ApiKey, key)

    def keys_of(self, account: str) -> list[ApiKey]:
        return self._of_account(ApiKey, account)

    def touch_key(self, key: str, at: datetime) -> None:
        with self._database.write() as connection:
            found = _read(connection, ApiKey, key)
            if found is not None:
                used = found.model_copy(update={"last_used_at": at})
                connection.execute(
                    "UPDATE entity SET body = ? WHERE kind = ? AND k1 = ? AND k2 = ? AND k3 = ?",
                    (used.model_dump_json(), *_address(ApiKey, key)),
                )

    def project(self, project: str) -> Project | None:
        return self._one(Project, project)

    def projects(self, *, after: str | None, limit: int) -> Page[Project]:
        return self._page(Project, after, limit)

    def member(self, project: str, account: str) -> Member | None:
        return self._one(Member, project, account)

    def members(self, project: str) -> list[Member]:
        return self._below(Member, project)

    def memberships(self, account: str) -> list[Member]:
        return self._of_account(Member, account)

    def community(self, platform: str, community: str) -> Community | None:
        return self._one(Community, platform, community)

    def communities(self, *, after: str | None, limit: int) -> Page[Community]:
        return self._page(Community, after, limit)

    def team_member(self, platform: str, community: str, account: str) -> TeamMember | None:
        return self._one(TeamMember, platform, community, account)

    def team(self, platform: str, community: str) -> list[TeamMember]:
        return self._below(TeamMember, platform, community)

    def teams_of(self, account: str) -> list[TeamMember]:
        return self._of_account(TeamMember, account)

    def installation(self) -> Installation:
        return self._one(Installation) or Installation()

    def audit(self, *, after: str | None, limit: int) -> Page[AuditEntry]:
        with self._database.read() as connection:
            return rows.journal(
                connection,
                "SELECT at, seq, body FROM audit WHERE true",
                (),
                after=after,
                limit=limit,
                read=lambda row: AuditEntry.model_validate_json(row[0]),
            )

    def commit(self, commit: AccountCommit) -> None:
        check_account_commit(commit)
        with self._database.write() as connection:
            if commit.idempotency is not None:
                claim(connection, commit.idempotency)
            stale = tuple(
                "/".join(identity(write.entity)) or "installation"
                for write in commit.writes
                if not _holds(connection, write)
            )
            if stale:
                raise StaleVersionError(stale)
            for write in commit.writes:
                _write(connection, write)
            connection.executemany(
                "INSERT INTO audit (at, body) VALUES (?, ?)",
                [(rfc3339(entry.at), entry.model_dump_json()) for entry in commit.audit],
            )

    # ------------------------------------------------------------------ ways of reading

    def _one(self, kind: type[AnyEntity], *identifiers: str) -> AnyEntity | None:
        with self._database.read() as connection:
            return _read(connection, kind, *identifiers)

    def _below(self, kind: type[AnyEntity], first: str, second: str = "") -> list[AnyEntity]:
        """Entities whose identity begins with one part, or with two."""
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body FROM entity WHERE kind = :kind AND k1 = :first AND (:second = '' OR k2 = :second) "
                "ORDER BY k1, k2, k3",
                {"kind": kind.__name__, "first": first, "second": second},
            ).fetchall()
        return [kind.model_validate_json(body) for (body,) in found]

    def _of_account(self, kind: type[AnyEntity], account: str) -> list[AnyEntity]:
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body FROM entity WHERE kind = ? AND account = ? ORDER BY k1, k2, k3",
                (kind.__name__, account),
            ).fetchall()
        return [kind.model_validate_json(body) for (body,) in found]

    def _page(self, kind: type[AnyEntity], after: str | None, limit: int) -> Page[AnyEntity]:
        """Entities in order of their identity; `next` is that of the last one, joined by `/` (no id has one)."""
        _, *parts = _address(kind, *(after.split("/") if after else ()))
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT body FROM entity WHERE kind = ? AND (k1, k2, k3) > (?, ?, ?) ORDER BY k1, k2, k3 LIMIT ?",
                (kind.__name__, *parts, limit + 1),
            ).fetchall()
        items = [kind.model_validate_json(body) for (body,) in found[:limit]]
        return Page(items, "/".join(identity(items[-1])) if len(found) > limit and items else None)


def _address(kind: type[Entity], *identifiers: str) -> tuple[str, str, str, str]:
    first, second, third = (*identifiers, "", "", "")[:3]
    return kind.__name__, first, second, third


def _read(connection: sqlite3.Connection, kind: type[AnyEntity], *identifiers: str) -> AnyEntity | None:
    row = connection.execute(
        "SELECT body FROM entity WHERE kind = ? AND k1 = ? AND k2 = ? AND k3 = ?",
        _address(kind, *identifiers),
    ).fetchone()
    return kind.model_validate_json(row[0]) if row else None


def _holds(connection: sqlite3.Connection, write: EntityWrite) -> bool:
    """Whether the entity is at the version that the write expects. Settings at version 0 were never saved."""
    row = connection.execute(
        "SELECT version FROM entity WHERE kind = ? AND k1 = ? AND k2 = ? AND k3 = ?",
        _address(type(write.entity), *identity(write.entity)),
    ).fetchone()
    expected = None if isinstance(write.entity, Installation) and write.expected == 0 else write.expected
    return (row[0] if row else None) == expected


def _write(connection: sqlite3.Connection, write: EntityWrite) -> None:
    entity = write.entity
    address = _address(type(entity), *identity(entity))
    if write.delete:
        connection.execute("DELETE FROM entity WHERE kind = ? AND k1 = ? AND k2 = ? AND k3 = ?", address)
        return
    account = entity.account if isinstance(entity, _OF_ACCOUNT) else None
    connection.execute(
        "INSERT OR REPLACE INTO entity (kind, k1, k2, k3, account, version, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*address, account, entity.version, entity.model_dump_json()),
    )
