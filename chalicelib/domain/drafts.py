"""What callers may say: validated once, here, and never again. Unknown fields are refused."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

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
Flag = Annotated[bool, Field(strict=True)]
DISTINCT = Field(json_schema_extra={"uniqueItems": True})
"""Told in the contract; checked by the draft."""
CategoryName = Annotated[Line, Field(max_length=128)]
"""The name or the id of a category."""


class Draft(BaseModel):
    """Frozen, closed: what is not named here is a mistake of the caller."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SomeFields(Draft):
    """A change of some fields: at least one is named beside `version`, and only those of `nullable` may be null."""

    nullable: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="after")
    def _says_what_changes(self) -> Self:
        named = self.model_fields_set - {"version"}
        if not named:
            raise ValueError("names no field to change")
        for field in sorted(named - self.nullable):
            if getattr(self, field) is None:
                raise ValueError(f"{field}: cannot be null")
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The contract states both rules."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        for name, field in schema["properties"].items():
            if name not in {"version", *cls.nullable}:
                _never_null(field)
        changing = sorted(set(schema["properties"]) - {"version"})
        return {**schema, "anyOf": [{"required": [name]} for name in changing]}


def _never_null(field: JsonSchemaValue) -> None:
    """Change the schema of an optional field to one that is there or not, but never null."""
    [option] = [one for one in field.pop("anyOf") if one.get("type") != "null"]
    field.pop("default")
    field.update(option)


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


class Edit(Described, SomeFields):
    """A change of a memory: only the fields that are named change; `category: null` takes it out of its category."""

    nullable: ClassVar[frozenset[str]] = frozenset(Described.model_fields) - {"kind"}

    version: Version
    text: Prose | None = None


class Merge(Described):
    """Several memories into one new one; the old ones are retired and point to it."""

    numbers: Annotated[tuple[Number, ...], Field(min_length=2, max_length=MERGE_MAX), DISTINCT]
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
    numbers: Annotated[tuple[Number, ...], Field(min_length=1, max_length=BATCH_MAX), DISTINCT]
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
    include_uncategorised: Flag | None = None
    """Default: true for a person's key, false for a model's (M8)."""
    project: Id | None = None
    explain: Flag = False


class Recall(Draft):
    """What is to be given to a model for this message (M19)."""

    query: Query
    max: Annotated[int, Field(ge=0, le=50, strict=True)] | None = None
    bytes: Annotated[int, Field(ge=1_000, le=100_000, strict=True)] | None = None
    project: Id | None = None
    seen: Annotated[tuple[Number, ...], Field(max_length=1_000)] = ()
    dry_run: Flag = False
    """A dry run does not count as a use (M26)."""


class NewCategory(Draft):
    """A category to be made (M9)."""

    name: Annotated[Line, Field(max_length=100)]
    description: Annotated[Storable, Field(max_length=2_000)] = ""
    project: Id | None = None
    default: Flag = False
    """Whether it becomes the space's default for adds that name none (M8)."""


class CategoryEdit(SomeFields):
    """A change of a category; only the fields that are named change."""

    nullable: ClassVar[frozenset[str]] = frozenset({"project"})

    version: Version
    name: Annotated[Line, Field(max_length=100)] | None = None
    description: Annotated[Storable, Field(max_length=2_000)] | None = None
    project: Id | None = None
    default: Flag | None = None


def said(draft: BaseModel) -> dict[str, Any]:
    """The fields that the caller named, as values (not JSON)."""
    return {name: getattr(draft, name) for name in draft.model_fields_set}


class NewJob(Draft):
    """Background work to be started (A6). `all`: an admin's wish for every space."""

    kind: Literal["reindex", "recategorise"]
    all: Flag = False
