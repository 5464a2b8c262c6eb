"""The login that is kept: which service, and the key. One file, for its owner's eyes only, written whole or not at all."""

import json
import os
import stat
from contextlib import suppress
from pathlib import Path

import typer
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from chalicelib.settings import Secret, Url
from infra.cli.failures import CommandError

APP = "palimpsest"
OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, config=ConfigDict(hide_input_in_errors=True))
class Login:
    """A service, and the key for it. Raises ValueError, which holds neither, when one of them is none."""

    url: Url
    key: Secret


class KeptLogin:
    """`login.json` in `folder`; without one, in the user's configuration folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.file = (folder or Path(typer.get_app_dir(APP))) / "login.json"

    def read(self) -> Login | None:
        """The login, if there is one. Raises CommandError when the file cannot be used, or others can read it."""
        try:
            if self.file.stat().st_mode & OTHERS:
                raise CommandError(f"{self.file} can be read by others. Run: chmod 600 {self.file}")
            kept = json.loads(self.file.read_text(encoding="utf-8"))
            return Login(kept["url"], kept["key"])
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CommandError(f"{self.file} cannot be read ({error.strerror}).") from error
        except (ValueError, KeyError, TypeError, RecursionError):
            # `from None`: what could not be read may be the key
            raise CommandError(f"{self.file} is damaged. Run: palimpsest login --url URL") from None

    def write(self, login: Login) -> None:
        """Keep it in the place of any other. Raises CommandError."""
        text = json.dumps({"url": login.url, "key": login.key.get_secret_value()}) + "\n"
        temporary = self.file.with_name(f".login.json.{os.getpid()}")
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.file)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise CommandError(f"{self.file} cannot be written ({error.strerror}).") from error

    def remove(self) -> bool:
        """Forget it; whether there was one. Raises CommandError."""
        try:
            self.file.unlink()
            return True
        except FileNotFoundError:
            return False
        except OSError as error:
            raise CommandError(f"{self.file} cannot be removed ({error.strerror}).") from error
