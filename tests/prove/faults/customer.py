"""A client that does as the documentation says: what failed is repeated under the same `Idempotency-Key`."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.fakes.client import Reply
from tests.prove.faults.injector import Attempt, KilledError
from tests.prove.faults.stage import Stage

PATIENCE = 6
"""Tries with faults; after them nothing fails any more, and the request must be answered."""
NOT_DONE = "nothing was changed"
GIVES_UP = 0.05
REPEATS = 0.15


@dataclass
class Findings:
    """What broke the promise, in words."""

    lost: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Answers that are not true: an error without our body, a refusal that wrote, a success that lacks something."""

    def all(self) -> list[str]:
        """Each with its kind."""
        return [f"{kind}: {one}" for kind, found in vars(self).items() for one in found]


@dataclass
class Tally:
    """What really happened."""

    requests: int = 0
    acknowledged: int = 0
    """Writes that were answered with success, each item of a batch by itself."""
    ops: Counter[str] = field(default_factory=Counter)
    """The same by operation; and what was seen to be done in the background."""
    repeated: int = 0
    given_up: int = 0
    compared: int = 0
    """Reads that met a fault, were answered as if there was none, and were compared with the answer without."""


@dataclass
class Written:
    """What became of a write. `reply` None: the client gave up, and does not know."""

    reply: Reply | None
    commits: int
    """Commits that were really made for it."""

    @property
    def json(self) -> Any:
        """The body of the answer."""
        return self.reply.json if self.reply is not None else None

    @property
    def done(self) -> bool:
        """Whether it was acknowledged."""
        return self.reply is not None and self.reply.status < 300

    @property
    def refused(self) -> bool:
        """Whether it was answered that it cannot be done."""
        return self.reply is not None and self.reply.status >= 400


class Customer:
    """Asks, one thing after the other."""

    def __init__(self, stage: Stage, chance: random.Random) -> None:
        self.stage = stage
        self.chance = chance
        self.findings = Findings()
        self.tally = Tally()
        self._keys = count(1)

    def acknowledge(self, op: str) -> None:
        """One more write was answered with success."""
        self.tally.acknowledged += 1
        self.tally.ops[op] += 1

    def write(
        self, method: str, path: str, body: Any = None, same: Callable[[Any], Any] | None = None
    ) -> Written:
        """One write, until it is answered or given up. `same`: what a repeat must answer alike; all by default."""
        headers = {"Idempotency-Key": f"key-{next(self._keys)}"}
        commits = 0
        for tried in range(PATIENCE + 1):
            faults = self.chance.choice((0, 1, 1, 2)) if tried < PATIENCE else 0
            reply, attempt = self.ask(method, path, body, headers=headers, faults=faults)
            commits += attempt.commits
            if reply is not None and reply.status < 500:
                self._repeat(reply, method, path, body, headers, same)
                return Written(reply, commits)
            if self.chance.random() < GIVES_UP:
                break
        else:
            self.findings.wrong.append(f"{method} {path}: not answered though nothing fails any more")
        self.tally.given_up += 1
        return Written(None, commits)

    def _repeat(
        self,
        first: Reply,
        method: str,
        path: str,
        body: Any,
        headers: dict[str, str],
        same: Callable[[Any], Any] | None,
    ) -> None:
        """Send it once more: it answers as the first time, and writes nothing."""
        if first.status >= 300 or self.chance.random() > REPEATS:
            return
        self.tally.repeated += 1
        again, attempt = self.ask(method, path, body, headers=headers, faults=0)
        essence = same or (lambda answer: answer)
        if again is None or again.status != first.status or essence(again.json) != essence(first.json):
            self.findings.wrong.append(f"{method} {path}: repeated, it answers {again} after {first}")
        if attempt.commits:
            self.findings.doubled.append(f"{method} {path}: repeated under its key, it wrote again")

    def read(
        self, method: str, path: str, body: Any = None, essence: Callable[[Any], Any] = lambda answer: answer
    ) -> None:
        """One read, with faults, again until it is answered. An answer that does not say that it is degraded is the
        answer without faults."""
        for faults in (*self.chance.choices((0, 1, 1, 2), k=PATIENCE), 0):
            reply, attempt = self.ask(method, path, body, faults=faults)
            if reply is not None and reply.status < 500:
                break
        else:
            return
        if reply.status >= 300:
            self.findings.wrong.append(f"{method} {path}: {reply.status} {reply.text}")
        elif attempt.fired and not reply.json.get("degraded"):
            good, _ = self.ask(method, path, body, faults=0)
            self.tally.compared += 1
            if good is None or essence(good.json) != essence(reply.json):
                self.findings.wrong.append(
                    f"{method} {path} {body} after {attempt.fired}: answered {reply.text[:400]}"
                )

    def ask(
        self, method: str, path: str, body: Any = None, *, faults: int, **how: Any
    ) -> tuple[Reply | None, Attempt]:
        """One request, and what happened meanwhile; no answer when the process was killed."""
        self.tally.requests += 1
        with self.stage.injector.armed(faults) as attempt:
            try:
                reply = self.stage.client.ask(method, path, body, **how)
            except KilledError:
                reply = None
        if reply is None:
            self.stage.restart()
        else:
            self._judge(f"{method} {path} -> {reply.status} {reply.text[:300]}", reply, attempt)
        return reply, attempt

    def _judge(self, asked: str, reply: Reply, attempt: Attempt) -> None:
        wrong = self.findings.wrong
        if reply.status >= 400:
            error = reply.json.get("error", {})
            if set(error) != {"code", "message", "details"}:
                wrong.append(f"{asked}: not our body")
            if attempt.commits and (reply.status < 500 or NOT_DONE in error["message"]):
                wrong.append(f"{asked}: it was written, after {attempt.fired}")
        if reply.status >= 500:
            if reply.json["error"]["code"] != "unavailable" or "retry-after" not in reply.headers:
                wrong.append(f"{asked}: after {attempt.fired}")
            if not attempt.fired:
                wrong.append(f"{asked}: and nothing failed")
