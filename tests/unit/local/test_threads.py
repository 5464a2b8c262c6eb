"""Many requests at once: no answer holds what another one asked for."""

import io
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest
from chalice.app import Response

from app import app
from chalicelib.web.app_object import ThreadSafeChalice
from infra.local.front import Front
from infra.local.http_server import HttpServer
from tests.fakes.client import Client

THREADS = 8
REQUESTS = 150
"""Of each thread."""


def each(client: Client, thread: int) -> list[str]:
    """Ask for one's own things again and again; what came back wrong."""
    wrong = []
    barrier.wait(20)
    for turn in range(REQUESTS):
        number = 1 + (thread * REQUESTS + turn) % 40
        path = f"/v1/spaces/personal/memories/{number}"
        reply = client.get(path, headers={"X-Correlation-Id": f"req_t{thread}n{turn}"})
        if reply.status != 200 or reply.json["memory"]["number"] != number:
            wrong.append(f"{path}: {reply.status} {reply.text[:80]}")
        if reply.headers["x-correlation-id"] != f"req_t{thread}n{turn}":
            wrong.append(f"{path}: answered another's correlation")
        missing = client.get(f"/v1/spaces/personal/memories/{9_000 + thread}")
        if missing.json["error"]["details"].get("number") != 9_000 + thread:
            wrong.append(f"another's 404: {missing.text[:80]}")
    return wrong


barrier = threading.Barrier(THREADS)


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads take turns a thousand times as often as they do otherwise."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(before / 1_000)
    yield
    sys.setswitchinterval(before)


def test_requests_that_are_served_at_the_same_moment_each_see_their_own() -> None:
    """All eight are inside their view before any of them looks at its request."""
    chalice = ThreadSafeChalice("eight")
    all_inside = threading.Barrier(THREADS)

    def view(**parts: str) -> Response:
        all_inside.wait(20)
        request = chalice.current_request
        assert request is not None
        return Response(f"{parts['name']} {request.uri_params} {request.headers['x-name']}", {}, 200)

    chalice.route("/names/{name}", methods=["GET"], name="names")(view)
    front = Front(chalice, 1_000)

    def ask(name: str) -> bytes:
        environ = {"REQUEST_METHOD": "GET", "REQUEST_URI": f"/names/{name}", "HTTP_X_NAME": name}
        return b"".join(front({**environ, "wsgi.input": io.BytesIO()}, lambda _status, _headers: None))

    with ThreadPoolExecutor(THREADS) as pool:
        for name, answer in zip("abcdefgh", pool.map(ask, "abcdefgh"), strict=True):
            assert answer.decode() == f"{name} {{'name': '{name}'}} {name}"


def test_eight_threads_get_their_own_answers_only(client: Client, switching: None) -> None:
    client.world.add_facts(40)
    with ThreadPoolExecutor(THREADS) as pool:
        wrong = [
            line for lines in pool.map(lambda thread: each(client, thread), range(THREADS)) for line in lines
        ]
    assert wrong == []


def test_the_keys_of_two_people_are_never_taken_for_each_other(client: Client, switching: None) -> None:
    world = client.world
    keys = {}
    for name in ("ben", "cara"):
        world.add_account(name)
        account = world.parts.accounts.account(name)
        assert account is not None
        keys[name] = world.services.founding.new_key(account, "key", world.now).plain

    def ask(name: str) -> set[str]:
        return {client.get("/v1/me", key=keys[name]).json["account"]["id"] for _ in range(REQUESTS)}

    with ThreadPoolExecutor(THREADS) as pool:
        names = ["ben", "cara"] * (THREADS // 2)
        for name, seen in zip(names, pool.map(ask, names), strict=True):
            assert seen == {name}


@contextmanager
def served(client: Client) -> Iterator[int]:
    server = HttpServer(Front(app, 1_000_000), "127.0.0.1", 0, threads=THREADS, max_body_bytes=1_000_000)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server.port
    finally:
        server.end()
        thread.join(20)
        server.close()


def test_over_real_connections_each_body_comes_back_to_who_sent_it(client: Client) -> None:
    client.world.category(default=True)

    def ask(port: int, thread: int) -> list[str]:
        connection = HTTPConnection("127.0.0.1", port, timeout=20)
        headers = {"Authorization": f"Bearer {client.key}", "Content-Type": "application/json"}
        wrong = []
        for turn in range(25):
            text = f"thread {thread} says {turn}: " + "x" * (thread * 100)
            connection.request("POST", "/v1/spaces/personal/memories", json.dumps({"text": text}), headers)
            answer = json.loads(connection.getresponse().read())
            if answer.get("memory", {}).get("text") != text:
                wrong.append(str(answer)[:200])
        connection.close()
        return wrong

    with served(client) as port, ThreadPoolExecutor(THREADS) as pool:
        assert [
            w for wrong in pool.map(lambda thread: ask(port, thread), range(THREADS)) for w in wrong
        ] == []
