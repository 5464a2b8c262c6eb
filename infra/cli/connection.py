"""Where the service is, and with which key it is asked.

In this order: the option --url and the environment (PALIMPSEST_CLI_URL, PALIMPSEST_CLI_KEY), the login, and a `make
run` of the current folder, which says so in `run.json`. A key that was kept goes to the service that it was kept for,
and to no other; a service that only `run.json` names gets no key but the one that is told there.

Whoever can write a folder could plant a `run.json`, so it is believed only when nobody but this user could have, and
only of a service on this machine.
"""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr
from urllib3.util import parse_url

from chalicelib.settings import is_loopback as is_own_host
from infra.cli.failures import CommandError, NotTrustedError
from infra.cli.kept_login import OTHERS, KeptLogin, Login
from infra.cli.settings import CliSettings

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

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
    if parse_url(url).scheme != "https" and not is_loopback(url):
        raise CommandError(
            f"{url} is plain HTTP to another machine: the key could be read on its way, so it was not sent. "
            "Use https://, or say --insecure."
        )


def is_loopback(url: str) -> bool:
    """Whether `url` is on this machine, as the library reads it that connects."""
    return is_own_host((parse_url(url).host or "").strip("[]"))


def _chosen(settings: CliSettings, url: str | None) -> Destination | None:
    if url is not None and settings.key is not None:
        return Destination(url, settings.key, "the environment")
    login = KeptLogin(settings.config).read()
    if login is not None and url in {None, login.url}:
        said_by = "the login, with the environment's key" if settings.key else "the login"
        return Destination(login.url, settings.key or login.key, said_by)
    running = running_here(settings.data)
    if running is not None and url in {None, running.url}:
        return Destination(running.url, running.key, "run.json")
    return Destination(url, None, "the option") if url is not None else None


def running_here(data: Path) -> Login | None:
    """What a `make run` with this data folder says of itself, if it runs, and on this machine. Raises NotTrustedError
    when others could have said it."""
    try:
        said = json.loads(_own_text(data))
        if type(said["pid"]) is not int or said["pid"] < 1:  # 0 and below are whole groups of processes
            return None
        os.kill(said["pid"], 0)
        running = Login(said["url"], said["key"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return running if is_loopback(running.url) else None


def _own_text(data: Path) -> str:
    """The text of `run.json`. Raises OSError, ValueError; NotTrustedError when it is not only this user's."""
    descriptor = os.open(data / "run.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, encoding="utf-8") as file:
        for path, seen, forbidden in (
            (data / "run.json", os.fstat(descriptor), OTHERS),
            (data, data.stat(), OTHERS_WRITE),
        ):
            if seen.st_uid != os.geteuid():
                raise NotTrustedError(f"{path} belongs to somebody else, so it is not believed.", "make run")
            if seen.st_mode & forbidden:
                raise NotTrustedError(
                    f"{path} is open to others, so it is not believed.", f"chmod go= {path}"
                )
        return file.read()
