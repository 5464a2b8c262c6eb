"""What a peer promised its clients, what it then showed them, and the difference."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.bench.peers.plan import Step

Memories = Sequence[Sequence[str]]
"""(id, text) of each."""


@dataclass
class Counts:
    """Of one peer; all but the first block should be 0."""

    acknowledged: int = 0
    deletes: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    """By kind: those that happened."""
    reads: Counter[str] = field(default_factory=Counter)
    """Without a fault: `whole`, `short` (and did not say so), `short, said so`, `raised`."""
    faulty_reads: Counter[str] = field(default_factory=Counter)
    """With a fault in them, in the same words."""

    lost: set[str] = field(default_factory=set)
    phantom: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    deleted_found: set[str] = field(default_factory=set)
    no_history: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    strangers: int = 0
    """How often it tried to reach another machine."""

    @property
    def all_faults(self) -> int:
        """How many faults happened."""
        return self.faults.total()

    @property
    def silently_short(self) -> int:
        """Reads that left something out and did not say so."""
        return self.reads["short"] + self.faulty_reads["short"]

    def wrong(self) -> list[str]:
        """Each broken promise, in words."""
        named: dict[str, Iterable[str]] = {
            "lost": sorted(self.lost),
            "phantom": self.phantom,
            "doubled": self.doubled,
            "of another user": self.foreign,
            "deleted and still found": sorted(self.deleted_found),
            "not in the history": self.no_history,
            "given up": self.given_up,
            "ended by itself": self.crashes,
        }
        said = [f"{name}: {one}" for name, ones in named.items() for one in ones]
        quiet = {name: count for name, count in self.reads.items() if name != "whole"}
        said += [f"{count} reads without a fault were {name}" for name, count in quiet.items()]
        if self.faulty_reads["short"]:
            said.append(f"{self.faulty_reads['short']} reads with a fault were short and did not say so")
        return said


class Witness:
    """Notes what each client was told. `steps`: the whole programme, which says whose each text is."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.counts = Counts()
        self._owner = {step.text: step.user for step in steps if step.kind == "add"}
        self._live: dict[str, str] = {}
        self._deleted: dict[str, str] = {}

    def id_of(self, text: str) -> str | None:
        """The id of an acknowledged memory that is not deleted."""
        return self._live.get(text)

    def deleted_ids(self) -> dict[str, str]:
        """By text: the id of each memory whose delete was acknowledged."""
        return dict(self._deleted)

    def acknowledged(self, step: Step, memory: str) -> None:
        """The client was told that this add or delete is done."""
        if step.kind == "add":
            self._live[step.text] = memory
            self.counts.acknowledged += 1
        else:
            self._deleted[step.text] = self._live.pop(step.text)
            self.counts.deletes += 1

    def read(self, step: Step, answer: Mapping[str, Any], *, fired: bool) -> None:
        """The client was given this answer to a search, a list or a read by id."""
        outcomes = self.counts.faulty_reads if fired else self.counts.reads
        if "error" in answer:
            outcomes["raised"] += 1
            return
        texts = {text for _, text in answer["memories"]}
        self._compare(step.user, texts)
        missing = self._due(step) - texts
        outcomes[("short, said so" if answer["note"] else "short") if missing else "whole"] += 1

    def end(self, user: str, memories: Memories) -> None:
        """In the end, with no fault, a user's whole list was this."""
        stored = Counter(text for _, text in memories)
        self._compare(user, stored)
        due = self._due_of(user)
        self.counts.lost |= due - set(stored)
        self.counts.doubled += [text for text in due for _ in range(stored[text] - 1)]
        known = due | set(self._deleted)
        self.counts.phantom += [
            text for text in stored if text not in known and self._owner.get(text, user) == user
        ]

    def history(self, name: str, events: Sequence[str], *wanted: str) -> None:
        """What the history tells of a memory, and what happened to it."""
        self.counts.no_history += [f"{one} of {name}" for one in wanted if one not in events]

    def _due(self, step: Step) -> set[str]:
        if step.kind == "list":
            return self._due_of(step.user)
        return {step.text} & set(self._live)

    def _due_of(self, user: str) -> set[str]:
        return {text for text in self._live if self._owner[text] == user}

    def _compare(self, user: str, texts: Iterable[str]) -> None:
        """What must never be in an answer to this user."""
        for text in texts:
            owner = self._owner.get(text, user)
            if owner != user:
                self.counts.foreign.append(f"{user} was shown: {text}")
            elif text in self._deleted:
                self.counts.deleted_found.add(text)
