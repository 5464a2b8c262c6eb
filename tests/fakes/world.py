"""A whole service in memory, for tests of use cases: SQLite in memory, embedded index, scripted embedder, a clock
that the test moves. The projector runs when the test says so, as a stream would a moment later."""

import math
from collections.abc import Callable
from dataclasses import replace as replace_fields
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from chalicelib.bootstrap import Parts, Services, build
from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    Community,
    EntityWrite,
    Installation,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.drafts import NewCategory, NewJob, NewMemory, Search
from chalicelib.domain.recall_limits import RecallLimits, Thresholds
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.domain.vitality import Retention
from chalicelib.errors import EmbedderUnavailableError
from chalicelib.ports import Embedder
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.search import text
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.services.idempotency import Request
from chalicelib.services.memory.project import by_space
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.accounts import SqliteAccountStore
from chalicelib.stores.sqlite.inbox import SqliteInboxStore
from chalicelib.stores.sqlite.inspection import SqliteStorage
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from chalicelib.stores.sqlite.outbox import Outbox

START = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
ALL = frozenset(Right)
READS = frozenset({Right.READ})


class World:
    """Everything, and what a test needs to set it up."""

    def __init__(
        self,
        *,
        admin: bool = False,
        embedder: Embedder | str | None = "scripted",
        replace: Callable[[Parts], Parts] | None = None,
        file: Path | None = None,
    ) -> None:
        self.now = START
        self.database = Database(file or ":memory:")
        clock = self.clock
        self.outbox = Outbox(self.database, clock=clock)
        self.embedder = ScriptedEmbedder() if embedder == "scripted" else embedder
        parts = Parts(
            memories=SqliteMemoryStore(self.database, clock=clock),
            accounts=SqliteAccountStore(self.database),
            inbox=SqliteInboxStore(self.database),
            index=EmbeddedIndex(self.database, text),
            analyzer=text,
            embedder=self.embedder,  # type: ignore[arg-type]
            queue=SqliteQueue(self.database, clock=clock),
            storage=SqliteStorage(self.database),
        )
        self.parts = replace(parts) if replace else parts
        self.services: Services = build(Settings(), self.parts, clock)
        self.services.rebuild.rebuild()
        self._keys = count(1)
        self.add_account("anna", admin=admin)

    def clock(self) -> datetime:
        """Now, as the test has it."""
        return self.now

    def later(self, **elapsed: float) -> None:
        """Let time pass."""
        self.now += timedelta(**elapsed)

    def request(self, key: str | None = None, body: object = "", owner: str = "anna") -> Request:
        """A write as it comes; under `key` if it is to be repeatable."""
        return Request(owner=owner, key=key, hash=repr(body), now=self.now)

    def scope(
        self, space: Space | None = None, *, rights: frozenset[Right] = ALL, project: str | None = None
    ) -> Scope:
        """Anna's scope in a space; her own without one."""
        chosen = space or Space.personal("anna")
        return Scope(
            actor=Actor(kind="person", id="anna"), space=chosen, rights=rights, place="http", project=project
        )

    def add(
        self, body: str = "Marie is allergic to peanuts.", scope: Scope | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Store a memory; its answer."""
        draft = NewMemory(text=body, **fields)
        return self.services.remember.add(scope or self.scope(), draft, self.request())

    def add_facts(self, count: int, **fields: Any) -> None:
        """Store `fact 1`, `fact 2` … as one batch."""
        drafts = [NewMemory(text=f"fact {number}", **fields) for number in range(1, count + 1)]
        for start in range(0, count, 100):
            self.services.remember.add_many(self.scope(), drafts[start : start + 100], self.request())
            self.settle()

    def category(self, name: str = "General", scope: Scope | None = None, **fields: Any) -> dict[str, Any]:
        """Make a category; its JSON."""
        draft = NewCategory(name=name, **fields)
        return self.services.categories.create(scope or self.scope(), draft, self.request())["category"]

    def find(self, query: str, scope: Scope | None = None, **fields: Any) -> list[int]:
        """Numbers that a person's search finds, best first."""
        draft = Search.model_validate({"query": query, "limit": 20, **fields})
        answer = self.services.search.search(scope or self.scope(), draft, by_model=False)
        return [item["memory"]["number"] for item in answer["items"]]

    def break_embedder(self, times: float = math.inf) -> None:
        """Let the embedder fail from now on, or this often; 0 mends it."""
        self.embedder.fail(EmbedderUnavailableError("scripted"), times)  # type: ignore[union-attr]

    def change_embedder(self, embedder: ScriptedEmbedder | None) -> None:
        """Go on with another embedding model, as after a change of settings and a restart."""
        self.embedder = embedder
        self.parts = replace_fields(self.parts, embedder=embedder)
        self.services = build(Settings(), self.parts, self.clock)

    def reindex(self) -> None:
        """Index Anna's space anew, to the end."""
        job = self.services.jobs.start(self.scope(), NewJob(kind="reindex"), self.request())["job"]["id"]
        while not self.services.jobs.run(self.scope(), job, lambda: True):
            pass

    def set_retention(self, retention: Retention) -> None:
        """Save the admin's settings of retention."""
        self._save(self.parts.accounts.installation().model_copy(update={"retention": retention}))

    def set_thresholds(self, thresholds: dict[str, Thresholds]) -> None:
        """Save the admin's thresholds, by embedding model."""
        self._save(self.parts.accounts.installation().model_copy(update={"thresholds": thresholds}))

    def set_recall(self, limits: RecallLimits) -> None:
        """Save the admin's limits of recall."""
        self._save(self.parts.accounts.installation().model_copy(update={"recall": limits}))

    def _save(self, installation: Installation) -> None:
        expected = installation.version or None
        changed = installation.model_copy(update={"version": installation.version + 1})
        self.parts.accounts.commit(AccountCommit(writes=(EntityWrite(entity=changed, expected=expected),)))

    def database_dump(self) -> list[str]:
        """Every row of every table, as text."""
        with self.database.read() as connection:
            tables = [
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            return [
                repr(tuple(row)) for table in tables for row in connection.execute(f'SELECT * FROM "{table}"')
            ]

    def settle(self) -> None:
        """Let the index catch up."""
        while records := self.outbox.pending(1_000):
            places = [(record.space, int(record.id)) for record in records if record.kind == "memory"]
            for space, numbers in by_space(places):
                assert self.services.projector.project(space, numbers) == []
            self.outbox.done([record.seq for record in records])

    def add_account(self, name: str, **fields: Any) -> None:
        """Make an account whose id is its name."""
        self._write(Account(id=name, name=name, created_at=self.now, **fields))

    def add_project(self, project: str = "rocket", *members: str) -> Space:
        """Make a project with its pool on; Anna is a member unless others are named."""
        self._write(Project(id=project, name=project, pool=True, created_at=self.now, created_by="anna"))
        for account in members or ("anna",):
            self._write(Member(project=project, account=account, added_at=self.now))
        return Space.pool(project)

    def add_community(self, community: str = "1001", *, configure: bool = True) -> Space:
        """Make a Discord community on whose team Anna is."""
        self._write(Community(platform="discord", id=community, name="Den", created_at=self.now))
        member = TeamMember(
            platform="discord", community=community, account="anna", configure=configure, added_at=self.now
        )
        self._write(member)
        return Space.community("discord", community)

    def _write(self, entity: Any) -> None:
        self.parts.accounts.commit(AccountCommit(writes=(EntityWrite(entity=entity, expected=None),)))
