"""mem0's open-source library as a peer: `python -m tests.bench.peers.mem0_system SETTINGS`, in its own environment.

Its own code and its own storages: Qdrant in a local folder (its default vector store, its default way of running),
SQLite for its history. Embeddings, and the model where it is asked, come from a server on this machine, set up with
mem0's own settings for servers that speak as OpenAI's. Faults are those of the vector store object.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.bench.peers import loopback
from tests.bench.peers.child import Found, serve
from tests.bench.peers.failing import WRITE, Failing, Parts, Switch

TOP = 10
ALL = 10_000
_READ: Parts = frozenset({"index", "table"})
METHODS = {"insert": WRITE, "update": WRITE, "delete": WRITE, "search": _READ, "list": _READ, "get": _READ}


class Mem0System:
    """`mem0.Memory`. `settings`: folder, url (of the models), dimension, infer."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from mem0 import Memory  # type: ignore[import-not-found]

        self.version = f"mem0ai {version('mem0ai')}, qdrant-client {version('qdrant-client')}"
        self.switch = Switch()
        self._infer = bool(settings["infer"])
        self._memory = Memory.from_config(_config(settings))
        self._memory.vector_store = Failing(self._memory.vector_store, self.switch, METHODS, _time_out)

    def add(self, user: str, text: str, key: str | None) -> str:
        results = self._memory.add(text, user_id=user, infer=self._infer)["results"]
        if results:
            return str(results[0]["id"])
        held = [memory for memory, said in self.everything(user).memories if said == text]
        if not held:
            raise LookupError("the answer holds no memory, and none with this text is there")
        return held[0]

    def delete(self, user: str, memory: str, key: str | None) -> None:
        self._memory.delete(memory)

    def search(self, user: str, text: str) -> Found:
        return _found(self._memory.search(text, filters={"user_id": user}, top_k=TOP)["results"])

    def everything(self, user: str) -> Found:
        return _found(self._memory.get_all(filters={"user_id": user}, top_k=ALL)["results"])

    def get(self, user: str, memory: str) -> Found:
        found = self._memory.get(memory)
        return _found([found] if found else [])

    def history(self, user: str, memory: str) -> list[str]:
        return [str(row["event"]).lower() for row in self._memory.history(memory)]

    def pass_time(self, place: int, *, settles: bool) -> None:
        """Nothing lags behind: there is one storage."""


def _config(settings: dict[str, Any]) -> dict[str, Any]:
    folder = Path(settings["folder"])
    server = {"openai_base_url": settings["url"], "api_key": "none-is-needed"}
    store = {
        "collection_name": "memories",
        "embedding_model_dims": settings["dimension"],
        "path": str(folder / "qdrant"),
        "on_disk": True,
    }
    embedder = {"model": "scripted", "embedding_dims": settings["dimension"], **server}
    return {
        "vector_store": {"provider": "qdrant", "config": store},
        "embedder": {"provider": "openai", "config": embedder},
        "llm": {"provider": "openai", "config": {"model": "scripted", **server}},
        "history_db_path": str(folder / "history.db"),
    }


def _time_out(kind: str) -> Exception:
    """What Qdrant's client raises when the server does not answer in time."""
    from qdrant_client.http.exceptions import ResponseHandlingException  # type: ignore[import-not-found]

    error: Exception = ResponseHandlingException(TimeoutError(f"injected: {kind}"))
    return error


def _found(results: list[dict[str, Any]]) -> Found:
    return Found([(str(one["id"]), str(one["memory"])) for one in results])


if __name__ == "__main__":
    loopback.close()
    serve(Mem0System(json.loads(sys.argv[1])))
