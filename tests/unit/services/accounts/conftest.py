"""Each test has an installation of its own."""

from collections.abc import Iterator

import pytest

from chalicelib.sqlite_file import Database
from tests.unit.services.accounts.world import World


@pytest.fixture
def world() -> Iterator[World]:
    database = Database(":memory:")
    yield World(database)
    database.close()
