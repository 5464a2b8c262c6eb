"""Use-case tests run on a whole service in memory."""

import pytest

from tests.fakes.world import World


@pytest.fixture
def world() -> World:
    """A service in memory, with Anna's account and nothing else."""
    return World()
