"""The same World on other engines: DynamoDB emulators and a real OpenSearch node, for proofs that hold on all of them."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from chalicelib.bootstrap import Parts, utc_now
from chalicelib.ports import SearchIndex
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.services.memory.project import pages, pass_scope
from chalicelib.stores.dynamodb.accounts import DynamoAccountStore
from chalicelib.stores.dynamodb.database import Database as Tables
from chalicelib.stores.dynamodb.inbox import DynamoInboxStore
from chalicelib.stores.dynamodb.inspection import DynamoStorage
from chalicelib.stores.dynamodb.memories import UNPROJECTED_FOR, DynamoMemoryStore
from tests import shared_services
from tests.contracts.search.engine_opensearch import opened
from tests.contracts.stores.dynamodb_stores import ministack_database, moto_database
from tests.fakes.world import World

Engine = Literal["sqlite", "moto", "cloud"]
"""sqlite: SQLite and the embedded index. moto: DynamoDB in this process, embedded index. cloud: MiniStack, a server of
DynamoDB, and a real OpenSearch node."""
ENGINES: tuple[Engine, ...] = ("sqlite", "moto", "cloud")


class Servers(NamedTuple):
    """Where the servers are that `cloud` needs."""

    ministack: str
    opensearch: str


class DynamoWorld(World):
    """A World whose tables are DynamoDB's, and maybe whose index is OpenSearch. `tables`: to look into them."""

    def __init__(self, tables: Tables, index: SearchIndex | None = None, **how: Any) -> None:
        self.tables = tables
        self._projected: dict[tuple[str, int], int] = {}

        def chosen(parts: Parts) -> Parts:
            return replace(
                parts,
                memories=DynamoMemoryStore(tables, clock=self.clock),
                accounts=DynamoAccountStore(tables),
                inbox=DynamoInboxStore(tables),
                storage=DynamoStorage(tables),
                index=index or parts.index,
            )

        super().__init__(replace=chosen, **how)

    def settle(self) -> None:
        """Let the index catch up, and so much time pass that nothing counts as just written. What the stream of a
        table would tell is found by looking at all revisions."""
        for space in self.parts.memories.spaces():
            for memories in pages(self.parts.memories, pass_scope(space, "projector")):
                changed = {(space.key, memory.number): memory.revision for memory in memories}
                pending = [
                    number
                    for key, number in changed
                    if self._projected.get((key, number)) != changed[key, number]
                ]
                assert self.services.projector.project(space, pending) == []
                self._projected |= changed
        if isinstance(self.parts.index, OpenSearchIndex):
            self.parts.index.refresh()
        self.later(seconds=UNPROJECTED_FOR.total_seconds() + 1)


@contextmanager
def world_on(
    engine: Engine, servers: Servers | None = None, file: Path | None = None, **how: Any
) -> Iterator[World]:
    """An empty installation on `engine`, gone afterwards. `cloud` needs `servers`; `file`: where SQLite is to write."""
    with ExitStack() as stack:
        if engine == "sqlite":
            world = World(file=file, **how)
        elif engine == "moto":
            world = DynamoWorld(stack.enter_context(moto_database()), file=file, **how)
        else:
            assert servers is not None, "the cloud is on servers"
            index = stack.enter_context(opened(servers.opensearch))
            tables = stack.enter_context(ministack_database(servers.ministack))
            world = DynamoWorld(tables, index, file=file, **how)
            # The server deletes what has expired by its own clock, so nothing may be written in its past.
            world.now = max(world.now, utc_now())
        stack.callback(world.database.close)
        yield world


@contextmanager
def running_servers() -> Iterator[Servers]:
    """The servers of `cloud`, for a command: started at the beginning, stopped at the end. Raises NotThereError."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL"):
        os.environ.pop(name, None)
    folder = shared_services.begin_run()
    try:
        yield Servers(shared_services.ministack(folder), shared_services.opensearch(folder, required=True))
    finally:
        shared_services.end_run(folder)


def items(tables: Tables) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every item of every table as DynamoDB gives it, with the name of its table; bytes are bytes."""
    from chalicelib.stores.dynamodb.tables import DEFINITIONS

    connection = tables.connection
    for definition in DEFINITIONS:
        asked: dict[str, Any] = {"TableName": tables.name(definition), "ConsistentRead": True}
        while True:
            page = connection._make_api_call("Scan", asked)
            for item in page["Items"]:
                yield definition.name, item
            if "LastEvaluatedKey" not in page:
                break
            asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]
