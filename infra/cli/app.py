"""The command `palimpsest`: which commands there are, and how all of them end."""

import io
import sys
from typing import Annotated

import typer

from chalicelib import __version__
from chalicelib.settings import SettingsError
from infra.cli import doctor, memories, moving, signing_in, upkeep
from infra.cli.asked import Asked, url_option, wants_json
from infra.cli.failures import CommandError, ExitCode, RefusedError
from infra.cli.printing import print_json, say

app = typer.Typer(
    name="palimpsest",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def palimpsest(
    context: typer.Context,
    url: Annotated[
        str | None,
        url_option("URL of the service; else PALIMPSEST_CLI_URL, the login, or a `make run` here says it."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Send the key over plain HTTP to another machine.")
    ] = False,
    _shown: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """A long-term memory service for AI assistants."""
    context.obj = Asked(url, insecure)


COMMANDS = (signing_in, memories, doctor, upkeep, moving)
"""Modules of commands, in the order of `palimpsest --help`. Each has `register(app)`."""
for module in COMMANDS:
    module.register(app)


def run(arguments: list[str] | None = None) -> int:
    """Run the command; its exit code. Errors are told in plain words on standard error."""
    try:
        app(args=arguments, prog_name="palimpsest")
    except CommandError as error:
        if wants_json() and isinstance(error, RefusedError):
            print_json(error.text)
        say(str(error))
        return error.exit_code
    except SettingsError as error:
        say(str(error))
        return ExitCode.USAGE
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return ExitCode.DONE


def main() -> None:
    """Run the command of this process, and leave with its exit code. What the terminal has no letter for is shown as
    an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run())
