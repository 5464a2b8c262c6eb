"""A real HTTP server on this machine that plays an OpenAI-compatible endpoint and Bedrock, failures included."""

import json
import struct
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from chalicelib.providers.scripted import ScriptedEmbedder

KEY = "sk-canary-0123456789"


@dataclass
class Received:
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Reply:
    """What the next request is answered instead of vectors. `cut_off`: the connection is closed before an answer.
    `hold`: the answer waits for this event. `trickle`: the body is followed by spaces until the client goes away."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    cut_off: bool = False
    hold: threading.Event | None = None
    trickle: bool = False


class Endpoint:
    """The server's side of a test: what it received, and what it is to answer."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.received: list[Received] = []
        self.replies: deque[Reply] = deque()
        self.always: Reply | None = None
        self.dimension = 256
        self._words = ScriptedEmbedder(dimension=4096)

    def vectors(self, texts: list[str], length: int) -> list[list[float]]:
        """Not of unit length, and different for each text."""
        rows = []
        for text in texts:
            whole = struct.unpack("<4096f", self._words.query(text))
            rows.append([3 * sum(whole[place::length]) for place in range(length)])
        return rows

    def answer(self, received: Received) -> dict[str, Any]:
        """As the real endpoints answer, in an order that only `index` tells."""
        body = received.body
        if received.path.endswith("/embeddings"):
            rows = self.vectors(body["input"], body.get("dimensions", self.dimension))
            found = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
            return {"object": "list", "model": body["model"], "data": found[::-1]}
        model = unquote(received.path).removeprefix("/model/").removesuffix("/invoke")
        if "titan" in model:
            row = self.vectors([body["inputText"]], body["dimensions"])[0]
            return {"embedding": row, "inputTextTokenCount": 3, "embeddingsByType": {"float": row}}
        rows = self.vectors(body["texts"], body.get("output_dimension", self.dimension))
        keyed = "v4" in model
        kind = "embeddings_by_type" if keyed else "embeddings_floats"
        return {"id": "1", "response_type": kind, "embeddings": {"float": rows} if keyed else rows}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.closing = threading.Event()
        self.endpoint = Endpoint(f"http://127.0.0.1:{self.server_port}")

    def handle_error(self, *_: Any) -> None:
        """A client that has gone away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10
    server: _Server

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        received = Received(self.path, dict(self.headers.items()), json.loads(raw))
        endpoint.received.append(received)
        reply = endpoint.replies.popleft() if endpoint.replies else endpoint.always
        self._send(reply or Reply(body=json.dumps(endpoint.answer(received)).encode()))

    def _send(self, reply: Reply) -> None:
        if reply.cut_off:
            self.close_connection = True
            return
        while reply.hold and not self.server.closing.is_set() and not reply.hold.wait(0.05):
            pass
        self.send_response(reply.status)
        for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
            self.send_header(name, value)
        if reply.trickle:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)
        while reply.trickle and not self.server.closing.wait(0.01):
            self.wfile.write(b" ")

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def serving() -> Iterator[Endpoint]:
    """An endpoint that serves until the end of the block."""
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.endpoint
        finally:
            server.closing.set()
            server.shutdown()
            thread.join(10)
