"""The engines on which the machine runs: what is started once for all programs, and an empty World for each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal

from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.stores.dynamodb.database import Database
from tests import shared_services
from tests.contracts.search.engine_opensearch import opened
from tests.contracts.stores.dynamodb_stores import ministack_database, moto_database
from tests.prove.machine.embedder import OneWordEmbedder
from tests.prove.machine.worlds import Break, ProgramWorld

Name = Literal["sqlite", "moto", "ministack", "opensearch"]
NAMES: tuple[Name, ...] = ("sqlite", "moto", "ministack", "opensearch")
"""sqlite: SQLite and the embedded index. moto, ministack: DynamoDB in this process and on a server, embedded index.
opensearch: SQLite and a real OpenSearch node."""

Open = Callable[[bool], AbstractContextManager[ProgramWorld]]
"""An empty World, with or without an embedding model; gone afterwards."""


@contextmanager
def started(name: Name) -> Iterator[Open]:
    """The engine, with the server that it needs, for a command. Raises NotThereError."""
    if name in ("sqlite", "moto"):
        with on(name, "") as worlds:
            yield worlds
        return
    folder = shared_services.begin_run()
    try:
        if name == "ministack":
            url = shared_services.ministack(folder)
        else:
            url = shared_services.opensearch(folder, required=True)
        with on(name, url) as worlds:
            yield worlds
    finally:
        shared_services.end_run(folder)


@contextmanager
def on(name: Name, url: str, broken: Break | None = None) -> Iterator[Open]:
    """The engine, on the server at `url` if it needs one. `broken`: what is changed in the parts of every World."""
    if name == "sqlite":
        yield lambda embedded: _world(nullcontext(), embedded, broken)
    elif name == "moto":
        yield lambda embedded: _world(moto_database(), embedded, broken)
    elif name == "ministack":
        yield lambda embedded: _world(ministack_database(url), embedded, broken)
    else:
        with opened(url) as index:
            yield lambda embedded: _world(nullcontext(), embedded, broken, index)


@contextmanager
def _world(
    tables: AbstractContextManager[Database | None],
    embedded: bool,
    broken: Break | None,
    index: OpenSearchIndex | None = None,
) -> Iterator[ProgramWorld]:
    with tables as database:
        embedder = OneWordEmbedder() if embedded else None
        world = ProgramWorld(tables=database, index=index, broken=broken, embedder=embedder)
        try:
            yield world
        finally:
            world.database.close()
