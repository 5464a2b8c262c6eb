"""Clients that write until the service is gone, and know exactly what they were promised.

Each memory holds a word that no other has. A write that got no answer is asked for again, under its own key, when
the service is back: whether it happened before the kill or not, it must have happened once.
"""

import http.client
import itertools
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.bench.served import Response, Service, ServiceError

PERSONAL = "/v1/spaces/personal"
BATCHES = (2, 5, 12, 40)
"""Sizes of batches; the largest does not fit into one transaction."""


@dataclass(frozen=True)
class Write:
    """One write as it is sent, however often. `words`: those of the memories that it makes or edits, in order."""

    method: str
    path: str
    body: dict[str, Any]
    key: str
    words: tuple[str, ...]


@dataclass
class Promised:
    """A memory as it was acknowledged last."""

    number: int
    version: int
    text: str


@dataclass
class Writer:
    """One client. `promised` by word; `pending` = the write that has no answer yet; `last` = the newest that has."""

    service: Service
    name: str
    chance: random.Random
    space: str = PERSONAL
    promised: dict[str, Promised] = field(default_factory=dict)
    pending: Write | None = None
    last: tuple[Write, dict[str, Any]] | None = None
    writes: int = 0
    refused: list[str] = field(default_factory=list)
    _count: Iterator[int] = field(default_factory=itertools.count)

    def write_until(self, gone: threading.Event) -> None:
        """Write without a pause until the service is gone. Raises ServiceError if it goes before `gone` is set."""
        while not gone.is_set():
            try:
                self.write()
            except (OSError, http.client.HTTPException) as error:
                if not gone.wait(5.0):
                    raise ServiceError(f"no answer while the service was running: {error!r}") from error
                return

    def write(self) -> None:
        """One write: the one that has no answer yet, else a new one."""
        self.pending = self.pending or self._new()
        self._keep(self.pending, self._send(self.pending))
        self.pending = None

    def repeat(self) -> bool:
        """Ask for the newest acknowledged write again; whether it answers as it did."""
        if self.last is None:
            return True
        write, first = self.last
        again = self._send(write)
        return again.status < 300 and _places(again.body) == _places(first)

    def _send(self, write: Write) -> Response:
        return self.service.send(write.method, write.path, write.body, headers={"Idempotency-Key": write.key})

    def _new(self) -> Write:
        kind = self.chance.choice(("add", "add", "batch", "edit"))
        key = f"{self.name}-{next(self._count)}"
        memories = f"{self.space}/memories"
        if kind == "edit" and self.promised:
            word = self.chance.choice(list(self.promised))
            known = self.promised[word]
            body = {"version": known.version, "text": f"{word} was changed with {key}."}
            return Write("PATCH", f"{memories}/{known.number}", body, key, (word,))
        if kind == "batch":
            words = tuple(self._word() for _ in range(self.chance.choice(BATCHES)))
            items = [{"text": f"{word} was said with {key}."} for word in words]
            return Write("POST", f"{memories}/batch", {"items": items}, key, words)
        word = self._word()
        return Write("POST", memories, {"text": f"{word} was said with {key}."}, key, (word,))

    def _word(self) -> str:
        """A word of its own, such as no stemmer shortens into another's."""
        syllables = (self.chance.choice("bdgkmprtvz") + self.chance.choice("aou") for _ in range(7))
        return f"{''.join(syllables)}x"

    def _keep(self, write: Write, answer: Response) -> None:
        """Note what was promised."""
        self.writes += 1
        if answer.status >= 300:
            self.refused.append(f"{write.method} {write.path}: {answer.status} {answer.body}")
            return
        for word, memory in zip(write.words, _memories(answer.body), strict=True):
            self.promised[word] = Promised(memory["number"], memory["version"], memory["text"])
        self.last = (write, answer.body)


def _memories(answer: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = answer.get("items", [answer])
    return [item["memory"] for item in items]


def _places(answer: dict[str, Any]) -> list[tuple[int, int, str]]:
    return [(memory["number"], memory["version"], memory["text"]) for memory in _memories(answer)]
