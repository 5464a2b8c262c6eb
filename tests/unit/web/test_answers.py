"""Every answer is what its operation declares, and carries the id of its request; and the contract says so."""

import base64
import hashlib
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from chalicelib.observability import JsonLines
from chalicelib.web import openapi
from chalicelib.web.openapi import document
from chalicelib.web.operations import Operation
from tests.fakes.client import Client
from tests.unit.web.asking import OPERATIONS, ask


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_answer_carries_the_id_that_the_caller_gave_if_it_is_harmless(client: Client, name: str) -> None:
    assert (
        ask(client, name, headers={"X-Correlation-Id": "trace-1.a_B"}).headers["x-correlation-id"]
        == "trace-1.a_B"
    )
    ids = set()
    for harmful in ("", " ", "a b", "a#b", "<script>", "x" * 129, "a\r\nSet-Cookie: a=b", "é", "_a"):
        given = ask(client, name, headers={"X-Correlation-Id": harmful}).headers["x-correlation-id"]
        assert given.startswith("req_")
        ids.add(given)
    assert len(ids) == 9


def test_log_lines_of_a_request_carry_its_id(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    written: list[dict[str, Any]] = []

    class Written(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(JsonLines().format(record)))

    handler = Written()
    logger = logging.getLogger("palimpsest")
    logger.addHandler(handler)
    caplog.set_level(logging.INFO, "palimpsest")
    try:
        ask(client, "get_me", headers={"X-Correlation-Id": "trace-1"})
    finally:
        logger.removeHandler(handler)
    assert [(line["correlation"], line["operation"], line["status"]) for line in written] == [
        ("trace-1", "get_me", 200)
    ]


class Walk:
    """Asks by name, and holds every answer to the model that its operation declares."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.done: set[str] = set()

    def good(self, name: str, body: object = None, **how: Any) -> Any:
        operation: Operation = OPERATIONS[name]
        reply = ask(self._client, name, body, **how)
        assert reply.status == operation.status, reply.text
        assert reply.headers["content-type"] == "application/json"
        assert operation.answer is not None
        operation.answer.model_validate(reply.json)
        self.done.add(name)
        return reply.json


def test_every_operation_on_memories_answers_what_it_declares(client: Client) -> None:
    walk = Walk(client)
    life_of_a_memory(walk)
    life_of_a_category(walk)
    walk.good("get_health")
    here = {name for name, one in OPERATIONS.items() if one.tag in {"memories", "search", "categories"}}
    assert walk.done == here | {"get_health"}


def life_of_a_memory(walk: Walk) -> None:
    source = {"conversation": "c", "position": 0, "author": "Marie", "said_at": "2024-05-01T10:00:00Z"}
    told = {"text": "password: hunter22", "importance": 7, "source": source, "context": "Which one?"}
    assert walk.good("add_memory", told)["warning"] == "secret"
    assert walk.good("add_memory", {"text": "password: hunter22", "category": None})["similar"] != []
    walk.good("add_batch", {"items": [{"text": "tea"}, {"text": ""}, 1, {"text": "password: hunter22"}]})
    walk.good("get_memory")
    walk.good("edit_memory", {"version": 1, "text": "Marie drinks tea.", "confidence": 0.5})
    walk.good("delete_memory", query="?version=2")
    walk.good("restore_memory", {})
    walk.good("retire_memory", {"version": 4, "reason": "outgrown", "replaced_by": 2})
    walk.good("undo_change", parts={"change": "1-5"})
    walk.good("list_memories", query="?state=all&sort=vitality&category=General&q=tea")
    for explain in (True, False):
        walk.good("search_memories", {"query": "tea", "explain": explain})
    walk.good("recall_memories", {"query": "tea", "seen": [1]})
    walk.good("get_map")
    merged = walk.good(
        "merge_memories", {"numbers": [2, 3], "versions": {"2": 1, "3": 1}, "text": "tea, as ever"}
    )
    walk.good("undo_change", parts={"change": f"{merged['memory']['number']}-1"})
    for op, more in (("retire", {"reason": "old"}), ("restore", {}), ("delete", {}), ("erase", {})):
        walk.good("change_many", {"op": op, "numbers": [2, 999], **more})
    walk.good("change_many", {"op": "categorise", "numbers": [1, 2], "category": None})
    walk.good("get_history", query="?limit=2")
    walk.good("get_audit", query="?limit=2")
    job = walk.good("start_job")["job"]["id"]
    walk.good("start_job", {"kind": "reindex", "all": True})
    walk.good("get_job", parts={"job": job})
    walk.good("list_jobs")
    walk.good("erase_memory", {})
    walk.good("get_history")


def life_of_a_category(walk: Walk) -> None:
    one = {"category": walk.good("create_category", {"name": "Work"})["category"]["id"]}
    walk.good("get_category", parts=one)
    walk.good("edit_category", {"version": 1, "name": "Job", "default": True}, parts=one)
    walk.good("delete_category", query="?version=2", parts=one)
    walk.good("list_categories")
    undone = walk.good("undo_change", parts={"change": f"{one['category']}-3"})
    assert undone["categories"][0]["name"] == "Job"


@pytest.mark.parametrize(
    ("name", "setup"),
    [("delete_memory", "memory"), ("delete_category", "category")],
)
def test_a_delete_may_name_a_version_and_is_refused_when_it_is_stale(
    client: Client, name: str, setup: str
) -> None:
    client.post("/v1/spaces/personal/memories", {"text": "tea"})
    category = client.post("/v1/spaces/personal/categories", {"name": "Work"}).json["category"]["id"]
    parts = {"category": category}
    stale = ask(client, name, query="?version=7", parts=parts)
    assert (stale.status, stale.json["error"]["details"]["current"]["version"]) == (409, 1)
    for wrong in ("0", "x", "1.0", "", "-1"):
        assert ask(client, name, query=f"?version={wrong}", parts=parts).fields == ["version"]
    assert ask(client, name, query="?version=1&version=1", parts=parts).fields == ["version"]
    assert ask(client, name, query="?version=1", parts=parts).json[setup]["version"] == 2


def test_a_bad_cursor_and_a_foreign_id_change_nothing(client: Client) -> None:
    reply = ask(client, "undo_change", parts={"change": "1%231"})
    assert (reply.status, reply.fields) == (422, ["change"])
    assert ask(client, "undo_change", parts={"change": "nothing-1"}).status == 404
    assert ask(client, "undo_change", parts={"change": "nothing"}).status == 404


# ------------------------------------------------------------------ the contract itself


def test_the_contract_is_served_as_it_is_generated(client: Client) -> None:
    reply = client.get("/v1/openapi.json", key="")
    assert reply.headers["content-type"] == "application/json"
    assert reply.json == json.loads(json.dumps(document()))


def test_the_contract_is_written_by_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openapi, "FILE", tmp_path / "openapi.json")
    openapi.main()
    assert json.loads((tmp_path / "openapi.json").read_text()) == json.loads(json.dumps(document()))


def test_the_contract_states_what_is_refused() -> None:
    """So that a generated client cannot say it."""
    schemas = document()["components"]["schemas"]
    assert {"required": ["text"]} in schemas["Edit"]["anyOf"]
    assert schemas["Edit"]["properties"]["kind"]["type"] == "string"
    assert {"type": "null"} in schemas["Edit"]["properties"]["category"]["anyOf"]
    assert schemas["Merge"]["properties"]["versions"]["additionalProperties"] is False
    assert schemas["Merge"]["properties"]["numbers"]["uniqueItems"] is True
    paths = document()["paths"]
    assert paths["/v1/me/settings"]["patch"]["requestBody"]["required"] is True
    assert paths["/v1/projects/{project}/pool"]["post"]["requestBody"]["required"] is False
    space = paths["/v1/spaces/{space}/map"]["get"]["parameters"][0]["schema"]["pattern"]
    for name, good in (("personal", 1), ("project:a", 1), ("community:irc:a", 0), ("project:", 0), ("a", 0)):
        assert bool(re.search(space, name)) == good


def test_the_page_of_the_contract_runs_only_its_own_script(client: Client) -> None:
    reply = client.get("/v1/docs", key="")
    policy = dict(part.strip().split(" ", 1) for part in reply.headers["content-security-policy"].split(";"))
    script = reply.text.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == f"'sha256-{digest}'"
    assert policy["connect-src"] == "'self'"
    assert "unsafe-inline" not in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "http://" not in reply.text
    assert "https://" not in reply.text


def test_a_head_request_is_answered_without_a_body(client: Client) -> None:
    reply = client.ask("HEAD", "/v1/health", key="")
    assert (reply.status, reply.text) == (200, "")
