"""The index is lost while people search and write: they are answered throughout, told, and nothing is missing afterwards."""

import json
import secrets
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.settings import Settings
from infra.local.ending import Ending
from infra.local.service import LocalService
from tests.e2e.conftest import MakeLaptop
from tests.fakes.caller import PERSONAL, Caller, wait_until

FACTS = 150


class People:
    """Some search, some write, without a pause, until they are told to stop."""

    def __init__(self, caller: Caller, *, searchers: int = 2, writers: int = 2) -> None:
        self._caller = caller
        self._stop = threading.Event()
        self.written: dict[int, str] = {}
        self.degraded: list[str | None] = []
        self.faults: list[str] = []
        self._threads = [threading.Thread(target=self._search) for _ in range(searchers)]
        self._threads += [threading.Thread(target=self._write, args=[name]) for name in range(writers)]
        for thread in self._threads:
            thread.start()

    def _search(self) -> None:
        while not self._stop.is_set():
            answer = self._caller.ask("POST", f"{PERSONAL}/search", {"query": "fact about tea"})
            listed = self._caller.ask("GET", f"{PERSONAL}/memories?limit=10")
            if answer.status != 200 or listed.status != 200 or not answer.body["items"]:
                self.faults.append(f"{answer} {listed}"[:500])
                return
            self.degraded += [answer.body["degraded"], listed.body["degraded"]]

    def _write(self, name: int) -> None:
        turn = 0
        while not self._stop.is_set():
            text = f"writer {name} notes zebra{name}x{turn} about tea"
            answer = self._caller.ask("POST", f"{PERSONAL}/memories", {"text": text})
            if answer.status != 201:
                self.faults.append(f"{answer}"[:500])
                return
            number = answer.body["memory"]["number"]
            self.written[number] = f"zebra{name}x{turn}"
            if number not in self._caller.found(f"zebra{name}x{turn}"):
                self.faults.append(f"#{number} was not found right after it was written")
            turn += 1

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)


def fill(caller: Caller) -> None:
    for start in range(0, FACTS, 50):
        items = [{"text": f"fact {number} about tea"} for number in range(start, start + 50)]
        assert caller.ask("POST", f"{PERSONAL}/memories/batch", {"items": items}).status == 200
    wait_until(lambda: indexed(caller) == FACTS)


def indexed(caller: Caller) -> int:
    """How many active memories the index has; -1 when it does not answer."""
    space = caller.ask("GET", "/v1/spaces").body["items"][0]
    return -1 if space["counts"] is None else int(space["counts"]["active"])


def loses_nothing(caller: Caller, lose: Callable[[], object]) -> None:
    """Lose the index while people use the service."""
    fill(caller)
    people = People(caller)
    try:
        wait_until(lambda: people.faults or len(people.written) > 5)
        assert set(people.degraded) == {None}
        lose()
        wait_until(lambda: people.faults or any(people.degraded))
        wait_until(lambda: people.faults or (caller.health()["status"] == "ok" and indexed(caller) >= FACTS))
        wait_until(lambda: people.faults or caller.search("tea")["degraded"] is None)
    finally:
        people.end()
    assert people.faults == []
    assert set(people.degraded) <= {None, "index_missing", "index_unavailable"}
    everything = set(range(1, FACTS + 1)) | set(people.written)
    wait_until(lambda: indexed(caller) == len(everything))
    listed, degraded = caller.listed()  # two that are written at the same moment may be listed either way
    assert (sorted(listed), degraded) == (sorted(everything), None)
    for number, word in people.written.items():
        assert caller.found(word) == [number]
    assert caller.search("tea")["degraded"] is None


# ---------------------------------------------------------------------------- embedded


@contextmanager
def inside(folder: Path) -> Iterator[Caller]:
    """A service in this process, where its index can be got at."""
    settings = Settings.model_validate({"data": folder, "port": 0, "embedder": "none"})
    with LocalService(settings) as service:
        service.start()
        key = json.loads((folder / "run.json").read_text())["key"]
        thread = threading.Thread(target=service.serve, args=[Ending()], daemon=True)
        thread.start()
        yield Caller(service.url, key)
        service._server.end()
        thread.join(30)


def test_the_embedded_index_is_dropped_while_people_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)
    with inside(tmp_path) as caller:
        loses_nothing(caller, lambda: bootstrap.services().parts.index.drop())


def test_an_embedded_index_that_was_lost_while_nothing_ran_is_built_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)
    with inside(tmp_path) as caller:
        fill(caller)
        bootstrap.services().parts.index.drop()
    with inside(tmp_path) as caller:
        wait_until(lambda: indexed(caller) == FACTS)
        assert caller.listed() == (list(range(1, FACTS + 1)), None)


# ---------------------------------------------------------------------------- OpenSearch


def delete_indices(url: str, prefix: str) -> None:
    """As an operator does by mistake."""
    answer = request("GET", f"{url}/_alias")
    for index in answer:
        if index.startswith(f"{prefix}-"):
            request("DELETE", f"{url}/{index}")


def request(method: str, url: str) -> dict[str, Any]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(urllib.request.Request(url, method=method), timeout=60) as answer:
        return dict(json.loads(answer.read()))


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_the_indices_of_opensearch_are_deleted_while_people_use_them(
    make: MakeLaptop, opensearch_url: str
) -> None:
    prefix = f"loss-{secrets.token_hex(4)}"
    here = make(SEARCH="opensearch", OPENSEARCH_URL=opensearch_url, OPENSEARCH_PREFIX=prefix).start()
    try:
        loses_nothing(here, lambda: delete_indices(opensearch_url, prefix))
        end = here.stop()
        assert end.code == 0
        assert "Traceback" not in end.err
        assert "a turn failed" not in end.err
    finally:
        delete_indices(opensearch_url, prefix)
