"""Categories: what may be recalled, and where (M8, M9)."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from chalicelib.domain.clock import Moment
from chalicelib.domain.ids import Id
from chalicelib.domain.scope import Scope, SpaceKind
from chalicelib.domain.text_rules import Line, Storable

CATEGORIES_MAX = 200


class Category(BaseModel):
    """A name and a concrete description, global or bound to one project."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Id
    space: str
    name: Annotated[Line, Field(max_length=100)]
    description: Annotated[Storable, Field(max_length=2_000)] = ""
    project: Id | None = None
    created_at: Moment
    updated_at: Moment
    version: Annotated[int, Field(ge=1)] = 1
    deleted: bool = False
    """A deleted one stays as a mark, so that its deletion can be undone; nothing lists or uses it."""


def folded(name: str) -> str:
    """How names are compared: case does not count, nor do outer blanks."""
    return " ".join(name.casefold().split())


def find(categories: Iterable[Category], wanted: str) -> Category | None:
    """The category whose id or (case-blind) name is `wanted`."""
    listed = list(categories)
    by_id = next((category for category in listed if category.id == wanted), None)
    return by_id or next((category for category in listed if folded(category.name) == folded(wanted)), None)


def recallable_ids(scope: Scope, categories: Iterable[Category]) -> frozenset[str] | None:
    """Ids of the categories whose memories may be given to a model in this scope; None = no such rule here.

    Global ones everywhere, bound ones only inside their project (M9). Communities have no rule (M8).
    In a pool the project is the pool's own.
    """
    if scope.space.kind is SpaceKind.COMMUNITY:
        return None
    project = scope.space.id if scope.space.kind is SpaceKind.PROJECT else scope.project
    return frozenset(c.id for c in categories if c.project is None or c.project == project)
