"""A full disk: writes are refused, health is red, reads go on, nothing acknowledged is lost; with room again all works.

The disk is a small tmpfs of the process's own where one may be mounted; elsewhere no file may grow beyond a limit
(RLIMIT_FSIZE), which fails the same writes.
"""

import os
import random
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.e2e.laptop import Laptop, laptop
from tests.fakes.caller import PERSONAL, Answer, wait_until
from tests.prove.durability.outcome import Outcome

DISK_MB = 4
LEFT = 500_000
"""Bytes that the ballast leaves, at most."""
MOST = 20_000


def disk_of_its_own(data: Path) -> list[str] | None:
    """The command that runs a process whose data folder is a disk of DISK_MB; None where nobody may mount one."""
    as_whom = ["-m"] if os.getuid() == 0 else ["-U", "-r", "-m"]
    try:
        subprocess.run(["unshare", *as_whom, "true"], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    data.mkdir(parents=True, exist_ok=True)
    script = f'mount -t tmpfs -o size={DISK_MB}m tmpfs "{data}" && exec "$@"'
    return ["unshare", *as_whom, "sh", "-c", script, "sh"]


class Full:
    """A laptop, and how its disk is filled and emptied."""

    def __init__(self, here: Laptop, *, own_disk: bool) -> None:
        self.here = here
        self._own_disk = own_disk
        self._numbers: dict[int, str] = {}
        self.found: list[str] = []
        self.refused = 0
        self.lost = 0

    def fill(self, chance: random.Random) -> None:
        """Let a file of somebody else's take what is left, but for a little, so that any write may be the last."""
        if not self._own_disk:
            self._limit(self._largest())
            return
        with self.here.inside("ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(bytes(64 * 1024))
            except OSError:
                ballast.truncate(max(0, ballast.tell() - chance.randrange(LEFT)))

    def empty(self) -> None:
        """There is room again."""
        if self._own_disk:
            self.here.inside("ballast").unlink()
        else:
            self._limit(resource.RLIM_INFINITY)

    def add(self, text: str) -> Answer:
        """Add; what was acknowledged is noted, and how it was refused is judged."""
        answer = self.here.ask("POST", f"{PERSONAL}/memories", {"text": text})
        if answer.status == 201:
            self._numbers[answer.body["memory"]["number"]] = text
        else:
            self.refused += 1
            error = answer.body["error"]
            if (answer.status, error["code"], error["details"].get("part")) != (503, "unavailable", "table"):
                self.found.append(f"refused with {answer}")
        return answer

    def add_until(self, status: int, texts: Callable[[int], str]) -> bool:
        """Add until one is answered so; False when none is."""
        return any(self.add(texts(turn)).status == status for turn in range(MOST))

    def compare(self, when: str) -> None:
        """All that was acknowledged is there, and nothing else."""
        listed = self._listed()
        if sorted(listed) != sorted(self._numbers):
            self.lost += len(set(self._numbers) - set(listed))
            lost, phantom = set(self._numbers) - set(listed), set(listed) - set(self._numbers)
            self.found.append(f"{when}: lost {sorted(lost)}, phantom {sorted(phantom)}")

    def expect_health(self, state: str, when: str) -> None:
        """Health says so of the table."""
        health = self.here.health()
        red = health["status"] != "ok"
        if health["parts"]["table"] != state or red != (state != "ok"):
            self.found.append(f"{when}: health says {health}")

    @property
    def acknowledged(self) -> int:
        """How many."""
        return len(self._numbers)

    def _listed(self) -> Sequence[int]:
        return self.here.listed()[0]

    def _limit(self, size: int) -> None:
        assert self.here.process is not None
        _, hard = resource.prlimit(self.here.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.here.process.pid, resource.RLIMIT_FSIZE, (size, hard))

    def _largest(self) -> int:
        return max(path.stat().st_size for path in self.here.data.iterdir())


def run(place: Path, times: int, chance: random.Random) -> Outcome:
    """Fill and empty the disk `times` times under one service."""
    outcome = Outcome("full disk")
    place.mkdir(parents=True)
    before = disk_of_its_own(place / "data")
    with laptop(place, before=before or ()) as here:
        full = Full(here.start(), own_disk=before is not None)
        for turn in range(times):
            for fact in range(5):
                full.add(f"round{turn} fact {fact}")
            full.fill(chance)
            met = full.add_until(503, lambda fact, turn=turn: f"round{turn} filler {fact} {'y' * 2_000}")  # type: ignore[misc]
            outcome.needs(met, "the disk was never full")
            full.expect_health("down", "full")
            full.compare("full")
            full.empty()
            outcome.needs(
                full.add_until(201, lambda fact: f"room again {fact}"), "no write after there was room"
            )
            wait_until(lambda: here.health()["status"] == "ok")
            full.compare("with room again")
            wait_until(lambda: here.search("room again")["degraded"] is None)
        if (end := here.stop()).code != 0:
            full.found.append(f"ended with {end.code}: {end.err[-300:]}")
    outcome.found += full.found
    outcome.needs(full.refused >= times, "nothing was refused")
    kind = f"a tmpfs of {DISK_MB} MB" if before is not None else "RLIMIT_FSIZE"
    outcome.line = (
        f"D3 full disk ({kind}): {times} times full, {full.acknowledged:,} writes acknowledged, {full.refused} refused, "
        f"lost {full.lost}"
    )
    return outcome
