"""The shapes of answers about moving a space."""

from typing import Annotated

from pydantic import Field

from chalicelib.domain.ids import Id
from chalicelib.domain.moving import CategoryChange, CategoryRecord, MemoryChange, MemoryRecord, MovedSpace
from chalicelib.web.answers import Answer, Page

Told = Annotated[
    MovedSpace | CategoryChange | CategoryRecord | MemoryChange | MemoryRecord, Field(discriminator="record")
]


class ExportPage(Page):
    """Records of a space; the first page begins with that of the space itself."""

    items: list[Told]


class Counts(Answer):
    """How many records of each kind."""

    categories: int
    memories: int
    changes: int


class TakenIn(Answer):
    """What became of the records of a page."""

    export: Id
    written: Counts
    there: Counts = Field(description="those that were there already, as told or changed since")
