"""Who asks, from where, about which space. The first argument of every store and search call (M24).

There is no default and no "all": a scope without an identity cannot be made (CASES: memanto PR#1873).
"""

from enum import StrEnum
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from chalicelib.domain.ids import Id

Place = Literal["http", "console", "mcp", "cli", "channel", "job"]


class SpaceKind(StrEnum):
    """The three kinds of space (SPEC, words)."""

    PERSONAL = "personal"
    PROJECT = "project"
    COMMUNITY = "community"


class Space(BaseModel):
    """Where memories live: one per account, one per project with a pool, one per community."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: SpaceKind
    id: Id
    platform: Id | None = None

    @model_validator(mode="after")
    def _platform_belongs_to_communities(self) -> Self:
        if (self.platform is not None) != (self.kind is SpaceKind.COMMUNITY):
            raise ValueError("a community has a platform, nothing else has one")
        return self

    @classmethod
    def personal(cls, account: str) -> "Space":
        """The space of one account."""
        return cls(kind=SpaceKind.PERSONAL, id=account)

    @classmethod
    def pool(cls, project: str) -> "Space":
        """The shared pool of one project."""
        return cls(kind=SpaceKind.PROJECT, id=project)

    @classmethod
    def community(cls, platform: str, identifier: str) -> "Space":
        """The space of one Discord server or Telegram group."""
        return cls(kind=SpaceKind.COMMUNITY, id=identifier, platform=platform)

    @property
    def key(self) -> str:
        """The partition key of all that lives here: `account#…`, `project#…`, `community#<platform>#…`."""
        if self.kind is SpaceKind.COMMUNITY:
            return f"community#{self.platform}#{self.id}"
        return f"{'account' if self.kind is SpaceKind.PERSONAL else 'project'}#{self.id}"

    @property
    def name(self) -> str:
        """How HTTP addresses it for a caller who may: `personal`, `project:<id>`, `community:<platform>:<id>`."""
        if self.kind is SpaceKind.COMMUNITY:
            return f"community:{self.platform}:{self.id}"
        return "personal" if self.kind is SpaceKind.PERSONAL else f"project:{self.id}"

    @classmethod
    def from_key(cls, key: str) -> "Space":
        """The space whose `key` this is. Raises ValueError for anything else."""
        parts = key.split("#")
        if len(parts) == 2 and parts[0] == "account":
            return cls.personal(parts[1])
        if len(parts) == 2 and parts[0] == "project":
            return cls.pool(parts[1])
        if len(parts) == 3 and parts[0] == "community":
            return cls.community(parts[1], parts[2])
        raise ValueError("not the key of a space")


class Actor(BaseModel):
    """Who or what makes a change: a person, a model in a turn, or a named pass (M13)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["person", "model", "pass"]
    id: Id
    turn: Id | None = None


class Right(StrEnum):
    """What a scope allows in its space."""

    READ = "read"
    WRITE = "write"
    CONFIGURE = "configure"


class Scope(BaseModel):
    """One caller's view of one space. Made only by `services.accounts.access`, or by a job for its own space."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    actor: Actor
    space: Space
    rights: frozenset[Right]
    place: Place
    project: Id | None = None
    """The project in which the caller works: its bound categories may be recalled (M9)."""

    @model_validator(mode="after")
    def _a_person_is_only_in_its_own_personal_space(self) -> Self:
        if (
            self.space.kind is SpaceKind.PERSONAL
            and self.actor.kind == "person"
            and self.actor.id != self.space.id
        ):
            raise ValueError("a personal space is private to its account")
        if self.space.kind is SpaceKind.PROJECT and self.project not in (None, self.space.id):
            raise ValueError("a pool is used inside its own project")
        return self

    def allows(self, right: Right) -> bool:
        """Whether this caller holds `right` here."""
        return right in self.rights
