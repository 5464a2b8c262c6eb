"""A small installation in memory: people, projects, communities, and the use cases on them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    AuditEntry,
    Community,
    Entity,
    EntityWrite,
    Member,
    Project,
    TeamMember,
)
from chalicelib.services.accounts.access import Access, Caller
from chalicelib.services.accounts.communities import Communities
from chalicelib.services.accounts.founding import Founding
from chalicelib.services.accounts.installation import InstallationSettings
from chalicelib.services.accounts.keys import Keys, full_scopes
from chalicelib.services.accounts.ledger import Ledger
from chalicelib.services.accounts.people import People
from chalicelib.services.accounts.projects import Projects
from chalicelib.services.idempotency import Request
from chalicelib.services.memory.thresholds import ThresholdsInForce
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.accounts import SqliteAccountStore
from chalicelib.stores.sqlite.inbox import SqliteInboxStore

NOW = datetime(2026, 11, 30, 15, 0, tzinfo=UTC)


class RacingStore(SqliteAccountStore):
    """The real store, in which something else may happen just before a commit."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.meanwhile: list[Callable[[], Any]] = []
        self.commits = 0

    def commit(self, commit: AccountCommit) -> None:
        self.commits += 1
        if self.meanwhile:
            self.meanwhile.pop(0)()
        super().commit(commit)

    def put(self, *entities: Entity) -> None:
        """Store new entities without a word to anybody."""
        super().commit(
            AccountCommit(writes=tuple(EntityWrite(entity=one, expected=None) for one in entities))
        )

    def replace(self, entity: Any, **fields: Any) -> None:
        """Change a stored entity behind everybody's back."""
        after = entity.model_copy(update={**fields, "version": entity.version + 1})
        super().commit(AccountCommit(writes=(EntityWrite(entity=after, expected=entity.version),)))

    def remove(self, entity: Any) -> None:
        """Take a stored entity away behind everybody's back."""
        gone = EntityWrite(entity=entity, expected=entity.version, delete=True)
        super().commit(AccountCommit(writes=(gone,)))


@dataclass
class World:
    """An empty installation, at NOW."""

    database: Database
    now: datetime = NOW
    store: RacingStore = field(init=False)
    inbox: SqliteInboxStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = RacingStore(self.database)
        self.inbox = SqliteInboxStore(self.database)
        self.ledger = Ledger(self.store, self.inbox)
        self.access = Access(self.store)
        self.people = People(self.store, self.ledger)
        self.keys = Keys(self.store, self.ledger)
        self.projects = Projects(self.store, self.ledger)
        self.communities = Communities(self.store, self.ledger)
        self.installation = InstallationSettings(self.store, self.ledger, ThresholdsInForce(self.store, None))
        self.founding = Founding(self.store)

    def request(self, key: str | None = None, *, body: str = "body", owner: str = "owner") -> Request:
        """A write as HTTP hands it over; the same key and body are the same write."""
        return Request(owner=owner, key=key, hash=body, now=self.now)

    def later(self, **time: float) -> None:
        """Let time pass."""
        self.now += timedelta(**time)

    def account(self, name: str, **fields: Any) -> Account:
        """A stored person, whose id is `acc_<name>`."""
        account = Account(id=f"acc_{name}", name=name.capitalize(), created_at=self.now, **fields)
        self.store.put(account)
        return account

    def person(self, name: str, **fields: Any) -> Caller:
        """A stored person, signed in with every scope that they may have."""
        return caller(self.account(name, **fields))

    def project(
        self, identifier: str, *members: Caller, pool: bool = True, maker: Caller | None = None
    ) -> Project:
        """A stored project with these members; made by the first of them unless said otherwise."""
        by = (maker or members[0]).account.id
        project = Project(
            id=identifier, name=identifier.upper(), pool=pool, created_at=self.now, created_by=by
        )
        joined = [Member(project=identifier, account=one.account.id, added_at=self.now) for one in members]
        self.store.put(project, *joined)
        return project

    def community(self, identifier: str, **team: bool) -> Community:
        """A stored Discord server; `team`: name of an account = whether it may configure."""
        community = Community(platform="discord", id=identifier, name=identifier.upper(), created_at=self.now)
        joined = [
            TeamMember(
                platform="discord",
                community=identifier,
                account=f"acc_{name}",
                configure=configure,
                added_at=self.now,
            )
            for name, configure in team.items()
        ]
        self.store.put(community, *joined)
        return community

    def told(self) -> list[AuditEntry]:
        """The audit, oldest first."""
        return self.store.audit(after=None, limit=100).items[::-1]


def caller(account: Account, **fields: Any) -> Caller:
    """Somebody signed in over HTTP with every scope that the account may have, unless said otherwise."""
    said = {"scopes": full_scopes(account), "acts_as": "person", "key": None, "place": "http", **fields}
    return Caller(account=account, **said)


def but(who: Caller, **fields: Any) -> Caller:
    """The same caller with another credential."""
    return caller(who.account, **fields)
