"""The shapes of answers, for the contract (`openapi.json`). Tests hold every answer to them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.domain.clock import Moment
from chalicelib.domain.memory import Kind, Source
from chalicelib.domain.scope import Actor


class Answer(BaseModel):
    """Closed: an answer has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class ShownMemory(Answer):
    """A memory (SPEC M2)."""

    number: int
    space: str = Field(description="`personal`, `project:<id>` or `community:<platform>:<id>`")
    text: str
    kind: Kind
    importance: int | None = Field(description="1-10; null in a community when not scored yet")
    category: str | None = Field(description="the category's name; null = uncategorised")
    key: str | None
    confidence: float | None
    subject: str | None
    state: Literal["active", "retired", "trashed"]
    valid_from: Moment | None
    valid_to: Moment | None
    reason: str | None
    replaced_by: int | None
    recorded_at: Moment
    recorded_by: Actor
    updated_at: Moment
    source: Source | None
    context: str | None = Field(description="what was said just before")
    derived_from: list[int]
    use_count: int
    last_used_at: Moment | None
    reviewed_at: Moment | None
    vitality: float | None = Field(description="0-100, as of now; null in a community")
    eligible_at: Moment | None = Field(
        description="when cleanup may move it to the trash; null in a community"
    )
    version: int


class OneMemory(Answer):
    """A memory, and whether it may be given to a model (SPEC M8)."""

    memory: ShownMemory
    recallable: bool
    why_not_recallable: str | None = None
    warning: Literal["secret"] | None = Field(None, description="the text looks like a credential (SPEC M16)")
    notice: str | None = Field(None, description="after a restore: it may soon be trashed again (SPEC M30)")


class SimilarMemory(Answer):
    """A memory that says much the same; score 0-1."""

    memory: ShownMemory
    score: float


class AddedMemory(OneMemory):
    """A memory that was stored, and the similar ones that were found (SPEC M12)."""

    similar: list[SimilarMemory]
    degraded: str | None


class ShownError(Answer):
    """What went wrong."""

    code: str
    message: str
    details: dict[str, Any]


class ErrorAnswer(Answer):
    """Every answer above 399."""

    error: ShownError


class BatchItem(Answer):
    """What became of one item of a batch."""

    status: int
    memory: ShownMemory | None = None
    similar: list[SimilarMemory] | None = None
    recallable: bool | None = None
    why_not_recallable: str | None = None
    warning: Literal["secret"] | None = None
    degraded: str | None = None
    error: ShownError | None = None


class Batch(Answer):
    """One outcome for each item, in order."""

    items: list[BatchItem]


class Page(Answer):
    """The end of every list."""

    next: str | None = Field(description="cursor of the next page; null = this was the last")


class Memories(Page):
    """A page of memories."""

    items: list[ShownMemory]
    degraded: str | None


class Erased(Answer):
    """That a memory is gone for good."""

    number: int
    space: str
    at: Moment


class ErasedMemory(Answer):
    """That a memory is gone for good."""

    erased: Erased


class MergedMemories(OneMemory):
    """The new memory, and the retired ones that it replaces."""

    merged: list[ShownMemory]


class BulkItem(Answer):
    """What became of one number of a bulk operation."""

    number: int
    status: int
    memory: ShownMemory | None = None
    erased: Erased | None = None
    recallable: bool | None = None
    why_not_recallable: str | None = None
    notice: str | None = None
    error: ShownError | None = None


class Bulk(Answer):
    """One outcome for each number, in order."""

    items: list[BulkItem]


class Imported(Answer):
    """Which export a space takes in."""

    export: str
    as_of: Moment
    last_number: int


class Act(Answer):
    """That somebody did something (SPEC M13), to a memory, a category or the space."""

    id: str
    number: int | None = None
    category: str | None = None
    imported: Imported | None = None
    version: int
    op: str
    at: Moment
    by: Actor
    group: str
    run: str | None
    undoes: str | None


