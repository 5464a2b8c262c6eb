"""`palimpsest login`, `logout`, `whoami`, `spaces`: which service, as whom, and what is open there."""

import json
import sys
from typing import Annotated, Any

import typer
from pydantic import SecretStr

from infra.cli.asked import Json, asked_of, service_of, url_option
from infra.cli.connection import Destination, refuse_plain_http
from infra.cli.failures import CommandError, RefusedError
from infra.cli.kept_login import KeptLogin, Login
from infra.cli.printing import print_json, say, show, table
from infra.cli.service import Answer, Service
from infra.cli.settings import CliSettings

UNAUTHENTICATED = 401


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("login")(login)
    app.command("logout")(logout)
    app.command("whoami")(whoami)
    app.command("spaces")(spaces)


def login(
    context: typer.Context,
    url: Annotated[
        str | None, url_option("URL of the service; else the one before `login`, or the last one.")
    ] = None,
    key_stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the key from standard input, one line.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Keep a service's URL and a key for it, after a look whether the key is good."""
    settings = CliSettings.from_environment()
    kept = KeptLogin(settings.config)
    asked = asked_of(context)
    where = _where(url or asked.url, settings, kept)
    if not asked.insecure:
        refuse_plain_http(where)
    key = SecretStr(_read_key(where, from_stdin=key_stdin))
    answer = _checked(Service(Destination(where, key, "the login")))
    me = answer.json
    told = f"Logged in to {where} as {me['account']['name']} ({_rights(me)}). Kept in {kept.file}"
    kept.write(Login(where, key))
    if as_json:
        print_json(answer.text)
        return
    say(told)


def logout(as_json: Json = False) -> None:
    """Forget the URL and the key. The key itself stays valid until it is revoked."""
    removed = KeptLogin(CliSettings.from_environment().config).remove()
    if as_json:
        print_json(json.dumps({"logged_out": removed}))
        return
    say("Logged out; the key itself stays valid." if removed else "There was no login.")


def whoami(context: typer.Context, as_json: Json = False) -> None:
    """Who the key belongs to, and what it may do."""
    service = service_of(context)
    answer = service.get("/v1/me")
    if as_json:
        print_json(answer.text)
        return
    me = answer.json
    show(f"{me['account']['name']} at {service.url} ({_rights(me)}); said by {service.connection.said_by}")


def spaces(context: typer.Context, as_json: Json = False) -> None:
    """The spaces that are open to you, with your rights there, and how many memories they hold."""
    pages = service_of(context).pages("/v1/spaces", {"limit": 200})
    if as_json:
        for page in pages:
            print_json(page.text)
        return
    rows = [_space_row(space) for page in pages for space in page.json["items"]]
    table(["space", "title", "rights", "active", "retired", "trashed"], rows, grows=1)


def _space_row(space: dict[str, Any]) -> list[object]:
    counts = space["counts"] or {}
    numbers = [counts.get(state, "?") for state in ("active", "retired", "trashed")]
    return [space["space"], space["title"], ", ".join(space["rights"]), *numbers]


def _where(url: str | None, settings: CliSettings, kept: KeptLogin) -> str:
    """The URL to log in to: as said, or the former login's. No file that is found in a folder says where a key that is
    typed goes."""
    url = url or settings.url
    if url is not None:
        return url
    former = kept.read()
    if former is None:
        raise CommandError("Which service? Run: palimpsest login --url URL")
    return former.url


def _read_key(where: str, *, from_stdin: bool) -> str:
    if not from_stdin and not sys.stdin.isatty():
        raise CommandError("Nobody can type a key here: use --key-stdin, or set PALIMPSEST_CLI_KEY.")
    typed = (
        sys.stdin.readline() if from_stdin else typer.prompt(f"Key for {where}", hide_input=True, err=True)
    )
    key = str(typed).strip()
    if not key or not key.isascii() or not key.isprintable():
        raise CommandError("That is no key: a key is one line of plain characters and begins with plm_.")
    return key


def _checked(service: Service) -> Answer:
    """Who the key belongs to. Raises CommandError when it is not good."""
    try:
        return service.get("/v1/me")
    except RefusedError as error:
        if error.status == UNAUTHENTICATED:
            raise CommandError(
                f"{service.url} does not take this key; nothing was kept. See that it was copied whole."
            ) from error
        raise


def _rights(me: dict[str, Any]) -> str:
    scopes = ", ".join(me["scopes"])
    return scopes if me["acts_as"] == "person" else f"{scopes}; as a {me['acts_as']}"
