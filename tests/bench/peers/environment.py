"""The virtual environment of a peer: made at first use from its pinned list, and anew when that list has changed."""

import hashlib
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
INSTALL_S = 540


class NotInstalledError(Exception):
    """The peer cannot be installed here; the message says what was tried and what came of it."""


def python_of(name: str) -> Path:
    """The Python of `.venv-<name>`, with all of `infra/requirements/<name>.txt`. Raises NotInstalledError."""
    folder = PROJECT / f".venv-{name}"
    wanted = PROJECT / "infra" / "requirements" / f"{name}.txt"
    python, stamp = folder / "bin" / "python", folder / ".stamp"
    mark = hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == mark:
        return python
    print(f"Installing {name} into {folder.name} (once) ...", flush=True)
    _run([sys.executable, "-m", "venv", "--clear", str(folder)])
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    _run([str(python), "-m", "pip", "install", *quiet, "--require-hashes", "-r", str(wanted)])
    stamp.write_text(mark)
    return python


def _run(command: list[str]) -> None:
    ended = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, timeout=INSTALL_S, check=False
    )
    if ended.returncode:
        raise NotInstalledError(f"$ {' '.join(command)}\n{ended.stdout}{ended.stderr}")
