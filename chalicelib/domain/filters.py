"""Which memories are wanted. The same rule is applied by each adapter and by the re-check against the table."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from chalicelib.domain.memory import Kind, Memory, State
from chalicelib.domain.vitality import Retention, vitality

Sort = Literal["newest", "oldest", "updated", "importance", "vitality", "used"]


class MemoryFilter(BaseModel):
    """All conditions must hold. None = no condition. Sets mean "any of"; an empty set matches nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    states: frozenset[State] = frozenset({State.ACTIVE})
    category_in: frozenset[str] | None = None
    category_not_in: frozenset[str] | None = None
    """Also matches memories without a category: a deleted category's memories count as uncategorised (M9)."""
    kinds: frozenset[Kind] | None = None
    importance_min: int | None = None
    importance_max: int | None = None
    """A memory without importance matches neither bound."""
    subject: str | None = None
    source: str | None = None
    """The conversation that the memory came from."""
    exclude: frozenset[int] = frozenset()
    """Numbers not wanted (already seen)."""

    def matches(self, memory: Memory) -> bool:
        """Whether `memory` is wanted."""
        return (
            memory.state in self.states
            and memory.number not in self.exclude
            and self._category_matches(memory.category)
            and (self.kinds is None or memory.kind in self.kinds)
            and self._importance_matches(memory.importance)
            and (self.subject is None or memory.subject == self.subject)
            and (
                self.source is None
                or (memory.source is not None and memory.source.conversation == self.source)
            )
        )

    def _category_matches(self, category: str | None) -> bool:
        if self.category_in is not None and category not in self.category_in:
            return False
        return self.category_not_in is None or category is None or category not in self.category_not_in

    def _importance_matches(self, importance: int | None) -> bool:
        if self.importance_min is None and self.importance_max is None:
            return True
        if importance is None:
            return False
        return (self.importance_min or 1) <= importance <= (self.importance_max or 10)


ASCENDING: frozenset[Sort] = frozenset({"oldest", "vitality"})
"""Sorts whose lowest value comes first; the others begin with the highest."""


def milliseconds(moment: datetime) -> int:
    """A time as whole milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


def sort_value(memory: Memory, sort: Sort, now: datetime, retention: Retention) -> int:
    """By what a list is sorted, as a whole number, equal on every adapter: milliseconds of a time; importance (0 if
    not scored); recalls; vitality as of `now` in ten-thousandths, rounded half up."""
    if sort in ("newest", "oldest"):
        return milliseconds(memory.recorded_at)
    if sort == "updated":
        return milliseconds(memory.updated_at)
    if sort == "importance":
        return memory.importance or 0
    if sort == "used":
        return memory.use_count
    return int(vitality(memory, now, retention) * 10_000 + 0.5)


def order(value: int, number: int, sort: Sort) -> tuple[int, int]:
    """A key that sorts ascending: by value in the sort's direction, then newer numbers first (`oldest`: older)."""
    return (value if sort in ASCENDING else -value, number if sort == "oldest" else -number)
