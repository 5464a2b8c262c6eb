"""The process of a peer: one request a line on its standard input, one answer a line on its standard output.

Standard library only: it runs in the environment of each peer. Whatever a library prints goes to standard error.
"""

import json
import os
import sys
from typing import Any, NamedTuple, Protocol

from tests.bench.peers.failing import Switch

Json = dict[str, Any]


class Found(NamedTuple):
    """What a read gave: (id, text) of each memory; and what the answer itself says is not as it should be."""

    memories: list[tuple[str, str]]
    note: str | None = None


class System(Protocol):
    """A peer as its client sees it. Whatever it raises, its client gets as an error."""

    version: str
    switch: Switch

    def add(self, user: str, text: str, key: str | None) -> str:
        """Store a memory; its id. `key`: the same for each attempt of one write, if there is one."""
        ...

    def delete(self, user: str, memory: str, key: str | None) -> None: ...

    def search(self, user: str, text: str) -> Found: ...

    def everything(self, user: str) -> Found: ...

    def get(self, user: str, memory: str) -> Found: ...

    def history(self, user: str, memory: str) -> list[str]:
        """What the history says was done to this memory: `add`, `delete`."""
        ...

    def pass_time(self, place: int, *, settles: bool) -> None:
        """It is step `place` now; `settles`: what lags behind may catch up."""
        ...


def serve(system: System) -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _tell(answers, {"version": system.version})
    for line in sys.stdin:
        _tell(answers, answer(system, json.loads(line)))


def _tell(answers: Any, said: Json) -> None:
    answers.write(json.dumps(said) + "\n")
    answers.flush()


def answer(system: System, request: Json) -> Json:
    """What the client gets for one request; `fired`: whether the fault in it happened."""
    system.pass_time(request["place"], settles=request["settles"])
    system.switch.arm(request["fault"])
    try:
        made = _done(system, request)
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is what its client gets
        made = {"error": f"{type(error).__name__}: {error}"}
    return {**made, "fired": system.switch.disarm()}


def _done(system: System, request: Json) -> Json:
    kind, user = request["kind"], request["user"]
    if kind == "add":
        return {"id": system.add(user, request["text"], request["key"])}
    if kind == "delete":
        system.delete(user, request["id"], request["key"])
        return {}
    if kind == "history":
        return {"events": system.history(user, request["id"])}
    reads = {
        "search": lambda: system.search(user, request["text"]),
        "list": lambda: system.everything(user),
        "get": lambda: system.get(user, request["id"]),
    }
    return reads[kind]()._asdict()
