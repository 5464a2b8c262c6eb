"""The index on a real OpenSearch node: one node for the whole run, a prefix of its own for each index."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chalicelib.ports import SearchIndex
from chalicelib.search import text
from chalicelib.search.opensearch.client import Client, Patience
from chalicelib.search.opensearch.index import OpenSearchIndex
from tests.contracts.search.engines import Engine

PATIENT = Patience(connect_s=5, read_s=60, work_s=120)
"""A busy machine of tests is no dead engine."""


@contextmanager
def opened(url: str) -> Iterator[OpenSearchIndex]:
    client = Client(url, patience=PATIENT)
    index = OpenSearchIndex(client, text, prefix=f"test{secrets.token_hex(6)}")
    yield index
    index.drop()
    client.close()


@contextmanager
def _open(request: pytest.FixtureRequest) -> Iterator[SearchIndex]:
    with opened(request.getfixturevalue("opensearch_url")) as index:
        yield index


def _settle(index: SearchIndex) -> None:
    assert isinstance(index, OpenSearchIndex)
    index.refresh()


OPENSEARCH = Engine(open=_open, settle=_settle)
