"""What every command knows: the options before its name, and with them the service that it asks."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated

import typer

from infra.cli.connection import found
from infra.cli.service import Service
from infra.cli.settings import CliSettings

_WANTS_JSON: ContextVar[bool] = ContextVar("wants_json", default=False)


def _note_json(wanted: bool) -> bool:
    _WANTS_JSON.set(wanted)
    return wanted


def wants_json() -> bool:
    """Whether this command was given --json: its refusal is printed as the service said it, too."""
    return _WANTS_JSON.get()


Json = Annotated[
    bool, typer.Option("--json", callback=_note_json, help="Print the service's answer unchanged, as JSON.")
]
"""The option of every command that answers something."""
Space = Annotated[
    str,
    typer.Option(help="personal, project:ID or community:PLATFORM:ID.", metavar="SPACE", show_default=True),
]
"""The option of every command that is about one space."""


@dataclass(frozen=True)
class Asked:
    """`--url` and `--insecure`, as they were said before the command."""

    url: str | None = None
    insecure: bool = False


def asked_of(context: typer.Context) -> Asked:
    """What was said before the command."""
    return context.find_object(Asked) or Asked()


def service_of(context: typer.Context) -> Service:
    """The service that this command asks. Raises CommandError, SettingsError."""
    asked = asked_of(context)
    return Service(found(CliSettings.from_environment(), asked.url, insecure=asked.insecure))
