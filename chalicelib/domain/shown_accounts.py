"""People and what they belong to as JSON. No secret and no hash of one ever gets here."""

from typing import Any

from chalicelib.domain.accounts import (
    Account,
    ApiKey,
    AuditEntry,
    Community,
    Installation,
    Member,
    Project,
    TeamMember,
)

Shown = dict[str, Any]


def show_account(account: Account) -> Shown:
    """A person, as an admin and the person see it; settings are shown apart."""
    return account.model_dump(mode="json", exclude={"settings"})


def show_key(key: ApiKey) -> Shown:
    """The facts of a key: what it may do, when it was made, last used, and ends."""
    shown = key.model_dump(mode="json", exclude={"secret_hash", "version"})
    return {**shown, "scopes": sorted(key.scopes)}


def show_project(project: Project) -> Shown:
    """A project."""
    return project.model_dump(mode="json")


def show_member(member: Member) -> Shown:
    """That an account has access to a project."""
    return member.model_dump(mode="json", exclude={"version"})


def show_community(community: Community) -> Shown:
    """A community."""
    return community.model_dump(mode="json")


def show_team_member(member: TeamMember) -> Shown:
    """That an account is on a community's team, and what it may do there."""
    return member.model_dump(mode="json")


def show_installation(installation: Installation) -> Shown:
    """The settings of the installation; version 0: never saved, all defaults."""
    return installation.model_dump(mode="json")


def show_audit_entry(entry: AuditEntry) -> Shown:
    """Who did what to whom."""
    return entry.model_dump(mode="json")