class ShownChange(Act):
    """A change, with the memory before and after it; both null once it is erased."""

    before: ShownMemory | None
    after: ShownMemory | None


class History(Page):
    """Changes, newest first."""

    items: list[ShownChange]


class Audit(Page):
    """Acts, newest first."""

    items: list[Act]


class ShownCategory(Answer):
    """A category (SPEC M9)."""

    id: str
    name: str
    description: str
    project: str | None
    created_at: Moment
    updated_at: Moment
    version: int
    default: bool


class OneCategory(Answer):
    """A category."""

    category: ShownCategory


class Categories(Page):
    """All categories of a space."""

    items: list[ShownCategory]


class FormerCategory(Answer):
    """A category as an undo left it; `deleted`: what was undone had made it."""

    id: str
    name: str
    description: str
    project: str | None
    created_at: Moment
    updated_at: Moment
    version: int
    deleted: bool


class Undone(Answer):
    """What an undo brought back."""

    undone: str
    memories: list[ShownMemory]
    categories: list[FormerCategory]


class FoundMemory(Answer):
    """A memory that was found, and why: each signal's share of the score."""

    memory: ShownMemory
    score: float
    why: dict[str, float]
    legs: dict[str, float | None] | None = Field(None, description="raw scores, with `explain`")


class SearchAnswer(Answer):
    """What was found, best first (SPEC M23)."""

    items: list[FoundMemory]
    matched_by: Literal["meaning", "words", "recency"]
    degraded: str | None


class MapPoint(Answer):
    """A memory's place; x and y from -1 to 1."""

    number: int
    x: float
    y: float
    category: str | None


class MapAnswer(Answer):
    """The newest memories of a space as points in the plane, near ones alike (SPEC M17)."""

    items: list[MapPoint]
    matched_by: Literal["meaning", "words"]
    degraded: str | None
    more: bool = Field(description="whether there are older ones that are not on the map")


class LeftOut(Answer):
    """Related memories that were not given, by reason (SPEC M24)."""

    budget: int
    threshold: int
    uncategorised: int
    other_project: int
    seen: int


class RecallAnswer(SearchAnswer):
    """What a model is given."""

    text: str = Field(description="the block for the model; each memory as `[#12] …`")
    left_out: LeftOut


class ShownJob(Answer):
    """Background work."""

    id: str
    kind: str
    state: Literal["queued", "running", "done", "failed"]
    asked_by: Actor
    created_at: Moment
    updated_at: Moment
    total: int | None
    done: int
    failed: int
    error: str | None


class OneJob(Answer):
    """A job; `started` = in how many spaces, when it was asked for all of them."""

    job: ShownJob | None = None
    started: int | None = None


class Jobs(Page):
    """The newest jobs of a space."""

    items: list[ShownJob]


class ShownFinding(Answer):
    """One thing that is wrong."""

    severity: Literal["fault", "warning"]
    part: Literal["table", "index", "embedder", "stream", "queue", "clock"]
    message: str = Field(description="one plain sentence")
    fix: str = Field(description="the command that mends it")


class Compared(Answer):
    """How much was compared with the index, and whether that was all: of large spaces it is a part, and there is a
    limit of time."""

    spaces: int
    memories: int
    all: bool


class Diagnosis(Answer):
    """What is wrong with the installation; nothing, when `findings` is empty."""

    at: Moment
    version: str
    findings: list[ShownFinding]
    compared: Compared


PartState = Literal["ok", "down", "missing", "off"]


class HealthParts(Answer):
    """The state of each part; `missing`: the index is not complete; `off`: not set, and no fault."""

    table: PartState
    index: PartState
    embedder: PartState
    helper_model: PartState
    queue: PartState


class Health(Answer):
    """Whether all parts work."""

    status: Literal["ok", "degraded"]
    version: str
    parts: HealthParts
