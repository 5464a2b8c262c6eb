"""`palimpsest memories add`: one memory, or many from a file or from standard input.

Many go in batches, each under an Idempotency-Key that is made of what is in it. So the same command, given again after
a lost connection or a full stop, stores what is missing and nothing twice.
"""

import hashlib
import json
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from infra.cli.asked import Json, Space, service_of
from infra.cli.failures import (
    CommandError,
    InterruptedCommandError,
    PartlyError,
    RefusedError,
    UnreachableError,
)
from infra.cli.memories import fields
from infra.cli.memories.lines import Line, Lines, read_lines
from infra.cli.memories.rendering import say_degraded, say_notes, show_list
from infra.cli.printing import print_json, progress, said_after, say
from infra.cli.service import Answer, Service, new_key, space_path

BATCH = 100
BATCH_BYTES = 2 * 1024 * 1024
"""A request takes 6 MB, and must be worked off within 29 s."""
SHOWN = 20
"""Numbers that one sentence names."""
GONE = 404
"""An adding is answered so when it was done before and its memory was erased since."""


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command("add")(add)


def add(
    context: typer.Context,
    text: Annotated[
        str | None, typer.Argument(help="What is to be remembered; - reads many from standard input.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Read many from this file.", exists=True, dir_okay=False)
    ] = None,
    lines: Annotated[
        Lines | None,
        typer.Option("--lines", help="What a line is: text or json; json for a file that ends in .jsonl."),
    ] = None,
    space: Space = "personal",
    kind: fields.Kind = None,
    importance: fields.Importance = None,
    category: fields.Category = None,
    uncategorised: Annotated[
        bool, typer.Option("--uncategorised", help="In no category: models are not given it.")
    ] = False,
    subject: fields.Subject = None,
    key: fields.Key = None,
    confidence: fields.Confidence = None,
    valid_from: fields.ValidFrom = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Store many once more that were stored from the same lines before."),
    ] = False,
    idempotency_key: Annotated[
        str | None, typer.Option(help="For one memory: a repeat with the same key stores nothing twice.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Store a memory, or many: one a line, from a file or from standard input."""
    _check(text, file, idempotency_key, category if uncategorised else None)
    said = fields.said(
        kind=kind,
        importance=importance,
        category=category,
        subject=subject,
        key=key,
        confidence=confidence,
        valid_from=valid_from,
    )
    if uncategorised:
        said["category"] = None
    service = service_of(context)
    if file is None and text != "-":
        return _add_one(service, space, {"text": text, **said}, idempotency_key, as_json=as_json)
    many = _Many(service, space, as_json=as_json, salt=uuid.uuid4().hex if again else "")
    return many.add(read_lines(_content(file), _form(lines, file), said))


def _content(file: Path | None) -> bytes:
    return sys.stdin.buffer.read() if file is None else file.read_bytes()


def _check(text: str | None, file: Path | None, key: str | None, excluded: str | None) -> None:
    """Raise BadParameter for options that do not go together."""
    if excluded is not None:
        raise typer.BadParameter("--category and --uncategorised exclude each other.")
    if (file is None) == (text is None):
        raise typer.BadParameter("Say one of: a text, - (standard input), --file.")
    if key is not None and (file is not None or text == "-"):
        raise typer.BadParameter("--idempotency-key is for one memory; many have their own.")


def _form(lines: Lines | None, file: Path | None) -> Lines:
    if lines is not None:
        return lines
    return "json" if file is not None and file.suffix in {".jsonl", ".ndjson"} else "text"


def _add_one(
    service: Service, space: str, draft: Mapping[str, Any], key: str | None, *, as_json: bool
) -> None:
    repeated = key is not None
    key = key or new_key()
    try:
        answer = service.ask("POST", space_path(space, "memories"), draft, key=key)
    except UnreachableError as error:
        if error.may_be_done:
            raise UnreachableError(
                f"{error} Give the command again with --idempotency-key {key}: it is stored once.",
                may_be_done=True,
            ) from error
        raise
    except KeyboardInterrupt:
        told = f"Interrupted: it may be stored. Give the command again with --idempotency-key {key}: it is stored once."
        raise InterruptedCommandError(told) from None
    memory = answer.json["memory"]
    if as_json:
        print_json(answer.text)
    else:
        show_list([memory])
        say_notes(answer.json)
    if repeated and answer.told_before(memory["recorded_at"]):
        number = memory["number"]
        say(f"#{number} was stored before, with the same key.")
        for state in _not_active(service, space, {number}).values():
            raise PartlyError(f"#{number} is {state} now: palimpsest memories restore {number}")


def _not_active(service: Service, space: str, numbers: set[int]) -> dict[int, str]:
    """The state of those of `numbers` that are not active: what is answered to a repeat is how they were at first."""
    path = space_path(space, "memories")
    try:
        if len(numbers) == 1:
            memories = [service.get(f"{path}/{min(numbers)}").json["memory"]]
        else:
            memories = [
                one
                for state in ("trashed", "retired")
                for page in service.pages(path, {"state": state, "limit": 200})
                for one in page.json["items"]
            ]
    except (RefusedError, UnreachableError) as error:
        say(f"Whether what was stored before is still active could not be read: {error}")
        return {}
    return {
        one["number"]: one["state"]
        for one in memories
        if one["number"] in numbers and one["state"] != "active"
    }


@dataclass
class _Many:
    """Adding of many, and what became of them so far."""

    service: Service
    space: str
    as_json: bool
    salt: str
    stored: list[int] = field(default_factory=list)
    before: set[int] = field(default_factory=set)
    rejected: int = 0
    similar: int = 0
    degraded: set[str] = field(default_factory=set)

    def add(self, lines: Sequence[Line]) -> None:
        """Store them all. Raises CommandError when none, PartlyError when some were stored and others not."""
        if not lines:
            raise CommandError("There is nothing to store.")
        with said_after() as notes, progress("Storing", len(lines)) as bar:
            for place, batch in enumerate(batches(lines)):
                try:
                    answer = self._send(place, batch, lines)
                    items = _items(answer, len(batch))
                    if self.as_json:
                        print_json(answer.text)
                    notes.extend(self._notes(batch, items, answer))
                except KeyboardInterrupt:
                    told = self._so_far(batch, lines, "it was interrupted")
                    raise InterruptedCommandError(f"{told}. {self._advice(batch)}") from None
                bar.advance(bar.task_ids[0], len(batch))
        self._tell(len(lines))

    def _so_far(self, batch: Sequence[Line], lines: Sequence[Line], ended: str) -> str:
        return f"{len(self.stored)} of {len(lines)} are stored; {ended} at line {batch[0].number}"

    def _advice(self, batch: Sequence[Line]) -> str:
        if self.salt:
            return f"Go on from line {batch[0].number}; some of the {len(batch)} from there may be stored."
        return "Give the same command again: what was stored is not stored twice."

    def _send(self, place: int, batch: Sequence[Line], lines: Sequence[Line]) -> Answer:
        items = [line.draft for line in batch]
        try:
            return self.service.ask(
                "POST",
                space_path(self.space, "memories", "batch"),
                {"items": items},
                key=batch_key(self.space, place, items, self.salt),
            )
        except (UnreachableError, RefusedError) as error:
            if isinstance(error, RefusedError) and not self.stored:
                raise
            told = f"{self._so_far(batch, lines, 'it ended')}: {error} {self._advice(batch)}"
            if isinstance(error, UnreachableError):
                raise UnreachableError(told, may_be_done=error.may_be_done) from error
            raise PartlyError(told) from error

    def _notes(
        self, batch: Sequence[Line], items: Sequence[Mapping[str, Any]], answer: Answer
    ) -> Iterator[str]:
        """Count what became of each line; what is to be said of it."""
        for line, item in zip(batch, items, strict=True):
            if item["status"] >= 400:
                self.rejected += 1
                yield f"line {line.number} {_why_not(item)}"
                continue
            memory = item["memory"]
            number = memory["number"]
            self.stored.append(number)
            if answer.told_before(memory["recorded_at"]):
                self.before.add(number)
            if item.get("similar"):
                self.similar += 1
            if item.get("warning") == "secret":
                yield f"line {line.number} (#{number}) looks like a credential."
            if item.get("recallable") is False:
                yield f"line {line.number} (#{number}) is not given to models: {item.get('why_not_recallable')}."
            if item.get("degraded"):
                self.degraded.add(item["degraded"])

    def _tell(self, total: int) -> None:
        numbers = f" (#{min(self.stored)} to #{max(self.stored)})" if self.stored else ""
        told = f"{len(self.stored)} of {total} are stored{numbers}."
        if self.similar:
            told += f" {self.similar} of them say much the same as others do."
        for code in sorted(self.degraded):
            say_degraded(code)
        inactive = _not_active(self.service, self.space, self.before) if self.before else {}
        if self.before:
            told += f" {len(self.before)} of them were stored before, from the same lines: --again stores them once more."
        if inactive:
            states = ", ".join(f"#{number} is {state}" for number, state in sorted(inactive.items())[:SHOWN])
            more = f" and {len(inactive) - SHOWN} more" if len(inactive) > SHOWN else ""
            told += f" {len(inactive)} of those are not active any more ({states}{more}): palimpsest memories restore NUMBER"
        if inactive or (self.rejected and self.stored):
            raise PartlyError(told)
        if self.rejected:
            raise CommandError(told)
        say(told)


def _items(answer: Answer, count: int) -> list[Mapping[str, Any]]:
    """What became of each line of a batch. Raises UnreachableError when that is no answer to it."""
    items: list[Mapping[str, Any]] = answer.json["items"]
    if len(items) != count:
        raise UnreachableError(
            f"The service told of {len(items)} lines, and was sent {count}.", may_be_done=True
        )
    return items


def _why_not(item: Mapping[str, Any]) -> str:
    if item["status"] == GONE:
        return "was stored before, and is erased since: --again stores it once more."
    return f"was not stored: {item['error']['message']}"


def batches(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines in groups that a request takes, always the same for the same lines."""
    made: list[list[Line]] = []
    size = 0
    for line in lines:
        if not made or len(made[-1]) == BATCH or size + line.size > BATCH_BYTES:
            made.append([])
            size = 0
        made[-1].append(line)
        size += line.size
    return made


def batch_key(space: str, place: int, items: Sequence[Mapping[str, Any]], salt: str) -> str:
    """The Idempotency-Key of the batch at this place: the same for the same lines."""
    told = json.dumps([space, place, items, salt], sort_keys=True)
    return f"cli-batch-{hashlib.sha256(told.encode()).hexdigest()}"
