"""Who is let in by which door, and what must be asked properly: holds for every operation."""

import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from app import app
from chalicelib.domain.account_drafts import AccountEdit
from chalicelib.domain.accounts import AccountCommit, EntityWrite
from chalicelib.domain.api_keys import mint
from chalicelib.errors import MalformedError
from chalicelib.web.call import Call
from chalicelib.web.doors import operations
from infra.local.front import Front
from tests.fakes.client import Client
from tests.unit.web.asking import (
    BODIES,
    CLOSED,
    OPERATIONS,
    PARTS,
    PUBLIC,
    READS,
    WRITES,
    a_key,
    ask,
    code_of,
)


def test_every_body_of_these_tests_is_one_that_its_operation_takes() -> None:
    for name, operation in OPERATIONS.items():
        if operation.body is not None:
            operation.body.model_validate(BODIES.get(name, {}))
        else:
            assert name not in BODIES


# ------------------------------------------------------------------ who is let in


def bad_credentials(client: Client) -> dict[str, str]:
    """Headers that nobody may come in with."""
    expired, revoked, closed = (
        client.post("/v1/keys", {"name": name, "expires_at": "2026-05-04T09:30:00Z"}).json["key"]
        for name in ("expired", "revoked", "closed")
    )
    services = client.world.services
    store = client.world.parts.accounts
    kept = store.key(revoked["id"])
    assert kept is not None
    store.commit(AccountCommit(writes=(EntityWrite(entity=kept, expected=kept.version, delete=True),)))
    person = client.post("/v1/accounts", {"name": "Berta", "first_key": True}).json
    caller = services.sign_in.authenticate(f"Bearer {client.key}", client.world.now)
    services.people.edit(
        caller, person["account"]["id"], AccountEdit(disabled=True), client.world.request(owner="anna")
    )
    another = "a" if closed["key"][-8] != "a" else "b"
    return {
        "none": "",
        "blank": " ",
        "no scheme": client.key,
        "another scheme": f"Basic {client.key}",
        "scheme only": "Bearer",
        "malformed": "Bearer plm_what",
        "two": f"Bearer {client.key} {client.key}",
        "very long": "Bearer " + "x" * 20_000,
        "foreign": f"Bearer {mint().plain}",
        "mistyped": f"Bearer {closed['key'][:-8]}{another}{closed['key'][-7:]}",
        "id only": f"Bearer {client.key[:31]}",
        "revoked": f"Bearer {revoked['key']}",
        "of a disabled account": f"Bearer {person['key']['key']}",
        "expired": f"Bearer {expired['key']}",
    }


@pytest.mark.parametrize("name", CLOSED)
def test_nobody_comes_in_without_a_credential_that_holds(client: Client, name: str) -> None:
    """And every refusal of one reads the same, so that nobody learns which keys exist."""
    headers = bad_credentials(client)
    client.world.later(hours=1)
    said = set()
    for kind, header in headers.items():
        reply = ask(client, name, key="", headers={"Authorization": header} if header else {})
        assert (kind, reply.status, code_of(reply)) == (kind, 401, "unauthenticated")
        assert reply.headers["www-authenticate"] == 'Bearer realm="palimpsest"'
        said.add(reply.json["error"]["message"] if header.strip() else "")
    assert len(said) == 2
    assert ask(client, name, key=client.key).status != 401


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_asks_for_no_credential(client: Client, name: str) -> None:
    assert ask(client, name, key="").status == 200
    assert ask(client, name, key="plm_what").status == 200


@pytest.mark.parametrize("name", WRITES)
def test_a_key_that_only_reads_writes_nothing(client: Client, name: str) -> None:
    client.post("/v1/spaces/personal/memories", {"text": "tea"})
    before = client.world.database_dump()
    key = a_key(client, scopes=["read"])
    added = len(client.world.database_dump()) - len(before)
    reply = ask(client, name, key=key)
    assert (reply.status, code_of(reply)) == (403, "forbidden")
    assert len(client.world.database_dump()) == len(before) + added


@pytest.mark.parametrize("name", READS)
def test_a_key_that_only_reads_reads(client: Client, name: str) -> None:
    client.post("/v1/spaces/personal/memories", {"text": "tea"})
    reply = ask(client, name, key=a_key(client, scopes=["read"]))
    admins = name in {"list_accounts", "get_account", "get_settings", "get_account_audit", "get_diagnosis"}
    assert reply.status == (403 if admins else reply.status)
    assert reply.status in ({403} if admins else {200, 404})


WORLD_OF_ACCOUNTS = sorted(
    name
    for name in WRITES
    if OPERATIONS[name].tag in {"accounts", "keys", "projects", "communities", "settings"}
)


@pytest.mark.parametrize("name", WORLD_OF_ACCOUNTS)
def test_a_models_key_opens_no_door_to_accounts_keys_projects_and_settings(client: Client, name: str) -> None:
    reply = ask(client, name, key=a_key(client, acts_as="model"))
    assert (reply.status, code_of(reply)) == (403, "forbidden")


