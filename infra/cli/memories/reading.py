"""`palimpsest memories list`, `show`, `history`: reading what is there."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from infra.cli.asked import Json, Space, service_of
from infra.cli.memories import fields
from infra.cli.memories.rendering import say_degraded, say_notes, show_list, show_one
from infra.cli.printing import print_json, say, table
from infra.cli.service import Answer, Service, space_path

Limit = Annotated[int, typer.Option(min=1, max=200, help="At most so many on a page.")]
Cursor = Annotated[str | None, typer.Option(help="Where to go on: a page names the cursor of the next.")]
All = Annotated[bool, typer.Option("--all", help="Every page; with --json one a line.")]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_memories)
    group.command("show")(show_memory)
    group.command("history")(history)


def list_memories(
    context: typer.Context,
    space: Space = "personal",
    state: fields.InState = "active",
    category: fields.InCategory = None,
    kind: fields.OfKind = None,
    importance_min: fields.ImportanceMin = None,
    importance_max: fields.ImportanceMax = None,
    subject: fields.AboutSubject = None,
    source: fields.FromSource = None,
    q: Annotated[str | None, typer.Option("--q", help="Only those with all of these words.")] = None,
    sort: Annotated[fields.SortName, typer.Option(help="In which order.")] = "newest",
    limit: Limit = 50,
    cursor: Cursor = None,
    every: All = False,
    as_json: Json = False,
) -> None:
    """List memories, a page at a time."""
    query = fields.said(
        state=state,
        category=category,
        kind=kind,
        importance_min=importance_min,
        importance_max=importance_max,
        subject=subject,
        source=source,
        q=q,
        sort=sort,
        limit=limit,
    )
    for page in _pages(service_of(context), space_path(space, "memories"), query, cursor, every=every):
        if as_json:
            print_json(page.text)
            continue
        show_list(page.json["items"])
        say_degraded(page.json["degraded"])
        _say_next(page, every=every)


def show_memory(
    context: typer.Context, number: fields.Number, space: Space = "personal", as_json: Json = False
) -> None:
    """Show one memory with all of its fields."""
    answer = service_of(context).get(space_path(space, "memories", number))
    if as_json:
        print_json(answer.text)
        return
    show_one(answer.json["memory"])
    say_notes(answer.json)


def history(
    context: typer.Context,
    number: fields.Number,
    space: Space = "personal",
    limit: Limit = 50,
    cursor: Cursor = None,
    every: All = False,
    as_json: Json = False,
) -> None:
    """Show every change of a memory, newest first; `memories undo ID` takes one back."""
    path = space_path(space, "memories", number, "history")
    for page in _pages(service_of(context), path, {"limit": limit}, cursor, every=every):
        if as_json:
            print_json(page.text)
            continue
        items = page.json["items"]
        groups = {one["group"]: one["id"] for one in items}
        rows = [[one["id"], one["op"], one["at"], _who(one["by"]), _difference(one, groups)] for one in items]
        table(["id", "change", "at", "by", "what"], rows, grows=4)
        _say_next(page, every=every)


def _pages(
    service: Service, path: str, query: Mapping[str, object], cursor: str | None, *, every: bool
) -> Iterator[Answer]:
    """The page at `cursor`, or all from there on."""
    begun = {**query, **fields.said(cursor=cursor)}
    if every:
        yield from service.pages(path, begun)
    else:
        yield service.get(path, begun)


def _say_next(page: Answer, *, every: bool) -> None:
    if page.json["next"] is not None and not every:
        say(f"There are more: --all, or --cursor {page.json['next']}")


def _who(by: Mapping[str, Any]) -> str:
    return f"{by['kind']} {by['id']}"


def _difference(change: Mapping[str, Any], undone: Mapping[str, str]) -> str:
    """The fields that a change made other than they were; nothing once the memory is erased. `undone`: changes of the
    same page by their group."""
    before, after = change["before"] or {}, change["after"] or {}
    told = [
        f"{name}: {after[name]}" if not before else f"{name}: {before.get(name)} → {after[name]}"
        for name in (
            "text",
            "state",
            "category",
            "kind",
            "importance",
            "key",
            "subject",
            "replaced_by",
            "reason",
        )
        if name in after and after[name] != before.get(name)
    ]
    if change["undoes"]:
        told.insert(0, f"takes back {undone.get(change['undoes'], 'an earlier change')}")
    return "\n".join(told)
