"""HTTP as the laptop takes it: what is odd is answered in our form, and nothing of a request is lost or invented."""

import base64
import io
import json
from typing import Any, NamedTuple

import pytest
from chalice.app import Chalice, Response

from infra.local.front import Front
from infra.local.hosts import Hosts
from tests.fakes.client import Client

LIMIT = 1_000


class Reply(NamedTuple):
    status: str
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.body)["error"])


def echoing() -> Chalice:
    """An app that answers with the request as it saw it."""
    app = Chalice("echo")

    def echo(**parts: str) -> Response:
        request = app.current_request
        assert request is not None
        query = request.query_params
        seen = {
            "parts": parts,
            "method": request.method,
            "query": None if query is None else {name: query.getlist(name) for name in query},
            "headers": dict(request.headers),
            "body": base64.b64encode(request.raw_body).decode(),
        }
        return Response(json.dumps(seen), {"Content-Type": "application/json"}, 200)

    app.route("/things/{thing}", methods=["GET", "POST"], content_types=[], name="thing")(echo)
    app.route("/things/fixed", methods=["POST"], content_types=[], name="fixed")(echo)

    def empty() -> Response:
        return Response("", {}, 204)

    app.route("/empty", methods=["GET"], content_types=[], name="empty")(empty)

    def binary() -> Response:
        return Response(b"\x00\xff", {"Content-Type": "application/octet-stream"}, 200)

    app.route("/binary", methods=["GET"], content_types=[], name="binary")(binary)
    return app


def ask(target: str, method: str = "GET", *, hosts: Hosts | None = None, **environ: Any) -> Reply:
    said: dict[str, Any] = {}

    def start(status: str, headers: list[tuple[str, str]]) -> None:
        said.update(status=status, headers=dict(headers))

    asked = {"REQUEST_METHOD": method, "REQUEST_URI": target, "wsgi.input": io.BytesIO(), **environ}
    body = b"".join(Front(echoing(), LIMIT, hosts)(asked, start))
    return Reply(said["status"], said["headers"], body)


def seen(target: str, method: str = "GET", **environ: Any) -> dict[str, Any]:
    reply = ask(target, method, **environ)
    assert reply.status == "200 OK", reply
    return dict(json.loads(reply.body))


def sent(body: bytes, **environ: Any) -> dict[str, Any]:
    return {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), **environ}


# ---------------------------------------------------------------------------- paths and methods


def test_encoded_path_parts_reach_the_decoder_raw() -> None:
    assert seen("/things/a%2Fb%2525%00")["parts"] == {"thing": "a%2Fb%2525%00"}


def test_raw_bytes_beyond_ascii_in_a_path_become_what_they_should_have_been_sent_as() -> None:
    target = "/things/" + "é".encode().decode("latin-1")
    assert seen(target)["parts"] == {"thing": "%C3%A9"}
    assert seen("/things/\xff")["parts"] == {"thing": "%FF"}


def test_a_path_that_is_nobodys_is_404_in_our_form() -> None:
    reply = ask("/nothing?x=1")
    assert reply.status == "404 Not Found"
    assert reply.error == {"code": "not_found", "message": "there is nothing at this path", "details": {}}


@pytest.mark.parametrize("method", ["DELETE", "OPTIONS", "BREW", "PUT", "PATCH", "TRACE"])
def test_a_method_that_is_not_possible_is_405_and_names_those_that_are(method: str) -> None:
    reply = ask("/things/a", method)
    assert reply.status == "405 Method Not Allowed"
    assert reply.headers["Allow"] == "GET, HEAD, POST"
    assert method in reply.error["message"]


def test_head_where_there_is_no_get_is_405_without_a_body() -> None:
    reply = ask("/things/fixed", "HEAD")
    assert (reply.status, reply.headers["Allow"], reply.body) == ("405 Method Not Allowed", "POST", b"")


def test_head_answers_as_get_does_without_the_body() -> None:
    get, head = ask("/things/a"), ask("/things/a", "HEAD")
    assert head.status == get.status
    assert head.headers == get.headers
    assert int(head.headers["Content-Length"]) > 0
    assert head.body == b""


def test_an_answer_without_a_body_is_empty() -> None:
    reply = ask("/empty")
    assert (reply.status, reply.body) == ("204 No Content", b"")


def test_bytes_are_answered_as_bytes() -> None:
    reply = ask("/binary", HTTP_ACCEPT="application/octet-stream")
    assert reply.body == b"\x00\xff"
    assert reply.headers["Content-Length"] == "2"


# ---------------------------------------------------------------------------- whole URLs, hosts


@pytest.mark.parametrize(
    "target",
    [
        "http://localhost:8340/things/a?x=1",
        "HTTP://user@localhost/things/a?x=1",
        "https://[::1]/things/a?x=1",
    ],
)
def test_a_whole_url_is_understood_as_a_proxy_sends_it(target: str) -> None:
    assert seen(target)["parts"] == {"thing": "a"}
    assert seen(target)["query"] == {"x": ["1"]}


@pytest.mark.parametrize("target", ["http://localhost", "http://localhost?x=1", "*", "localhost:80", ""])
def test_a_target_without_a_path_is_404(target: str) -> None:
    assert ask(target, PATH_INFO="/").status == "404 Not Found"


