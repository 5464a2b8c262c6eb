"""`palimpsest export` and `palimpsest import`: a space's memories into a file, and into another installation."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from chalicelib.domain.clock import rfc3339
from infra.cli import export_file
from infra.cli.asked import Json, Space, service_of
from infra.cli.export_file import ExportFile
from infra.cli.failures import CommandError, PartlyError, RefusedError
from infra.cli.printing import print_json, progress, say, show, table
from infra.cli.service import Service, space_path

PAGE = 200
RECORDS = 500
BYTES = 1_500_000
"""Of records in one request; the service takes 6 MB, and a line of the file may be shorter than its JSON there."""

KINDS = {
    "category": "categories",
    "memory": "memories",
    "category_change": "changes",
    "memory_change": "changes",
}

Line = tuple[int, dict[str, Any]]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("export")(export)
    app.command("import")(import_file)


def export(
    context: typer.Context,
    to: Annotated[Path, typer.Option(help="The file to write; with --all a folder.")],
    space: Space = "personal",
    every: Annotated[bool, typer.Option("--all", help="Every space that you may export.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write all that a space holds into a file: memories in every state, their history, categories."""
    service = service_of(context)
    if every and space != "personal":
        raise typer.BadParameter("goes without --space", param_hint="--all")
    if not every:
        told = [_exported(service, space, to, overwrite=overwrite)]
    else:
        told = _export_all(service, to, overwrite=overwrite)
    if as_json:
        print_json(json.dumps({"items": told} if every else told[0], ensure_ascii=False))
        return
    for one in told:
        counts = one["counts"]
        show(
            f"{one['space']}: {counts['memories']:,} memories (marks of erased ones too), "
            f"{counts['categories']:,} categories and {counts['changes']:,} changes are in {one['file']}"
        )


def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="What `palimpsest export` wrote.", show_default=False)],
    space: Annotated[
        str | None, typer.Option(help="Where to; else the space that the file names.", metavar="SPACE")
    ] = None,
    as_json: Json = False,
) -> None:
    """Take in a file of `palimpsest export`. Run it again after an interruption: what is there is passed over."""
    service = service_of(context)
    with export_file.opened(file) as read:
        target = space or str(read.header.get("space"))
        written, there = _import(service, read, target)
    told = {
        "file": str(file),
        "space": target,
        "export": read.space.get("export"),
        "written": dict(written),
        "there": dict(there),
    }
    if as_json:
        print_json(json.dumps(told, ensure_ascii=False))
        return
    rows = [(kind, written[kind], there[kind]) for kind in ("memories", "categories", "changes")]
    table(("", "written", "there already"), rows)
    show(f"All of {file} is in {target}. The index follows by itself.")


# ---------------------------------------------------------------------------- out


def _export_all(service: Service, folder: Path, *, overwrite: bool) -> list[dict[str, Any]]:
    """Each space into a file of its own. Raises PartlyError when not all could be exported."""
    spaces = [item for page in service.pages("/v1/spaces", {"limit": PAGE}) for item in page.json["items"]]
    names = [one["space"] for one in spaces if one["kind"] == "personal" or _may_order(one["rights"])]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{folder} cannot be made ({error.strerror}).") from error
    done: list[dict[str, Any]] = []
    failed: list[str] = []
    for name in names:
        target = folder / f"{name.replace(':', '-')}.jsonl"
        try:
            done.append(_exported(service, name, target, overwrite=overwrite))
        except CommandError as error:
            failed.append(name)
            say(f"{name}: {error}")
    if failed:
        told = ", ".join(one["space"] for one in done) or "none"
        raise PartlyError(f"Not exported: {', '.join(failed)}. Exported: {told}.")
    return done


def _may_order(rights: list[str]) -> bool:
    return {"read", "configure"} <= set(rights)


