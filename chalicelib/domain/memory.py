"""A memory: one self-contained fact, kept across conversations (M1), and what may happen to it (M4, M11)."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.domain.clock import Moment
from chalicelib.domain.ids import Id
from chalicelib.domain.scope import Actor, Space, SpaceKind
from chalicelib.domain.text_rules import Line, Prose

TEXT_MAX_BYTES = 250_000
CONTEXT_MAX_CHARS = 2_000
KEY_MAX_CHARS = 200
REASON_MAX_CHARS = 1_000
ERASED_TEXT = "(erased)"
"""What stands in the place of an erased text."""

Kind = Literal["user", "feedback", "project", "reference"]
Number = Annotated[int, Field(ge=1, le=10**15, strict=True)]
Importance = Annotated[int, Field(ge=1, le=10, strict=True)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]


class State(StrEnum):
    """M4. `ERASED` is never shown: it is the mark that keeps a number from being used again."""

    ACTIVE = "active"
    RETIRED = "retired"
    TRASHED = "trashed"
    ERASED = "erased"


def default_kind(space: Space) -> Kind:
    """The kind of a memory that names none: user, project or reference by where it lives (M2)."""
    if space.kind is SpaceKind.PERSONAL:
        return "user"
    return "project" if space.kind is SpaceKind.PROJECT else "reference"


class Source(BaseModel):
    """Where a memory was said: the conversation, its place there, who said it and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    conversation: Annotated[Line, Field(max_length=200)]
    position: Annotated[int, Field(ge=0, le=10**12, strict=True)] | None = None
    author: Annotated[Line, Field(max_length=200)] | None = None
    said_at: Moment | None = None


class Content(BaseModel):
    """What a person or a model says of a memory; the rest is counted or recorded by us."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Prose
    kind: Kind
    importance: Importance | None = None
    category: Id | None = None
    key: Annotated[Line, Field(max_length=KEY_MAX_CHARS)] | None = None
    confidence: Confidence | None = None
    subject: Annotated[Line, Field(max_length=200)] | None = None
    valid_from: Moment | None = None
    source: Source | None = None
    context: str | None = None
    """What was said just before; at most CONTEXT_MAX_CHARS are kept (the last ones)."""
    context_from: Number | None = None
    """The memory that `context` was taken from, when the caller gave none."""
    derived_from: tuple[Number, ...] = ()


class Memory(Content):
    """A memory as stored (M2). `vitality` and `eligible_at` are computed when shown: they change with time."""

    space: str
    """The key of its space (`Space.key`)."""
    number: Number
    version: Annotated[int, Field(ge=1)]
    """Counts changes that people see; edits name it (M15). Being recalled does not change it."""
    revision: Annotated[int, Field(ge=1)]
    """Counts every write, recalls too; the index takes it as external version, so late records never win."""
    state: State = State.ACTIVE
    valid_to: Moment | None = None
    reason: Annotated[str, Field(max_length=REASON_MAX_CHARS)] | None = None
    replaced_by: Number | None = None
    recorded_at: Moment
    recorded_by: Actor
    updated_at: Moment
    use_count: Annotated[int, Field(ge=0)] = 0
    last_used_at: Moment | None = None
    reviewed_at: Moment | None = None

    @property
    def words(self) -> str:
        """What is searched, embedded and shown to a model: who said it, or the key of a fact, then the text.

        Who spoke is half of what was said: without it, "I" means nobody (measured: infra/decisions).
        """
        text = f"{self.key}: {self.text}" if self.key else self.text
        author = self.source.author if self.source else None
        return f"{author}: {text}" if author and not text.startswith(author) else text


CONTENT_FIELDS: tuple[str, ...] = tuple(Content.model_fields)
STATE_FIELDS: tuple[str, ...] = ("state", "valid_to", "reason", "replaced_by")


def next_version(memory: Memory, at: datetime, update: Mapping[str, object]) -> Memory:
    """The memory changed at `at`: one version and one revision on (M13, M15)."""
    counted = {"version": memory.version + 1, "revision": memory.revision + 1, "updated_at": at}
    return memory.model_copy(update={**update, **counted})


def erased(memory: Memory, *, at: Moment) -> Memory:
    """The mark that stays of an erased memory: its number and when, without any content (M13)."""
    return Memory(
        text=ERASED_TEXT,
        kind=memory.kind,
        space=memory.space,
        number=memory.number,
        version=memory.version + 1,
        revision=memory.revision + 1,
        state=State.ERASED,
        recorded_at=memory.recorded_at,
        recorded_by=memory.recorded_by,
        updated_at=at,
    )
