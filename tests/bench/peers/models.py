"""A server on this machine that answers as OpenAI's: vectors made from words, and a model that remembers word for word.

For peers that need an embedding model, and may ask a language model what of a message is worth remembering. Both
answer at once, the same each time, and never fail: what is measured is the peer's storage.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from chalicelib.providers.scripted import ScriptedEmbedder

_NEW = re.compile(r"## New Messages\n(.*?)\n\n## ", re.DOTALL)
_SAID = re.compile(r"[a-z]+ was said by a guest at table \d+")


class _Handler(BaseHTTPRequestHandler):
    """One request. The embedder is the one of Palimpsest's own tests, so that both sides have the same vectors."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # an answer in one packet: two would wait for each other
    embedder = ScriptedEmbedder()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        made = _vectors(self.embedder, asked) if self.path.endswith("/embeddings") else _remembered(asked)
        content = json.dumps(made).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that http.server has
        """Nothing is worth a line."""


def _vectors(embedder: ScriptedEmbedder, asked: dict[str, Any]) -> dict[str, Any]:
    texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    vectors = [np.frombuffer(vector, dtype="<f4").tolist() for vector in embedder.passages(texts)]
    data = [{"object": "embedding", "index": place, "embedding": one} for place, one in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": asked["model"], "usage": usage}


def _remembered(asked: dict[str, Any]) -> dict[str, Any]:
    """Every sentence of the newest messages, as it is."""
    new = _NEW.search(asked["messages"][-1]["content"])
    said = _SAID.findall(new.group(1)) if new else []
    told = json.dumps({"memory": [{"id": str(place), "text": text} for place, text in enumerate(said)]})
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": told}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": asked["model"],
        "choices": [choice],
        "usage": usage,
    }


@contextmanager
def models() -> Iterator[str]:
    """The base URL of the server, which runs inside the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
