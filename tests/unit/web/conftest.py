"""HTTP tests run over a whole service in memory."""

from collections.abc import Iterator

import pytest

from chalicelib import bootstrap
from tests.fakes.client import Client
from tests.fakes.world import World


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client with the key of Anna, who is an admin and has a default category."""
    monkeypatch.setattr(bootstrap, "_services", None)
    world = World(admin=True)
    world.category(default=True)
    yield Client(world)
    world.database.close()
