"""Change records: who or what changed something, when, what it was before and after (M13)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from chalicelib.domain.clock import Moment
from chalicelib.domain.ids import Id
from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Actor

Deed = Literal[
    "add", "edit", "categorise", "merge", "retire", "trash", "restore", "erase", "undo", "delete",
]  # fmt: skip
"""What is done to a memory or category."""
Operation = Deed | Literal["import"]


SPACE = "space"
"""The target of a change of the space as a whole."""


class Change(BaseModel):
    """One change of one memory or category, or of the space as a whole: that an export is taken in. Its id is `<target>-<version>`: the change that made this version.

    `image` is the target after the change, whole; what was before is the image of the version before.
    An erased memory's images are stripped; who, when and which number stay.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: str
    """The number of a memory, the id of a category, or SPACE."""
    version: int
    op: Operation
    at: Moment
    by: Actor
    image: dict[str, Any] | None
    """JSON of the memory or category after the change; None once erased. Of an import what was said of the export."""
    group: Id
    """Changes of one request share it: a merge is undone as one."""
    run: Id | None = None
    undoes: str | None = None
    """The group that this change undid."""

    @property
    def id(self) -> str:
        """The id that HTTP shows and undo takes."""
        return f"{self.target}-{self.version}"

    @property
    def number(self) -> int | None:
        """The memory's number, or None for a change of a category or the space."""
        return int(self.target) if self.target.isdigit() else None


def of_memory(memory: Memory, op: Operation, by: Actor, group: str, **extra: Any) -> Change:
    """The record of a change that made `memory` what it is.

    A context that was taken from another memory is not kept here: when that one is erased, its text is nowhere (M13).
    """
    kept = memory if memory.context_from is None else memory.model_copy(update={"context": None})
    return Change(
        target=str(memory.number),
        version=memory.version,
        op=op,
        at=memory.updated_at,
        by=by,
        image=None if op == "erase" else kept.model_dump(mode="json"),
        group=group,
        **extra,
    )


def parse_id(text: str) -> tuple[str, int] | None:
    """`(target, version)` of a change id, or None when it is not one."""
    target, dash, version = text.rpartition("-")
    if not dash or not target or not version.isascii() or not version.isdigit() or len(version) > 15:
        return None
    return target, int(version)
