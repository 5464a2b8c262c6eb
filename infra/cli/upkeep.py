"""`palimpsest reindex`, `index rebuild`: what mends an index."""

import json
import time
from typing import Annotated, Any

import typer

from infra.cli import direct
from infra.cli.asked import Json, Space, service_of
from infra.cli.failures import CommandError
from infra.cli.printing import print_json, progress, say
from infra.cli.service import Answer, Service, space_path

LOOK_EVERY_S = 0.5


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("reindex")(reindex)
    group = typer.Typer(no_args_is_help=True, help="The search index.", rich_markup_mode=None)
    group.command("rebuild")(rebuild)

    @group.callback()
    def index() -> None:
        """The search index."""

    app.add_typer(group, name="index")


def reindex(
    context: typer.Context,
    space: Space = "personal",
    every: Annotated[
        bool, typer.Option("--all", help="In every space that needs it; for admins. Does not wait.")
    ] = False,
    wait: Annotated[bool, typer.Option(help="Wait until it is done.")] = True,
    as_json: Json = False,
) -> None:
    """Make the vectors of the embedding model in use, after it was changed."""
    service = service_of(context)
    body = {"kind": "reindex", **({"all": True} if every else {})}
    answer = service.ask("POST", space_path(space, "jobs"), body)
    if wait and not every:
        answer = _finished(service, space, answer)
    if as_json:
        print_json(answer.text)
    if every:
        if not as_json:
            say(f"Started in {answer.json['started']} spaces.")
        return
    _told(answer.json["job"], quiet=as_json)


def _finished(service: Service, space: str, answer: Answer) -> Answer:
    """The job's last state."""
    path = space_path(space, "jobs", answer.json["job"]["id"])
    with progress("Reindexing", answer.json["job"]["total"]) as bar:
        while answer.json["job"]["state"] in {"queued", "running"}:
            time.sleep(LOOK_EVERY_S)
            answer = service.get(path)
            job = answer.json["job"]
            bar.update(bar.task_ids[0], completed=job["done"], total=job["total"])
    return answer


def _told(job: dict[str, Any], *, quiet: bool) -> None:
    """Raises CommandError when it failed."""
    if job["state"] == "failed":
        raise CommandError(f"The job {job['id']} failed: {job['error']}")
    if not quiet:
        say(f"The job {job['id']} is {job['state']}: {job['done']} memories.")


def rebuild(as_json: Json = False) -> None:
    """Build the whole index anew from the table, while the old one goes on answering.

    Works on the parts themselves, which the settings in the environment name (PALIMPSEST_STORE and others), or on the
    data folder that is here. A running `make run` builds a missing index by itself.
    """
    with direct.opened() as services:
        embedder, index = services.parts.embedder, services.parts.index
        if embedder is not None:
            held = index.inspect().dimensions.get(embedder.model.fingerprint, embedder.model.dimension)
            if held != embedder.model.dimension:  # a new one would take over what is wrong
                index.drop()
        count = services.rebuild.rebuild()
    if as_json:
        print_json(json.dumps({"memories": count}))
        return
    say(f"The index is built anew: {count} memories.")
