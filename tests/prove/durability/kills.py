"""`kill -9` of every process at any moment: while clients write, while it stops, while it starts.

Clients note what was acknowledged to them; what got no answer they ask for again, under its own key. Afterwards what
they were promised is there once, as promised, nothing else is, and the index holds what the table holds.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chalicelib.bootstrap import build, parts_of
from chalicelib.services.memory.project import pages, pass_scope
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from infra.local.data_folder import DataFolder
from tests.bench.kill import numbers_of
from tests.bench.served import PROJECT, Service
from tests.bench.writers import PERSONAL, Promised, Writer
from tests.prove.durability.outcome import Outcome

CLIENTS = 4
SAMPLE = 40
"""Words that are searched for after each kill."""
DYING_S = 0.05
STOPPING_S = 0.4
STARTING_S = 0.9
"""A moment of chance within these is when the kill comes: the whole of what it interrupts."""
MOMENTS = ("writing", "writing", "writing", "stopping", "starting")


@dataclass
class Damage:
    """What was found, by kind."""

    lost: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[str]:
        """All of it, each with its kind."""
        return [f"{kind}: {one}" for kind, ones in vars(self).items() for one in ones]


@dataclass
class Killing:
    """One installation, its clients, and what became of it."""

    service: Service
    chance: random.Random
    damage: Damage = field(default_factory=Damage)
    kills: Counter[str] = field(default_factory=Counter)
    pending: int = 0
    alive: Counter[str] = field(default_factory=Counter)
    """Kills of a process that had not come to the end of stopping or starting by itself."""
    writers: list[Writer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.writers = [
            Writer(self.service, f"client{place}", random.Random(self.chance.random()))
            for place in range(CLIENTS)
        ]

    @property
    def writes(self) -> int:
        """How many were acknowledged, all clients together."""
        return sum(writer.writes for writer in self.writers)

    def round(self, moment: str, writes: int) -> None:
        """Write until `writes` more were acknowledged, kill at that moment, start again, compare."""
        how = {"writing": self._kill, "stopping": self._kill_while_it_stops, "starting": self._kill}[moment]
        self._write(writes, how)
        if moment == "starting":
            self._kill_while_it_starts()
        self.kills[moment] += 1
        self.service.start()
        self._ask_again()
        self._compare()

    def _write(self, writes: int, kill: Callable[[], None]) -> None:
        gone, enough = threading.Event(), self.writes + writes
        with ThreadPoolExecutor(CLIENTS) as pool:
            running = [pool.submit(writer.write_until, gone) for writer in self.writers]
            while self.writes < enough and not any(one.done() for one in running):
                time.sleep(0.002)
            time.sleep(self.chance.uniform(0, DYING_S))
            kill()
            gone.set()
            for one in running:
                with suppress(ConnectionError):
                    one.result()

    def _kill(self) -> None:
        self.service.kill()

    def _kill_while_it_stops(self) -> None:
        """While SIGTERM is being worked off: requests are finished, loops end, the file is closed."""
        with suppress(ProcessLookupError):
            os.killpg(self.service.pid, signal.SIGTERM)
        time.sleep(self.chance.uniform(0, STOPPING_S))
        self.alive["stopping"] += _runs(self.service.pid)
        self.service.kill()

    def _kill_while_it_starts(self) -> None:
        """Before it has said that it is there."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PALIMPSEST_")
        }
        own = {
            "PALIMPSEST_DATA": str(self.service.data),
            "PALIMPSEST_PORT": "0",
            "PALIMPSEST_EMBEDDER": "none",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "infra.local"],
            cwd=PROJECT,
            env=environment | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(self.chance.uniform(0, STARTING_S))
        self.alive["starting"] += _runs(process.pid) and not self._announced(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)

    def _announced(self, pid: int) -> bool:
        """Whether this process has said that it is there; what another one said before it was killed may remain."""
        try:
            return bool(json.loads((self.service.data / "run.json").read_text())["pid"] == pid)
        except (FileNotFoundError, ValueError):
            return False

    def _ask_again(self) -> None:
        """What got no answer; and the newest that did, which must be answered as before."""
        for writer in self.writers:
            self.pending += writer.pending is not None
            if not writer.repeat():
                self.damage.other.append(
                    f"{writer.name}: a repeated write is answered otherwise: {writer.last}"
                )
            if writer.pending is not None:
                writer.write()

    def _compare(self) -> None:
        promised = {word: one for writer in self.writers for word, one in writer.promised.items()}
        stored = numbers_of(self.service)
        words = Counter(memory["text"].split()[0] for memory in stored.values())
        damage = self.damage
        damage.doubled += [word for word, times in words.items() if times > 1]
        damage.phantom += [word for word in words if word not in promised]
        damage.lost += [
            f"{word}: {one}" for word, one in promised.items() if not _kept(stored.get(one.number), one)
        ]
        self.service.settle(PERSONAL, len(stored))
        for word in self.chance.sample(sorted(promised), min(SAMPLE, len(promised))):
            answer = self.service.wanted("POST", f"{PERSONAL}/search", {"query": word, "limit": 5})
            if promised[word].number not in [item["memory"]["number"] for item in answer["items"]]:
                damage.other.append(f"{word} (#{promised[word].number}) is not found")


