"""The service with a fault in it that a kill, or a look at the index, must bring to light. For the tests of the proof.

PALIMPSEST_TEST_FAULT=early python -m tests.prove.durability.planted
"""

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from chalicelib.errors import StoreError
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from infra.local.__main__ import main

LATE_S = 0.15
EVERY = 9


def early() -> None:
    """Answers before it commits, which it does a moment later."""
    committed, waiting = SqliteMemoryStore.commit, queue.SimpleQueue[Callable[[], None]]()

    def commit(store: SqliteMemoryStore, scope: Scope, wanted: Commit) -> None:
        waiting.put(lambda: committed(store, scope, wanted))

    def work() -> None:
        while True:
            one = waiting.get()
            time.sleep(LATE_S)
            with suppress(StoreError):
                one()

    threading.Thread(target=work, daemon=True).start()
    SqliteMemoryStore.commit = commit  # type: ignore[method-assign,assignment]


def dropped() -> None:
    """Acknowledges some adds that it never makes."""
    committed, turn = SqliteMemoryStore.commit, count(1)

    def commit(store: SqliteMemoryStore, scope: Scope, wanted: Commit) -> None:
        if wanted.idempotency is None or next(turn) % EVERY:
            committed(store, scope, wanted)

    SqliteMemoryStore.commit = commit  # type: ignore[method-assign,assignment]


def unindexed() -> None:
    """Says that the index has some memories which it was never given."""
    applied = EmbeddedIndex.apply

    def apply(index: EmbeddedIndex, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        return list(applied(index, [entry for entry in entries if entry.number % EVERY]))

    EmbeddedIndex.apply = apply  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    {"early": early, "dropped": dropped, "unindexed": unindexed}[os.environ["PALIMPSEST_TEST_FAULT"]]()
    code = main()
    sys.stdout.flush()
    os._exit(code)
