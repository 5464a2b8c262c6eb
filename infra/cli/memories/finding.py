"""`palimpsest memories search`, `recall`: finding by meaning and by words."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from infra.cli.asked import Json, Space, service_of
from infra.cli.memories import fields
from infra.cli.memories.rendering import say_degraded, say_left_out, state_of
from infra.cli.printing import print_json, say, show, table
from infra.cli.service import space_path

Query = Annotated[str, typer.Argument(help="What is looked for.")]
Project = Annotated[str | None, typer.Option(help="The project that the question is asked in.")]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("search")(search)
    group.command("recall")(recall)


def search(
    context: typer.Context,
    query: Query,
    space: Space = "personal",
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 6,
    state: fields.InState = "active",
    category: fields.InCategory = None,
    kind: fields.OfKind = None,
    importance_min: fields.ImportanceMin = None,
    importance_max: fields.ImportanceMax = None,
    subject: fields.AboutSubject = None,
    source: fields.FromSource = None,
    uncategorised: Annotated[
        bool | None,
        typer.Option(help="Whether those without a category take part; a person's do by default."),
    ] = None,
    project: Project = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the raw scores, too.")] = False,
    as_json: Json = False,
) -> None:
    """Find memories, best first, with each one's reasons."""
    filters = fields.said(
        state=state,
        category=category,
        kind=kind,
        importance_min=importance_min,
        importance_max=importance_max,
        subject=subject,
        source=source,
    )
    body = {
        "query": query,
        "limit": limit,
        "filters": filters,
        **fields.said(include_uncategorised=uncategorised, project=project, explain=explain or None),
    }
    answer = service_of(context).ask("POST", space_path(space, "search"), body)
    if as_json:
        print_json(answer.text)
        return
    _show_found(answer.json, explain=explain)


def recall(
    context: typer.Context,
    query: Query,
    space: Space = "personal",
    most: Annotated[int | None, typer.Option("--max", min=0, max=50, help="At most so many.")] = None,
    size: Annotated[
        int | None, typer.Option("--bytes", min=1_000, max=100_000, help="At most so many bytes of text.")
    ] = None,
    project: Project = None,
    seen: Annotated[
        list[int] | None, typer.Option(min=1, help="Numbers that the model has already; may be repeated.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do not count it as a use.")] = False,
    as_json: Json = False,
) -> None:
    """Show what a model is to be given for a message, and what was left out."""
    body = {
        "query": query,
        **fields.said(max=most, bytes=size, project=project, seen=seen or None, dry_run=dry_run or None),
    }
    answer = service_of(context).ask("POST", space_path(space, "recall"), body)
    if as_json:
        print_json(answer.text)
        return
    if answer.json["items"]:
        show(answer.json["text"].rstrip("\n"))
    _say_how(answer.json)
    say_left_out(answer.json["left_out"])


def _show_found(answer: Mapping[str, Any], *, explain: bool) -> None:
    rows = [
        [
            f"#{item['memory']['number']}",
            f"{item['score']:.2f}",
            item["memory"]["text"],
            item["memory"]["category"],
            state_of(item["memory"]),
            _shares(item["why"]),
            *([_shares(item["legs"] or {})] if explain else []),
        ]
        for item in answer["items"]
    ]
    columns = ["number", "score", "text", "category", "state", "why", *(["raw scores"] if explain else [])]
    table(columns, rows, grows=2)
    _say_how(answer)


def _say_how(answer: Mapping[str, Any]) -> None:
    say(f"Matched by {answer['matched_by']}." if answer["items"] else "Nothing was found.")
    say_degraded(answer["degraded"])


def _shares(shares: Mapping[str, float | None]) -> str:
    return "\n".join(f"{name} {value:.2f}" for name, value in shares.items() if value is not None)
