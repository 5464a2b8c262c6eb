"""API keys over HTTP: each person's own."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.account_drafts import NewKey
from chalicelib.web import account_answers as answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import PageQuery
from chalicelib.web.operations import Door

door = Door.of("keys")

KEYS = "/v1/keys"


@door.operation("GET", KEYS, query=PageQuery, answer=answers.Keys)
def list_keys(call: Call) -> Mapping[str, Any]:
    """One's own keys: what each may do, when it was last used, when it ends."""
    query = call.query(PageQuery)
    return call.services.keys.listed(call.caller, limit=query.limit, cursor=query.cursor)


@door.operation("POST", KEYS, status=201, body=NewKey, answer=answers.OneNewKey)
def create_key(call: Call) -> Mapping[str, Any]:
    """Make a key for oneself. It is shown once.

    It has no right that the caller lacks, and does not outlive the key that makes it. One that acts as a model never
    reaches uncategorised memories, and cannot change accounts, keys, projects or settings.
    """
    return call.services.keys.create(call.caller, call.body(NewKey), call.write())


@door.operation("DELETE", f"{KEYS}/{{key}}", answer=answers.DeletedAnswer)
def delete_key(call: Call) -> Mapping[str, Any]:
    """Revoke a key; it is refused from now on. An admin may revoke anyone's."""
    return call.services.keys.delete(call.caller, call.identifier("key"), call.write())
