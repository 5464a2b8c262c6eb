"""A laptop's memories move to the cloud's parts, and come back: by the command, over HTTP, with a kill on the way."""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import MakeLaptop
from tests.e2e.laptop import PROJECT, Laptop
from tests.e2e.test_cloud_parts import on_emulator
from tests.fakes.caller import PERSONAL, wait_until
from tests.fakes.client import Reply
from tests.fakes.moving import Life, Record, export, told
from tests.fakes.world import World


class Person:
    """Asks a laptop as tests of one world do."""

    def __init__(self, laptop: Laptop) -> None:
        self.laptop = laptop

    def ask(self, method: str, path: str, body: object = None) -> Reply:
        answer = self.laptop.ask(method, path, body)
        return Reply(answer.status, {}, json.dumps(answer.body))


def palimpsest(laptop: Laptop, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command against this laptop, as a person does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PALIMPSEST_")}
    told_of = {"PALIMPSEST_CLI_URL": laptop.url, "PALIMPSEST_CLI_KEY": laptop.key}
    return subprocess.run(
        [sys.executable, "-m", "infra.cli", *arguments],
        cwd=PROJECT,
        env={**kept, **told_of, "PALIMPSEST_CLI_CONFIG": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def exported(laptop: Laptop, folder: Path, name: str) -> tuple[Path, list[Record]]:
    """The file, and its records."""
    file = folder / name
    ended = palimpsest(laptop, folder, "export", "--to", str(file))
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended
    return file, [json.loads(line) for line in file.read_text().split("\n")[1:-2]]


def owner(laptop: Laptop) -> str:
    return str(laptop.ask("GET", "/v1/me").body["account"]["id"])


def moves_there_and_back(make: MakeLaptop, folder: Path, **settings: str) -> None:
    here = make("laptop").start()
    life = Life(World(), 8, Person(here))
    life.live(70)
    file, records = exported(here, folder, "laptop.jsonl")
    assert {one["state"] for one in records if one["record"] == "memory"} == {
        "active", "retired", "trashed", "erased",
    }  # fmt: skip
    assert any(one["record"] == "category" and one["deleted"] for one in records)
    assert not [word for word in life.erased if word in file.read_text()]

    there = make("cloud", **settings).start()
    first = str(there.ask("GET", f"{PERSONAL}/categories").body["items"][0]["id"])
    killed_on_the_way(there, records)
    there.start()
    ended = palimpsest(there, folder, "import", str(file), "--json")
    assert ended.returncode == 0, ended
    counts = json.loads(ended.stdout)
    assert counts["there"]["memories"] > 0
    assert counts["written"]["memories"] > 0
    again = palimpsest(there, folder, "import", str(file), "--json")
    assert set(json.loads(again.stdout)["written"].values()) == {0}

    mine = json.loads(json.dumps(records).replace(owner(here), owner(there)))
    back, arrived = exported(there, folder, "cloud.jsonl")
    assert told([one for one in arrived if first not in (one.get("id"), one.get("category"))]) == told(mine)
    goes_on(there, records)
    third = make("another").start()
    assert palimpsest(third, folder, "import", str(back)).returncode == 0
    assert third.found("drinks tea")
    here.stop()


def killed_on_the_way(there: Laptop, records: list[Record]) -> None:
    """`kill -9` of the service, while pages are on their way."""
    whole, *items = records
    sent: list[int] = []

    def send() -> None:
        with suppress(OSError, HTTPException, ValueError):
            for start in range(0, len(items), 5):
                body = {"space": whole, "items": items[start : start + 5]}
                assert there.ask("POST", f"{PERSONAL}/import", body).status == 200
                sent.append(start)

    sending = threading.Thread(target=send)
    sending.start()
    wait_until(lambda: len(sent) > len(items) // 15)
    there.kill()
    sending.join(30)
    assert len(sent) < len(items) // 5


def goes_on(there: Laptop, records: list[Record]) -> None:
    """Search, history, undo and numbers work where the memories came to."""
    active = [one for one in records if one["record"] == "memory" and one["state"] == "active"]
    wanted = {one["number"]: one["text"].split()[0] for one in active}
    for number, word in list(wanted.items())[:5]:
        wait_until(lambda number=number, word=word: number in there.found(word))
    edited = max((one for one in active if one["version"] > 1), key=lambda one: one["version"])
    path = f"{PERSONAL}/memories/{edited['number']}"
    history: list[Any] = there.ask("GET", f"{path}/history?limit=200").body["items"]
    assert [one["version"] for one in history] == list(range(edited["version"], 0, -1))
    assert there.ask("POST", f"{PERSONAL}/changes/{history[0]['id']}/undo").status == 200
    assert there.ask("GET", path).body["memory"]["version"] == edited["version"] + 1
    assert there.add("Snow is white.") > max(one["number"] for one in records if one["record"] == "memory")


def test_a_laptop_moves_to_a_laptop_and_back(make: MakeLaptop, tmp_path: Path) -> None:
    moves_there_and_back(make, tmp_path)


@pytest.mark.ministack
@pytest.mark.xdist_group("ministack")
def test_a_laptop_moves_to_dynamodb_and_back(make: MakeLaptop, tmp_path: Path, ministack_url: str) -> None:
    moves_there_and_back(make, tmp_path, **on_emulator(ministack_url))


def test_exports_during_merges_and_undos_hold_each_of_them_whole_or_not_at_all(make: MakeLaptop) -> None:
    here = make("busy").start()
    pairs = 60
    items = [{"text": f"fact {number} about tea"} for number in range(2 * pairs)]
    assert here.ask("POST", f"{PERSONAL}/memories/batch", {"items": items}).status == 200
    ended = threading.Event()
    merged: list[int] = []

    def merge(odd: int) -> None:
        for first in range(1 + 2 * odd, 2 * pairs, 4):
            if ended.is_set():
                return
            numbers = [first, first + 1]
            body = {"numbers": numbers, "versions": {str(one): 1 for one in numbers}, "text": "both"}
            made = here.ask("POST", f"{PERSONAL}/memories/merge", body).body["memory"]["number"]
            merged.append(made)
            if first % 3 == 0:
                here.ask("POST", f"{PERSONAL}/changes/{made}-1/undo")

    threads = [threading.Thread(target=merge, args=[odd]) for odd in range(2)]
    for thread in threads:
        thread.start()
    try:
        seen = [whole_merges(export(Person(here), 25)) for _ in range(12)]
    finally:
        ended.set()
        for thread in threads:
            thread.join(30)
    assert len(merged) > 10
    assert len(set(seen)) > 2


def whole_merges(records: list[Record]) -> int:
    """How many merges there are; each with all that it changed, as it changed it."""
    last = {one["number"]: one for one in records if one["record"] == "memory"}
    groups: dict[str, set[int]] = {}
    for one in records:
        if one["record"] == "memory_change" and one["op"] in ("merge", "undo"):
            groups.setdefault(one["group"], set()).add(one["number"])
    assert {len(numbers) for numbers in groups.values()} <= {3}
    for one in last.values():
        if one["derived_from"] and one["state"] == "active":
            assert {last[number]["replaced_by"] for number in one["derived_from"]} == {one["number"]}
        if one["replaced_by"]:
            assert last[one["replaced_by"]]["state"] == "active"
    return len(groups)
