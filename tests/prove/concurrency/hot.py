"""R7: many edit one memory at once. Each reads it, counts one on, and tries again when another was faster.

So an edit that is lost is one that the final count lacks; and every acknowledged edit stands in the history, once, at
the version that it was told.
"""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.fakes.client import Client
from tests.prove.concurrency.stages import at_once

MEMORIES = "/v1/spaces/personal/memories"
PAGE = 200
PAUSE_S = 0.15
"""Longest wait after the first conflict; a little more after each further one, so that those who met part."""
PAUSE_MOST_S = 1.0
TRIES = 2_000


@dataclass
class Written:
    """What became of the writes of many at once."""

    acknowledged: int = 0
    seconds: float = 0.0
    lost: int = 0
    doubled: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def found(self) -> int:
        """How much is wrong."""
        return self.lost + self.doubled + len(self.faults)


@dataclass
class Edited(Written):
    """What became of the edits."""

    conflicts: int = 0


class Hot:
    """One memory, and those who edit it."""

    def __init__(self, client: Client, writers: int, edits: int, seed: int) -> None:
        self._client = client
        self._writers = writers
        self._edits = edits
        self._seed = seed
        self._lock = threading.Lock()
        self._told: dict[int, list[str]] = {}
        self.edited = Edited()
        made = client.post(MEMORIES, {"text": "count 0 by nobody"})
        assert made.status == 201, made.text
        self.path = f"{MEMORIES}/{made.json['memory']['number']}"

    def run(self) -> Edited:
        """All of it, and the judgement."""
        began = time.monotonic()
        at_once(self._writers, self._write)
        self.edited.seconds = time.monotonic() - began
        self._judge()
        return self.edited

    def _write(self, writer: int) -> None:
        chance = random.Random(self._seed * 1_000 + writer)
        for turn in range(self._edits):
            if not self._count_on(chance, f"w{writer}e{turn}"):
                return

    def _count_on(self, chance: random.Random, name: str) -> bool:
        """One edit, until it is acknowledged; whether it was."""
        for attempt in range(TRIES):
            memory = self._client.get(self.path).json["memory"]
            count = int(memory["text"].split()[1]) + 1
            text = f"count {count} by {name}"
            reply = self._client.patch(self.path, {"version": memory["version"], "text": text})
            if reply.status == 200:
                self._acknowledge(reply.json["memory"]["version"], text)
                return True
            if reply.status != 409:
                return self._gave_up(f"{name} -> {reply.status} {reply.text[:200]}")
            with self._lock:
                self.edited.conflicts += 1
            time.sleep(chance.uniform(0, min(PAUSE_MOST_S, PAUSE_S * (attempt + 1))))
        return self._gave_up(f"{name} was never the fastest in {TRIES} attempts")

    def _acknowledge(self, version: int, text: str) -> None:
        with self._lock:
            self.edited.acknowledged += 1
            self._told.setdefault(version, []).append(text)

    def _gave_up(self, why: str) -> bool:
        with self._lock:
            self.edited.faults.append(why)
        return False

    def _judge(self) -> None:
        """Every acknowledged edit is in the history once, at its version; and the last one counts them all."""
        history = self._history()
        texts = Counter(history.values())
        told = [(version, text) for version, several in self._told.items() for text in several]
        self.edited.lost = sum(history.get(version) != text for version, text in told)
        self.edited.doubled = sum(times - 1 for times in texts.values())
        memory = self._client.get(self.path).json["memory"]
        count = int(memory["text"].split()[1])
        if (count, memory["version"]) != (self.edited.acknowledged, self.edited.acknowledged + 1):
            self.edited.faults.append(
                f"{self.edited.acknowledged} edits were acknowledged, but it counts {count} at version {memory['version']}"
            )
        if sorted(history) != list(range(1, memory["version"] + 1)):
            self.edited.faults.append(f"the history has {len(history)} of {memory['version']} versions")

    def _history(self) -> dict[int, str]:
        """Its text at each version."""
        found: dict[int, str] = {}
        cursor = ""
        while True:
            page = self._client.get(f"{self.path}/history?limit={PAGE}{cursor}").json
            for change in page["items"]:
                found[change["version"]] = change["after"]["text"]
            if page["next"] is None:
                return found
            cursor = f"&cursor={page['next']}"
