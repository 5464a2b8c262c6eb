"""Asks every operation by its name, with parts and a body that it takes."""

from collections.abc import Mapping
from typing import Any

from chalicelib.web.doors import operations
from tests.fakes.client import Client, Reply

OPERATIONS = {operation.name: operation for operation in operations()}
CLOSED = sorted(name for name, operation in OPERATIONS.items() if not operation.public)
PUBLIC = sorted(set(OPERATIONS) - set(CLOSED))
WRITES = sorted(name for name in CLOSED if OPERATIONS[name].writes)
READS = sorted(set(CLOSED) - set(WRITES))
PARTS = {
    "space": "personal",
    "number": "1",
    "change": "1-1",
    "category": "cat_nothing",
    "job": "job_nothing",
    "account": "anna",
    "key": "key_nothing",
    "project": "prj_nothing",
    "platform": "discord",
    "community": "1001",
}
EMPTY_SPACE: dict[str, Any] = {
    "record": "space",
    "format": 1,
    "export": "exp_1",
    "as_of": "2026-05-04T08:00:00Z",
    "kind": "personal",
    "id": "anna",
    "created_at": "2026-05-03T08:00:00Z",
    "last_number": 3,
}
"""What an export says of a space, before all else."""
BODIES: dict[str, Any] = {
    "add_memory": {"text": "tea"},
    "add_batch": {"items": [{"text": "tea"}]},
    "edit_memory": {"version": 1, "text": "tea"},
    "retire_memory": {"version": 1},
    "merge_memories": {"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": "tea"},
    "change_many": {"op": "delete", "numbers": [1]},
    "search_memories": {"query": "tea"},
    "recall_memories": {"query": "tea"},
    "start_job": {"kind": "reindex"},
    "import_space": {"space": EMPTY_SPACE, "items": []},
    "create_category": {"name": "Work"},
    "edit_category": {"version": 1, "name": "Work"},
    "edit_own_settings": {"maintenance": True},
    "edit_settings": {"recall": {"memories": 5}},
    "create_key": {"name": "phone", "scopes": ["read"]},
    "create_account": {"name": "Berta"},
    "edit_account": {"name": "Anna"},
    "create_project": {"name": "rocket"},
    "edit_project": {"name": "rocket"},
    "add_member": {"account": "anna"},
    "create_community": {"platform": "discord", "id": "7", "name": "Den"},
    "edit_community": {"name": "Den"},
    "add_to_team": {"account": "anna"},
    "edit_team_member": {"configure": True},
}
"""A body that each operation takes; the others take none, or an empty one."""


def ask(client: Client, name: str, body: object = None, query: str = "", **how: Any) -> Reply:
    """Ask an operation by its name; its parts and its body are those above unless `parts` or `body` say otherwise."""
    operation = OPERATIONS[name]
    parts: Mapping[str, str] = {**PARTS, **how.pop("parts", {})}
    said = BODIES.get(name) if body is None else body
    return client.ask(operation.method, operation.path.format(**parts) + query, said, **how)


def code_of(reply: Reply) -> str:
    """The stable code of an error, whose shape is checked on the way."""
    assert set(reply.json) == {"error"}
    assert set(reply.json["error"]) == {"code", "message", "details"}
    assert "Traceback" not in reply.text
    return str(reply.json["error"]["code"])


def a_key(client: Client, **fields: Any) -> str:
    """Another key of Anna's."""
    return str(client.post("/v1/keys", {"name": "another", **fields}).json["key"]["key"])
