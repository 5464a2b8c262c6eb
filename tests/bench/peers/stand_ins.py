"""Peers of a few lines, right or broken in one way at a time: what the harness must tell apart."""

import json
from collections.abc import Callable
from typing import Any

from tests.bench.peers.child import Found, System, answer
from tests.bench.peers.client import GoneError
from tests.bench.peers.failing import WRITE, Failing, Switch
from tests.bench.peers.plan import USERS

_READ = frozenset({"index", "table"})
METHODS = {"insert": WRITE, "remove": WRITE, "rows": _READ}


class KilledError(BaseException):
    """What SIGKILL is in a process that must go on."""


class TimedOutError(Exception):
    """What the storage of a few lines raises."""


def die() -> None:
    """End, as a process does."""
    raise KilledError


class Storage:
    """Rows of (user, id, text), which stay when the peer is killed."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, str]] = {}
        self.events: dict[str, list[str]] = {}
        self.done: dict[str, str] = {}

    def insert(self, user: str, memory: str, text: str, key: str | None) -> None:
        self.kept[memory] = (user, text)
        self.events[memory] = ["add"]
        if key is not None:
            self.done[key] = memory

    def remove(self, memory: str) -> None:
        if self.kept.pop(memory, None) is not None:
            self.events[memory].append("delete")

    def rows(self, user: str) -> list[tuple[str, str]]:
        return [(memory, text) for memory, (owner, text) in self.kept.items() if owner == user]


class Plain:
    """A right peer: each write is atomic and remembers its key, each error is told."""

    version = "plain"

    def __init__(self, storage: Storage) -> None:
        self.switch = Switch(die)
        self.inner = storage
        self.storage = Failing(storage, self.switch, METHODS, TimedOutError)

    def add(self, user: str, text: str, key: str | None) -> str:
        memory = self.inner.done.get(key or "") or str(len(self.inner.events) + 1)
        if key not in self.inner.done:
            self.storage.insert(user, memory, text, key)
        return memory

    def delete(self, user: str, memory: str, key: str | None) -> None:
        if memory not in self.inner.kept and key is None:
            raise LookupError("not found")
        self.storage.remove(memory)

    def search(self, user: str, text: str) -> Found:
        all_of_them = self.everything(user)
        return Found([row for row in all_of_them.memories if row[1] == text], all_of_them.note)

    def everything(self, user: str) -> Found:
        return Found(self.storage.rows(user))

    def get(self, user: str, memory: str) -> Found:
        all_of_them = self.everything(user)
        return Found([row for row in all_of_them.memories if row[0] == memory], all_of_them.note)

    def history(self, user: str, memory: str) -> list[str]:
        return self.inner.events[memory]

    def pass_time(self, place: int, *, settles: bool) -> None:
        """Nothing lags behind."""


class Drops(Plain):
    """Acknowledges adds that it did not store."""

    def add(self, user: str, text: str, key: str | None) -> str:
        if len(self.inner.events) % 10 == 9:
            memory = f"lost {len(self.inner.events)}"
            self.inner.events[memory] = ["add"]
            return memory
        return super().add(user, text, key)


class Invents(Plain):
    """Stores what nobody said."""

    def add(self, user: str, text: str, key: str | None) -> str:
        if len(self.inner.events) == 9:
            self.inner.insert(user, "more", "what nobody said", None)
        return super().add(user, text, key)


class KeepsDeleted(Plain):
    """Acknowledges a delete and goes on showing the memory."""

    def delete(self, user: str, memory: str, key: str | None) -> None:
        self.inner.events[memory].append("delete")


class Mixes(Plain):
    """A list without its scope."""

    def everything(self, user: str) -> Found:
        return Found([row for one in USERS for row in self.storage.rows(one)])


class Swallows(Plain):
    """Takes a failed read for an empty one."""

    note: str | None = None

    def everything(self, user: str) -> Found:
        try:
            return super().everything(user)
        except TimedOutError:
            return Found([], self.note)


class SaysSo(Swallows):
    """Gives what it has, and says that it is not all."""

    note = "the storage did not answer"


class Forgets(Plain):
    """Writes no history of a delete."""

    def history(self, user: str, memory: str) -> list[str]:
        return [event for event in super().history(user, memory) if event == "add"]


class Refuses(Plain):
    """Never takes the words of one user."""

    def add(self, user: str, text: str, key: str | None) -> str:
        if user == "root":
            raise PermissionError("not you")
        return super().add(user, text, key)


class Ends(Plain):
    """Ends by itself at its ninth add."""

    def add(self, user: str, text: str, key: str | None) -> str:
        if len(self.inner.events) == 9:
            self.inner.events["ended"] = []
            raise KilledError
        return super().add(user, text, key)


class Here:
    """A peer in this process: killed, it is made anew over what is stored."""

    def __init__(self, make: Callable[[], System]) -> None:
        self._make = make
        self._system: System | None = None

    def start(self) -> None:
        self._system = self._make()

    def kill(self) -> None:
        self._system = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._system is not None
        try:
            said: dict[str, Any] = json.loads(json.dumps(answer(self._system, request)))
        except KilledError as error:
            self._system = None
            raise GoneError("killed") from error
        return said
