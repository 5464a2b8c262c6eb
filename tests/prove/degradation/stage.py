"""One whole installation in this process, whose loops turn when the test's clock says so.

The same app, use cases, adapters, stream, queue and clock as `make run` has; only time is the test's. One of its parts
may be behind a gateway, on which a case makes it misbehave.
"""

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from chalicelib.bootstrap import Parts, utc_now
from chalicelib.domain.projection import content_hash
from chalicelib.providers.known_models import described
from chalicelib.providers.openai_compatible import OpenAiEmbedder
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.search import text
from chalicelib.search.opensearch.client import Client as Engine
from chalicelib.search.opensearch.client import Patience
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.services.memory.project import pages, pass_scope
from infra.local.clock import Clock
from infra.local.data_folder import DataFolder
from infra.local.loops import FAILED_S, IDLE_S, Loop, queue_turn, stream_turn
from infra.local.service import writable
from tests.contracts.embedders.endpoints import KEY, serving
from tests.fakes.client import Client
from tests.fakes.world import World
from tests.prove.degradation.gateway import Gateway, gateway
from tests.prove.degradation.tables import CloudTable

BUSY_MAX = 200
"""Turns of a loop without a pause; more would be a loop that spins."""
SILENCE_S = 0.3
"""How long the parts of a stage are waited for: what is slow is slower than that, what is merely late is not."""

PATIENT = Patience(read_s=60, work_s=120, retries=1)
"""With a real engine on a busy machine; `IMPATIENT` where it is silent on purpose."""
IMPATIENT = Patience(connect_s=SILENCE_S, read_s=SILENCE_S, work_s=SILENCE_S, retries=1)


class Logged(logging.Handler):
    """Errors that nobody expected: what was logged with a stack trace."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.unexpected: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Note it."""
        if record.exc_info and record.exc_info[1] is not None:
            self.unexpected.append(f"{record.getMessage()}: {record.exc_info[1]!r}")


class Loops:
    """The laptop's loops, each due as it would be by itself: at once while there is work, else after a pause."""

    def __init__(self, loops: list[Loop]) -> None:
        self._due = dict.fromkeys(loops, 0.0)

    def turn(self, now: float) -> None:
        """What is due at this second."""
        for loop, due in self._due.items():
            if now >= due:
                for _ in range(BUSY_MAX):
                    if not loop._turned():
                        break
                failures = loop._failures
                self._due[loop] = now + (min(FAILED_S, failures) if failures else IDLE_S)


@dataclass
class Stage:
    """An installation, and the way to the part that a case breaks."""

    world: World
    client: Client
    folder: DataFolder
    loops: Loops
    way: Gateway | None
    logged: Logged
    engine: str = ""
    """URL of the search engine, and what the names of our indices begin with."""
    prefix: str = ""
    client_of_engine: Engine | None = None
    seconds: float = 0.0

    def pass_time(self, seconds: int) -> None:
        """Second by second, with all that the loops do meanwhile."""
        for _ in range(seconds):
            self.seconds += 1
            self.world.later(seconds=1)
            self.loops.turn(self.seconds)

    def differences(self) -> list[str]:
        """Where the index is not what the table is, and what still waits to be told to it."""
        parts, space = self.world.parts, self.world.scope().space
        scope = pass_scope(space, "proof")
        wanted = {
            memory.number: (memory.revision, "" if memory.state == "erased" else content_hash(memory))
            for page in pages(parts.memories, scope)
            for memory in page
        }
        states = parts.index.indexed(scope, after=0, limit=10_000)
        held = {state.number: (state.revision, state.content_hash) for state in states}
        model = parts.embedder.model.fingerprint if parts.embedder else None
        bare = [s.number for s in states if s.content_hash and model and model not in s.models]
        found = [
            f"#{n}: table {wanted.get(n)}, index {held.get(n)}" for n in wanted if wanted[n] != held.get(n)
        ]
        found += [f"#{n}: only in the index" for n in held if n not in wanted and held[n][1]]
        found += [f"#{n}: no vectors" for n in bare]
        waiting = self.world.outbox.pending(1_000)
        return found + [f"waits: {record.kind} {record.id}" for record in waiting]