def _runs(pid: int) -> bool:
    """Whether the process is there, and not only its number."""
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not Path("/proc").exists()


def _kept(memory: dict[str, Any] | None, promised: Promised) -> bool:
    return memory is not None and (memory["version"], memory["text"]) == (promised.version, promised.text)


def index_differences(service: Service) -> list[str]:
    """Of a service that was stopped: where the index is not what the table is, and what SQLite finds wrong."""
    folder = DataFolder(service.data)
    database = Database(folder.database)
    try:
        here = build(Settings(), parts_of(Settings(), database))
        with database.read() as connection:
            checked = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        found = [line for line in checked if line != "ok"]
        for space in here.parts.memories.spaces():
            scope = pass_scope(space, "proof")
            table = {m.number: m.revision for page in pages(here.parts.memories, scope) for m in page}
            index = {
                state.number: state.revision
                for state in here.parts.index.indexed(scope, after=0, limit=10**6)
            }
            found += [
                f"#{n}: table {table.get(n)}, index {index.get(n)}"
                for n in table | index
                if table.get(n) != index.get(n)
            ]
        return found
    finally:
        database.close()
        folder.close()


def run(
    service: Service, writes: int, kills: int, chance: random.Random, moments: Sequence[str] = MOMENTS
) -> Outcome:
    """`kills` times, at each kind of moment in turn, with `writes` acknowledged in all."""
    killing = Killing(service, chance)
    for turn in range(kills):
        left = writes - killing.writes
        killing.round(moments[turn % len(moments)], max(1, -(-left // (kills - turn))))
    service.stop()
    killing.damage.other += [f"index: {one}" for one in index_differences(service)]
    refused = [one for writer in killing.writers for one in writer.refused]
    killing.damage.other += [f"refused: {one}" for one in refused]
    damage = killing.damage
    outcome = Outcome("kill -9", found=damage.all)
    outcome.line = (
        f"D1 kill -9 at any moment: {killing.writes:,} writes, {killing.kills.total()} kills, lost {len(damage.lost)}, "
        f"phantom {len(damage.phantom)}, doubled {len(damage.doubled)}"
    )
    outcome.needs(killing.writes >= writes, f"only {killing.writes} writes")
    outcome.needs(set(killing.kills) == set(moments[:kills]), f"only kills {dict(killing.kills)}")
    outcome.needs(
        kills < 20 or min(killing.alive["stopping"], killing.alive["starting"]) > 0, f"only {killing.alive}"
    )
    outcome.needs(kills < 5 or killing.pending > 0, "no kill left a write without an answer")
    return outcome
