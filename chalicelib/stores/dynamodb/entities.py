"""Where each entity of the world of accounts is kept, and what is kept of it.

    account | project | community   <id>                    all of a kind in one partition, for they are listed;
                                                            DynamoDB splits it when it grows hot
    login#<hash>                    login
    key#<id>                        key                     and a pointer account#<account>  key#<id>
    project#<id>                    member#<account>        and a pointer account#<account>  member#<project>
    community#<platform>#<id>       team#<account>          and a pointer account#<account>  team#<platform>#<id>
    installation                    installation
    audit                           <time>#<id>

A pointer is written and deleted in the transaction of what it leads to, so both ways are strongly consistent; a
global index is not.
"""

from typing import NamedTuple, assert_never

from chalicelib.domain.accounts import (
    Account,
    ApiKey,
    AuditEntry,
    Community,
    Entity,
    Installation,
    Login,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.clock import rfc3339
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.dynamodb.keys import Key
from chalicelib.stores.dynamodb.tables import ACCOUNT, BODY, LAST_USED_AT, VERSION
from chalicelib.stores.dynamodb.values import Item, get_document, get_text, text, whole

ACCOUNTS = "account"
PROJECTS = "project"
COMMUNITIES = "community"
AUDIT = "audit"
KEYS = "key#"
MEMBERS = "member#"
TEAM = "team#"

INSTALLATION = Key(ACCOUNT, "installation", "installation")


def account(account: str) -> Key:
    """An account."""
    return Key(ACCOUNT, ACCOUNTS, account)


def login(issuer: str, subject: str) -> Key:
    """A login; issuer and subject are free texts and are hashed together."""
    return Key(ACCOUNT, f"login#{keys.digest(issuer, subject)}", "login")


def api_key(key: str) -> Key:
    """A key."""
    return Key(ACCOUNT, f"key#{key}", "key")


def project(project: str) -> Key:
    """A project."""
    return Key(ACCOUNT, PROJECTS, project)


def member(project: str, account: str) -> Key:
    """A membership."""
    return Key(ACCOUNT, f"project#{project}", MEMBERS + account)


def community(platform: str, community: str) -> Key:
    """A community."""
    return Key(ACCOUNT, COMMUNITIES, f"{platform}#{community}")


def team_member(platform: str, community: str, account: str) -> Key:
    """A place on a team."""
    return Key(ACCOUNT, f"community#{platform}#{community}", TEAM + account)


def pointer(account: str, sort_key: str) -> Key:
    """What leads from an account to something that belongs to it."""
    return Key(ACCOUNT, f"account#{account}", sort_key)


def audit(entry: AuditEntry) -> Key:
    """An entry of the journal."""
    return Key(ACCOUNT, AUDIT, f"{rfc3339(entry.at)}#{entry.id}")


class Kept(NamedTuple):
    """Where an entity is kept, and what leads to it from its account."""

    key: Key
    pointer: Key | None = None


def kept(entity: Entity) -> Kept:
    """Where this entity is kept."""
    match entity:
        case Account():
            return Kept(account(entity.id))
        case Login():
            return Kept(login(entity.issuer, entity.subject))
        case ApiKey():
            return Kept(api_key(entity.id), pointer(entity.account, KEYS + entity.id))
        case Project():
            return Kept(project(entity.id))
        case Member():
            back = pointer(entity.account, MEMBERS + entity.project)
            return Kept(member(entity.project, entity.account), back)
        case Community():
            return Kept(community(entity.platform, entity.id))
        case TeamMember():
            back = pointer(entity.account, f"{TEAM}{entity.platform}#{entity.community}")
            return Kept(team_member(entity.platform, entity.community, entity.account), back)
        case Installation():
            return Kept(INSTALLATION)
        case _:
            assert_never(entity)


def content(entity: Entity) -> Item:
    """What a write of an entity sets. When a key was last used is apart, so that no write takes it back."""
    return {
        BODY: text(entity.model_dump_json(exclude={"last_used_at"})),
        VERSION: whole(entity.version),
    }


def use(entity: Entity) -> Item:
    """What only a new key brings along."""
    last = entity.last_used_at if isinstance(entity, ApiKey) else None
    return {} if last is None else {LAST_USED_AT: text(rfc3339(last))}


def to_api_key(item: Item) -> ApiKey:
    """The key that was kept."""
    last = get_text(item, LAST_USED_AT) if LAST_USED_AT in item else None
    return ApiKey.model_validate(get_document(item, BODY) | {"last_used_at": last})
