"""The way to a server, on which anything can go wrong that goes wrong on the way to one, or in it.

with gateway("http://127.0.0.1:9200") as way:
    way.fault = faults.html()       # from now on each request is answered so
    way.fault = None                # and now by the server again
"""

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

FORWARD_S = 60.0
HOP_BY_HOP = frozenset(
    {"connection", "transfer-encoding", "content-length", "keep-alive", "accept-encoding", "host"}
)


@dataclass(frozen=True)
class Request:
    """A request as it came in; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What is answered. `sent`: bytes of the body after which the connection ends, whatever was announced; None: no
    answer at all comes. `trickle`: white space follows without an end."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    sent: int | None = -1
    trickle: bool = False


Forward = Callable[[], Reply]
Fault = Callable[[Request, Forward, threading.Event], Reply]
"""Answers in the server's place, with its answer (`Forward`) or without. The event is set when the way is closed."""


class Gateway:
    """Stands before the server at `target`. `received` counts requests, `faulty` those that met a fault."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.fault: Fault | None = None
        self.received = 0
        self.faulty = 0
        self.closing = threading.Event()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self._port = 0
        self.open()

    @property
    def url(self) -> str:
        """Where it listens, also while it is shut."""
        return f"http://127.0.0.1:{self._port}"

    def open(self) -> None:
        """Listen, on the same port as before."""
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", self._port), self)
        self._port = self._server.server_port
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()

    def shut(self) -> None:
        """Refuse connections, and break those there are at their next request."""
        self.closing.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join(10)
        self._server = None

    def answer(self, request: Request, closing: threading.Event) -> Reply:
        """What this request is answered."""
        self.received += 1
        fault = self.fault
        if fault is None:
            return forward(self.target, request)
        self.faulty += 1
        return fault(request, lambda: forward(self.target, request), closing)


def forward(target: str, request: Request) -> Reply:
    """The server's own answer."""
    address = urlsplit(target)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=FORWARD_S)
    try:
        headers = {name: value for name, value in request.headers.items() if name not in HOP_BY_HOP}
        connection.request(request.method, request.path, request.body or None, headers)
        answer = connection.getresponse()
        kept = {name: value for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP}
        return Reply(answer.status, answer.read(), kept)
    finally:
        connection.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], gateway: Gateway) -> None:
        super().__init__(address, _Handler)
        self.gateway = gateway
        self.closing = gateway.closing

    def handle_error(self, *_: Any) -> None:
        """A client that gave up is what many cases are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.server.closing.is_set():
            self.close_connection = True
            return
        self._send(
            self.server.gateway.answer(Request(self.command, self.path, headers, raw), self.server.closing)
        )

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def _send(self, reply: Reply) -> None:
        if reply.sent is None:
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in {"date", "server"}:
                self.send_header(name, value)
        if reply.trickle:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body if reply.sent < 0 else reply.body[: reply.sent])
        self.wfile.flush()
        if reply.sent >= 0:
            self.close_connection = True
        while reply.trickle and not self.server.closing.wait(0.01):
            self.wfile.write(b" ")
            self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def gateway(target: str) -> Iterator[Gateway]:
    """A way to `target` that is open until the end of the block."""
    made = Gateway(target)
    try:
        yield made
    finally:
        made.shut()