def _exported(service: Service, space: str, target: Path, *, overwrite: bool) -> dict[str, Any]:
    version = service.ask("GET", "/v1/health", public=True).json["version"]
    pages = service.pages(space_path(space, "export"), {"limit": PAGE})
    counts = dict.fromkeys(KINDS.values(), 0)
    whole: Mapping[str, Any] = {}
    highest = 0
    with (
        export_file.written(target, overwrite=overwrite) as file,
        progress(f"Exporting {space}", None) as bar,
    ):
        for record in (record for page in pages for record in page.json["items"]):
            if not whole:
                whole = record
                bar.update(bar.task_ids[0], total=record["last_number"])
                file.header(_told(space, version, record))
                file.record(record)
                continue
            file.record(record)
            number = record.get("number", highest + 1)
            counts[KINDS[record["record"]]] += number > highest  # lower ones are told again
            if record["record"] == "memory":
                highest = max(highest, number)
                bar.update(bar.task_ids[0], completed=highest)
        file.trailer()
    about = {"file": str(target), "space": space, "export": whole["export"], "as_of": whole["as_of"]}
    return {**about, "counts": counts}


def _told(space: str, version: str, record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "space": space,
        "service": version,
        "export": record["export"],
        "as_of": record["as_of"],
        "written_at": rfc3339(datetime.now(UTC)),
    }


# ---------------------------------------------------------------------------- in


def _import(service: Service, read: ExportFile, space: str) -> tuple[Counter[str], Counter[str]]:
    """How many of each kind were written, and were there already. Raises PartlyError after the first page that was
    taken in, else whatever refused it."""
    written: Counter[str] = Counter()
    there: Counter[str] = Counter()
    taken = 0
    page: list[Line] = []
    with progress(f"Importing into {space}", read.count) as bar:
        try:
            for page in _pages(read):
                for answer, count in _sent(service, space, read.space, page):
                    written.update(answer["written"])
                    there.update(answer["there"])
                    taken += count
                    bar.advance(bar.task_ids[0], count)
        except CommandError as error:
            _ended(error, page, taken, read)
    return written, there


def _pages(read: ExportFile) -> Iterator[list[Line]]:
    """The records, as many as one request takes; one empty page when there are none, which tells of the space."""
    page: list[Line] = []
    size = 0
    for number, record, weight in read.items():
        if page and (len(page) == RECORDS or size + weight > BYTES):
            yield page
            page, size = [], 0
        page.append((number, record))
        size += weight
    yield page


def _sent(
    service: Service, space: str, whole: Mapping[str, Any], page: list[Line]
) -> Iterator[tuple[dict[str, Any], int]]:
    """The answers to a page, which is sent in halves when it is too large for the service."""
    body = {"space": whole, "items": [record for _, record in page]}
    try:
        answer = service.ask("POST", space_path(space, "import"), body)
    except RefusedError as error:
        if error.status != 413 or len(page) < 2:
            raise
        half = len(page) // 2
        yield from _sent(service, space, whole, page[:half])
        yield from _sent(service, space, whole, page[half:])
    else:
        yield answer.json, len(page)


def _ended(error: CommandError, page: list[Line], taken: int, read: ExportFile) -> None:
    """Say in which lines it ended, and how much of the file was taken in."""
    place = f"lines {page[0][0]} to {page[-1][0]} of {read.path}" if page else str(read.path)
    fields = error.details.get("fields", []) if isinstance(error, RefusedError) else []
    for one in fields:
        if (told := _field(one, page)) is not None:
            say(told)
    if not taken:
        raise error
    raise PartlyError(
        f"{taken:,} of {read.count:,} records are taken in; then, at {place}: {error} "
        "Run the same command again when that is mended: what is there already is passed over."
    ) from error


def _field(one: Mapping[str, str], page: list[Line]) -> str | None:
    """A wrong field of a record, by the line of the file."""
    name, place, *rest = [*one["field"].split("."), "", ""]
    if name == "items" and place.isdigit() and int(place) < len(page):
        return f"line {page[int(place)][0]}: {'.'.join(part for part in rest if part)}: {one['message']}"
    return None
