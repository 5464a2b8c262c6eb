"""The server on a real socket: odd HTTP gets an answer in our form, and ending it drops nothing that was asked."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from infra.local.cannot_start import CannotStartError
from infra.local.http_server import HttpServer

LIMIT = 10_000
StartResponse = Callable[[str, list[tuple[str, str]]], object]


class App:
    """Answers with what it was sent; `/slow` waits until it may go on."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.go_on = threading.Event()
        self.answer = b""

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        body = environ["wsgi.input"].read()
        if environ["PATH_INFO"] == "/slow":
            self.entered.release()
            assert self.go_on.wait(20)
        if environ["PATH_INFO"] == "/broken":
            raise ZeroDivisionError
        text = self.answer or b"%s %d" % (environ["REQUEST_METHOD"].encode(), len(body))
        start_response("200 OK", [("Content-Length", str(len(text)))])
        return [text]


class Running:
    def __init__(self, server: HttpServer, app: App) -> None:
        self.server = server
        self.app = app
        self.thread = threading.Thread(target=server.serve, daemon=True)
        self.thread.start()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=20)

    def talk(self, request: bytes) -> bytes:
        """Everything that comes back until the server hangs up."""
        with self.connect() as connection:
            connection.sendall(request)
            return rest(connection)


def rest(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


@contextmanager
def running(threads: int = 4) -> Iterator[Running]:
    app = App()
    server = HttpServer(app, "127.0.0.1", 0, threads=threads, max_body_bytes=LIMIT)
    here = Running(server, app)
    try:
        yield here
    finally:
        app.go_on.set()
        server.end()
        here.thread.join(20)
        server.close()


@pytest.fixture
def here() -> Iterator[Running]:
    with running() as started:
        yield started


def get(path: str = "/", *, close: bool = True) -> bytes:
    last = "Connection: close\r\n" if close else ""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{last}\r\n".encode()


def post(body: bytes, *headers: str, path: str = "/") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def error_of(answer: bytes) -> tuple[int, dict[str, Any]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower()
    return int(head.split()[1]), dict(json.loads(body)["error"])


# ---------------------------------------------------------------------------- what is odd


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\nY: b\r\n\r\n", 400),
        (b"get / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nX: ".ljust(262_144, b"x"), 431),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", 413),
    ],
)
def test_what_is_no_http_of_ours_gets_an_error_in_our_form(
    here: Running, request_: bytes, status: int
) -> None:
    with here.connect() as connection:
        connection.sendall(request_)
        answered, error = error_of(rest(connection))
    assert answered == status
    assert set(error) == {"code", "message", "details"}
    assert "waitress" not in error["message"]


def test_a_bug_in_the_app_gets_an_error_in_our_form_without_its_story(here: Running) -> None:
    status, error = error_of(here.talk(get("/broken")))
    assert (status, error["code"]) == (500, "internal")


def test_a_body_in_chunks_is_one_body(here: Running) -> None:
    chunks = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
    assert here.talk(post(chunks, "Transfer-Encoding: chunked")).endswith(b"POST 11")


def test_chunks_count_not_a_length_that_lies_beside_them(here: Running) -> None:
    chunks = b"5\r\nhello\r\n0\r\n\r\n"
    answer = here.talk(post(chunks, "Content-Length: 3", "Transfer-Encoding: chunked"))
    assert answer.endswith(b"POST 5")


