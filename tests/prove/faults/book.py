"""What was acknowledged of one space: kept by the client's side, compared with what is stored."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.memory import Memory, State
from chalicelib.domain.scope import Space
from chalicelib.domain.shown import show_memory
from chalicelib.domain.vitality import Retention
from tests.prove.faults.customer import Customer

MARK = re.compile(r"kq[0-9]{6}zz")
PAGE = 500


@dataclass
class Told:
    """One memory as its last acknowledged answer left it, and the operation of each of its versions."""

    memory: Memory
    ops: dict[int, str] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    """Marks of all texts that it ever had."""

    @property
    def number(self) -> int:
        """Its number."""
        return self.memory.number

    @property
    def version(self) -> int:
        """The version that an edit has to name."""
        return self.memory.version

    @property
    def state(self) -> State:
        """Its state."""
        return self.memory.state


class Book:
    """One space's memories. Every difference from the store is a finding."""

    def __init__(self, customer: Customer, space: Space) -> None:
        self.customer = customer
        self.stage = customer.stage
        self.findings = customer.findings
        self.space = space
        self.path = f"/v1/spaces/{space.name}"
        self.told: dict[int, Told] = {}
        self.categories: dict[str, int] = {}
        """Version of each category by its id, deleted ones too."""
        self.jobs: set[str] = set()

    @property
    def erased(self) -> set[str]:
        """Marks of all that was ever said in what is erased."""
        return {mark for told in self.told.values() if told.state is State.ERASED for mark in told.marks}

    def some(self, *states: State) -> list[Told]:
        """Memories in these states, by number."""
        return [told for told in self.told.values() if told.state in states]

    # -------------------------------------------------------------- noting what was acknowledged

    def keep(self, shown: dict[str, Any], op: str) -> None:
        """An answer says that this memory is stored so: one version more than the last answer said."""
        self.customer.acknowledge(op)
        number = shown["number"]
        told = self.told.get(number)
        due = told.version + 1 if told else 1
        stored = self._stored(number)
        if stored is None:
            self.findings.lost.append(f"{self.path}: #{number} was acknowledged ({op}), and is not there")
        elif shown["version"] != due or stored.version != due:
            kind = self.findings.doubled if stored.version > due else self.findings.lost
            kind.append(
                f"{self.path}: #{number} after {op}: version {due} is due, {stored.version} is stored"
            )
            self._learn(stored, op)
        else:
            self._compare_answer(shown, stored, op)
            self._learn(stored, op)

    def keep_erased(self, number: int) -> None:
        """An answer says that this memory is erased. Those that had its text as their context lose it."""
        self.customer.acknowledge("erase")
        if not self.adopt_one(number, "erase"):
            self.findings.lost.append(
                f"{self.path}: the erasing of #{number} was acknowledged, and it is there"
            )
        for told in self.followers(number):
            self.adopt_one(told.number, "edit")
            stored = self._stored(told.number)
            if stored is not None and stored.context_from == number:
                self.findings.wrong.append(
                    f"{self.path}: #{told.number} still has the context of erased #{number}"
                )

    def followers(self, number: int) -> list[Told]:
        """Those whose context is the text of this one."""
        return [told for told in self.told.values() if told.memory.context_from == number]

    def adopt(
        self, numbers: Collection[int] = (), marks: Collection[str] = (), op: str = "", new: int = 1
    ) -> None:
        """Look at what became of a write that nobody was told of: each of `numbers` may be one version on; up to
        `new` memories with one of `marks` may be there for the first time, and no other."""
        left = set(marks)
        for memory in list(self.stage.memories(self.space)):
            told = self.told.get(memory.number)
            if told is None:
                mark = set(MARK.findall(memory.text))
                if mark & left and memory.version == 1:
                    left -= mark
                    self._learn(memory, "merge" if op == "merge" else "add")
                else:
                    self.findings.phantom.append(
                        f"{self.path}: #{memory.number} {memory.text} came with {op}"
                    )
            elif memory.version != told.version:
                if memory.number not in numbers or memory.version != told.version + 1:
                    self.findings.doubled.append(
                        f"{self.path}: #{memory.number} went from version {told.version} to {memory.version} with {op}"
                    )
                self._learn(memory, op)

    def adopt_one(self, number: int, op: str) -> bool:
        """What became of one memory, whatever became of others: nothing, or what `op` does; whether it was done. Before
        an erase, the memory may have lost its context."""
        stored, told = self._stored(number), self.told[number]
        steps = stored.version - told.version if stored is not None else 0
        erased = stored is not None and stored.state is State.ERASED
        if stored is None or steps == 0 or (erased and op != "erase"):
            return False
        if steps > (2 if op == "erase" and told.memory.context_from else 1):
            self.findings.doubled.append(f"{self.path}: #{number} is {steps} versions on after {op}")
        cleared = op == "erase" and not erased
        self._learn(stored, "edit" if cleared else op)
        return not cleared

    def keep_category(self, shown: dict[str, Any] | None) -> None:
        """An answer says that this category is stored so; or (None) one category may be a version on."""
        stored = {
            one.id: one.version for one in self.stage.truth.memories.categories(self.stage.scope(self.space))
        }
        changed = {one: version for one, version in stored.items() if version != self.categories.get(one)}
        steps = sum(version - self.categories.get(one, 0) for one, version in changed.items())
        if steps > 1:
            self.findings.doubled.append(f"{self.path}: categories went on by {steps} versions: {changed}")
        if shown is not None:
            self.customer.acknowledge("category")
            if changed != {shown["id"]: shown["version"]}:
                self.findings.lost.append(
                    f"{self.path}: category {shown['id']} {shown['version']}, stored {changed}"
                )
        self.categories = stored

    def jobs_now(self) -> dict[str, str]:
        """The state of each job, by its id."""
        jobs = self.stage.truth.memories.jobs(self.stage.scope(self.space), 1_000)
        return {job.id: job.state for job in jobs}

    def keep_job(self, job: str | None, before: Collection[str]) -> None:
        """An answer names this job; or (None) it may have been made. At most one is new, and at work."""
        now = self.jobs_now()
        new = now.keys() - set(before)
        unfinished = [one for one, state in now.items() if state in ("queued", "running")]
        if len(new) > 1 or len(unfinished) > 1:
            self.findings.doubled.append(f"{self.path}: jobs {sorted(new)} came of one request")
        if job is not None:
            self.customer.acknowledge("reindex")
            self.jobs.add(job)

    def _stored(self, number: int) -> Memory | None:
        return self.stage.truth.memories.get(self.stage.scope(self.space), number)

    def _learn(self, memory: Memory, op: str) -> None:
        told = self.told.setdefault(memory.number, Told(memory))
        told.memory = memory
        told.ops[memory.version] = op
        told.marks |= set(MARK.findall(memory.text))

    def _compare_answer(self, shown: dict[str, Any], stored: Memory, op: str) -> None:
        categories = self.stage.truth.memories.categories(self.stage.scope(self.space))
        expected = show_memory(stored, categories, Retention(), self.stage.world.now)
        volatile = {
            "vitality",
            "eligible_at",
            "use_count",
            "last_used_at",
            "updated_at",
            "valid_to",
            "context",
        }
        for name in set(expected) - volatile:
            if shown.get(name) != expected[name]:
                self.findings.lost.append(
                    f"{self.path}: #{stored.number} after {op}: {name} was answered as {shown.get(name)!r}, "
                    f"and is stored as {expected[name]!r}"
                )
