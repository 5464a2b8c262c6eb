"""Where the service is, and with which key it is asked.

In this order: the option --url and the environment (PALIMPSEST_CLI_URL, PALIMPSEST_CLI_KEY), the login, and a `make
run` of the current folder, which says so in `run.json`. A key that was kept goes to the service that it was kept for,
and to no other.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from chalicelib.settings import is_loopback as is_own_host
from infra.cli.failures import CommandError
from infra.cli.kept_login import KeptLogin, Login
from infra.cli.settings import CliSettings

NOBODY = (
    "No service is known. Run: palimpsest login --url URL (or start one in this folder with: make run; or set "
    "PALIMPSEST_CLI_URL and PALIMPSEST_CLI_KEY)."
)


@dataclass(frozen=True)
class Destination:
    """A service, the key for it (None: there is none), and who said so."""

    url: str
    key: SecretStr | None
    said_by: str


def found(settings: CliSettings, url: str | None = None, *, insecure: bool = False) -> Destination:
    """The connection of this command. `url`: as the option says it. Raises CommandError when none is known, or when the
    key would go over plain HTTP to another machine and nobody said that it may (`insecure`)."""
    chosen = _chosen(settings, url or settings.url)
    if chosen is None:
        raise CommandError(NOBODY)
    if chosen.key is not None and not insecure:
        refuse_plain_http(chosen.url)
    return chosen


def refuse_plain_http(url: str) -> None:
    """Raise CommandError when what is sent to `url` could be read on its way."""
    if urlsplit(url).scheme != "https" and not is_loopback(url):
        raise CommandError(
            f"{url} is plain HTTP to another machine: the key could be read on its way, so it was not sent. "
            "Use https://, or say --insecure."
        )


def is_loopback(url: str) -> bool:
    """Whether `url` is on this machine."""
    return is_own_host(urlsplit(url).hostname or "")


def _chosen(settings: CliSettings, url: str | None) -> Destination | None:
    login = KeptLogin(settings.config).read()
    if settings.key is None and login is not None and url in {None, login.url}:
        return Destination(login.url, login.key, "the login")
    running = running_here(settings.data)
    if url is not None:
        kept = running.key if running is not None and running.url == url else None
        return Destination(url, settings.key or kept, "the environment" if settings.key else "run.json")
    if login is not None:
        return Destination(login.url, settings.key, "the environment")
    if running is not None and is_loopback(running.url):
        return Destination(running.url, settings.key or running.key, "run.json")
    return None


def running_here(data: Path) -> Login | None:
    """What a `make run` with this data folder says of itself, if it runs."""
    try:
        said = json.loads((data / "run.json").read_text(encoding="utf-8"))
        os.kill(int(said["pid"]), 0)
        return Login(str(said["url"]).rstrip("/"), SecretStr(str(said["key"])))
    except PermissionError:
        return None
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return None
