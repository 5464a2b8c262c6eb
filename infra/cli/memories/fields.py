"""The options that say a memory's fields, or what a list is narrowed to; as the API takes them."""

from typing import Annotated, Any, Literal

import typer

KindName = Literal["user", "feedback", "project", "reference"]
StateName = Literal["active", "retired", "trashed", "all"]
SortName = Literal["newest", "oldest", "updated", "importance", "vitality", "used"]

Kind = Annotated[KindName | None, typer.Option(help="What it is about.")]
Importance = Annotated[int | None, typer.Option(min=1, max=10, help="1 to 10.")]
Category = Annotated[str | None, typer.Option(help="Name or id of its category.")]
Subject = Annotated[str | None, typer.Option(help="Whom or what it is about.")]
Key = Annotated[str | None, typer.Option(help="A name of your own for it.")]
Confidence = Annotated[float | None, typer.Option(min=0, max=1, help="How sure it is, 0 to 1.")]
ValidFrom = Annotated[
    str | None, typer.Option(metavar="TIME", help="Since when it is true, such as 2026-05-04T09:00:00Z.")
]

InState = Annotated[StateName, typer.Option("--state", help="Only those in this state.")]
InCategory = Annotated[
    str | None, typer.Option("--category", help="Only those of this category; none = uncategorised.")
]
OfKind = Annotated[KindName | None, typer.Option("--kind", help="Only those of this kind.")]
ImportanceMin = Annotated[int | None, typer.Option(min=1, max=10, help="Only those from this importance on.")]
ImportanceMax = Annotated[int | None, typer.Option(min=1, max=10, help="Only those up to this importance.")]
AboutSubject = Annotated[str | None, typer.Option("--subject", help="Only those about this subject.")]
FromSource = Annotated[str | None, typer.Option("--source", help="Only those said in this conversation.")]

Number = Annotated[int, typer.Argument(min=1, help="The memory's number.", metavar="NUMBER")]
Numbers = Annotated[list[int], typer.Argument(min=1, help="Numbers of memories.", metavar="NUMBER...")]


def said(**values: Any) -> dict[str, Any]:
    """Only what was said."""
    return {name: value for name, value in values.items() if value is not None}
