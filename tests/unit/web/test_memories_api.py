"""Memories over HTTP: names, shapes and statuses that clients rely on (API.md)."""

from urllib.parse import quote

import pytest

from tests.fakes.client import Client

MEMORIES = "/v1/spaces/personal/memories"


def add(client: Client, text: str = "Marie is allergic to peanuts.", **fields: object) -> int:
    reply = client.post(MEMORIES, {"text": text, **fields})
    assert reply.status == 201
    return int(reply.json["memory"]["number"])


def test_a_memorys_life_over_http(client: Client) -> None:
    number = add(client)
    one = f"{MEMORIES}/{number}"
    assert client.get(one).json["memory"]["category"] == "General"
    edited = client.patch(one, {"version": 1, "text": "Marie is allergic to nuts."})
    assert (edited.status, edited.json["memory"]["version"]) == (200, 2)
    stale = client.patch(one, {"version": 1, "text": "stale"})
    assert (stale.status, stale.json["error"]["details"]["current"]["version"]) == (409, 2)
    assert client.delete(one).json["memory"]["state"] == "trashed"
    assert client.get(f"{MEMORIES}?state=trashed").json["items"][0]["number"] == number
    assert client.post(f"{one}/restore").json["memory"]["state"] == "active"
    assert (
        client.post(f"{one}/retire", {"version": 4, "reason": "outgrown"}).json["memory"]["state"]
        == "retired"
    )
    assert [c["op"] for c in client.get(f"{one}/history").json["items"]] == [
        "retire",
        "restore",
        "trash",
        "edit",
        "add",
    ]
    undone = client.post(f"/v1/spaces/personal/changes/{number}-5/undo")
    assert undone.json["memories"][0]["state"] == "active"
    assert client.post(f"{one}/erase").json["erased"]["number"] == number
    assert client.get(one).status == 404
    assert client.get("/v1/spaces/personal/audit?limit=1").json["items"][0]["op"] == "erase"


def test_search_and_recall_over_http(client: Client) -> None:
    add(client)
    found = client.post("/v1/spaces/personal/search", {"query": "peanuts", "explain": True}).json
    assert found["items"][0]["legs"]["words"] > 0
    recalled = client.post("/v1/spaces/personal/recall", {"query": "peanuts"}).json
    assert "[#1]" in recalled["text"]


def test_a_batch_answers_for_each_item_in_order(client: Client) -> None:
    items = [{"text": "one"}, {"text": " "}, "no object", {"text": "two", "colour": "red"}, {"text": "three"}]
    reply = client.post(f"{MEMORIES}/batch", {"items": items})
    assert [one["status"] for one in reply.json["items"]] == [201, 422, 422, 422, 201]
    assert reply.json["items"][3]["error"]["details"]["fields"] == [
        {"field": "colour", "message": "is not a field here"}
    ]


def test_merge_and_bulk_over_http(client: Client) -> None:
    add(client, "one")
    add(client, "two")
    merged = client.post(
        f"{MEMORIES}/merge", {"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": "both"}
    )
    assert (merged.status, merged.json["memory"]["derived_from"]) == (201, [1, 2])
    bulk = client.post(f"{MEMORIES}/bulk", {"op": "delete", "numbers": [3, 99]})
    assert [one["status"] for one in bulk.json["items"]] == [200, 404]


def test_a_repeat_under_the_same_key_answers_the_same(client: Client) -> None:
    headers = {"Idempotency-Key": "k-1"}
    first = client.post(MEMORIES, {"text": "tea"}, headers=headers)
    again = client.post(MEMORIES, {"text": "tea"}, headers=headers)
    assert again.text == first.text
    other = client.post(MEMORIES, {"text": "coffee"}, headers=headers)
    assert (other.status, other.fields) == (422, ["Idempotency-Key"])
    elsewhere = client.post(f"{MEMORIES}/1/restore", headers=headers)
    assert elsewhere.status == 422
    for bad in ("", "x" * 256, "a b", "ž"):
        assert client.post(MEMORIES, {"text": "tea"}, headers={"Idempotency-Key": bad}).fields == [
            "Idempotency-Key"
        ]


