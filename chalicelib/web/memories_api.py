"""Memories over HTTP: add, read, change, merge, undo (API: /v1/spaces/{space}/memories…)."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from chalicelib.domain.drafts import (
    BATCH_MAX,
    Bulk,
    CategoryName,
    Edit,
    Merge,
    NewMemory,
    Retire,
    SearchFilters,
    Versioned,
)
from chalicelib.domain.filters import Sort
from chalicelib.domain.scope import Right
from chalicelib.domain.text_rules import Line
from chalicelib.errors import InvalidError, PalimpsestError
from chalicelib.web import answers
from chalicelib.web.call import Call
from chalicelib.web.operations import Door

door = Door.of("memories")

SPACE = "/v1/spaces/{space}"
MEMORIES = f"{SPACE}/memories"
MEMORY = f"{MEMORIES}/{{number}}"

_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def _in_digits(value: object) -> object:
    """Refuses what Python takes for a whole number and the contract does not: `1_0`, `+10`, `10.0`, ` 10`."""
    if isinstance(value, str) and _DIGITS.fullmatch(value) is None:
        raise ValueError("is a whole number in digits")
    return value


Digits = BeforeValidator(_in_digits)
Limit = Annotated[int, Field(ge=1, le=200), Digits]
Cursor = Annotated[str, Field(max_length=4_000)]


class PageQuery(BaseModel):
    """Where a page begins, and how long it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: Limit = 50
    cursor: Cursor | None = None


class ListQuery(PageQuery):
    """What a list of memories is narrowed to and sorted by."""

    state: Literal["active", "retired", "trashed", "all"] = "active"
    category: CategoryName | None = None
    kind: Literal["user", "feedback", "project", "reference"] | None = None
    importance_min: Annotated[int, Field(ge=1, le=10), Digits] | None = None
    importance_max: Annotated[int, Field(ge=1, le=10), Digits] | None = None
    subject: Annotated[Line, Field(max_length=200)] | None = None
    source: Annotated[Line, Field(max_length=200)] | None = None
    q: Annotated[Line, Field(max_length=1_000)] | None = None
    sort: Sort = "newest"


class VersionQuery(BaseModel):
    """A version that the memory must be at."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Annotated[int, Field(ge=1, le=10**12), Digits] | None = None


class BatchBody(BaseModel):
    """1-500 memories; each is checked by itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: Annotated[list[Any], Field(min_length=1, max_length=BATCH_MAX)]


@door.operation("GET", MEMORIES, query=ListQuery, answer=answers.Memories)
def list_memories(call: Call) -> Mapping[str, Any]:
    """List memories, with filters and sorts.

    Never leaves out what was just written; `degraded` says when the order is not the one asked for.
    """
    scope = call.scope(Right.READ)
    query = call.query(ListQuery)
    values = query.model_dump(exclude={"limit", "cursor", "q", "sort"}, exclude_none=True)
    filters = call.parse(SearchFilters, values)
    return call.services.read.browse(
        scope, filters, sort=query.sort, text=query.q, limit=query.limit, cursor=query.cursor
    )


@door.operation("POST", MEMORIES, status=201, body=NewMemory, answer=answers.AddedMemory)
def add_memory(call: Call) -> Mapping[str, Any]:
    """Store a memory; similar ones are reported (SPEC M12)."""
    scope = call.scope(Right.WRITE)
    return call.services.remember.add(scope, call.body(NewMemory), call.write())


@door.operation("POST", f"{MEMORIES}/batch", body=BatchBody, answer=answers.Batch)
def add_batch(call: Call) -> Mapping[str, Any]:
    """Store 1-500 memories; a bad one does not fail the others."""
    scope = call.scope(Right.WRITE)
    drafts = [_draft(call, values) for values in call.body(BatchBody).items]
    results = call.services.remember.add_many(scope, drafts, call.write())
    return {"items": [_batch_item(result) for result in results]}


def _draft(call: Call, values: Any) -> NewMemory | PalimpsestError:
    if not isinstance(values, dict):
        return InvalidError("item", "is a JSON object")
    try:
        return call.parse(NewMemory, values)
    except InvalidError as error:
        return error


