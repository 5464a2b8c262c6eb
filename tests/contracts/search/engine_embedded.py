"""The embedded index, in a file that lives as long as one test."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chalicelib.ports import SearchIndex
from chalicelib.search import text
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.sqlite_file import Database
from tests.contracts.search.engines import Engine


@contextmanager
def _open(request: pytest.FixtureRequest) -> Iterator[SearchIndex]:
    folder = request.getfixturevalue("tmp_path_factory").mktemp("embedded")
    database = Database(folder / "palimpsest.db")
    yield EmbeddedIndex(database, text)
    database.close()


EMBEDDED = Engine(open=_open, exact=True)
