"""Whether all parts work: asked by people and by load balancers, answered in bounded time (API: /v1/health)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chalicelib import __version__
from chalicelib.errors import EmbeddingError, SearchIndexError, StoreError
from chalicelib.ports import AccountStore, Embedder, Queue, SearchIndex


@dataclass(frozen=True)
class Health:
    """Looks at each part."""

    accounts: AccountStore
    index: SearchIndex
    embedder: Embedder | None
    queue: Queue
    writable: Callable[[], object] = lambda: None
    """Raises StoreError when the table can be read but not written now (a laptop's full disk)."""

    def look(self) -> dict[str, Any]:
        """`{"status": "ok" | "degraded", "version", "parts": {table, index, embedder, helper_model, queue}}`.

        A part is `ok`, `down`, `missing` (the index is not complete), or `off` (not set; no fault).
        """
        parts = {
            "table": _state(self._table, StoreError),
            "index": self._index(),
            "embedder": "off" if self.embedder is None else _state(self._embed, EmbeddingError),
            "helper_model": "off",
            "queue": _state(self.queue.depth, StoreError),
        }
        status = "ok" if set(parts.values()) <= {"ok", "off"} else "degraded"
        return {"status": status, "version": __version__, "parts": parts}

    def _table(self) -> None:
        self.accounts.installation()
        self.writable()

    def _index(self) -> str:
        try:
            return "ok" if self.index.ready() else "missing"
        except SearchIndexError:
            return "down"

    def _embed(self) -> object:
        return self.embedder.query("health") if self.embedder else None


def _state(ask: Callable[[], object], failure: type[Exception]) -> str:
    try:
        ask()
    except failure:
        return "down"
    return "ok"
