"""Where a projector may die and how its engine may fail, by chance; and the late writes of requests that timed out."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from chalicelib.domain.projection import IndexEntry
from chalicelib.errors import IndexUnavailableError, StoreUnavailableError

OF_APPLY = (
    "killed before apply",
    "killed after half a batch",
    "killed after apply",
    "index unavailable",
    "time-out after apply",
    "time-out, applied much later",
    "batch taken in part",
)
OF_STORE = ("killed at the table", "killed after the table", "table unavailable")
OF_STREAM = ("killed before the acknowledgement",)
OF_EMBEDDER = ("embedder down",)
KINDS = (*OF_APPLY, *OF_STORE, *OF_STREAM, *OF_EMBEDDER)

APPLY_RATE = 0.12
STORE_RATE = 0.008


class KilledError(BaseException):
    """The projector's process ends here; nothing may catch it, as nothing catches `kill -9`."""


class Faults:
    """What goes wrong, by chance, while `armed`; and how often which kind did."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.armed = False
        self.fired: Counter[str] = Counter()

    def strike(self, kinds: Sequence[str], rate: float) -> str:
        """The kind that strikes now, or nothing."""
        if not self.armed or self.chance.random() >= rate:
            return ""
        return self.chance.choice(kinds)

    def fire(self, kind: str) -> None:
        """Note that it really happened."""
        self.fired[kind] += 1


class FaultyIndex:
    """The index as a projector has it whose process, network and engine fail. All but `apply` goes straight on."""

    def __init__(self, inner: Any, faults: Faults) -> None:
        self.inner = inner
        self.late: list[list[IndexEntry]] = []
        """Batches that the engine has received and not written yet; their sender has given up."""
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def apply(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        kind = self._faults.strike(OF_APPLY, APPLY_RATE)
        if not kind:
            return list(self.inner.apply(entries))
        self._faults.fire(kind)
        refused = self._done_in_spite(kind, list(entries))
        if kind.startswith("killed"):
            raise KilledError(kind)
        if kind != "batch taken in part":
            raise IndexUnavailableError(kind)
        return refused

    def _done_in_spite(self, kind: str, entries: list[IndexEntry]) -> list[IndexEntry]:
        """What of the batch reaches the index all the same; those that it refuses."""
        if kind == "killed after half a batch":
            self.inner.apply(entries[: (len(entries) + 1) // 2])
        elif kind in ("killed after apply", "time-out after apply"):
            self.inner.apply(entries)
        elif kind == "time-out, applied much later":
            self.late.append(entries)
        elif kind == "batch taken in part":
            refused = [entry for entry in entries if self._faults.chance.random() < 0.5] or entries[-1:]
            taken = [entry for entry in entries if entry not in refused]
            return [*refused, *(self.inner.apply(taken) if taken else [])]
        return []

    def write_late(self, share: float) -> None:
        """Let some of the batches be written now whose senders have given up, in any order."""
        self._faults.chance.shuffle(self.late)
        for _ in range(round(len(self.late) * share)):
            self.inner.apply(self.late.pop())


class FaultyStore:
    """The table as a projector has it whose process and network fail."""

    _STRUCK = frozenset({"get_many", "vectors", "put_vectors", "finish_strip"})

    def __init__(self, inner: Any, faults: Faults) -> None:
        self.inner = inner
        self._faults = faults

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.inner, name)
        return self._struck(method) if name in self._STRUCK else method

    def _struck(self, method: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            kind = self._faults.strike(OF_STORE, STORE_RATE)
            if not kind:
                return method(*arguments, **named)
            self._faults.fire(kind)
            if kind == "killed at the table":
                raise KilledError(kind)
            if kind == "table unavailable":
                raise StoreUnavailableError(kind)
            method(*arguments, **named)
            raise KilledError(kind)

        return call
