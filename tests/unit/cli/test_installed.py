"""The set-up installs the command, and it works from any folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib import __version__

INSTALLED = Path(sys.executable).with_name("palimpsest")


@pytest.mark.parametrize("command", [[str(INSTALLED)], [sys.executable, "-m", "infra.cli"]])
def test_the_command_runs(command: list[str], tmp_path: Path) -> None:
    folder = tmp_path if command == [str(INSTALLED)] else None
    done = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, check=False, timeout=60, cwd=folder
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_can_complete_it(shell: str, tmp_path: Path) -> None:
    variables = {"_PALIMPSEST_COMPLETE": f"source_{shell}", "HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [str(INSTALLED)], capture_output=True, text=True, check=False, timeout=60, env=variables
    )
    assert "palimpsest" in done.stdout