BAD_BODIES: list[tuple[object, list[str]]] = [
    ({}, ["text"]),
    ({"text": ""}, ["text"]),
    ({"text": " \n\t\u200b"}, ["text"]),
    ({"text": None}, ["text"]),
    ({"text": 7}, ["text"]),
    ({"text": ["a"]}, ["text"]),
    ({"text": "a\x00b"}, ["text"]),
    ({"text": "tea", "importance": 0}, ["importance"]),
    ({"text": "tea", "importance": 11}, ["importance"]),
    ({"text": "tea", "importance": "5"}, ["importance"]),
    ({"text": "tea", "importance": 5.5}, ["importance"]),
    ({"text": "tea", "importance": True}, ["importance"]),
    ({"text": "tea", "kind": "secret"}, ["kind"]),
    ({"text": "tea", "confidence": 1.5}, ["confidence"]),
    ({"text": "tea", "colour": "red"}, ["colour"]),
    ({"text": "tea", "number": 3}, ["number"]),
    ({"text": "tea", "category": "Nowhere"}, ["category"]),
    ({"text": "tea", "valid_from": "yesterday"}, ["valid_from"]),
    ({"text": "tea", "valid_from": "2026-13-01T00:00:00Z"}, ["valid_from"]),
    ({"text": "tea", "valid_from": 1_700_000_000}, ["valid_from"]),
    ({"text": "tea", "valid_from": "0001-01-01T00:00:00+14:00"}, ["valid_from"]),
    ({"text": "tea", "source": {"position": 1}}, ["source.conversation"]),
    ({"text": "tea", "source": {"conversation": "c", "position": -1}}, ["source.position"]),
    ({"text": "tea", "source": {"conversation": "c", "said_at": "soon"}}, ["source.said_at"]),
    ({"text": "tea", "source": "c"}, ["source"]),
    ({"text": "tea", "context": ""}, ["context"]),
    ({"text": "tea", "key": "two\nlines"}, ["key"]),
]


@pytest.mark.parametrize(("body", "fields"), BAD_BODIES)
def test_a_bad_field_is_named_and_nothing_is_stored(client: Client, body: object, fields: list[str]) -> None:
    reply = client.post(MEMORIES, body)
    assert (reply.status, reply.fields) == (422, fields)
    assert client.get(MEMORIES).json["items"] == []


