"""What a caller was promised, write by write, and what there is afterwards."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.fakes.client import Client, Reply

SPACE = "/v1/spaces/personal"
MEMORIES = f"{SPACE}/memories"
TRIES = 5
"""Of a write when all is well: a busy machine may be late by itself."""


@dataclass(frozen=True)
class Write:
    """One write as it is sent, however often. `texts`: those that it stores, in order; `number`: what it changes."""

    kind: str
    method: str
    path: str
    body: dict[str, Any]
    key: str
    texts: tuple[str, ...] = ()
    number: int | None = None


@dataclass
class Known:
    """A memory as it was acknowledged last."""

    text: str
    version: int
    state: str = "active"

    def is_shown_by(self, memory: dict[str, Any]) -> bool:
        """Whether this JSON shows it as it was acknowledged."""
        return bool(
            (memory["text"], memory["version"], memory["state"]) == (self.text, self.version, self.state)
        )


@dataclass(frozen=True)
class Refusal:
    """A write that was not acknowledged. `unknown`: it was said that it may have been done."""

    write: Write
    unknown: bool


@dataclass
class Witness:
    """Sends writes and keeps account: of `known` memories by number, and of writes that were refused."""

    client: Client
    chance: random.Random
    known: dict[int, Known] = field(default_factory=dict)
    refused: list[Refusal] = field(default_factory=list)
    acknowledged: int = 0
    categories: set[str] = field(default_factory=set)
    _keys: Iterator[int] = field(default_factory=lambda: count(1))

    def word(self) -> str:
        """A word that nobody said before."""
        syllables = (self.chance.choice("bdgkmprtvz") + self.chance.choice("aou") for _ in range(8))
        return f"{''.join(syllables)}x"

    def add(self) -> Write:
        """One memory more."""
        said = f"{self.word()} keeps a lantern"
        return Write("add", "POST", MEMORIES, {"text": said}, self._key(), (said,))

    def batch(self) -> Write:
        """Three more at once."""
        texts = tuple(f"{self.word()} mends a boat" for _ in range(3))
        return Write(
            "batch", "POST", f"{MEMORIES}/batch", {"items": [{"text": t} for t in texts]}, self._key(), texts
        )

    def edit(self) -> Write:
        """Another text for one there is."""
        number = self._living()
        said = f"{self.word()} sells a boat"
        body = {"version": self.known[number].version, "text": said}
        return Write("edit", "PATCH", f"{MEMORIES}/{number}", body, self._key(), (said,), number)

    def retire(self) -> Write:
        """One becomes untrue."""
        number = self._living()
        body = {"version": self.known[number].version}
        return Write("retire", "POST", f"{MEMORIES}/{number}/retire", body, self._key(), number=number)

    def trash(self) -> Write:
        """One goes to the trash."""
        number = self._living()
        return Write("trash", "DELETE", f"{MEMORIES}/{number}", {}, self._key(), number=number)

    def erase(self) -> Write:
        """One goes for good."""
        number = self._living()
        return Write("erase", "POST", f"{MEMORIES}/{number}/erase", {}, self._key(), number=number)

    def categorise(self) -> Write:
        """A category more."""
        name = self.word()
        return Write("category", "POST", f"{SPACE}/categories", {"name": name}, self._key(), (name,))

    def send(self, write: Write) -> Reply:
        """Send it; what was acknowledged is known from now on, what was not is kept."""
        reply = self.client.ask(
            write.method, write.path, write.body or None, headers={"Idempotency-Key": write.key}
        )
        if 200 <= reply.status < 300:
            self.acknowledged += 1
            self._keep(write, reply.json)
        else:
            self.refused.append(Refusal(write, "whether it was done" in reply.text))
        return reply

    def repeat(self) -> list[str]:
        """Send what was refused once more, each under its own key, and as often as a client would that is told to come
        again; what was refused all the same is told."""
        again, self.refused = self.refused, []
        answers = [(refusal.write, self._insist(refusal.write)) for refusal in again]
        return [
            f"{write.kind} is refused although nothing is wrong any more: {reply.status} {reply.text[:200]}"
            for write, reply in answers
            if reply.status >= 300
        ]

    def _insist(self, write: Write) -> Reply:
        for _ in range(TRIES - 1):
            reply = self.send(write)
            if reply.status != 503:
                return reply
            self.refused.pop()
        return self.send(write)

    def shown(self) -> dict[int, str]:
        """State of every memory that a list of all states must show."""
        return {number: known.state for number, known in self.known.items() if known.state != "erased"}

    def untouched(self) -> int:
        """The number of an active memory that no refused write is about."""
        return self._living()

    def _living(self) -> int:
        touched = {refusal.write.number for refusal in self.refused}
        living = [n for n, known in self.known.items() if known.state == "active" and n not in touched]
        return self.chance.choice(living)

    def _key(self) -> str:
        return f"proof-{next(self._keys)}"

    def _keep(self, write: Write, answer: dict[str, Any]) -> None:
        if write.kind == "category":
            self.categories.add(write.body["name"])
            return
        if write.kind == "erase" and write.number is not None:
            self.known[write.number].state = "erased"
            return
        for item in answer.get("items", [answer]):
            memory = item["memory"]
            self.known[memory["number"]] = Known(memory["text"], memory["version"], memory["state"])
