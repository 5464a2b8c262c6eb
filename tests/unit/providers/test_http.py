"""An endpoint may be slow, rude or broken: a call ends in bounded time, tells why, and never tells the key."""

import json
import logging
import socket
import threading
from collections.abc import Iterator
from email.utils import formatdate

import pytest
from pydantic import SecretStr

from chalicelib.errors import EmbedderUnavailableError
from chalicelib.providers import http
from chalicelib.providers.http import JsonEndpoint
from tests.contracts.embedders.endpoints import KEY, Endpoint, Reply, serving


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as endpoint:
        yield endpoint


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that were waited between tries; they are not really waited."""
    waited: list[float] = []
    monkeypatch.setattr("chalicelib.providers.http.time.sleep", waited.append)
    return waited


def caller(endpoint: Endpoint, *, timeout: float = 10, attempts: int = 3) -> JsonEndpoint:
    return JsonEndpoint(f"{endpoint.url}/v1/embeddings", SecretStr(KEY), timeout=timeout, attempts=attempts)


def good(value: object = "fine") -> Reply:
    return Reply(body=json.dumps(value).encode())


def test_a_request_is_json_with_the_key_as_bearer(endpoint: Endpoint) -> None:
    endpoint.always = good({"příliš": [1.5]})
    assert caller(endpoint).post({"input": ["žluťoučký 🎉"]}) == {"příliš": [1.5]}
    (received,) = endpoint.received
    assert received.path == "/v1/embeddings"
    assert received.body == {"input": ["žluťoučký 🎉"]}
    assert received.headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(endpoint: Endpoint) -> None:
    endpoint.always = good()
    JsonEndpoint(f"{endpoint.url}/x", None, timeout=10, attempts=1).post({})
    assert "Authorization" not in endpoint.received[0].headers


@pytest.mark.parametrize(
    "trouble",
    [Reply(429), Reply(500), Reply(502), Reply(503), Reply(529), Reply(cut_off=True)],
    ids=["429", "500", "502", "503", "529", "connection closed"],
)
def test_what_passes_by_itself_is_tried_again(endpoint: Endpoint, waits: list[float], trouble: Reply) -> None:
    endpoint.replies.extend([trouble, trouble, good()])
    assert caller(endpoint).post({}) == "fine"
    assert len(endpoint.received) == 3
    assert len(waits) == 2
    assert all(0 <= wait <= 1 for wait in waits)
    assert len(set(waits)) == 2, "waits are random, also the first"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 307])
def test_what_does_not_pass_by_itself_is_not_tried_again(
    endpoint: Endpoint, waits: list[float], status: int
) -> None:
    endpoint.always = Reply(status, b'{"error": "no"}', {"Location": "http://127.0.0.1:9/elsewhere"})
    with pytest.raises(EmbedderUnavailableError, match=str(status)):
        caller(endpoint).post({})
    assert len(endpoint.received) == 1
    assert waits == []


def test_tries_are_bounded_and_the_last_answer_is_told(endpoint: Endpoint, waits: list[float]) -> None:
    endpoint.always = Reply(503)
    with pytest.raises(EmbedderUnavailableError, match="answers 503"):
        caller(endpoint, attempts=4).post({})
    assert len(endpoint.received) == 4


def test_the_wait_that_the_endpoint_asks_for_is_kept(endpoint: Endpoint, waits: list[float]) -> None:
    endpoint.replies.extend([Reply(429, headers={"Retry-After": "3"}), good()])
    assert caller(endpoint).post({}) == "fine"
    assert waits == [3]


def test_a_wait_until_a_date_is_kept(endpoint: Endpoint, waits: list[float]) -> None:
    past = formatdate(0, usegmt=True)
    endpoint.replies.extend([Reply(503, headers={"Retry-After": past}), good()])
    assert caller(endpoint).post({}) == "fine"
    assert waits[0] <= 0.5


@pytest.mark.parametrize("nonsense", ["0.5", "soon"])
def test_a_wait_that_cannot_be_read_is_replaced_by_our_own(
    endpoint: Endpoint, waits: list[float], nonsense: str
) -> None:
    endpoint.replies.extend([Reply(429, headers={"Retry-After": nonsense}), good()])
    assert caller(endpoint).post({}) == "fine"
    assert waits[0] <= 0.5


@pytest.mark.parametrize("seconds", ["60", "99999999999"])
def test_a_wait_that_is_too_long_ends_the_call_at_once(
    endpoint: Endpoint, waits: list[float], seconds: str
) -> None:
    endpoint.always = Reply(429, headers={"Retry-After": seconds})
    with pytest.raises(EmbedderUnavailableError, match="answers 429, and there is no time to try again"):
        caller(endpoint).post({})
    assert waits == []
    assert len(endpoint.received) == 1


def test_silence_ends_the_call_after_its_time(endpoint: Endpoint) -> None:
    endpoint.always = Reply(hold=threading.Event())
    with pytest.raises(EmbedderUnavailableError, match="there is no time to try again"):
        caller(endpoint, timeout=0.1).post({})
    assert len(endpoint.received) == 1


def test_silence_in_the_only_try_is_told_as_such(endpoint: Endpoint) -> None:
    endpoint.always = Reply(hold=threading.Event())
    with pytest.raises(EmbedderUnavailableError, match="did not answer in time"):
        caller(endpoint, timeout=0.1, attempts=1).post({})


def test_a_trickle_ends_the_call_after_twice_its_time(endpoint: Endpoint) -> None:
    endpoint.always = Reply(body=b"[", trickle=True)
    with pytest.raises(EmbedderUnavailableError, match="answers too slowly"):
        caller(endpoint, timeout=0.1).post({})


def test_an_answer_without_end_is_not_kept_in_memory(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "ANSWER_BYTES", 1_000)
    endpoint.always = Reply(body=b"x" * 5_000)
    with pytest.raises(EmbedderUnavailableError, match="answers without end"):
        caller(endpoint).post({})


def test_an_answer_that_breaks_off_is_a_failure(endpoint: Endpoint) -> None:
    endpoint.always = Reply(body=b"{}", headers={"Content-Length": "100"}, trickle=False)
    with pytest.raises(EmbedderUnavailableError):
        caller(endpoint, timeout=0.2).post({})


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"", b"{", b"\xff\xfe", b"[" * 100_000])
def test_an_answer_that_is_not_json_is_told_as_such(endpoint: Endpoint, body: bytes) -> None:
    endpoint.always = Reply(body=body)
    with pytest.raises(
        EmbedderUnavailableError, match="answers something that is not JSON: check PALIMPSEST_EMBEDDING_URL"
    ):
        caller(endpoint).post({})


def test_an_address_where_nobody_listens_is_told_with_what_to_check(waits: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(
            EmbedderUnavailableError, match=rf"{host} cannot be reached.*check PALIMPSEST_EMBEDDING_URL"
        ):
            JsonEndpoint(f"http://{host}/v1", SecretStr(KEY), timeout=5, attempts=2).post({})
    assert len(waits) == 1


def test_neither_key_nor_text_is_told_anywhere(
    endpoint: Endpoint, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    called = caller(endpoint)
    for reply in (Reply(401, KEY.encode()), Reply(500), Reply(cut_off=True), Reply(body=KEY.encode())):
        endpoint.always = reply
        with pytest.raises(EmbedderUnavailableError) as raised:
            called.post({"input": ["canary text"]})
        told = f"{raised.value!r} {raised.value.__cause__!r} {called!r} {vars(called)!r}"
        assert KEY not in told + caplog.text
        assert "canary text" not in told + caplog.text


def test_a_user_and_password_in_the_address_are_not_told() -> None:
    assert JsonEndpoint("http://me:secret@127.0.0.1:1/v1", None, timeout=1, attempts=1).host == "127.0.0.1:1"