@pytest.mark.parametrize(
    ("raw", "status", "fields"),
    [
        (b"", 422, ["text"]),
        (b"{", 400, []),
        (b"text", 400, []),
        (b"\xef\xbb\xbf{}", 400, []),
        ('{"text": "tea"}'.encode("utf-16"), 400, []),
        (b'{"text": "\xff"}', 400, []),
        (b"[" * 100_000, 400, []),
        (b"9" * 5_000, 400, []),
        (b"[]", 422, ["body"]),
        (b'"text"', 422, ["body"]),
        (b"null", 422, ["body"]),
        (b'{"text": "tea", "importance": NaN}', 422, ["importance"]),
        (b'{"text": "tea", "confidence": NaN}', 422, ["confidence"]),
        (b'{"text": "tea", "confidence": Infinity}', 422, ["confidence"]),
        (b'{"text": "tea", "confidence": 1e999}', 422, ["confidence"]),
        (b'{"text": "lone \\ud800"}', 422, ["text"]),
        (b'{"text": "tea", "\\ud800": 1}', 422, None),
        (b'{"text": "' + b"x" * 1_000_000 + b'"}', 413, []),
        (b'{"text": "' + b"x" * 7_000_000 + b'"}', 413, []),
    ],
)
def test_a_body_that_cannot_be_is_refused(
    client: Client, raw: bytes, status: int, fields: list[str] | None
) -> None:
    reply = client.post(MEMORIES, raw=raw)
    assert reply.status == status
    assert fields is None or reply.fields == fields
    assert client.get(MEMORIES).json["items"] == []


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        (f"{MEMORIES}/0", 422, "number"),
        (f"{MEMORIES}/-1", 422, "number"),
        (f"{MEMORIES}/1.0", 422, "number"),
        (f"{MEMORIES}/abc", 422, "number"),
        (f"{MEMORIES}/{'9' * 30}", 422, "number"),
        (f"{MEMORIES}/1%2F2", 422, "number"),
        (f"{MEMORIES}/1%252F2", 422, "number"),
        (f"{MEMORIES}/%00", 422, "number"),
        (f"{MEMORIES}/%ff", 422, "number"),
        (f"{MEMORIES}/77", 404, None),
        ("/v1/spaces/everything/memories", 422, "space"),
        ("/v1/spaces/project%3A/memories", 422, "space"),
        ("/v1/spaces/project%3Anowhere/memories", 404, None),
        ("/v1/spaces/project:nowhere/memories", 404, None),
        ("/v1/spaces/community%3Adiscord%3A1/memories", 404, None),
        ("/v1/spaces/community%3Airc%3A1/memories", 422, "space"),
        ("/v1/spaces/account%23anna/memories", 422, "space"),
        ("/v1/spaces/%2e%2e/memories", 422, "space"),
        ("/v1/spaces/personal%2Fmemories/memories", 422, "space"),
        ("/v1/spaces//memories", 404, None),
        (f"{MEMORIES}?limit=0", 422, "limit"),
        (f"{MEMORIES}?limit=201", 422, "limit"),
        (f"{MEMORIES}?limit=ten", 422, "limit"),
        (f"{MEMORIES}?limit=5&limit=6", 422, "limit"),
        (f"{MEMORIES}?sort=random", 422, "sort"),
        (f"{MEMORIES}?state=erased", 422, "state"),
        (f"{MEMORIES}?colour=red", 422, "colour"),
        (f"{MEMORIES}?cursor=abc", 422, "cursor"),
        (f"{MEMORIES}?importance_min=9&importance_max=2", 422, "importance_min"),
        (f"{MEMORIES}?q=%00", 422, "q"),
        (f"{MEMORIES}?q=%ff", 400, None),
        ("/v1/nothing/here", 404, None),
        ("/", 404, None),
    ],
)
def test_a_path_or_query_that_cannot_be_is_refused(
    client: Client, path: str, status: int, field: str | None
) -> None:
    reply = client.get(path)
    assert reply.status == status
    assert reply.fields == ([field] if field else [])


def test_a_cursor_of_another_list_is_refused(client: Client) -> None:
    for number in range(3):
        add(client, f"fact {number}")
    cursor = client.get(f"{MEMORIES}?limit=1").json["next"]
    assert client.get(f"{MEMORIES}?limit=1&cursor={quote(cursor)}").status == 200
    assert client.get(f"{MEMORIES}?limit=1&sort=oldest&cursor={quote(cursor)}").fields == ["cursor"]
    assert client.get(f"{MEMORIES}/1/history?cursor={quote(cursor)}").fields == ["cursor"]


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        (f"{MEMORIES}/1/retire", {}, ["version"]),
        (f"{MEMORIES}/1/restore", {"version": "1"}, ["version"]),
        (f"{MEMORIES}/merge", {"numbers": [1], "versions": {"1": 1}, "text": "x"}, ["numbers"]),
        (f"{MEMORIES}/merge", {"numbers": [1, 1], "versions": {"1": 1}, "text": "x"}, ["numbers"]),
        (f"{MEMORIES}/merge", {"numbers": [1, 2], "versions": {"1": 1}, "text": "x"}, ["versions"]),
        (f"{MEMORIES}/merge", {"numbers": [1, 2], "text": "x"}, ["versions"]),
        (f"{MEMORIES}/bulk", {"op": "explode", "numbers": [1]}, ["op"]),
        (f"{MEMORIES}/bulk", {"op": "categorise", "numbers": [1]}, ["category"]),
        (f"{MEMORIES}/bulk", {"op": "delete", "numbers": []}, ["numbers"]),
        (f"{MEMORIES}/batch", {"items": []}, ["items"]),
        (f"{MEMORIES}/batch", {"items": [{"text": "x"}] * 501}, ["items"]),
        ("/v1/spaces/personal/search", {"query": ""}, ["query"]),
        ("/v1/spaces/personal/search", {"query": "  "}, ["query"]),
        ("/v1/spaces/personal/search", {"query": "AND OR NOT"}, ["query"]),
        ("/v1/spaces/personal/search", {"query": "the of and"}, ["query"]),
        ("/v1/spaces/personal/search", {"query": '+-*()"~'}, ["query"]),
        ("/v1/spaces/personal/search", {"query": "tea", "limit": 101}, ["limit"]),
        ("/v1/spaces/personal/search", {"query": "tea", "filters": {"colour": "red"}}, ["filters.colour"]),
        ("/v1/spaces/personal/recall", {"query": "tea", "max": 51}, ["max"]),
        ("/v1/spaces/personal/recall", {"query": "tea", "bytes": 999}, ["bytes"]),
        ("/v1/spaces/personal/recall", {"query": "tea", "seen": [0]}, ["seen.0"]),
        ("/v1/spaces/personal/categories", {"name": ""}, ["name"]),
        ("/v1/spaces/personal/categories", {"name": "general"}, ["name"]),
        ("/v1/spaces/personal/jobs", {"kind": "magic"}, ["kind"]),
    ],
)
def test_bad_input_of_other_operations_names_the_field(
    client: Client, path: str, body: object, fields: list[str]
) -> None:
    add(client)
    reply = client.post(path, body)
    assert (reply.status, reply.fields) == (422, fields)


