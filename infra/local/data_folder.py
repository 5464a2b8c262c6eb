"""The folder in which a laptop keeps everything: one process at a time, readable by its owner only.

lock                held while a process uses the folder
palimpsest.sqlite   memories, index, queue
key                 the owner's API key
run.json            {"url", "key", "pid"} of the process, while it runs
"""

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from chalicelib.errors import DataFolderError, StoreUnavailableError

ROOM = 64 * 1024
"""Bytes that must find room for the folder to count as writable: about one commit with its vectors."""


class DataFolder:
    """The folder, held by this process until `close`. Raises DataFolderError with a plain sentence."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise DataFolderError(f"{path} is not a folder. Name another data folder with PALIMPSEST_DATA.")
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock: IO[str] = (path / "lock").open("a+", encoding="utf-8")
        except OSError as error:
            raise DataFolderError(
                f"The data folder {path} cannot be used ({error.strerror}). Choose another one with "
                "PALIMPSEST_DATA, or make this one writable."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise DataFolderError(
                f"The data folder {path} is in use by another Palimpsest{self._other()}. Stop that one, or "
                "choose another folder with PALIMPSEST_DATA."
            ) from error
        self.withdraw()  # left by a process that was killed: nobody is there
        if (self.path / "key").exists() and not self._has_data():
            self._lock.close()
            raise DataFolderError(
                f"{self.database} is missing or empty, although this folder has been used. Restore it from a backup, "
                f"or remove {self.path / 'key'} to begin anew."
            )

    @property
    def database(self) -> Path:
        """The file of memories, index and queue."""
        return self.path / "palimpsest.sqlite"

    def read_key(self) -> str | None:
        """The key that was kept for the owner, if any. Raises DataFolderError when it cannot be read."""
        file = self.path / "key"
        try:
            return file.read_text(encoding="utf-8", errors="replace").strip() or None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataFolderError(
                f"{file} cannot be read ({error.strerror}). Make it readable for yourself, or remove it: "
                "then a new key is made."
            ) from error

    def keep_key(self, key: str) -> None:
        """Keep the owner's key for the next start."""
        self._write("key", key + "\n")

    def announce(self, running: Mapping[str, object]) -> None:
        """Say where the service runs (`run.json`), for scripts and the CLI."""
        self._write("run.json", json.dumps(running) + "\n")

    def withdraw(self) -> None:
        """Say that it runs no more."""
        with suppress(
            OSError
        ):  # a folder that became read-only meanwhile; what it says is checked by who reads it
            (self.path / "run.json").unlink(missing_ok=True)

    def check_room(self) -> None:
        """Raise StoreUnavailableError when nothing can be written here now."""
        probe = self.path / ".room"
        try:
            with probe.open("wb") as file:
                file.write(bytes(ROOM))
        except OSError as error:
            raise StoreUnavailableError("the data folder cannot be written") from error
        finally:
            with suppress(OSError):
                probe.unlink(missing_ok=True)

    def close(self) -> None:
        """Let others use the folder."""
        self.withdraw()
        self._lock.close()

    def _has_data(self) -> bool:
        """Whether the file of the database holds anything. A key is kept only after the first write to it, so an
        empty one was lost; SQLite would take it for a new one, and throw away its log."""
        try:
            return self.database.stat().st_size > 0
        except FileNotFoundError:
            return False

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all, and for the owner's eyes only from its first moment."""
        temporary = self.path / f".{name}.new"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / name)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise DataFolderError(
                f"{self.path / name} cannot be written ({error.strerror}). Free some space, or choose another "
                "folder with PALIMPSEST_DATA."
            ) from error

    def _other(self) -> str:
        try:
            running = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
            return f" ({running['url']}, process {running['pid']})"
        except (OSError, ValueError, KeyError, TypeError):
            return ""
