"""What is asked of each peer, and where it is made to fail: one programme, the same for all, by its seed.

Every memory has a text that no other has, so that each copy can be told from all others wherever it turns up. A fault
belongs to a step, not to a call of any peer's own: each peer is made to fail while it does that step.
"""

import random
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

Kind = Literal["add", "delete", "search", "list", "get"]
FaultKind = Literal["before", "after", "read", "kill_before", "kill_after", "kill_acked"]
Part = Literal["write", "index", "table"]

USERS = ("anna", "anna1", "ann", "Anna", "rocket", "root", "mia", "max")
"""People whose ids look alike."""
WRITE_FAULTS: tuple[FaultKind, ...] = ("before", "after")
KILLS: tuple[FaultKind, ...] = ("kill_before", "kill_after", "kill_acked")
FAULTY_WRITES, KILLED_WRITES, FAULTY_READS = 0.36, 0.01, 0.45
FIRST = 2
"""Memories that each user has before anything is read or deleted."""
TAIL = 20
"""Of so many adds, one search at the end, when nothing fails any more."""


@dataclass(frozen=True)
class Fault:
    """A failure of a peer's storage during one step.

    before, kill_before: at the write, which does not happen. after, kill_after: at the write, which did happen.
    read: at the first read. kill_acked: when the client has its acknowledgement. Kills are SIGKILL.
    `times`: at so many attempts of the step, one after the other. `part`: for a peer that reads two storages, at which.
    """

    kind: FaultKind
    part: Part = "write"
    times: int = 1


@dataclass(frozen=True)
class Step:
    """One request of a client. `text`: of the memory that is added, deleted, searched for or read."""

    place: int
    kind: Kind
    user: str
    text: str = ""
    fault: Fault | None = None
    settles: bool = True
    """Whether a peer with a search index that lags behind may let it catch up before this step."""

    @property
    def writes(self) -> bool:
        """Whether it changes anything."""
        return self.kind in ("add", "delete")


class Planner:
    """Makes the programme of a seed; knows what each user has if all goes as it should."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._live: dict[str, list[str]] = {user: [] for user in USERS}
        self._deleted: dict[str, list[str]] = {user: [] for user in USERS}
        self._steps: list[Step] = []
        self._kills = cycle(KILLS)

    def steps(self, adds: int) -> list[Step]:
        """A programme with so many adds: a third as many searches, a quarter as many deletes, some lists and reads."""
        first = min(adds, FIRST * len(USERS))
        for place in range(first):
            self._add(USERS[place % len(USERS)])
        counts: dict[Kind, int] = {
            "add": adds - first,
            "delete": adds // 4,
            "search": adds // 3,
            "list": adds // 10,
            "get": adds // 5,
        }
        kinds = [kind for kind, count in counts.items() for _ in range(count)]
        self._chance.shuffle(kinds)
        for kind in kinds:
            self._take(kind, self._chance.choice(USERS))
        for _ in range(adds // TAIL):
            self._search(self._chance.choice(USERS), None, settles=True)
        return self._steps

    def _take(self, kind: Kind, user: str) -> None:
        if kind == "add":
            self._add(user)
        elif kind == "delete" and len(self._live[user]) > 1:
            self._delete(user)
        elif kind == "list":
            self._append("list", user, "", self._read_fault(("index", "table")))
        elif kind == "get":
            self._append("get", user, self._chance.choice(self._live[user]), self._read_fault(("table",)))
        else:
            self._search(user, self._read_fault(("index", "table")))

    def _add(self, user: str) -> None:
        word = "".join(self._chance.choice("bdgkmprtvz") + self._chance.choice("aou") for _ in range(7))
        text = f"{word} was said by a guest at table {len(self._steps)}"
        self._append("add", user, text, self._write_fault())
        self._live[user].append(text)

    def _delete(self, user: str) -> None:
        text = self._live[user].pop(self._chance.randrange(len(self._live[user])))
        self._append("delete", user, text, self._write_fault())
        self._deleted[user].append(text)

    def _search(self, user: str, fault: Fault | None, *, settles: bool | None = None) -> None:
        """Mostly for what is there, at times for what was deleted."""
        gone = self._deleted[user]
        wanted = gone if gone and self._chance.random() < 0.2 else self._live[user]
        self._append("search", user, self._chance.choice(wanted), fault, settles=settles)

    def _append(
        self, kind: Kind, user: str, text: str, fault: Fault | None, *, settles: bool | None = None
    ) -> None:
        lets = self._chance.random() < 0.5 if settles is None else settles
        self._steps.append(Step(len(self._steps), kind, user, text, fault, lets))

    def _write_fault(self) -> Fault | None:
        drawn = self._chance.random()
        if drawn < KILLED_WRITES:
            return Fault(next(self._kills))
        if drawn < FAULTY_WRITES:
            return Fault(self._chance.choice(WRITE_FAULTS), times=self._chance.choice((1, 1, 2)))
        return None

    def _read_fault(self, parts: tuple[Part, ...]) -> Fault | None:
        if self._chance.random() < FAULTY_READS:
            return Fault("read", self._chance.choice(parts))
        return None


def plan(adds: int, seed: int) -> list[Step]:
    """The programme with `adds` adds that belongs to this seed."""
    return Planner(seed).steps(adds)
