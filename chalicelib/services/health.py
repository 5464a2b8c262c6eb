"""Whether all parts work: asked by people and by load balancers, answered in bounded time (API: /v1/health)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chalicelib import __version__
from chalicelib.domain.scope import Space
from chalicelib.errors import EmbeddingError, SearchIndexError, StoreError
from chalicelib.ports import AccountStore, Clock, Embedder, MemoryStore, Queue, SearchIndex
from chalicelib.services.memory.project import pass_scope

_NOBODY = pass_scope(Space.personal("nobody"), "health")
"""A space that is nobody's: what is written there changes nothing."""


@dataclass(frozen=True)
class Health:
    """Looks at each part."""

    memories: MemoryStore
    accounts: AccountStore
    index: SearchIndex
    embedder: Embedder | None
    queue: Queue
    clock: Clock
    writable: Callable[[], object] = lambda: None
    """Raises StoreError when what the table is kept in cannot be written now (a laptop's full disk)."""

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
        """Read, and write what changes nothing: a table that can only be read is down, too."""
        self.accounts.installation()
        self.memories.touch(_NOBODY, [1], self.clock())
        self.writable()

    def _index(self) -> str:
        """It must be there, and answer what it is asked."""
        try:
            if not self.index.ready():
                return "missing"
            self.index.counts(_NOBODY)
            return "ok"
        except SearchIndexError:
            return "down"

    def _embed(self) -> object:
        """Ask for a vector of what is stored: those of queries may be answered from memory."""
        return self.embedder.passages(["health"]) if self.embedder else None


def _state(ask: Callable[[], object], failure: type[Exception]) -> str:
    try:
        ask()
    except failure:
        return "down"
    return "ok"