@contextmanager
def _stage(
    folder: Path,
    way: Gateway | None,
    adapt: Callable[[Parts, World], Parts] | None = None,
    *,
    table: CloudTable | None = None,
    **more: Any,
) -> Iterator[Stage]:
    """Put it together; `adapt` gives it other parts than the laptop's own."""
    logged = Logged()
    ours = logging.getLogger("palimpsest")
    data = DataFolder(folder)
    ours.addHandler(logged)
    world = _World(data.database, adapt)
    try:
        yield Stage(world, _served(world, data), data, _loops(world, table), way, logged, **more)
    finally:
        world.database.close()
        data.close()
        ours.removeHandler(logged)


class _World(World):
    """A world in a file, whose other parts may need its clock to be made.

    It is never in the past: an emulator of the table deletes what has expired by the time of the day.
    """

    def __init__(self, file: Path, adapt: Callable[[Parts, World], Parts] | None) -> None:
        super().__init__(file=file, replace=partial(self._adapted, adapt))

    def _adapted(self, adapt: Callable[[Parts, World], Parts] | None, parts: Parts) -> Parts:
        self.now = max(self.now, utc_now())
        return adapt(parts, self) if adapt else parts


def _served(world: World, data: DataFolder) -> Client:
    health = replace(world.services.health, writable=partial(writable, data, world.database))
    world.services = replace(world.services, health=health)
    world.category(default=True)
    return Client(world)


def _loops(world: World, table: CloudTable | None) -> Loops:
    seconds = _Monotonic(world)
    index, queue = world.parts.index, world.parts.queue
    settled = index.refresh if isinstance(index, OpenSearchIndex) else lambda: None
    clock = Clock(index, seconds, world.outbox.retry_now)
    loops = [
        Loop("stream", partial(stream_turn, world.outbox, world.clock, settled)),
        Loop("clock", clock.turn),
    ]
    if isinstance(queue, SqliteQueue):
        loops.append(Loop("queue", partial(queue_turn, queue)))
    if table is not None:
        loops.insert(0, Loop("table", table.stream(world, seconds, clock.compare_all).turn))
    return Loops(loops)


@dataclass
class _Monotonic:
    """The test's clock as seconds that only go on."""

    world: World

    def __call__(self) -> float:
        return self.world.now.timestamp()


# ------------------------------------------------------------------ the parts that misbehave


@contextmanager
def embedder_stage(folder: Path, _servers: Mapping[str, str]) -> Iterator[Stage]:
    """The embedding model is an endpoint over HTTP."""
    with serving() as endpoint, gateway(endpoint.url) as way:
        endpoint.dimension = 96
        model = OpenAiEmbedder(
            described("openai", "our-own-model", 96),
            f"{way.url}/v1",
            key=SecretStr(KEY),
            timeout=SILENCE_S,
            attempts=2,
        )
        with _stage(folder, way, lambda parts, _: replace(parts, embedder=model)) as stage:
            yield stage


@contextmanager
def file_stage(folder: Path, _servers: Mapping[str, str]) -> Iterator[Stage]:
    """The table is the file of a laptop, with the index in it."""
    with _stage(folder, None) as stage:
        yield stage


@contextmanager
def opensearch_stage(folder: Path, servers: Mapping[str, str]) -> Iterator[Stage]:
    """The index is on a real OpenSearch node."""
    prefix = f"proof{secrets.token_hex(5)}"
    with gateway(servers["opensearch"]) as way, ExitStack() as stack:
        engine = Engine(way.url, patience=PATIENT, pause=lambda _: None)
        direct = Engine(servers["opensearch"], patience=PATIENT)
        stack.callback(direct.close)
        stack.callback(engine.close)
        stack.callback(OpenSearchIndex(direct, text, prefix=prefix).drop)
        index = OpenSearchIndex(engine, text, prefix=prefix)
        more: dict[str, Any] = {"engine": servers["opensearch"], "prefix": prefix, "client_of_engine": engine}
        with _stage(folder, way, lambda parts, _: replace(parts, index=index), **more) as stage:
            yield stage


@contextmanager
def dynamodb_stage(folder: Path, servers: Mapping[str, str]) -> Iterator[Stage]:
    """The table is DynamoDB's emulator, its stream included."""
    with (
        gateway(servers["dynamodb"]) as way,
        CloudTable.made(way.url, servers["dynamodb"], SILENCE_S) as table,
    ):
        fresh = timedelta(seconds=60)
        with _stage(folder, way, partial(table.adapt, fresh=fresh), table=table) as stage:
            yield stage
