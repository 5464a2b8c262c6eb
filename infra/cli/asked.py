"""What every command knows: the options before its name, and with them the service that it asks."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from chalicelib.settings import Url
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


def _checked(url: str | None) -> str | None:
    """The URL of an option, by the rules of the settings."""
    try:
        return None if url is None else TypeAdapter(Url).validate_python(url)
    except ValidationError as error:
        told = error.errors(include_input=False)[0]["msg"].removeprefix("Value error, ")
        raise typer.BadParameter(told) from None


def url_option(told: str) -> Any:
    """The option `--url`; what it says is a URL that can be asked."""
    return typer.Option(help=told, callback=_checked)


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
