"""The shapes of answers about people and what they belong to, for the contract (`openapi.json`)."""

from typing import Any, Literal

from pydantic import Field

from chalicelib.domain.accounts import KeyScope
from chalicelib.domain.clock import Moment
from chalicelib.domain.personal_settings import PersonalSettings
from chalicelib.domain.recall_limits import RecallLimits, Thresholds
from chalicelib.domain.scope import Right, SpaceKind
from chalicelib.domain.vitality import Retention
from chalicelib.web.answers import Answer, Page


class ShownAccount(Answer):
    """A person."""

    id: str
    name: str
    email: str | None
    admin: bool
    disabled: bool
    created_at: Moment
    version: int


class ShownKey(Answer):
    """The facts of a key."""

    id: str
    account: str
    name: str
    scopes: list[KeyScope]
    acts_as: Literal["person", "model"]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None = Field(description="to the minute")


class NewShownKey(ShownKey):
    """A key that was just made."""

    key: str | None = Field(description="the key itself, shown this once; null when the request is repeated")


class OneAccount(Answer):
    """A person."""

    account: ShownAccount


class NewAccountAnswer(OneAccount):
    """A person who was just added, and the first key, if it was asked for."""

    key: NewShownKey | None = None


class Accounts(Page):
    """A page of people."""

    items: list[ShownAccount]


class Me(Answer):
    """The caller."""

    account: ShownAccount
    scopes: list[KeyScope]
    acts_as: Literal["person", "model"]
    key: str | None = Field(description="the id of the key that was used; null with a token")
    settings: PersonalSettings


class OwnSettings(Answer):
    """One's own settings (SPEC S1)."""

    settings: PersonalSettings
    version: int = Field(description="the account's version")


class OneNewKey(Answer):
    """A key that was just made."""

    key: NewShownKey


class Keys(Page):
    """A page of one's own keys."""

    items: list[ShownKey]


class Deleted(Answer):
    """What is gone."""

    key: str | None = None
    project: str | None = None
    platform: str | None = None
    community: str | None = None
    account: str | None = None


class DeletedAnswer(Answer):
    """That something is gone."""

    deleted: Deleted


class ShownProject(Answer):
    """A project; `pool`: whether its shared memory is on."""

    id: str
    name: str
    pool: bool
    created_at: Moment
    created_by: str
    version: int


class OneProject(Answer):
    """A project."""

    project: ShownProject


class Projects(Page):
    """A page of projects."""

    items: list[ShownProject]


class ShownMember(Answer):
    """That an account has access to a project."""

    project: str
    account: str
    added_at: Moment


class OneMember(Answer):
    """A member."""

    member: ShownMember


class Members(Page):
    """A page of a project's members."""

    items: list[ShownMember]


class ShownCommunity(Answer):
    """A Discord server or a Telegram group."""

    platform: Literal["discord", "telegram"]
    id: str
    name: str
    created_at: Moment
    version: int


class OneCommunity(Answer):
    """A community."""

    community: ShownCommunity


class Communities(Page):
    """A page of communities."""

    items: list[ShownCommunity]


class ShownTeamMember(Answer):
    """That an account is on a community's team; `configure`: whether it may change things (SPEC C6)."""

    platform: Literal["discord", "telegram"]
    community: str
    account: str
    configure: bool
    added_at: Moment
    version: int


class OneTeamMember(Answer):
    """A member of a team."""

    member: ShownTeamMember


class Team(Page):
    """A page of a community's team."""

    items: list[ShownTeamMember]


class Counts(Answer):
    """Memories by state."""

    active: int
    retired: int
    trashed: int


class ShownSpace(Answer):
    """A space that the caller may use."""

    space: str = Field(description="`personal`, `project:<id>` or `community:<platform>:<id>`")
    kind: SpaceKind
    title: str
    rights: list[Right]
    counts: Counts | None = Field(
        description="null when the caller may not read here, or they are not known now"
    )


class SpacesAnswer(Page):
    """A page of spaces."""

    items: list[ShownSpace]


class ShownInstallation(Answer):
    """What an admin set for all (SPEC M19, M23, M29); version 0: nothing was ever saved."""

    version: int
    recall: RecallLimits
    retention: Retention
    thresholds: dict[str, Thresholds] = Field(
        description="by embedding model (`words`: none), where not its defaults"
    )


class InstallationAnswer(Answer):
    """The settings of the installation."""

    settings: ShownInstallation
    in_force: dict[str, Thresholds] = Field(
        description="thresholds that hold now, by fingerprint of the embedding model in use, and for `words`"
    )


class ShownAuditEntry(Answer):
    """Who did what to whom."""

    id: str
    at: Moment
    by: str
    op: str
    target: str
    details: dict[str, Any]


class AccountAudit(Page):
    """What was done to accounts, keys, projects, communities and settings, newest first."""

    items: list[ShownAuditEntry]
