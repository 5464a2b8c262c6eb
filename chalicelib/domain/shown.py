"""A memory as people and models see it: with its category's name, and what time has done to it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from chalicelib.domain.category import Category
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Space, SpaceKind
from chalicelib.domain.vitality import Retention, eligible_at, vitality

_HIDDEN = {"space", "revision", "category", "context_from"}


def show_memory(
    memory: Memory, categories: Iterable[Category], retention: Retention, now: datetime
) -> dict[str, Any]:
    """JSON of a memory (M2): `category` by name (null when it has none, or a deleted one, M9), `vitality` 0-100 with
    one decimal and `eligible_at` (both null in a community, which never forgets, M31)."""
    space = Space.from_key(memory.space)
    fades = space.kind is not SpaceKind.COMMUNITY
    shown = memory.model_dump(mode="json", exclude=_HIDDEN)
    names = {category.id: category.name for category in categories if not category.deleted}
    return {
        "number": shown.pop("number"),
        "space": space.name,
        **shown,
        "category": names.get(memory.category) if memory.category else None,
        "vitality": round(vitality(memory, now, retention), 1) if fades else None,
        "eligible_at": rfc3339(eligible_at(memory, retention)) if fades else None,
    }


def show_category(category: Category, default: str | None) -> dict[str, Any]:
    """JSON of a category; `default` = the id of the space's default category."""
    shown = category.model_dump(mode="json", exclude={"space", "deleted"})
    return {**shown, "default": category.id == default}
