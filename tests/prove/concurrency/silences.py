"""R12, by trying: each adapter before a server that never answers. Each call ends in time, with an error of its port.

The calls of a port are all that it has: a new method without arguments here is found.
"""

import inspect
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from chalicelib import ports
from chalicelib.bootstrap import Parts, parts_of
from chalicelib.domain.accounts import Account, AccountCommit, EntityWrite
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory
from chalicelib.domain.projection import IndexEntry, IndexQuery
from chalicelib.domain.records import Commit, MemoryWrite, Vector
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.domain.vitality import Retention
from chalicelib.errors import (
    EmbedderUnavailableError,
    IdentityProviderUnavailableError,
    IndexUnavailableError,
    StoreUnavailableError,
)
from chalicelib.providers.bedrock import BedrockEmbedder
from chalicelib.providers.known_models import described
from chalicelib.providers.oidc import OidcTokens, key_set_at
from chalicelib.providers.secrets_manager import SecretUnreadableError, kept_secrets, secrets_client
from chalicelib.queues.sqs import SqsQueue, sqs_client
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from infra.local.cannot_start import CannotStartError
from infra.local.table_stream import TableStream
from infra.local.tables import CloudTables
from tests.prove.concurrency import black_hole

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
WAIT_S = 0.3
"""The time-outs that the settings name, for the proof."""
SLACK_S = 4.0
"""For a machine that others use, too, and for the pauses between attempts."""
AT_ONCE = 8
PATIENCE_S = 60.0
"""What has not ended by then hangs."""
SPACE = Space.personal("anna")
SCOPE = Scope(
    actor=Actor(kind="person", id="anna"), space=SPACE, rights=frozenset(Right), place="http", project=None
)
MEMORY = Memory(
    space=SPACE.key, number=1, version=1, revision=1, text="tea", kind="user", recorded_at=NOW,
    recorded_by=SCOPE.actor, updated_at=NOW,
)  # fmt: skip
ENTRY = IndexEntry(SPACE, 1, 1, MEMORY)
VECTOR = Vector(number=1, role="text", model="m", text_hash="h", data=b"\0\0\0\0")
ACCOUNT = EntityWrite(entity=Account(id="anna", name="Anna", created_at=NOW), expected=None)

ASK_NOBODY: dict[type, str] = {
    ports.Analyzer: "is a function of its text",
    ports.Reranker: "has no adapter yet",
    ports.TokenVerifier: "is asked with a token of its own, by the probe of the key set",
}
"""Ports without a probe of all their methods, and why."""


def asked_ports() -> list[type]:
    """All others: those whose adapters may reach out. A new port is one of them."""
    known = [port for port in vars(ports).values() if getattr(port, "_is_protocol", False)]
    return [port for port in known if port.__module__ == ports.__name__ and port not in ASK_NOBODY]


ARGUMENTS: dict[str, dict[str, Any]] = {
    "scope": {"": SCOPE}, "number": {"": 1}, "numbers": {"": [1]}, "count": {"": 1}, "limit": {"": 5},
    "after": {"": None, "indexed": 0}, "places": {"": [("talk", 1)]}, "at": {"": NOW}, "target": {"": "1"},
    "version": {"": 1}, "group": {"": "grp_1"}, "model": {"": "m"}, "vectors": {"": [VECTOR]}, "job": {"": "job_1"},
    "owner": {"": "anna"}, "key": {"": "key_1"}, "now": {"": NOW}, "account": {"": "anna"}, "issuer": {"": "https://a"},
    "subject": {"": "anna"}, "project": {"": "rocket"}, "platform": {"": "discord"}, "community": {"": "1001"},
    "queries": {"": [IndexQuery("tea", MemoryFilter(), 5)]}, "wanted": {"": MemoryFilter()}, "sort": {"": "newest"},
    "retention": {"": Retention()}, "entries": {"": [ENTRY]}, "name": {"": "g0123456789abcdef"}, "text": {"": "tea"},
    "texts": {"": ["tea"]}, "last": {"": 9}, "body": {"": {"n": 1}}, "deduplicate": {"": "d"},
}  # fmt: skip
"""Values of the ports' parameters, by name; "" for all methods, or one method's own."""
COMMITS: dict[type, Any] = {
    ports.MemoryStore: Commit(memories=(MemoryWrite(memory=MEMORY, expected=None),)),
    ports.AccountStore: AccountCommit(writes=(ACCOUNT,)),
}


