"""The laptop's parts around a whole service in memory."""

from collections.abc import Iterator

import pytest

from chalicelib import bootstrap
from tests.fakes.client import Client
from tests.fakes.world import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A service in memory, in use."""
    made = World(admin=True)
    monkeypatch.setattr(bootstrap, "_services", made.services)
    yield made
    made.database.close()


@pytest.fixture
def client(world: World) -> Client:
    """HTTP to it, with Anna's key."""
    return Client(world)
