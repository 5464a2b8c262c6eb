"""Categories over HTTP (API: /v1/spaces/{space}/categories…)."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.drafts import CategoryEdit, NewCategory
from chalicelib.domain.scope import Right, Scope
from chalicelib.errors import ForbiddenError
from chalicelib.web import answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import SPACE, VersionQuery
from chalicelib.web.operations import Door

door = Door.of("categories")

CATEGORIES = f"{SPACE}/categories"
CATEGORY = f"{CATEGORIES}/{{category}}"


def _scope(call: Call) -> Scope:
    """An admin orders a pool's categories without reading its memories, so either right will do to look."""
    try:
        return call.scope(Right.READ)
    except ForbiddenError:
        return call.scope(Right.CONFIGURE)


@door.operation("GET", CATEGORIES, answer=answers.Categories)
def list_categories(call: Call) -> Mapping[str, Any]:
    """All categories of the space, by name."""
    return {"items": call.services.categories.listed(_scope(call)), "next": None}


@door.operation("POST", CATEGORIES, status=201, body=NewCategory, answer=answers.OneCategory)
def create_category(call: Call) -> Mapping[str, Any]:
    """Make a category; in a pool by an admin only (SPEC M6, M9)."""
    return call.services.categories.create(_scope(call), call.body(NewCategory), call.write())


@door.operation("GET", CATEGORY, answer=answers.OneCategory)
def get_category(call: Call) -> Mapping[str, Any]:
    """One category."""
    return call.services.categories.get(_scope(call), call.identifier("category"))


@door.operation("PATCH", CATEGORY, body=CategoryEdit, answer=answers.OneCategory)
def edit_category(call: Call) -> Mapping[str, Any]:
    """Rename, describe, bind to a project, or make it the default."""
    category = call.identifier("category")
    return call.services.categories.edit(_scope(call), category, call.body(CategoryEdit), call.write())


@door.operation("DELETE", CATEGORY, query=VersionQuery, answer=answers.OneCategory)
def delete_category(call: Call) -> Mapping[str, Any]:
    """Delete a category; its memories stay, uncategorised, and are not recalled until sorted again (SPEC M9)."""
    category = call.identifier("category")
    version = call.query(VersionQuery).version
    return call.services.categories.delete(_scope(call), category, version, call.write())
