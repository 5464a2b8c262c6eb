"""A page of a list."""

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Items in order, and where the next page begins (None: this was the last)."""

    items: list[Item]
    next: str | None
