"""What callers may say: validated once, here, and never again. Unknown fields are refused."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from chalicelib.domain.clock import Moment
from chalicelib.domain.ids import Id
from chalicelib.domain.memory import (
    KEY_MAX_CHARS,
    REASON_MAX_CHARS,
    Confidence,
    Importance,
    Kind,
    Number,
    Source,
)
from chalicelib.domain.text_rules import Line, Prose, Storable

BATCH_MAX = 500
MERGE_MAX = 40

Version = Annotated[int, Field(ge=1, le=10**12, strict=True)]
CategoryName = Annotated[Line, Field(max_length=128)]
"""The name or the id of a category."""


class Draft(BaseModel):
    """Frozen, closed: what is not named here is a mistake of the caller."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Described(Draft):
    """The fields of a memory that may be said when it is added or edited."""

    kind: Kind | None = None
    importance: Importance | None = None
    category: CategoryName | None = None
    key: Annotated[Line, Field(max_length=KEY_MAX_CHARS)] | None = None
    confidence: Confidence | None = None
    subject: Annotated[Line, Field(max_length=200)] | None = None
    valid_from: Moment | None = None


class NewMemory(Described):
    """A memory to be stored (M2, M12)."""

    text: Prose
    source: Source | None = None
    context: Annotated[Prose, Field(max_length=20_000)] | None = None


class Edit(Described):
    """A change of a memory: only the fields that are named change; `category: null` takes it out of its category."""

    version: Version
    text: Prose | None = None

    @model_validator(mode="after")
    def _says_what_changes(self) -> Self:
        if self.model_fields_set <= {"version"}:
            raise ValueError("names no field to change")
        for needed in ("text", "kind"):
            if needed in self.model_fields_set and getattr(self, needed) is None:
                raise ValueError(f"{needed}: cannot be null")
        return self


class Merge(Described):
    """Several memories into one new one; the old ones are retired and point to it."""

    numbers: Annotated[tuple[Number, ...], Field(min_length=2, max_length=MERGE_MAX)]
    versions: dict[Annotated[str, Field(pattern=r"^[1-9][0-9]{0,15}$")], Version]
    text: Prose

    @model_validator(mode="after")
    def _each_number_once_and_with_its_version(self) -> Self:
        if len(set(self.numbers)) != len(self.numbers):
            raise ValueError("numbers: must differ from one another")
        missing = [number for number in self.numbers if str(number) not in self.versions]
        if missing:
            raise ValueError(f"versions: lacks {', '.join(f'#{number}' for number in missing)}")
        unknown = set(self.versions) - {str(number) for number in self.numbers}
        if unknown:
            raise ValueError(f"versions: names what numbers does not: {', '.join(sorted(unknown))}")
        return self


class Ending(Draft):
    """How and why a memory ends that was true (M4)."""

    reason: Annotated[Storable, Field(max_length=REASON_MAX_CHARS)] | None = None
    replaced_by: Number | None = None
    valid_to: Moment | None = None
    """When it stopped being true; now, unless said."""


class Retire(Ending):
    """The end of one memory; the version is named (M15)."""

    version: Version


class Versioned(Draft):
    """A change for which a version may be named, to be refused if it is stale (M15)."""

    version: Version | None = None


class Bulk(Draft):
    """One operation on many memories; each has its own result (M11)."""

    op: Literal["delete", "restore", "retire", "erase", "categorise"]
    numbers: Annotated[tuple[Number, ...], Field(min_length=1, max_length=BATCH_MAX)]
    versions: dict[Annotated[str, Field(pattern=r"^[1-9][0-9]{0,15}$")], Version] = Field(
        default_factory=dict
    )
    category: CategoryName | None = None
    reason: Annotated[Storable, Field(max_length=REASON_MAX_CHARS)] | None = None
    replaced_by: Number | None = None

    @model_validator(mode="after")
    def _fits_the_operation(self) -> Self:
        if len(set(self.numbers)) != len(self.numbers):
            raise ValueError("numbers: must differ from one another")
        if self.op == "categorise" and "category" not in self.model_fields_set:
            raise ValueError("category: categorise needs it (null takes them out of theirs)")
        if self.op != "categorise" and "category" in self.model_fields_set:
            raise ValueError("category: goes with categorise only")
        if self.op != "retire" and self.model_fields_set & {"reason", "replaced_by"}:
            raise ValueError("reason: reason and replaced_by go with retire only")
        return self


class SearchFilters(Draft):
    """What a list or a search is narrowed to. `category` = a name, an id, or `none` (uncategorised)."""

    state: Literal["active", "retired", "trashed", "all"] = "active"
    category: CategoryName | None = None
    kind: Kind | None = None
    importance_min: Importance | None = None
    importance_max: Importance | None = None
    subject: Annotated[Line, Field(max_length=200)] | None = None
    source: Annotated[Line, Field(max_length=200)] | None = None

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        if self.importance_min and self.importance_max and self.importance_min > self.importance_max:
            raise ValueError("importance_min: is above importance_max")
        return self


Query = Annotated[Prose, Field(max_length=20_000)]


class Search(Draft):
    """A search by a person or a model (M23)."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=100, strict=True)] = 6
    filters: SearchFilters = SearchFilters()
    include_uncategorised: bool | None = None
    """Default: true for a person's key, false for a model's (M8)."""
    project: Id | None = None
    explain: bool = False


class Recall(Draft):
    """What is to be given to a model for this message (M19)."""

    query: Query
    max: Annotated[int, Field(ge=0, le=50, strict=True)] | None = None
    bytes: Annotated[int, Field(ge=1_000, le=100_000, strict=True)] | None = None
    project: Id | None = None
    seen: Annotated[tuple[Number, ...], Field(max_length=1_000)] = ()
    dry_run: bool = False
    """A dry run does not count as a use (M26)."""


class NewCategory(Draft):
    """A category to be made (M9)."""

    name: Annotated[Line, Field(max_length=100)]
    description: Annotated[Storable, Field(max_length=2_000)] = ""
    project: Id | None = None
    default: bool = False
    """Whether it becomes the space's default for adds that name none (M8)."""


class CategoryEdit(Draft):
    """A change of a category; only the fields that are named change."""

    version: Version
    name: Annotated[Line, Field(max_length=100)] | None = None
    description: Annotated[Storable, Field(max_length=2_000)] | None = None
    project: Id | None = None
    default: bool | None = None

    @model_validator(mode="after")
    def _says_what_changes(self) -> Self:
        if self.model_fields_set <= {"version"}:
            raise ValueError("names no field to change")
        for needed in ("name", "description", "default"):
            if needed in self.model_fields_set and getattr(self, needed) is None:
                raise ValueError(f"{needed}: cannot be null")
        return self


def said(draft: BaseModel) -> dict[str, Any]:
    """The fields that the caller named, as values (not JSON)."""
    return {name: getattr(draft, name) for name in draft.model_fields_set}


class NewJob(Draft):
    """Background work to be started (A6). `all`: an admin's wish for every space."""

    kind: Literal["reindex"]
    all: bool = False