def _batch_item(result: dict[str, Any] | PalimpsestError) -> dict[str, Any]:
    if isinstance(result, PalimpsestError):
        shown = {"code": result.code, "message": result.message, "details": result.details}
        return {"status": result.status, "error": shown}
    return {"status": 201, **result}


@door.operation("GET", MEMORY, answer=answers.OneMemory)
def get_memory(call: Call) -> Mapping[str, Any]:
    """One memory, in any state but erased."""
    scope = call.scope(Right.READ)
    return call.services.read.get(scope, call.number)


@door.operation("PATCH", MEMORY, body=Edit, answer=answers.OneMemory)
def edit_memory(call: Call) -> Mapping[str, Any]:
    """Change a memory; only the fields that are named. `version` is required (SPEC M15)."""
    scope = call.scope(Right.WRITE)
    return call.services.revise.edit(scope, call.number, call.body(Edit), call.write())


@door.operation("DELETE", MEMORY, query=VersionQuery, answer=answers.OneMemory)
def delete_memory(call: Call) -> Mapping[str, Any]:
    """Move a memory to the trash, from where it can be restored."""
    scope = call.scope(Right.WRITE)
    return call.services.revise.trash(scope, call.number, call.query(VersionQuery).version, call.write())


@door.operation("POST", f"{MEMORY}/restore", body=Versioned, answer=answers.OneMemory)
def restore_memory(call: Call) -> Mapping[str, Any]:
    """Make a trashed or retired memory active again (SPEC M30)."""
    scope = call.scope(Right.WRITE)
    return call.services.revise.restore(scope, call.number, call.body(Versioned).version, call.write())


@door.operation("POST", f"{MEMORY}/retire", body=Retire, answer=answers.OneMemory)
def retire_memory(call: Call) -> Mapping[str, Any]:
    """End a memory that was true: no longer recalled, still to be read."""
    scope = call.scope(Right.WRITE)
    draft = call.body(Retire)
    return call.services.revise.retire(scope, call.number, draft, draft.version, call.write())


@door.operation("POST", f"{MEMORY}/erase", body=Versioned, answer=answers.ErasedMemory)
def erase_memory(call: Call) -> Mapping[str, Any]:
    """Remove a memory for good, its text everywhere; cannot be undone (SPEC M13)."""
    scope = call.scope(Right.WRITE)
    return call.services.revise.erase(scope, call.number, call.body(Versioned).version, call.write())


@door.operation("POST", f"{MEMORIES}/merge", status=201, body=Merge, answer=answers.MergedMemories)
def merge_memories(call: Call) -> Mapping[str, Any]:
    """Merge several memories into a new one; the old ones are retired and point to it."""
    scope = call.scope(Right.WRITE)
    return call.services.merge.merge(scope, call.body(Merge), call.write())


@door.operation("POST", f"{MEMORIES}/bulk", body=Bulk, answer=answers.Bulk)
def change_many(call: Call) -> Mapping[str, Any]:
    """One operation on up to 500 memories; each has its own outcome."""
    scope = call.scope(Right.WRITE)
    return {"items": call.services.revise.bulk(scope, call.body(Bulk), call.write())}


@door.operation("GET", f"{MEMORY}/history", query=PageQuery, answer=answers.History)
def get_history(call: Call) -> Mapping[str, Any]:
    """Every change of a memory, newest first, with what it was before and after (SPEC M13)."""
    scope = call.scope(Right.READ)
    query = call.query(PageQuery)
    return call.services.read.history(scope, call.number, limit=query.limit, cursor=query.cursor)


@door.operation("POST", f"{SPACE}/changes/{{change}}/undo", answer=answers.Undone)
def undo_change(call: Call) -> Mapping[str, Any]:
    """Take one change back; a merge is taken back whole (SPEC M13)."""
    scope = call.scope(Right.WRITE)
    return call.services.undo.undo(scope, call.identifier("change"), call.write())


@door.operation("GET", f"{SPACE}/audit", query=PageQuery, answer=answers.Audit)
def get_audit(call: Call) -> Mapping[str, Any]:
    """Every change in the space, newest first: who, when, what; without texts."""
    scope = call.scope(Right.READ)
    query = call.query(PageQuery)
    return call.services.read.audit(scope, limit=query.limit, cursor=query.cursor)
