"""The folder in which a laptop keeps everything: one process at a time, readable by its owner only."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from chalicelib.errors import DataFolderError


class DataFolder:
    """The folder, held by this process until `close`. Raises DataFolderError with a plain sentence."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock: IO[str] = (path / "lock").open("a+", encoding="utf-8")
        except OSError as error:
            raise DataFolderError(
                f"The data folder {path} cannot be used ({error.strerror}). Choose another one with PALIMPSEST_DATA, "
                "or make this one writable."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise DataFolderError(
                f"The data folder {path} is in use by another Palimpsest{self._other()}. Stop that one, or choose "
                "another folder with PALIMPSEST_DATA."
            ) from error

    @property
    def database(self) -> Path:
        """The file of memories, index and queue."""
        return self.path / "palimpsest.sqlite"

    def read_key(self) -> str | None:
        """The key that was kept for the owner, if any."""
        try:
            return (self.path / "key").read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def keep_key(self, key: str) -> None:
        """Keep the owner's key for the next start."""
        self._write("key", key + "\n")

    def announce(self, running: Mapping[str, object]) -> None:
        """Say where the service runs (`run.json`), for scripts and the CLI."""
        self._write("run.json", json.dumps(running) + "\n")

    def close(self) -> None:
        """Take `run.json` away and let others use the folder."""
        (self.path / "run.json").unlink(missing_ok=True)
        self._lock.close()

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all, and for the owner's eyes only from its first moment."""
        temporary = self.path / f".{name}.new"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path / name)
        except OSError as error:
            raise DataFolderError(
                f"{self.path / name} cannot be written ({error.strerror}). Free some space, or choose another folder "
                "with PALIMPSEST_DATA."
            ) from error

    def _other(self) -> str:
        try:
            running = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
            return f" ({running['url']}, process {running['pid']})"
        except (OSError, ValueError, KeyError, TypeError):
            return ""