def test_a_models_key_is_never_given_what_has_no_category(client: Client) -> None:
    """SPEC M8."""
    client.post("/v1/spaces/personal/memories", {"text": "green tea", "category": None})
    key = a_key(client, acts_as="model")
    assert ask(client, "search_memories", key=key).json["items"] == []
    assert ask(client, "recall_memories", key=key).json["items"] == []
    asked = ask(client, "search_memories", {"query": "tea", "include_uncategorised": True}, key=key)
    assert asked.status == 403
    assert len(ask(client, "search_memories").json["items"]) == 1


def test_a_models_key_is_not_shown_what_a_person_did_under_the_same_idempotency_key(client: Client) -> None:
    """SPEC M8: a repeat answers as the first time, with a memory that the model may not read."""
    memories, headers = "/v1/spaces/personal/memories", {"Idempotency-Key": "k"}
    hidden = {"text": "the safe", "category": None}
    assert client.post(memories, hidden, headers=headers).status == 201
    repeated = client.post(memories, hidden, headers=headers, key=a_key(client, acts_as="model"))
    assert (repeated.status, repeated.fields) == (422, ["Idempotency-Key"])


def test_a_field_given_twice_is_refused(client: Client) -> None:
    for raw in (
        b'{"text": "tea", "text": "coffee"}',
        b'{"text": "tea", "source": {"author": "A", "author": "B"}}',
    ):
        reply = client.ask("POST", "/v1/spaces/personal/memories", raw=raw)
        assert (reply.status, reply.fields) in ((422, ["text"]), (422, ["author"]))


def test_what_a_models_key_writes_is_recorded_as_the_models(client: Client) -> None:
    added = ask(client, "add_memory", key=a_key(client, acts_as="model")).json["memory"]
    assert added["recorded_by"]["kind"] == "model"


def test_a_key_belongs_to_its_time(client: Client) -> None:
    until = client.world.now + timedelta(minutes=5)
    key = a_key(client, expires_at=until.isoformat())
    assert ask(client, "get_me", key=key).status == 200
    client.world.later(minutes=5)
    assert ask(client, "get_me", key=key).status == 401


# ------------------------------------------------------------------ what is not asked for properly


@pytest.mark.parametrize("name", sorted(name for name in CLOSED if OPERATIONS[name].query is None))
def test_a_parameter_that_is_none_is_refused(client: Client, name: str) -> None:
    reply = ask(client, name, query="?colour=red")
    assert (reply.status, reply.fields) == (422, ["colour"])


@pytest.mark.parametrize("name", sorted(name for name in CLOSED if OPERATIONS[name].query is not None))
def test_a_parameter_of_another_operation_is_refused(client: Client, name: str) -> None:
    client.post("/v1/spaces/personal/memories", {"text": "tea"})
    reply = ask(client, name, query="?colour=red", parts=made(client))
    assert (reply.status, reply.fields) == (422, ["colour"])


def made(client: Client) -> dict[str, str]:
    """Parts that lead to something."""
    project = client.post("/v1/projects", {"name": "rocket"}).json["project"]["id"]
    client.post("/v1/communities", {"platform": "discord", "id": "1001", "name": "Den"})
    return {"project": project}


@pytest.mark.parametrize("name", sorted(name for name in CLOSED if OPERATIONS[name].body is None))
def test_a_body_that_nobody_reads_is_refused_and_not_passed_over(client: Client, name: str) -> None:
    for body in ([], None, 1, "text", {"version": 1}):
        reply = ask(client, name, raw=json.dumps(body).encode())
        assert (reply.status, reply.fields) == (422, ["body"])
    assert ask(client, name, raw=b"{").status == 400
    assert ask(client, name, raw=b"{}").status == ask(client, name).status


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_another_method_is_refused_with_those_that_are_possible(client: Client, name: str) -> None:
    path = OPERATIONS[name].path.format(**PARTS)
    possible = {one.method for one in operations() if one.path == OPERATIONS[name].path}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"} - possible:
        reply = client.ask(method, path)
        assert (reply.status, code_of(reply)) == (405, "method_not_allowed")
        assert possible <= set(reply.headers["allow"].split(", "))


def test_wrong_fields_are_told_in_bounds(client: Client) -> None:
    """The name of a field may be the caller's own: a megabyte of them is not sent back."""
    many = {f"{'x' * 400}{number}": 1 for number in range(1_000)}
    reply = client.post("/v1/spaces/personal/memories", {"text": "tea", **many})
    assert reply.status == 422
    assert 0 < len(reply.fields) <= 50
    assert len(reply.text) < 50_000


def test_too_long_a_text_is_told_in_characters(client: Client) -> None:
    reply = client.post("/v1/spaces/personal/memories", {"text": "tea", "key": "x" * 201})
    assert reply.json["error"]["message"] == "key: has at most 200 characters"
    reply = client.post("/v1/spaces/personal/memories/batch", {"items": [1] * 501})
    assert reply.json["error"]["message"] == "items: has at most 500 items"


