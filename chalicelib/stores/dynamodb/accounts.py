"""`ports.AccountStore` on DynamoDB: people, logins, keys, projects, communities, settings of the installation."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel
from pynamodb.expressions.operand import Path

from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    ApiKey,
    AuditEntry,
    Community,
    EntityWrite,
    Installation,
    Login,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.ids import is_id
from chalicelib.domain.pages import Page
from chalicelib.stores.dynamodb import entities, keys
from chalicelib.stores.dynamodb.commits import PRESENT, at_version
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.entities import to_api_key
from chalicelib.stores.dynamodb.inbox import commit_once
from chalicelib.stores.dynamodb.items import to
from chalicelib.stores.dynamodb.keys import Key
from chalicelib.stores.dynamodb.retries import ConditionFailedError
from chalicelib.stores.dynamodb.tables import ACCOUNT, BODY, LAST_USED_AT, SK
from chalicelib.stores.dynamodb.transactions import Delete, Put, Transaction, Update, Write
from chalicelib.stores.dynamodb.values import Item, get_text, text
from chalicelib.stores.limits import check_account_commit, identity, moves_pointer

Kind = TypeVar("Kind", bound=BaseModel)


class DynamoAccountStore:
    """Accounts and what they belong to, on DynamoDB. All reads are strongly consistent."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def account(self, account: str) -> Account | None:
        return self._one(Account, entities.account(account), account)

    def accounts(self, *, after: str | None, limit: int) -> Page[Account]:
        return self._page(Account, entities.ACCOUNTS, after, limit)

    def login(self, issuer: str, subject: str) -> Login | None:
        return self._one(Login, entities.login(issuer, subject))

    def key(self, key: str) -> ApiKey | None:
        item = self._database.get(entities.api_key(key)) if is_id(key) else None
        return None if item is None else to_api_key(item)

    def keys_of(self, account: str) -> list[ApiKey]:
        wanted = [entities.api_key(key) for key in self._pointed(account, entities.KEYS)]
        found = (to_api_key(item) for item in self._database.get_many(wanted))
        return sorted(found, key=lambda key: (key.created_at, key.id))

    def touch_key(self, key: str, at: datetime) -> None:
        if not is_id(key):
            return
        use = Update(key=entities.api_key(key), sets={LAST_USED_AT: text(rfc3339(at))}, condition=PRESENT)
        try:
            self._database.update(use)
        except ConditionFailedError:
            return

    def project(self, project: str) -> Project | None:
        return self._one(Project, entities.project(project), project)

    def projects(self, *, after: str | None, limit: int) -> Page[Project]:
        return self._page(Project, entities.PROJECTS, after, limit)

    def member(self, project: str, account: str) -> Member | None:
        return self._one(Member, entities.member(project, account), project, account)

    def members(self, project: str) -> list[Member]:
        found = self._beginning(entities.member(project, ""), project)
        return [to(Member, item) for item in found]

    def memberships(self, account: str) -> list[Member]:
        wanted = [entities.member(project, account) for project in self._pointed(account, entities.MEMBERS)]
        return self._all(Member, wanted, lambda member: member.project)

    def community(self, platform: str, community: str) -> Community | None:
        return self._one(Community, entities.community(platform, community), platform, community)

    def communities(self, *, after: str | None, limit: int) -> Page[Community]:
        return self._page(Community, entities.COMMUNITIES, after, limit)

    def team_member(self, platform: str, community: str, account: str) -> TeamMember | None:
        key = entities.team_member(platform, community, account)
        return self._one(TeamMember, key, platform, community, account)

    def team(self, platform: str, community: str) -> list[TeamMember]:
        found = self._beginning(entities.team_member(platform, community, ""), platform, community)
        return [to(TeamMember, item) for item in found]

    def teams_of(self, account: str) -> list[TeamMember]:
        places = (place.split("#") for place in self._pointed(account, entities.TEAM))
        wanted = [entities.team_member(platform, community, account) for platform, community in places]
        return self._all(TeamMember, wanted, lambda member: f"{member.platform}#{member.community}")

    def installation(self) -> Installation:
        return self._one(Installation, entities.INSTALLATION) or Installation()

    def audit(self, *, after: str | None, limit: int) -> Page[AuditEntry]:
        return self._page(AuditEntry, entities.AUDIT, after, limit, newest_first=True)

    def commit(self, commit: AccountCommit) -> None:
        check_account_commit(commit)
        transaction = Transaction()
        for write in commit.writes:
            transaction.writes += _writes(write)
        for entry in commit.audit:
            item: Item = {BODY: text(entry.model_dump_json())}
            transaction.writes.append(Put(key=entities.audit(entry), item=item))
        commit_once(self._database, transaction, commit.idempotency)

    def _one(self, kind: type[Kind], key: Key, *ids: str) -> Kind | None:
        """What is kept there; None when there is nothing, or one of `ids` can be no id."""
        item = self._database.get(key) if all(is_id(part) for part in ids) else None
        return None if item is None else to(kind, item)

    def _all(self, kind: type[Kind], wanted: list[Key], order: Callable[[Kind], str]) -> list[Kind]:
        return sorted((to(kind, item) for item in self._database.get_many(wanted)), key=order)

    def _page(
        self, kind: type[Kind], pk: str, after: str | None, limit: int, *, newest_first: bool = False
    ) -> Page[Kind]:
        """A page of one partition; `after` is the sort key of the last item of the page before."""
        if after is not None and not keys.is_cursor(after):
            return Page([], None)
        if newest_first:
            beyond = Path([SK]) < text(keys.LAST if after is None else after)
        else:
            beyond = Path([SK]) > text("!" if after is None else after)
        found = list(self._database.query(ACCOUNT, pk, beyond, limit=limit + 1, newest_first=newest_first))
        page = found[:limit]
        end = get_text(page[-1], SK) if len(found) > limit and page else None
        return Page([to(kind, item) for item in page], end)

    def _beginning(self, key: Key, *ids: str) -> Iterator[Item]:
        """Items of the key's partition whose sort keys begin as the key's does."""
        if not all(is_id(part) for part in ids):
            return iter(())
        return self._database.query(ACCOUNT, key.pk, Path([SK]).startswith(str(key.sk)))

    def _pointed(self, account: str, prefix: str) -> list[str]:
        """Where the pointers of one kind lead to from an account."""
        found = self._beginning(entities.pointer(account, prefix), account)
        return [get_text(item, SK).removeprefix(prefix) for item in found]


def _writes(write: EntityWrite) -> list[Write]:
    """An entity's own write, on condition of its version, and that of its pointer."""
    kept = entities.kept(write.entity)
    about = "/".join(identity(write.entity)) or "installation"
    expected = write.expected or None  # version 0 of the installation is one that was never saved
    condition = at_version(expected)
    own: Write
    if write.delete:
        own = Delete(key=kept.key, condition=condition, about=about)
    elif expected is None:
        item = entities.content(write.entity) | entities.use(write.entity)
        own = Put(key=kept.key, item=item, condition=condition, about=about)
    else:
        own = Update(key=kept.key, sets=entities.content(write.entity), condition=condition, about=about)
    if kept.pointer is None or not moves_pointer(write):
        return [own]
    return [own, Delete(key=kept.pointer) if write.delete else Put(key=kept.pointer, item={})]
