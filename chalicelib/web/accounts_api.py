"""People over HTTP: the caller, the spaces that are open to it, and accounts, which admins manage."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.account_drafts import AccountEdit, NewAccount
from chalicelib.web import account_answers as answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import PageQuery, VersionQuery
from chalicelib.web.operations import Door

door = Door.of("accounts")

ACCOUNTS = "/v1/accounts"
ACCOUNT = f"{ACCOUNTS}/{{account}}"


@door.operation("GET", "/v1/me", answer=answers.Me)
def get_me(call: Call) -> Mapping[str, Any]:
    """The caller: account, scopes, settings."""
    return call.services.people.me(call.caller)


@door.operation("GET", "/v1/spaces", query=PageQuery, answer=answers.SpacesAnswer)
def list_spaces(call: Call) -> Mapping[str, Any]:
    """The spaces that the caller may use, with what it may do there and counts by state."""
    query = call.query(PageQuery)
    return call.services.space_list.listed(call.caller, limit=query.limit, cursor=query.cursor)


@door.operation("GET", ACCOUNTS, query=PageQuery, answer=answers.Accounts)
def list_accounts(call: Call) -> Mapping[str, Any]:
    """All accounts, for admins."""
    query = call.query(PageQuery)
    return call.services.people.listed(call.caller, limit=query.limit, cursor=query.cursor)


@door.operation("POST", ACCOUNTS, status=201, body=NewAccount, answer=answers.NewAccountAnswer)
def create_account(call: Call) -> Mapping[str, Any]:
    """Add a person, for admins.

    With `first_key` the answer holds a key, shown once, with which the person begins.
    """
    return call.services.people.create(call.caller, call.body(NewAccount), call.write())


@door.operation("GET", ACCOUNT, answer=answers.OneAccount)
def get_account(call: Call) -> Mapping[str, Any]:
    """One account, for admins."""
    return call.services.people.get(call.caller, call.identifier("account"))


@door.operation("PATCH", ACCOUNT, body=AccountEdit, answer=answers.OneAccount)
def edit_account(call: Call) -> Mapping[str, Any]:
    """Rename a person, make them an admin or not, disable them or not; for admins.

    The last admin stays one. `version` is optional; a stale one is refused with the current state.
    """
    return call.services.people.edit(
        call.caller, call.identifier("account"), call.body(AccountEdit), call.write()
    )


@door.operation("DELETE", ACCOUNT, query=VersionQuery, answer=answers.OneAccount)
def delete_account(call: Call) -> Mapping[str, Any]:
    """Close an account, for admins: it is disabled, its keys are deleted.

    Its personal memories stay stored, and nobody can read them.
    """
    version = call.query(VersionQuery).version
    return call.services.people.delete(call.caller, call.identifier("account"), call.write(), version=version)