@pytest.mark.parametrize(
    "body", [{"version": 1}, {"text": "x"}, {"version": 1, "text": None}, {"version": 1, "state": "x"}]
)
def test_an_edit_says_what_and_from_which_version(client: Client, body: object) -> None:
    add(client)
    assert client.patch(f"{MEMORIES}/1", body).status == 422


@pytest.mark.parametrize(
    "said",
    ["2024-05-01T10:00:00Z", "2024-05-01T12:00:00+02:00", "2024-05-01T10:00:00", "2024-05-01T10:00:00.000Z"],
)
def test_a_time_may_come_with_or_without_z(client: Client, said: str) -> None:
    """CASES mem0#3213: a filter with a trailing Z returned nothing."""
    reply = client.post(MEMORIES, {"text": "tea", "valid_from": said})
    assert reply.json["memory"]["valid_from"] == "2024-05-01T10:00:00.000Z"


@pytest.mark.parametrize(
    "text",
    [
        "🤷🏽‍♀️ é é",
        "שלום \u202eعالم",
        "日本語のテキスト",
        "ř" * 100_000,
        "'; DROP TABLE",
        "\\u0000",
        "a\tb\r\nc",
    ],
)
def test_any_text_round_trips_unchanged(client: Client, text: str) -> None:
    add(client, text)
    assert client.get(f"{MEMORIES}/1").json["memory"]["text"] == text


def test_categories_over_http(client: Client) -> None:
    made = client.post("/v1/spaces/personal/categories", {"name": "Work", "description": "Deadlines."})
    assert made.status == 201
    one = f"/v1/spaces/personal/categories/{made.json['category']['id']}"
    assert client.get(one).json["category"]["name"] == "Work"
    assert client.patch(one, {"version": 1, "name": "Job"}).json["category"]["name"] == "Job"
    assert [c["name"] for c in client.get("/v1/spaces/personal/categories").json["items"]] == [
        "General",
        "Job",
    ]
    assert client.delete(f"{one}?version=2").status == 200
    assert client.get(one).status == 404


def test_jobs_over_http(client: Client) -> None:
    started = client.post("/v1/spaces/personal/jobs", {"kind": "reindex"})
    assert started.status == 202
    job = started.json["job"]["id"]
    assert client.get(f"/v1/spaces/personal/jobs/{job}").json["job"]["state"] == "queued"
    assert [one["id"] for one in client.get("/v1/spaces/personal/jobs").json["items"]] == [job]
    assert client.post("/v1/spaces/personal/jobs", {"kind": "reindex", "all": True}).json == {"started": 0}
    assert client.get("/v1/spaces/personal/jobs/a%2Fb").fields == ["job"]
    assert client.get("/v1/spaces/personal/jobs/a b").fields == ["job"]