def test_chunks_beyond_the_limit_are_cut_off(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(post(b"ffff\r\n".ljust(4 * LIMIT, b"x"), "Transfer-Encoding: chunked"))
        status, error = error_of(rest(connection))
    assert (status, error["code"]) == (413, "too_large")


def test_a_body_shorter_than_its_length_is_no_request(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(post(b"abc", "Content-Length: 10"))
        connection.shutdown(socket.SHUT_WR)
        assert rest(connection) == b""
    assert here.talk(get()).endswith(b"GET 0")


def test_what_is_sent_beyond_the_length_is_not_part_of_the_body(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(post(b"abcdef", "Content-Length: 3").replace(b"Connection: close\r\n", b""))
        connection.shutdown(socket.SHUT_WR)
        answer = rest(connection)
    assert b"POST 3" in answer
    assert answer.count(b"HTTP/1.1 200") == 1


def test_a_client_that_waits_for_leave_to_send_gets_it(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(post(b"", "Content-Length: 5", "Expect: 100-continue"))
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"hello")
        assert rest(connection).endswith(b"POST 5")


def test_requests_sent_together_are_answered_in_order(here: Running) -> None:
    answer = here.talk(
        get(close=False) + post(b"", "Content-Length: 0").replace(b"Connection: close\r\n", b"") + get()
    )
    assert [answer.find(part) >= 0 for part in (b"GET 0", b"POST 0")] == [True, True]
    assert answer.find(b"POST 0") < answer.rfind(b"GET 0")


def test_it_does_not_say_what_it_is_made_of(here: Running) -> None:
    assert b"server:" not in here.talk(get()).lower()


# ---------------------------------------------------------------------------- addresses


def test_a_taken_port_is_a_plain_sentence(here: Running) -> None:
    with pytest.raises(CannotStartError, match=r"cannot be used.*PALIMPSEST_PORT"):
        HttpServer(here.app, "127.0.0.1", here.server.port, threads=1, max_body_bytes=LIMIT)


def test_an_address_of_another_machine_is_a_plain_sentence() -> None:
    with pytest.raises(CannotStartError, match=r"192\.0\.2\.1"):
        HttpServer(App(), "192.0.2.1", 0, threads=1, max_body_bytes=LIMIT)


def test_ipv6_is_possible() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    server = HttpServer(App(), "::1", 0, threads=1, max_body_bytes=LIMIT)
    thread = threading.Thread(target=server.serve)
    thread.start()
    with socket.create_connection(("::1", server.port), timeout=20) as connection:
        connection.sendall(get())
        assert rest(connection).endswith(b"GET 0")
    server.end()
    thread.join(20)
    server.close()


# ---------------------------------------------------------------------------- ending


def drained(here: Running, seconds: float = 20.0, hurried: Callable[[], bool] = lambda: False) -> "Drain":
    here.server.end()
    here.thread.join(20)
    assert not here.thread.is_alive()
    return Drain(here.server, seconds, hurried)


class Drain(threading.Thread):
    """The end of a server, in a thread of its own, and what it said."""

    def __init__(self, server: HttpServer, seconds: float, hurried: Callable[[], bool]) -> None:
        super().__init__(daemon=True)
        self._arguments = (server, seconds, hurried)
        self.all_answered: bool | None = None
        self.start()

    def run(self) -> None:
        server, seconds, hurried = self._arguments
        self.all_answered = server.drain(seconds, hurried)


def test_what_is_under_way_is_answered_before_the_end(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(get("/slow", close=False))
        assert here.app.entered.acquire(timeout=20)
        end = drained(here)
        here.app.go_on.set()
        answer = rest(connection)
    assert answer.endswith(b"GET 0")
    assert b"connection: close" in answer.lower()
    end.join(20)
    assert end.all_answered


def test_what_waits_for_a_free_thread_is_answered_too() -> None:
    with running(threads=1) as here:
        connections = [here.connect() for _ in range(5)]
        for connection in connections:
            connection.sendall(get("/slow", close=False))
        assert here.app.entered.acquire(timeout=20)
        _await(lambda: len(here.server._server.task_dispatcher.queue) == 4)
        end = drained(here)
        here.app.go_on.set()
        assert all(rest(connection).endswith(b"GET 0") for connection in connections)
        for connection in connections:
            connection.close()
        end.join(20)
        assert end.all_answered


def test_a_request_that_is_still_being_sent_is_answered_too(here: Running) -> None:
    request = post(b"hello", "Content-Length: 5")
    with here.connect() as connection:
        connection.sendall(request[:-3])
        _await(lambda: any(c.request is not None for c in here.server._server.active_channels.values()))
        end = drained(here)
        connection.sendall(request[-3:])
        assert rest(connection).endswith(b"POST 5")
    end.join(20)
    assert end.all_answered


def test_an_answer_that_is_larger_than_the_sockets_buffers_arrives_whole(here: Running) -> None:
    here.app.answer = b"x" * 20_000_000
    with here.connect() as connection:
        connection.sendall(get("/slow"))
        assert here.app.entered.acquire(timeout=20)
        end = drained(here)
        here.app.go_on.set()
        assert len(rest(connection)) > 20_000_000
    end.join(20)
    assert end.all_answered


def test_idle_connections_are_closed_and_new_ones_are_refused(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(get(close=False))
        answer = b""
        while b"GET 0" not in answer:
            more = connection.recv(1000)
            assert more
            answer += more
        end = drained(here)
        assert rest(connection) == b""
    end.join(20)
    with pytest.raises(OSError, match=r".*"):
        here.connect()


def test_nobody_waits_for_ever_for_a_request_that_hangs(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(get("/slow"))
        assert here.app.entered.acquire(timeout=20)
        end = drained(here, seconds=0.2)
        end.join(20)
        assert end.all_answered is False


def test_nobody_waits_who_asked_twice(here: Running) -> None:
    with here.connect() as connection:
        connection.sendall(get("/slow"))
        assert here.app.entered.acquire(timeout=20)
        end = drained(here, hurried=lambda: True)
        end.join(10)
        assert end.all_answered is False


def _await(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)