@dataclass(frozen=True)
class Call:
    """One thing that is asked of an adapter."""

    name: str
    ask: Callable[[], object]
    error: type[Exception]
    within_s: float
    ready: Callable[[], object] = lambda: None
    """Makes the client of a thread, which asks nobody and takes its time."""


@dataclass
class Heard:
    """How the calls ended."""

    calls: int = 0
    slowest_s: float = 0.0
    by_adapter: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def methods(port: type) -> Iterator[tuple[str, inspect.Signature]]:
    """What a port promises that is asked of the other side."""
    for name, method in vars(port).items():
        if not name.startswith("_") and inspect.isfunction(method):
            yield name, inspect.signature(method)


def arguments(port: type, name: str, signature: inspect.Signature) -> dict[str, Any]:
    """Something to call it with. Raises KeyError for a parameter that is new."""
    given: dict[str, Any] = {}
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.name == "commit":
            given["commit"] = COMMITS[port]
        elif parameter.default is inspect.Parameter.empty:
            values = ARGUMENTS[parameter.name]
            given[parameter.name] = values.get(name, values[""])
    return given


def of_port(
    adapter: str,
    target: Any,
    port: type,
    error: type[Exception],
    within_s: float,
    ready: Callable[[], object] = lambda: None,
) -> Iterator[Call]:
    """A call of each of the port's methods."""
    for name, signature in methods(port):
        ask = partial(_asked, target, name, arguments(port, name, signature))
        yield Call(f"{adapter} {port.__name__}.{name}", ask, error, within_s, ready)


def _asked(target: Any, name: str, given: dict[str, Any]) -> object:
    answer = getattr(target, name)(**given)
    return list(answer) if inspect.isgenerator(answer) else answer


def _parts(database: Database, **settings: Any) -> Parts:
    return parts_of(Settings.model_validate({"region": "eu-central-1", **settings}), database)


def dynamodb(url: str, database: Database) -> Iterator[Call]:
    """All three stores; two silences, then it gives up."""
    parts = _parts(
        database, store="dynamodb", dynamodb_endpoint=url, dynamodb_connect_timeout=WAIT_S,
        dynamodb_read_timeout=WAIT_S, threads=64,
    )  # fmt: skip
    stores: tuple[tuple[Any, type], ...] = (
        (parts.memories, ports.MemoryStore),
        (parts.accounts, ports.AccountStore),
        (parts.inbox, ports.InboxStore),
        (parts.storage, ports.Storage),
    )
    for target, port in stores:
        connection = target._database.connection
        yield from of_port(
            "DynamoDB",
            target,
            port,
            StoreUnavailableError,
            2 * 2 * WAIT_S,
            ready=lambda connection=connection: connection.client,  # type: ignore[misc]
        )


def dynamodb_streams(url: str, database: Database) -> Iterator[Call]:
    """What a laptop asks of tables and their stream; three attempts."""
    settings = Settings.model_validate({
        "region": "eu-central-1", "store": "dynamodb", "dynamodb_endpoint": url, "dynamodb_connect_timeout": WAIT_S,
        "dynamodb_read_timeout": WAIT_S,
    })  # fmt: skip
    tables = CloudTables(settings)
    stream = TableStream(
        tables.streams(),
        lambda: "arn:aws:dynamodb:eu-central-1:1:table/t/stream/1",
        database,
        now=lambda: NOW,
        monotonic=time.monotonic,
        missed=lambda: None,
    )
    yield Call("DynamoDB streams prepare", tables.prepare, CannotStartError, 3 * 2 * WAIT_S)
    yield Call("DynamoDB streams turn", stream.turn, StoreUnavailableError, 3 * 2 * WAIT_S)


def opensearch(url: str, database: Database) -> Iterator[Call]:
    """Every method of the index; whoever waits has waited long enough after one time-out."""
    parts = _parts(
        database, search="opensearch", opensearch_url=url, opensearch_connect_timeout=WAIT_S,
        opensearch_read_timeout=WAIT_S, opensearch_work_timeout=WAIT_S,
    )  # fmt: skip
    yield from of_port("OpenSearch", parts.index, ports.SearchIndex, IndexUnavailableError, 2 * WAIT_S)


def embedder(url: str, database: Database) -> Iterator[Call]:
    """A request takes at most twice the time-out, with all its tries."""
    parts = _parts(
        database, embedder="openai", embedding_model="text-embedding-3-small", embedding_url=f"{url}/v1",
        embedding_timeout=WAIT_S,
    )  # fmt: skip
    yield from of_port(
        "OpenAI-compatible embedder", parts.embedder, ports.Embedder, EmbedderUnavailableError, 2 * WAIT_S
    )


