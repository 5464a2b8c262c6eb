"""The set-up installs the command, and it works from any folder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib import __version__
from tests.fakes.client import Client
from tests.fakes.terminal import served
from tests.fakes.world import World

INSTALLED = Path(sys.executable).with_name("palimpsest")


@pytest.mark.parametrize("command", [[str(INSTALLED)], [sys.executable, "-m", "infra.cli"]])
def test_the_command_runs(command: list[str], tmp_path: Path) -> None:
    folder = tmp_path if command == [str(INSTALLED)] else None
    done = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, check=False, timeout=60, cwd=folder
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


def test_a_terminal_without_letters_shows_what_it_can(tmp_path: Path) -> None:
    world = World(admin=True)
    client = Client(world)
    client.post("/v1/spaces/personal/memories", {"text": "Žluťoučký 🦊", "category": None})
    with served(world) as url:
        variables = {
            "HOME": str(tmp_path),
            "PATH": "",
            "PYTHONIOENCODING": "ascii",
            "PALIMPSEST_CLI_URL": url,
            "PALIMPSEST_CLI_KEY": client.key,
        }
        shown, as_json = (
            subprocess.run(
                [str(INSTALLED), "memories", "list", *option],
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
                env=variables,
            )
            for option in ([], ["--json"])
        )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "lu\\u0165ou" in shown.stdout
    assert json.loads(as_json.stdout)["items"][0]["text"] == "Žluťoučký 🦊"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_can_complete_it(shell: str, tmp_path: Path) -> None:
    variables = {"_PALIMPSEST_COMPLETE": f"source_{shell}", "HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(
        [str(INSTALLED)], capture_output=True, text=True, check=False, timeout=60, env=variables
    )
    assert "palimpsest" in done.stdout