def test_a_body_that_is_nested_too_deeply_is_refused_wherever_it_is_read(client: Client) -> None:
    for depth in (200, 900, 1_500, 20_000):
        deep = b"[" * depth + b"]" * depth
        for raw in (deep, b'{"items": [' + deep + b"]}", b'{"text": ' + deep + b"}"):
            for name in ("add_batch", "add_memory", "undo_change", "restore_memory"):
                reply = ask(client, name, raw=raw, headers={"Idempotency-Key": "k"})
                assert reply.status in {200, 400, 422}, (name, depth, reply.text[:200])


@pytest.mark.parametrize(
    ("name", "first", "other"),
    [
        ("change_many", {"op": "delete", "numbers": [1, 2]}, {"op": "delete", "numbers": [3]}),
        ("change_many", {"op": "delete", "numbers": [99]}, {"op": "delete", "numbers": [3]}),
        ("add_batch", {"items": [{"text": "a"}]}, {"items": [{"text": "a"}, {"text": "b"}]}),
        ("start_job", {"kind": "reindex", "all": True}, {"kind": "reindex"}),
        ("create_category", {"name": "Work"}, {"name": "Home"}),
        ("create_key", {"name": "phone"}, {"name": "tablet"}),
    ],
)
def test_another_request_under_the_same_key_is_refused_as_a_whole(
    client: Client, name: str, first: object, other: object
) -> None:
    """And does nothing; nor can it meet the key of a part of another."""
    client.world.add_facts(3)
    headers = {"Idempotency-Key": "k"}
    done = ask(client, name, first, headers=headers)
    assert done.status == OPERATIONS[name].status
    before = client.world.database_dump()
    refused = ask(client, name, other, headers=headers)
    assert (refused.status, refused.fields) == (422, ["Idempotency-Key"])
    assert client.world.database_dump() == before
    assert ask(client, name, other, headers={"Idempotency-Key": "k/3"}).status == OPERATIONS[name].status


def test_what_can_be_read_but_not_written_again_is_refused_too() -> None:
    """Each version of Python has a depth of its own for the two."""
    request = SimpleNamespace(headers={}, raw_body=b"[]", method="POST", path="/", query_params=None)
    call = Call(request, {})  # type: ignore[arg-type]
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    call.__dict__["json"] = deep
    with pytest.raises(MalformedError):
        call._hash()


def test_a_body_above_the_limit_is_refused_whatever_stands_before_the_app(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_front", Front(app, 100_000_000))
    raw = b'{"text": "' + b"x" * client.world.services.settings.max_body_bytes + b'"}'
    reply = client.ask("POST", "/v1/spaces/personal/memories", raw=raw)
    assert (reply.status, code_of(reply)) == (413, "too_large")


def test_an_admin_orders_the_categories_of_a_pool_without_reading_it(client: Client) -> None:
    """SPEC M6."""
    client.world.add_account("berta")
    client.world.add_project("rocket", "berta")
    space = {"space": "project:rocket"}
    made = ask(client, "create_category", parts=space)
    assert made.status == 201
    assert len(ask(client, "list_categories", parts=space).json["items"]) == 1
    assert ask(client, "list_memories", parts=space).status == 403


def test_five_is_a_whole_number_however_it_is_written(client: Client) -> None:
    for raw, status in (
        (b'{"text": "tea", "importance": 5.0}', 201),
        (b'{"text": "tea", "importance": 5e0}', 201),
        (b'{"text": "tea", "importance": 5.5}', 422),
        (b'{"text": "tea", "importance": 1e400}', 422),
        (b'{"text": "tea", "importance": "5"}', 422),
        (b'{"text": "tea", "confidence": "0.5"}', 422),
        (b'{"text": "tea", "confidence": true}', 422),
        (b'{"text": "tea", "confidence": 1}', 201),
    ):
        assert client.ask("POST", "/v1/spaces/personal/memories", raw=raw).status == status, raw


@pytest.mark.parametrize(
    "limit", ["1_0", "+10", "10.0", "%2010", "10%20", "010", "1e1", "%D9%A1", "null", ""]
)
def test_a_whole_number_in_a_query_is_written_in_digits(client: Client, limit: str) -> None:
    assert client.get(f"/v1/spaces?limit={limit}").fields == ["limit"]


@pytest.mark.parametrize("said", ["20240501", "1714557600", "2024", "today", "2024-5-1", "12:00", ""])
def test_a_text_that_is_no_time_is_not_taken_for_seconds(client: Client, said: str) -> None:
    """CASES Time: a mixed input is refused, never stored as another time."""
    reply = client.post("/v1/spaces/personal/memories", {"text": "tea", "valid_from": said})
    assert (reply.status, reply.fields) == (422, ["valid_from"])


@pytest.mark.parametrize("text", ["🫨", "\U000323af", "\ue000", "ㅤ"])
def test_a_text_of_characters_that_this_python_does_not_know_is_a_text(client: Client, text: str) -> None:
    assert client.post("/v1/spaces/personal/memories", {"text": text}).status == 201


@pytest.mark.parametrize(
    "text", ["\u200b\u2060", "\u202e \u2069", "\U000e0041\U000e0042", "\x01\x02", "\xad"]
)
def test_a_text_in_which_nothing_can_be_seen_is_refused(client: Client, text: str) -> None:
    assert client.post("/v1/spaces/personal/memories", {"text": text}).fields == ["text"]
