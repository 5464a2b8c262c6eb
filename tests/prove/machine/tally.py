"""What really happened in a run: a machine that does nothing finds nothing."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Tally:
    """Counted over all programs of a run."""

    length: int
    """Steps of a whole program."""
    programs: int = 0
    """Those that ran to their last step, and were looked at from every side afterwards."""
    shorter: int = 0
    """Those that ended before: some at the beginning, so that there is something simple to begin with."""
    steps: int = 0
    """Of both."""
    acts: Counter[str] = field(default_factory=Counter)
    """By what was done and how it was answered: `edit 200`, `edit 409`."""
    looks: Counter[str] = field(default_factory=Counter)
    """By what was looked at, and whether there was anything to see."""

    def ended(self, steps: int) -> None:
        """A program ended, after so many steps, and nothing was wrong."""
        self.steps += steps
        self.programs += steps >= self.length
        self.shorter += steps < self.length

    def lacking(self) -> list[str]:
        """What must happen in a run that proves something, and did not."""
        return [name for name in ACTS if not self.acts[name]] + [
            f"a look at {name}" for name in LOOKS if not self.looks[name]
        ]


ACTS = (
    "add 201", "add 403", "add 404", "add 422", "batch 200", "edit 200", "edit 409", "edit 404", "merge 201", "merge 409",
    "trash 200", "restore 200", "retire 200", "retire 422", "erase 200", "bulk 200", "undo 200", "undo 409", "undo 404",
    "add category 201", "add category 403", "add category 422", "edit category 200", "edit category 409", "delete category 200",
    "undo category 200", "membership 200", "membership 201", "replay 200", "replay 404", "other body 422", "recall 200",
    "search 200", "clean up some", "let time pass", "project some", "reindex 202", "reindex 409", "reconcile", "rebuild",
)  # fmt: skip
LOOKS = (
    "list", "list in pages", "list while the index is behind", "filter", "search, found", "search, nothing", "recall, given",
    "recall, held back", "history", "get", "get nothing", "counts", "categories", "audit", "foreign",
)  # fmt: skip
