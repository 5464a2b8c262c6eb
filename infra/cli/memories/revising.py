"""`palimpsest memories edit`, `merge`, `retire`: changes that name the version they saw."""

from typing import Annotated, Any

import typer

from infra.cli.asked import Json, Space, service_of
from infra.cli.failures import RefusedError
from infra.cli.memories import fields
from infra.cli.memories.rendering import say_notes, show_list, with_current
from infra.cli.printing import print_json, say
from infra.cli.service import Answer, Service, space_path

CONFLICT = 409
EMPTIABLE = ("category", "importance", "subject", "key", "confidence", "valid_from")

Version = Annotated[
    int | None, typer.Option(min=1, help="The version that you saw; without it the one of now is read first.")
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("edit")(edit)
    group.command("merge")(merge)
    group.command("retire")(retire)


def edit(
    context: typer.Context,
    number: fields.Number,
    text: Annotated[str | None, typer.Option(help="The new text.")] = None,
    kind: fields.Kind = None,
    importance: fields.Importance = None,
    category: fields.Category = None,
    subject: fields.Subject = None,
    key: fields.Key = None,
    confidence: fields.Confidence = None,
    valid_from: fields.ValidFrom = None,
    clear: Annotated[
        list[str] | None, typer.Option(help=f"Empty a field: {', '.join(EMPTIABLE)}; may be repeated.")
    ] = None,
    version: Version = None,
    space: Space = "personal",
    as_json: Json = False,
) -> None:
    """Change the fields that are named."""
    changed = fields.said(
        text=text,
        kind=kind,
        importance=importance,
        category=category,
        subject=subject,
        key=key,
        confidence=confidence,
        valid_from=valid_from,
    )
    for name in clear or []:
        if name not in EMPTIABLE or name in changed:
            raise typer.BadParameter(f"--clear takes one of {', '.join(EMPTIABLE)} that is not set as well.")
        changed[name] = None
    if not changed:
        raise typer.BadParameter("Name a field to change.")
    service = service_of(context)
    version = version or version_of(service, space, number)
    path = space_path(space, "memories", number)
    _shown(_changed(service, "PATCH", path, {"version": version, **changed}), as_json=as_json)


def merge(
    context: typer.Context,
    numbers: fields.Numbers,
    text: Annotated[str, typer.Option(help="The text of the new memory.")],
    kind: fields.Kind = None,
    importance: fields.Importance = None,
    category: fields.Category = None,
    subject: fields.Subject = None,
    key: fields.Key = None,
    confidence: fields.Confidence = None,
    valid_from: fields.ValidFrom = None,
    space: Space = "personal",
    as_json: Json = False,
) -> None:
    """Make one memory of several; they are retired and point to it."""
    service = service_of(context)
    said = fields.said(
        kind=kind,
        importance=importance,
        category=category,
        subject=subject,
        key=key,
        confidence=confidence,
        valid_from=valid_from,
    )
    versions = {str(number): version_of(service, space, number) for number in numbers}
    body = {"numbers": numbers, "versions": versions, "text": text, **said}
    answer = _changed(service, "POST", space_path(space, "memories", "merge"), body)
    _shown(answer, as_json=as_json)
    if not as_json:
        say("Retired: " + ", ".join(f"#{one['number']}" for one in answer.json["merged"]))


def retire(
    context: typer.Context,
    number: fields.Number,
    reason: Annotated[str | None, typer.Option(help="Why it is no longer true.")] = None,
    replaced_by: Annotated[
        int | None, typer.Option(min=1, help="The memory that says it now.", metavar="NUMBER")
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it stopped being true; else now.")
    ] = None,
    version: Version = None,
    space: Space = "personal",
    as_json: Json = False,
) -> None:
    """End a memory that was true: no longer recalled, still to be read."""
    service = service_of(context)
    version = version or version_of(service, space, number)
    body = {
        "version": version,
        **fields.said(reason=reason, replaced_by=replaced_by, valid_to=valid_to),
    }
    path = space_path(space, "memories", number, "retire")
    _shown(_changed(service, "POST", path, body), as_json=as_json)


def version_of(service: Service, space: str, number: int) -> int:
    """The version that a memory is at now."""
    return int(service.get(space_path(space, "memories", number)).json["memory"]["version"])


def _changed(service: Service, method: str, path: str, body: dict[str, Any]) -> Answer:
    """The answer to a change. A stale version is told together with the state of now."""
    try:
        return service.ask(method, path, body)
    except RefusedError as error:
        if error.status == CONFLICT and "current" in error.details:
            raise with_current(error) from error
        raise


def _shown(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        print_json(answer.text)
        return
    show_list([answer.json["memory"]])
    say_notes(answer.json)
