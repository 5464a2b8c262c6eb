"""`palimpsest memories delete`, `restore`, `erase`, `undo`: from one state to another, one memory or many."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from infra.cli.asked import Json, Space, service_of
from infra.cli.failures import CommandError, InterruptedCommandError, PartlyError, UnreachableError
from infra.cli.memories import fields
from infra.cli.memories.rendering import say_notes, show_list
from infra.cli.printing import print_json, progress, said_after, say
from infra.cli.service import Service, space_path

Operation = Literal["delete", "restore", "erase"]
AT_ONCE = 100


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("delete")(delete)
    group.command("restore")(restore)
    group.command("erase")(erase)
    group.command("undo")(undo)


def delete(
    context: typer.Context, numbers: fields.Numbers, space: Space = "personal", as_json: Json = False
) -> None:
    """Move memories to the trash, from where `restore` brings them back."""
    _change(service_of(context), space, "delete", numbers, as_json=as_json)


def restore(
    context: typer.Context, numbers: fields.Numbers, space: Space = "personal", as_json: Json = False
) -> None:
    """Make trashed or retired memories active again."""
    _change(service_of(context), space, "restore", numbers, as_json=as_json)


def erase(
    context: typer.Context,
    numbers: fields.Numbers,
    space: Space = "personal",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove memories for good, their texts everywhere. This cannot be undone."""
    service = service_of(context)
    if not yes:
        for number in numbers:
            memory = service.get(space_path(space, "memories", number)).json["memory"]
            say(f"#{number} {memory['text']}")
        typer.confirm("Erase for good? This cannot be undone.", abort=True, err=True)
    _change(service, space, "erase", numbers, as_json=as_json)


def undo(
    context: typer.Context,
    change: Annotated[
        str, typer.Argument(help="The change's id, <number>-<version>, as `history` lists it.", metavar="ID")
    ],
    space: Space = "personal",
    as_json: Json = False,
) -> None:
    """Take one change back; a merge is taken back whole."""
    answer = service_of(context).ask("POST", space_path(space, "changes", change, "undo"))
    if as_json:
        print_json(answer.text)
        return
    if answer.json["memories"]:
        show_list(answer.json["memories"])
    for category in answer.json["categories"]:
        say(f"category {category['name']}{' (deleted)' if category['deleted'] else ''}")
    say(f"Undone: {answer.json['undone']}")


def _change(
    service: Service, space: str, operation: Operation, numbers: Sequence[int], *, as_json: bool
) -> None:
    """One operation on each. A single one is asked for by itself, so its answer is that of its route."""
    numbers = list(dict.fromkeys(numbers))
    if len(numbers) > 1:
        _change_many(service, space, operation, numbers, as_json=as_json)
        return
    path = space_path(space, "memories", numbers[0])
    if operation == "delete":
        answer = service.ask("DELETE", path)
    else:
        answer = service.ask("POST", f"{path}/{operation}", {})
    if as_json:
        print_json(answer.text)
        return
    _tell(answer.json)
    say_notes(answer.json)


def _tell(answer: Mapping[str, Any]) -> None:
    if "erased" in answer:
        say(f"#{answer['erased']['number']} is erased.")
    else:
        show_list([answer["memory"]])


def _change_many(
    service: Service, space: str, operation: Operation, numbers: Sequence[int], *, as_json: bool
) -> None:
    """In groups. Raises CommandError when none, PartlyError when some were changed and others not."""
    done = 0
    with said_after() as notes, progress(f"To {operation}", len(numbers)) as bar:
        for start in range(0, len(numbers), AT_ONCE):
            some = numbers[start : start + AT_ONCE]
            body = {"op": operation, "numbers": some}
            try:
                answer = service.ask("POST", space_path(space, "memories", "bulk"), body)
            except UnreachableError as error:
                told = f"{done} of {len(numbers)} are done; it ended at #{some[0]}: {error}"
                raise UnreachableError(told, may_be_done=error.may_be_done) from error
            except KeyboardInterrupt:
                told = (
                    f"{done} of {len(numbers)} are done; it was interrupted at #{some[0]}. "
                    "The same command may be given again."
                )
                raise InterruptedCommandError(told) from None
            bar.advance(bar.task_ids[0], len(some))
            if as_json:
                print_json(answer.text)
            notes.extend(_outcomes(answer.json["items"]))
            done += sum("error" not in item for item in answer.json["items"])
    told = f"{done} of {len(numbers)} are done ({operation})."
    if done == len(numbers):
        say(told)
        return
    raise PartlyError(told) if done else CommandError(told)


def _outcomes(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is to be said of each."""
    for item in items:
        number = item["number"]
        if "error" in item:
            yield f"#{number} was left as it is: {item['error']['message']}"
        elif item.get("notice"):
            yield f"#{number}: {item['notice']}"
