"""Palimpsest as a peer: `python -m tests.bench.peers.own_system SETTINGS`.

Its HTTP API over its laptop's storages (SQLite and the embedded index in one file), without the socket. Faults are
those of the ports: the memory store, and the search index.
"""

import json
import logging
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from chalicelib.bootstrap import Parts, build
from chalicelib.domain.accounts import Account, AccountCommit, EntityWrite
from chalicelib.errors import IndexUnavailableError, StoreUnavailableError
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.search import text as analyzer
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.services.memory.project import by_space
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.accounts import SqliteAccountStore
from chalicelib.stores.sqlite.inbox import SqliteInboxStore
from chalicelib.stores.sqlite.inspection import SqliteStorage
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from chalicelib.stores.sqlite.outbox import Outbox
from tests.bench.peers import loopback
from tests.bench.peers.child import Found, serve
from tests.bench.peers.failing import WRITE, Failing, Switch
from tests.bench.peers.plan import USERS
from tests.fakes.client import Client, Reply
from tests.fakes.world import START, World

SPACE = "/v1/spaces/personal"
TOP = 10
_TABLE, _INDEX = frozenset({"table"}), frozenset({"index"})
TABLE_METHODS = {"commit": WRITE, "get": _TABLE, "get_many": _TABLE, "page": _TABLE}
INDEX_METHODS = {"search": _INDEX, "browse": _INDEX}
EVENTS = {"add": "add", "trash": "delete"}


class RefusedError(Exception):
    """An answer that is no success."""


class Installation(World):
    """A World in a file, which can be opened again: nobody and nothing is made twice, and as on a laptop the index is
    built anew only when there is none."""

    def __init__(self, file: Path, switch: Switch) -> None:
        self.now = START
        self.database = Database(file)
        self.outbox = Outbox(self.database, clock=self.clock)
        self.embedder = ScriptedEmbedder()
        store = SqliteMemoryStore(self.database, clock=self.clock)
        index = EmbeddedIndex(self.database, analyzer)
        self.parts = Parts(
            memories=Failing(store, switch, TABLE_METHODS, _store_error),
            accounts=SqliteAccountStore(self.database),
            inbox=SqliteInboxStore(self.database),
            index=Failing(index, switch, INDEX_METHODS, _index_error),
            analyzer=analyzer,
            embedder=self.embedder,
            queue=SqliteQueue(self.database, clock=self.clock),
            storage=SqliteStorage(self.database),
        )
        self.services = build(Settings(), self.parts, self.clock)
        if not index.ready():
            self.services.rebuild.rebuild()
        for user in USERS:
            self._register(user)

    def clock(self) -> datetime:
        """Now, as the programme has it."""
        return self.now

    def project(self) -> None:
        """Let the index catch up, as the loop does that reads the outbox: what fails waits for the next turn."""
        while records := self.outbox.pending(1_000):
            places = [(record.space, int(record.id)) for record in records if record.kind == "memory"]
            late = [
                number for space, numbers in by_space(places) for number in self._projected(space, numbers)
            ]
            if late:
                return
            self.outbox.done([record.seq for record in records])

    def _projected(self, space: Any, numbers: Any) -> list[int]:
        return list(self.services.projector.project(space, numbers))

    def _register(self, user: str) -> None:
        if self.parts.accounts.account(user) is None:
            account = Account(id=user, name=user, created_at=self.now)
            self.parts.accounts.commit(AccountCommit(writes=(EntityWrite(entity=account, expected=None),)))


class OwnSystem:
    """The HTTP API. `settings`: folder."""

    def __init__(self, settings: Mapping[str, Any], switch: Switch) -> None:
        self.version = "Palimpsest, SQLite and embedded index"
        self.switch = switch
        self._world = Installation(Path(settings["folder"]) / "palimpsest.db", self.switch)
        self._client = Client(self._world)
        self._keys = {user: self._key(user) for user in USERS}

    def add(self, user: str, text: str, key: str | None) -> str:
        answer = self._asked(user, "POST", f"{SPACE}/memories", {"text": text}, key)
        return str(answer["memory"]["number"])

    def delete(self, user: str, memory: str, key: str | None) -> None:
        self._asked(user, "DELETE", f"{SPACE}/memories/{memory}", None, key)

    def search(self, user: str, text: str) -> Found:
        answer = self._asked(user, "POST", f"{SPACE}/search", {"query": text, "limit": TOP})
        return _found([item["memory"] for item in answer["items"]], answer["degraded"])

    def everything(self, user: str) -> Found:
        shown: list[Any] = []
        note, cursor = None, ""
        while True:
            page = self._asked(user, "GET", f"{SPACE}/memories?limit=200{cursor}")
            shown += page["items"]
            note = note or page["degraded"]
            if page["next"] is None:
                return _found(shown, note)
            cursor = f"&cursor={quote(page['next'])}"

    def get(self, user: str, memory: str) -> Found:
        reply = self._ask(user, "GET", f"{SPACE}/memories/{memory}")
        if reply.status == 404:
            return Found([])
        return _found([_wanted(reply)["memory"]], None)

    def history(self, user: str, memory: str) -> list[str]:
        items = self._asked(user, "GET", f"{SPACE}/memories/{memory}/history?limit=200")["items"]
        return [EVENTS.get(item["op"], item["op"]) for item in items]

    def pass_time(self, place: int, *, settles: bool) -> None:
        """A second a step, and not back to the beginning after a kill."""
        self._world.now = START + timedelta(seconds=place)
        if settles:
            self._world.project()

    def _key(self, user: str) -> str:
        account = self._world.parts.accounts.account(user)
        assert account is not None
        return self._world.services.founding.new_key(account, user, self._world.now).plain

    def _ask(self, user: str, method: str, path: str, body: object = None, key: str | None = None) -> Reply:
        headers = {"Idempotency-Key": key} if key else {}
        return self._client.ask(method, path, body, key=self._keys[user], headers=headers)

    def _asked(self, user: str, method: str, path: str, body: object = None, key: str | None = None) -> Any:
        return _wanted(self._ask(user, method, path, body, key))


def _wanted(reply: Reply) -> Any:
    if not 200 <= reply.status < 300:
        raise RefusedError(f"{reply.status} {reply.text[:300]}")
    return reply.json


def _found(memories: list[Any], note: str | None) -> Found:
    return Found([(str(memory["number"]), str(memory["text"])) for memory in memories], note)


def _store_error(kind: str) -> Exception:
    return StoreUnavailableError(f"injected: {kind}", unknown=kind == "after")


def _index_error(kind: str) -> Exception:
    return IndexUnavailableError(f"injected: {kind}")


if __name__ == "__main__":
    loopback.close()
    logging.disable(logging.CRITICAL)
    serve(OwnSystem(json.loads(sys.argv[1]), Switch()))
