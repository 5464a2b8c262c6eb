"""R6: the index is dropped while people search and write: everyone is answered, and afterwards nothing differs."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chalicelib import bootstrap
from chalicelib.bootstrap import utc_now
from chalicelib.errors import SearchIndexError
from chalicelib.jobs.schedules import reconcile
from chalicelib.settings import Settings
from chalicelib.stores.sqlite.outbox import Outbox
from infra.local.ending import Ending
from infra.local.service import LocalService
from tests.fakes.caller import PERSONAL, Caller, wait_until
from tests.prove.projection.compare import Compared, compare
from tests.prove.projection.engines import Engine

SEARCHERS, WRITERS = 2, 2
BATCH = 100
DEGRADED = {"index_missing", "index_unavailable"}
MEMORIES = f"{PERSONAL}/memories"
QUICK_S = 300.0


@dataclass
class Lost:
    """What people met while the index was dropped, and how the index was afterwards."""

    answers: Counter[str] = field(default_factory=Counter)
    degraded: int = 0
    drops: int = 0
    reconciled: int = 0
    rebuilt_s: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    compared: Compared = field(default_factory=Compared)


class Clients:
    """Some search, some write, without a pause, until they are told to stop."""

    def __init__(self, caller: Caller, seed: int, lost: Lost) -> None:
        self._caller = caller
        self._lost = lost
        self._stop = threading.Event()
        self._lock = threading.Lock()
        work: list[Callable[[random.Random], None]] = [
            *[self._search] * SEARCHERS,
            *[self._write] * WRITERS,
        ]
        self._threads = [
            threading.Thread(target=self._until_stopped, args=[one, random.Random(seed * 100 + place)])
            for place, one in enumerate(work)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Let them finish what they are doing."""
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _until_stopped(self, work: Callable[[random.Random], None], chance: random.Random) -> None:
        try:
            while not self._stop.is_set():
                work(chance)
        except Exception as error:  # noqa: BLE001 - a client that ends silently would prove nothing
            self._fault(f"a client ended: {type(error).__name__}: {error}")

    def _fault(self, what: str) -> None:
        with self._lock:
            self._lost.faults.append(what[:400])

    def _ask(self, wanted: int, method: str, path: str, body: object = None) -> Any:
        answer = self._caller.ask(method, path, body)
        degraded = (answer.body or {}).get("degraded")
        with self._lock:
            self._lost.answers[f"{method} {answer.status}"] += 1
            self._lost.degraded += degraded in DEGRADED
        if answer.status != wanted or degraded not in {None, *DEGRADED}:
            self._fault(f"{method} {path} -> {answer}")
        return answer.body

    def _search(self, chance: random.Random) -> None:
        found = self._ask(200, "POST", f"{PERSONAL}/search", {"query": f"tea of {chance.randint(1, 99)}"})
        if not found["items"]:
            self._fault("a search found nothing")
        self._ask(200, "GET", f"{MEMORIES}?limit=20")
        self._ask(200, "POST", f"{PERSONAL}/recall", {"query": "what tea?"})

    def _write(self, chance: random.Random) -> None:
        word = f"zebra{chance.getrandbits(60):x}"
        number = self._ask(201, "POST", MEMORIES, {"text": f"{word} about tea"})["memory"]["number"]
        found = self._ask(200, "POST", f"{PERSONAL}/search", {"query": word})
        if number not in [item["memory"]["number"] for item in found["items"]]:
            self._fault(f"#{number} was not found right after it was written")
        path = f"{MEMORIES}/{number}"
        for _ in range(chance.randint(0, 3)):
            if not self._change(chance, path):
                return

    def _change(self, chance: random.Random, path: str) -> bool:
        """Whether it is there to be changed again."""
        memory = self._ask(200, "GET", path)["memory"]
        if memory["state"] == "active":
            edit = {"version": memory["version"], "text": f"{memory['text']} once more"}
            self._ask(200, "PATCH", path, edit)
        if chance.random() < 0.4:
            self._ask(200, "DELETE", path)
            self._ask(200, "POST", f"{path}/restore", {})
        elif chance.random() < 0.1:
            self._ask(200, "POST", f"{path}/erase", {})
            self._ask(404, "GET", path)
            return False
        return True


@contextmanager
def inside(folder: Path, settings: dict[str, Any]) -> Iterator[tuple[LocalService, Caller]]:
    """A whole service in this process, where its index can be got at, and its owner's client."""
    given = {"data": folder, "port": 0, "embedder": "none", "log_level": "error", **settings}
    before = bootstrap._services
    try:
        with LocalService(Settings.model_validate(given)) as service:
            service.start()
            key = json.loads((folder / "run.json").read_text())["key"]
            thread = threading.Thread(target=service.serve, args=[Ending()], daemon=True)
            thread.start()
            yield service, Caller(service.url, key)
            service._server.end()
            thread.join(30)
    finally:
        bootstrap._services = before


def lose(
    engine: Engine, settings: dict[str, Any], folder: Path, *, memories: int, drops: int, seed: int
) -> Lost:
    """Fill a service, let people use it, and drop its index so often."""
    lost = Lost()
    chance = random.Random(seed)
    with inside(folder, settings) as (service, caller):
        _fill(caller, memories)
        clients = Clients(caller, seed, lost)
        try:
            for place in range(drops):
                _drop(service, lost, chance)
                if place % 2 == 0:
                    reconcile({"whole": True}, None)
                    lost.reconciled += 1
                if lost.faults:
                    break
        finally:
            clients.end()
        outbox = Outbox(service._database, clock=utc_now)
        wait_until(lambda: outbox.next_try() is None, QUICK_S)
        lost.compared = compare(service.services, engine)
        lost.faults += lost.compared.differences[:50]
        engine.end(service.services.parts.index)
    return lost


def _fill(caller: Caller, memories: int) -> None:
    for start in range(0, memories, BATCH):
        items = [
            {"text": f"fact {n} about tea of {n % 99}"} for n in range(start, min(memories, start + BATCH))
        ]
        answer = caller.ask("POST", f"{MEMORIES}/batch", {"items": items})
        assert answer.status == 200, answer


def _drop(service: LocalService, lost: Lost, chance: random.Random) -> None:
    """Drop the index at a moment of chance; wait until people have noticed, and until it is back."""
    index, so_far = service.services.parts.index, lost.degraded
    time.sleep(chance.uniform(0.2, 1.0))
    index.drop()
    began = time.monotonic()
    lost.drops += 1
    wait_until(lambda: lost.faults or lost.degraded > so_far, QUICK_S)
    wait_until(lambda: lost.faults or _ready(index), QUICK_S)
    lost.rebuilt_s.append(time.monotonic() - began)


def _ready(index: Any) -> bool:
    try:
        return bool(index.ready())
    except SearchIndexError:
        return False