def test_a_request_under_a_foreign_name_is_refused_before_anything_is_read() -> None:
    reply = ask("/things/a", hosts=Hosts(), HTTP_HOST="evil.example:8340")
    assert reply.status == "403 Forbidden"
    assert reply.error["code"] == "forbidden"
    assert ask("/nothing", hosts=Hosts(), HTTP_HOST="evil.example").status == "403 Forbidden"


def test_the_name_in_the_target_counts_not_the_header_beside_it() -> None:
    foreign = ask("http://evil.example/things/a", hosts=Hosts(), HTTP_HOST="localhost")
    own = ask("http://localhost/things/a", hosts=Hosts(), HTTP_HOST="evil.example")
    assert (foreign.status, own.status) == ("403 Forbidden", "200 OK")


def test_a_request_without_a_host_is_malformed_except_in_the_old_http() -> None:
    assert ask("/things/a", hosts=Hosts(), SERVER_PROTOCOL="HTTP/1.1").status == "400 Bad Request"
    assert ask("/things/a", hosts=Hosts(), SERVER_PROTOCOL="HTTP/1.0").status == "200 OK"


def test_where_other_machines_are_let_in_every_name_is() -> None:
    assert ask("/things/a", HTTP_HOST="memory.example").status == "200 OK"


# ---------------------------------------------------------------------------- query strings


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", None),
        ("a=1&b=2", {"a": ["1"], "b": ["2"]}),
        ("a=1&a=2", {"a": ["1", "2"]}),
        ("a=&b", {"a": [""], "b": [""]}),
        ("a=x+y%20z%26", {"a": ["x y z&"]}),
        ("a=%C5%99", {"a": ["ř"]}),
        ("a=" + "ř".encode().decode("latin-1"), {"a": ["ř"]}),
        ("%61=1", {"a": ["1"]}),
        ("a=1;b=2", {"a": ["1;b=2"]}),
        ("a=%", {"a": ["%"]}),
        ("a=%00", {"a": ["\x00"]}),
        ("a=b=c?d", {"a": ["b=c?d"]}),
    ],
)
def test_a_query_string_is_read(query: str, found: dict[str, list[str]] | None) -> None:
    assert seen(f"/things/a?{query}")["query"] == found


@pytest.mark.parametrize("query", ["a=%FF", "a=\xff", "%C3=1", "a=%ED%A0%80", "&".join(["a=1"] * 101)])
def test_a_query_string_that_is_no_text_or_has_no_end_is_malformed(query: str) -> None:
    assert ask(f"/things/a?{query}").status == "400 Bad Request"


# ---------------------------------------------------------------------------- bodies


def body_of(request: dict[str, Any]) -> bytes:
    return base64.b64decode(request["body"])


@pytest.mark.parametrize(
    "body", [b"", b"{}", "říjen".encode(), b"\xff\xfe\x00", bytes(range(256)), b"x" * LIMIT]
)
def test_any_bytes_reach_the_app_as_they_were_sent(body: bytes) -> None:
    assert body_of(seen("/things/a", "POST", **sent(body))) == body


def test_a_body_above_the_limit_is_refused_in_our_form() -> None:
    reply = ask("/things/a", "POST", **sent(b"x" * (LIMIT + 1)))
    assert reply.status == "413 Request Entity Too Large"
    assert reply.error["code"] == "too_large"
    assert reply.error["details"] == {"max": LIMIT}


def test_a_body_that_is_longer_than_it_says_is_refused_too() -> None:
    reply = ask("/things/a", "POST", **{**sent(b"x" * (LIMIT + 1)), "CONTENT_LENGTH": "3"})
    assert reply.error["code"] == "too_large"


@pytest.mark.parametrize("length", ["-1", "x", "1.5", "+3", "٣", "0x10"])
def test_a_length_that_is_no_number_is_malformed(length: str) -> None:
    assert ask("/things/a", "POST", CONTENT_LENGTH=length).status == "400 Bad Request"


# ---------------------------------------------------------------------------- headers


def test_headers_reach_the_app_by_their_names() -> None:
    headers = seen(
        "/things/a", HTTP_IDEMPOTENCY_KEY="k", HTTP_X_Y="z", CONTENT_TYPE="text/plain", SERVER_NAME="s"
    )
    assert headers["headers"] == {"idempotency-key": "k", "x-y": "z", "content-type": "text/plain"}


@pytest.mark.parametrize(
    "given", ["req_\r\nSet-Cookie: a=b", "req_1\nX: y", "<script>", "é", "x" * 10_000, "req 1", "%0d%0aX:y"]
)
def test_no_header_of_a_request_can_put_one_into_the_answer(client: Client, given: str) -> None:
    reply = client.get("/v1/me", headers={"X-Correlation-Id": given, "Idempotency-Key": given})
    assert reply.status == 200
    assert set(reply.headers) == {"content-type", "content-length", "x-correlation-id"}
    assert all("\r" not in value and "\n" not in value for value in reply.headers.values())
    assert given not in reply.headers.values()


@pytest.mark.parametrize(
    "credential", ["Bearer é", "Bearer \xff\x00", "Bearer", "Basic YTpi", "bearer plm_ x", "\xa0"]
)
def test_a_credential_of_strange_bytes_is_401(client: Client, credential: str) -> None:
    assert client.get("/v1/me", key="", headers={"Authorization": credential}).status == 401
