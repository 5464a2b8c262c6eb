"""Settings over HTTP: one's own, and those of the installation; and what was done to accounts."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.account_drafts import InstallationEdit, PersonalSettingsEdit
from chalicelib.web import account_answers as answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import PageQuery
from chalicelib.web.operations import Door

door = Door.of("settings")


@door.operation("PATCH", "/v1/me/settings", body=PersonalSettingsEdit, answer=answers.OwnSettings)
def edit_own_settings(call: Call) -> Mapping[str, Any]:
    """Switch one's own settings (SPEC S1); a change holds from the next turn on."""
    return call.services.people.edit_settings(call.caller, call.body(PersonalSettingsEdit), call.write())


@door.operation("GET", "/v1/settings", answer=answers.InstallationAnswer)
def get_settings(call: Call) -> Mapping[str, Any]:
    """The settings of the installation, for admins: limits of recall, retention, thresholds."""
    return call.services.installation.get(call.caller)


@door.operation("PATCH", "/v1/settings", body=InstallationEdit, answer=answers.InstallationAnswer)
def edit_settings(call: Call) -> Mapping[str, Any]:
    """Change what is named, for admins; it holds at once (SPEC M19, M23, M29)."""
    return call.services.installation.edit(call.caller, call.body(InstallationEdit), call.write())


@door.operation("GET", "/v1/audit", query=PageQuery, answer=answers.AccountAudit)
def get_account_audit(call: Call) -> Mapping[str, Any]:
    """What was done to accounts, keys, projects, communities and settings, newest first; for admins."""
    query = call.query(PageQuery)
    return call.services.installation.audit(call.caller, limit=query.limit, cursor=query.cursor)