def bedrock(url: str, database: Database) -> Iterator[Call]:
    """Two attempts."""
    model = described("bedrock", "amazon.titan-embed-text-v2:0", 256)
    made = BedrockEmbedder(model, "eu-central-1", timeout=WAIT_S, attempts=2, endpoint=url)
    yield from of_port("Bedrock", made, ports.Embedder, EmbedderUnavailableError, 2 * 2 * WAIT_S)


def oidc(url: str, database: Database) -> Iterator[Call]:
    """The provider's keys, by themselves and by the token that needs them."""
    read = key_set_at(url, WAIT_S)
    tokens = OidcTokens("https://issuer.example", "us", read)
    token = "eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.e30.AA"  # {"alg": "RS256", "kid": "a"}
    error = IdentityProviderUnavailableError
    yield Call("OIDC key set read", read, error, WAIT_S)
    yield Call("OIDC key set TokenVerifier.claims", lambda: tokens.claims(token, NOW), error, WAIT_S)


def sqs(url: str, database: Database) -> Iterator[Call]:
    """Three attempts."""
    made: Any = partial(sqs_client, "eu-central-1", endpoint=url, connect_s=WAIT_S, read_s=WAIT_S)
    queue = SqsQueue(f"{url}/1/q.fifo", "eu-central-1", client=made)
    yield from of_port(
        "SQS", queue, ports.Queue, StoreUnavailableError, 3 * 2 * WAIT_S, ready=lambda: queue._client
    )


def secrets_manager(url: str, database: Database) -> Iterator[Call]:
    """Three attempts."""
    made: Any = partial(secrets_client, "eu-central-1", endpoint=url, connect_s=WAIT_S, read_s=WAIT_S)
    ask = partial(kept_secrets, "palimpsest/settings", "eu-central-1", client=made)
    yield Call("Secrets Manager", ask, SecretUnreadableError, 3 * 2 * WAIT_S, ready=made)


Probe = Callable[[str, Database], Iterator[Call]]
PROBES: dict[str, Probe] = {
    "DynamoDB": dynamodb,
    "DynamoDB streams": dynamodb_streams,
    "OpenSearch": opensearch,
    "OpenAI-compatible embedder": embedder,
    "Bedrock": bedrock,
    "OIDC key set": oidc,
    "SQS": sqs,
    "Secrets Manager": secrets_manager,
}
HOLES: dict[str, Callable[[], AbstractContextManager[str]]] = {
    "silent": lambda: black_hole.hole(black_hole.silent),
    "stuck": lambda: black_hole.hole(black_hole.stuck),
    "closed": black_hole.closed_gate,
}
DRIPPING = {"OpenAI-compatible embedder", "OIDC key set"}
"""Those that are also put before a server that answers a byte at a time: what a person names, anywhere. The engines of
an installation are bounded by silence."""


def listen(
    probes: dict[str, Probe] | None = None, holes: tuple[str, ...] = tuple(HOLES), most: int | None = None
) -> Heard:
    """Every call of every probe before every hole, or `most` of each, from the first to the last."""
    heard = Heard()
    chosen = PROBES if probes is None else probes
    for name, probe in chosen.items():
        for kind in (*holes, *(("dripping",) if name in DRIPPING else ())):
            opened = HOLES.get(kind, lambda: black_hole.hole(black_hole.dripping))
            with opened() as url:
                calls = list(probe(url, Database()))
                _listen_to(heard, name, kind, calls[:: max(1, len(calls) // (most or len(calls)))])
    return heard


def _listen_to(heard: Heard, adapter: str, kind: str, calls: list[Call]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        ended = [(call, threads.submit(_ended, call)) for call in calls]
        for call, future in ended:
            seconds, outcome = future.result(timeout=PATIENCE_S)
            heard.calls += 1
            heard.slowest_s = max(heard.slowest_s, seconds)
            heard.by_adapter[adapter] = heard.by_adapter.get(adapter, 0) + 1
            if outcome != call.error.__name__:
                heard.faults.append(f"{call.name}, {kind}: {outcome}, not {call.error.__name__}")
            if seconds > call.within_s + SLACK_S:
                heard.faults.append(f"{call.name}, {kind}: {seconds:.1f} s, not {call.within_s:.1f} s")


def _ended(call: Call) -> tuple[float, str]:
    call.ready()
    began = time.monotonic()
    try:
        call.ask()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is judged by its name
        return time.monotonic() - began, type(error).__name__
    return time.monotonic() - began, "an answer"
