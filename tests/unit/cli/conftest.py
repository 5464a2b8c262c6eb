"""A terminal, and a service that it reaches."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.terminal import Terminal, served
from tests.fakes.world import World


@pytest.fixture
def world() -> World:
    """An installation of an admin, Anna, with a category."""
    made = World(admin=True)
    made.category(default=True)
    return made


@pytest.fixture
def terminal(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Anna's terminal."""
    with served(world) as url:
        yield Terminal(world, url, tmp_path, monkeypatch)
