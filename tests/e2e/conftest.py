"""Whole services, each a process of its own."""

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.e2e.laptop import Laptop, laptop

MakeLaptop = Callable[..., Laptop]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeLaptop]:
    """Makes laptops (not started); the same `name` is the same data folder."""
    with ExitStack() as stack:

        def one(name: str = "here", *, before: Sequence[str] = (), **settings: str) -> Laptop:
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            return stack.enter_context(laptop(folder, before=before, **settings))

        yield one


@pytest.fixture
def own_disk(tmp_path: Path) -> Callable[[str], list[str]]:
    """What runs a process whose data folder is a disk of its own, mounted with these options."""
    as_whom = ["-m"] if os.getuid() == 0 else ["-U", "-r", "-m"]
    try:
        subprocess.run(["unshare", *as_whom, "true"], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine lets nobody mount a disk")

    def command(options: str) -> list[str]:
        data = tmp_path / "here" / "data"
        data.mkdir(parents=True, exist_ok=True)
        script = f'mount -t tmpfs -o {options} tmpfs "{data}" && exec "$@"'
        return ["unshare", *as_whom, "sh", "-c", script, "sh"]

    return command
