"""People and what they belong to: accounts, logins, keys, projects, communities (M6, C6)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.domain.clock import Moment
from chalicelib.domain.ids import Id
from chalicelib.domain.recall_limits import RecallLimits, Thresholds
from chalicelib.domain.records import IdempotencyRecord
from chalicelib.domain.text_rules import Line
from chalicelib.domain.vitality import Retention

_FROZEN = ConfigDict(frozen=True, extra="forbid")
Version = Annotated[int, Field(ge=1)]
Name = Annotated[Line, Field(max_length=200)]

KeyScope = Literal["read", "write", "admin"]
"""read: search, list, recall. write: change memories. admin: what an admin may, if the owner is one."""


class Account(BaseModel):
    """A person. `admin` runs the installation; it does not open anyone's personal space."""

    model_config = _FROZEN

    id: Id
    name: Name
    email: Annotated[Line, Field(max_length=320)] | None = None
    admin: bool = False
    disabled: bool = False
    settings: dict[str, Any] = Field(default_factory=dict)
    created_at: Moment
    version: Version = 1


class Login(BaseModel):
    """That an identity of an OIDC provider is an account of ours."""

    model_config = _FROZEN

    issuer: Annotated[str, Field(min_length=1, max_length=500)]
    subject: Annotated[str, Field(min_length=1, max_length=500)]
    account: Id
    created_at: Moment
    version: Version = 1


class ApiKey(BaseModel):
    """A key as kept: never the key itself, only the SHA-256 of its secret."""

    model_config = _FROZEN

    id: Id
    account: Id
    name: Name
    secret_hash: str
    scopes: frozenset[KeyScope]
    acts_as: Literal["person", "model"] = "person"
    """A model's key never reaches uncategorised memories (M8)."""
    created_at: Moment
    expires_at: Moment | None = None
    last_used_at: Moment | None = None
    version: Version = 1


class Project(BaseModel):
    """Work that accounts are members of. `pool`: whether an admin switched its shared memory on."""

    model_config = _FROZEN

    id: Id
    name: Name
    pool: bool = False
    created_at: Moment
    created_by: Id
    version: Version = 1


class Member(BaseModel):
    """That an account has access to a project."""

    model_config = _FROZEN

    project: Id
    account: Id
    added_at: Moment
    version: Version = 1


class Community(BaseModel):
    """A Discord server or a Telegram group."""

    model_config = _FROZEN

    platform: Literal["discord", "telegram"]
    id: Id
    name: Name
    created_at: Moment
    version: Version = 1


class TeamMember(BaseModel):
    """That an account is on the team that owns a community; `configure` lets it change things (C6)."""

    model_config = _FROZEN

    platform: Literal["discord", "telegram"]
    community: Id
    account: Id
    configure: bool = False
    added_at: Moment
    version: Version = 1


class Installation(BaseModel):
    """What an admin sets for all (S3)."""

    model_config = _FROZEN

    version: Annotated[int, Field(ge=0)] = 0
    """0 = never saved."""
    recall: RecallLimits = RecallLimits()
    retention: Retention = Retention()
    thresholds: dict[str, Thresholds] = Field(default_factory=dict)
    """By fingerprint of the embedding model ("words" = none): what replaces that model's measured defaults."""


class AuditEntry(BaseModel):
    """Who did what to whom in the world of accounts; no secrets, no memory's text."""

    model_config = _FROZEN

    id: Id
    at: Moment
    by: Id
    op: str
    target: str
    details: dict[str, Any] = Field(default_factory=dict)


Entity = Account | Login | ApiKey | Project | Member | Community | TeamMember | Installation


class EntityWrite(BaseModel):
    """An entity as it is to be. `expected` = the version it must be at; None = it must not exist.
    `delete` = it is to be gone (`entity` says which one)."""

    model_config = _FROZEN

    entity: Entity
    expected: int | None
    delete: bool = False


class AccountCommit(BaseModel):
    """All or nothing, in one transaction."""

    model_config = _FROZEN

    writes: tuple[EntityWrite, ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    idempotency: IdempotencyRecord | None = None
