"""What callers may say of people, keys, projects, communities and settings. Unknown fields are refused.

`version` is optional here: when it is named, a stale one is refused with the current state; when it is not, the
fields that are named are set on whatever is current, and no other field changes (so nothing of another is lost).
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from chalicelib.domain.accounts import KeyScope, Name
from chalicelib.domain.clock import Moment
from chalicelib.domain.drafts import Draft, Flag, SomeFields, Versioned, said
from chalicelib.domain.ids import Id
from chalicelib.domain.recall_limits import RecallLimits, Thresholds
from chalicelib.domain.text_rules import Line
from chalicelib.domain.vitality import Retention

Email = Annotated[Line, Field(max_length=320)]
Platform = Literal["discord", "telegram"]
ModelName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]
"""Fingerprint of an embedding model, or `words`."""


class SomeVersionedFields(SomeFields, Versioned):
    """A change of some fields, for which a version may be named."""

    def named(self) -> dict[str, Any]:
        """The fields that are to change, as values."""
        return {field: value for field, value in said(self).items() if field != "version"}


class NewAccount(Draft):
    """A person. `first_key`: also make a key, shown once, with which the person begins."""

    name: Name
    email: Email | None = None
    admin: Flag = False
    first_key: Flag = False


class AccountEdit(SomeVersionedFields):
    """A change of a person, by an admin."""

    nullable: ClassVar[frozenset[str]] = frozenset({"email"})

    name: Name | None = None
    email: Email | None = None
    admin: Flag | None = None
    disabled: Flag | None = None


class PersonalSettingsEdit(SomeVersionedFields):
    """A change of one's own settings (S1)."""

    search_every_message: Flag | None = None
    search_while_working: Flag | None = None
    save_after_answers: Flag | None = None
    maintenance: Flag | None = None
    skill_learning: Flag | None = None


class NewKey(Draft):
    """A key for oneself. One that acts as a model never reaches uncategorised memories (M8)."""

    name: Name
    scopes: Annotated[frozenset[KeyScope], Field(min_length=1)] = frozenset({"read", "write"})
    acts_as: Literal["person", "model"] = "person"
    expires_at: Moment | None = None


class NewProject(Draft):
    """A project. `pool: true` is for admins (M6)."""

    name: Name
    pool: Flag = False


class ProjectEdit(SomeVersionedFields):
    """A change of a project; `pool` is for admins (M6)."""

    name: Name | None = None
    pool: Flag | None = None


class NewMember(Draft):
    """An account that is to have access to a project."""

    account: Id


class NewCommunity(Draft):
    """A Discord server or a Telegram group, by its id there."""

    platform: Platform
    id: Id
    name: Name


class CommunityEdit(SomeVersionedFields):
    """A change of a community."""

    name: Name | None = None


class NewTeamMember(Draft):
    """An account that is to be on a community's team; `configure` lets it change things (C6)."""

    account: Id
    configure: Flag = False


class TeamMemberEdit(SomeVersionedFields):
    """A change of what a team member may do (C6)."""

    configure: Flag | None = None


class InstallationEdit(SomeVersionedFields):
    """A change of the installation's settings (M19, M23, M29): within `recall` and `retention` only the fields that
    are named change; in `thresholds` only the models that are named, and null gives a model its own defaults back."""

    version: Annotated[int, Field(ge=0, le=10**12, strict=True)] | None = None
    """0 = only if nothing was ever saved."""
    recall: RecallLimits | None = None
    retention: Retention | None = None
    thresholds: Annotated[dict[ModelName, Thresholds | None], Field(max_length=50)] | None = None
