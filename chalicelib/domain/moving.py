"""What is moved from one installation to another: a space as records, and back. Nothing of it is made up on the way.

A record holds all that is stored of one thing, except what only the place where it is says (the key of its space).
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from chalicelib.domain.category import Category
from chalicelib.domain.change import Change, Deed
from chalicelib.domain.clock import Moment
from chalicelib.domain.drafts import BATCH_MAX, MERGE_MAX, Version
from chalicelib.domain.ids import Id
from chalicelib.domain.memory import (
    CONTEXT_MAX_CHARS,
    ERASED_TEXT,
    REASON_MAX_CHARS,
    TEXT_MAX_BYTES,
    Content,
    Memory,
    Number,
    State,
)
from chalicelib.domain.records import SpaceRecord
from chalicelib.domain.scope import Actor, Space, SpaceKind
from chalicelib.domain.text_rules import Line, Prose, Storable

FORMAT: Literal[1] = 1
"""The form of the records. Another number is refused."""

SLACK = timedelta(days=1)
"""Clocks of installations differ by less: nothing that is moved was done later than this after now."""

Count = Annotated[int, Field(ge=0, le=10**15, strict=True)]
CategoryId = Annotated[str, Field(pattern=r"^cat_[A-Za-z0-9_.-]{1,124}$", max_length=128)]
_NOT_OF_AN_ERASED_ONE = (
    "importance", "category", "key", "confidence", "subject", "valid_from", "source", "context", "context_from",
    "derived_from", "valid_to", "reason", "replaced_by", "reviewed_at",
)  # fmt: skip


def _fits(text: str) -> str:
    if len(text.encode()) > TEXT_MAX_BYTES:
        raise ValueError(f"has at most {TEXT_MAX_BYTES:,} bytes of UTF-8")
    return text


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MovedSpace(_Record):
    """What an export says of the space as a whole; sent along with each page of an import."""

    record: Literal["space"]
    format: Literal[1]
    export: Id
    """Which export this is: all pages of one have the same."""
    as_of: Moment
    """What was done until then is in it."""
    kind: SpaceKind
    id: Id
    """The account, project or community whose space it was."""
    created_at: Moment
    default_category: Id | None = None
    trashed_at: Annotated[tuple[Moment, ...], Field(max_length=1_000)] = ()
    last_number: Annotated[int, Field(ge=0, le=10**15, strict=True)]
    """The highest number that was given out when the export began. (A memory that was being written just then may have a
    higher one: who brings it says that one here.)"""


class CategoryImage(_Record):
    """A category."""

    id: CategoryId
    name: Annotated[Line, Field(max_length=100)]
    description: Annotated[Storable, Field(max_length=2_000)] = ""
    project: Id | None = None
    created_at: Moment
    updated_at: Moment
    version: Version
    deleted: Annotated[bool, Field(strict=True)] = False


class MemoryImage(Content):
    """A memory, in any state; of an erased one its mark."""

    text: Annotated[Prose, AfterValidator(_fits)]
    context: Annotated[Storable, Field(max_length=CONTEXT_MAX_CHARS)] | None = None
    derived_from: Annotated[tuple[Number, ...], Field(max_length=MERGE_MAX)] = ()
    number: Number
    version: Version
    revision: Annotated[int, Field(ge=1, le=10**15, strict=True)]
    state: State
    valid_to: Moment | None = None
    reason: Annotated[Storable, Field(max_length=REASON_MAX_CHARS)] | None = None
    replaced_by: Number | None = None
    recorded_at: Moment
    recorded_by: Actor
    updated_at: Moment
    use_count: Count = 0
    last_used_at: Moment | None = None
    reviewed_at: Moment | None = None

    @model_validator(mode="after")
    def _an_erased_one_says_nothing(self) -> Self:
        said = [name for name in _NOT_OF_AN_ERASED_ONE if getattr(self, name) not in (None, ())]
        if self.state is State.ERASED and (said or self.text != ERASED_TEXT):
            raise ValueError("state: an erased memory holds nothing but its mark")
        return self


class _Change(_Record):
    version: Version
    op: Deed
    at: Moment
    by: Actor
    group: Id
    run: Id | None = None
    undoes: Id | None = None


class CategoryChange(_Change):
    """One change of a category."""

    record: Literal["category_change"]
    category: CategoryId
    image: CategoryImage

    @model_validator(mode="after")
    def _of_one_thing(self) -> Self:
        if (self.image.id, self.image.version) != (self.category, self.version):
            raise ValueError("image: is of another category or version")
        return self


class MemoryChange(_Change):
    """One change of a memory; the image is null once the memory is erased."""

    record: Literal["memory_change"]
    number: Number
    image: MemoryImage | None

    @model_validator(mode="after")
    def _of_one_thing(self) -> Self:
        image = self.image
        if image is None:
            return self
        if (image.number, image.version) != (self.number, self.version):
            raise ValueError("image: is of another number or version")
        if image.state is State.ERASED:
            raise ValueError("image: an erased memory has none")
        if image.context_from is not None and image.context is not None:
            raise ValueError("image: holds a context that belongs to another memory")
        return self


class CategoryRecord(CategoryImage):
    """A category as it is, or the mark of a deleted one."""

    record: Literal["category"]


class MemoryRecord(MemoryImage):
    """A memory as it is."""

    record: Literal["memory"]


Item = Annotated[CategoryChange | CategoryRecord | MemoryChange | MemoryRecord, Field(discriminator="record")]


class Arrivals(_Record):
    """A page of an export, as it is brought to another place."""

    space: MovedSpace
    items: Annotated[tuple[Item, ...], Field(max_length=BATCH_MAX)]


# ---------------------------------------------------------------------------- as records


def space_record(
    space: Space, stored: SpaceRecord | None, *, export: str, as_of: Moment, last_number: int
) -> dict[str, Any]:
    """JSON of the space as a whole (MovedSpace)."""
    told = MovedSpace(
        record="space",
        format=FORMAT,
        export=export,
        as_of=as_of,
        kind=space.kind,
        id=space.id,
        created_at=stored.created_at if stored else as_of,
        default_category=stored.default_category if stored else None,
        trashed_at=stored.trashed_at if stored else (),
        last_number=last_number,
    )
    return told.model_dump(mode="json")


def category_record(category: Category) -> dict[str, Any]:
    """JSON of a category (CategoryRecord)."""
    return {"record": "category", **category.model_dump(mode="json", exclude={"space"})}


def memory_record(memory: Memory) -> dict[str, Any]:
    """JSON of a memory (MemoryRecord). A context that belongs to a memory of a higher number is left out: that one is
    told later, and may have been erased by then (M13)."""
    told = memory.model_dump(mode="json", exclude={"space"})
    if memory.context_from is not None and memory.context_from > memory.number:
        told["context"] = None
    return {"record": "memory", **told}


def change_record(change: Change) -> dict[str, Any]:
    """JSON of a change (MemoryChange, CategoryChange)."""
    told = change.model_dump(mode="json", exclude={"target", "image"})
    if change.number is None:
        image = Category.model_validate(change.image).model_dump(mode="json", exclude={"space"})
        return {"record": "category_change", "category": change.target, **told, "image": image}
    shown = None
    if change.image is not None:
        shown = Memory.model_validate(change.image).model_dump(mode="json", exclude={"space"})
    return {"record": "memory_change", "number": change.number, **told, "image": shown}


# ---------------------------------------------------------------------------- and back


@dataclass(frozen=True)
class Arrival:
    """Records of one space as what they are in another. In a personal space what its owner did is its new owner's;
    what is bound to a pool's own project is bound to that of the new pool. All else stays as it was."""

    source: MovedSpace
    space: Space

    def memory(self, image: MemoryImage) -> Memory:
        """The memory."""
        told = image.model_dump(exclude={"record", "recorded_by"})
        return Memory(**told, space=self.space.key, recorded_by=self._actor(image.recorded_by))

    def category(self, image: CategoryImage) -> Category:
        """The category."""
        told = image.model_dump(exclude={"record", "project"})
        return Category(**told, space=self.space.key, project=self.project(image.project))

    def change(self, record: MemoryChange | CategoryChange) -> Change:
        """The change."""
        target = record.category if isinstance(record, CategoryChange) else str(record.number)
        told = record.model_dump(include={"version", "op", "at", "group", "run", "undoes"})
        return Change(**told, target=target, by=self._actor(record.by), image=self._image(record))

    def _image(self, record: MemoryChange | CategoryChange) -> dict[str, Any] | None:
        if isinstance(record, CategoryChange):
            return self.category(record.image).model_dump(mode="json")
        return None if record.image is None else self.memory(record.image).model_dump(mode="json")

    def project(self, project: str | None) -> str | None:
        """The project that a category is bound to here."""
        own = self.space.kind is SpaceKind.PROJECT and project == self.source.id
        return self.space.id if own else project

    def _actor(self, actor: Actor) -> Actor:
        own = self.space.kind is SpaceKind.PERSONAL and actor.id == self.source.id
        return actor.model_copy(update={"id": self.space.id}) if own and actor.kind != "pass" else actor
