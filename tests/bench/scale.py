"""Latency, throughput and size as a space grows, and with many spaces; through HTTP.

    python -m tests.bench scale [--sizes 1000,10000,100000] [--spaces 1000x100] [--search embedded|opensearch|both]
                                [--plain] [--engine URL]

Texts are made up (`corpus`), and put in by the product's own use cases without the time of embedding (`fill`). What
is asked then goes through HTTP to a process whose embedder takes no time, so that the figures are the product's own
cost; the lines "with embedding", the start and the memory are those of the real embedder on the same data.
"""

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from tests.bench.corpus import TURNS, Corpus
from tests.bench.engines import chosen, engine
from tests.bench.figures import Report, parser
from tests.bench.fill import filling
from tests.bench.quantiles import quantile
from tests.bench.served import Service, served, space_path
from tests.bench.two_legs import TwoLegs
from tests.bench.writers import PERSONAL

INSTANT = "tests.bench.instant"
WARM_UP = 200
"""Requests before those that count, as in any service that has run for a while. What the first request costs is told
apart."""
ENGINE_RATIO = 1.5
START_S = 10.0
MEMORY_MB = 800.0
LARGE, LARGE_MS = 100_000, 25.0
MIDDLE, MIDDLE_MS = 10_000, 5.0


class Bars(NamedTuple):
    """What is asked for in milliseconds, at p50 and at p95; None: nothing."""

    p50: float | None = None
    p95: float | None = None


NONE = Bars()
_Call = Callable[[], object]


def main(arguments: Sequence[str]) -> int:
    """Run it; see the module."""
    known = parser("scale", "Latency, throughput and size as a space grows.")
    known.add_argument("--sizes", default="1000,10000,100000", help="memories in one space, rising")
    known.add_argument("--spaces", default="1000x100", help="number of spaces x memories in each; 0x0: none")
    known.add_argument("--search", choices=["embedded", "opensearch", "both"], default="embedded")
    known.add_argument(
        "--plain", action="store_true", help="memories that come from no conversation: without context"
    )
    known.add_argument(
        "--engine", metavar="URL", help="an empty OpenSearch of one's own, for --search opensearch"
    )
    known.add_argument("--times", type=int, default=200, help="how often each operation is asked")
    asked = known.parse_args(arguments)
    report = Report()
    sizes = [int(part) for part in asked.sizes.split(",") if part]
    spaces, each = (int(part) for part in asked.spaces.split("x"))
    for search in chosen(asked.search):
        with _run(search, report, asked) as run:
            _grow(run, sizes)
        if spaces:
            with _run(search, report, asked) as run:
                _many_spaces(run, spaces, each)
    return report.end(asked)


@dataclass(frozen=True)
class _Run:
    """What all measurements on one engine share."""

    search: str
    environment: Mapping[str, str]
    folder: Path
    report: Report
    times: int
    corpus: Corpus

    def tell(self, title: str, service: Service, call: _Call, bars: Bars = NONE) -> None:
        """Ask again and again; tell how long it took, and how much of the processor the service needed for it."""
        for _ in range(WARM_UP):
            call()
        used = service.processor_seconds()
        seconds = [_seconds(call) for _ in range(self.times)]
        used = service.processor_seconds() - used
        self.report.add(f"{title}, p50", quantile(seconds, 0.5) * 1000, "ms", at_most=bars.p50)
        self.report.add(f"{title}, p95", quantile(seconds, 0.95) * 1000, "ms", at_most=bars.p95)
        self.report.add(f"{title}, p99", quantile(seconds, 0.99) * 1000, "ms")
        self.report.add(f"{title}, processor time", used / self.times * 1000, "ms")

    def served(self, *, instant: bool) -> AbstractContextManager[Service]:
        """The service on this run's data, not started yet; `instant`: with the embedder that takes no time."""
        module = INSTANT if instant else "infra.local"
        return served(self.environment, folder=self.folder, module=module, start=False)


@contextmanager
def _run(search: str, report: Report, asked: argparse.Namespace) -> Iterator[_Run]:
    """A run with an engine and a folder of its own, which go with it."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-scale-"))
    try:
        with engine(search, asked.engine) as environment:
            environment = {**environment, "PALIMPSEST_EMBEDDER": "bundled"}
            yield _Run(search, environment, folder, report, asked.times, Corpus(plain=asked.plain))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _grow(run: _Run, sizes: Sequence[int]) -> None:
    """One space that grows from size to size."""
    filled = 0
    for size in sizes:
        title = f"{run.search}, {size:,}{' plain' if run.corpus.plain else ''}"
        with filling(run.folder, run.environment) as data:
            speed = data.fill("personal", run.corpus, size - filled, start=filled)
        run.report.add(f"{title}: filled, the table", speed.stored, "/s")
        run.report.add(f"{title}: filled, the index", speed.indexed, "/s")
        with run.served(instant=True) as service:
            service.start()
            _operations(run, title, service, size)
            if run.search == "opensearch":
                _against_engine(run, title, service)
            run.report.add(f"{title}: data folder", service.disk_bytes() / 1e6, "MB")
        with run.served(instant=False) as service:
            _with_embedding(run, title, service, size)
        filled = size + run.times + WARM_UP


def _operations(run: _Run, title: str, service: Service, size: int) -> None:
    """Each operation by itself, one client."""
    chance, drafts = random.Random(size), run.corpus.drafts(run.times + WARM_UP, start=size)
    memories = f"{PERSONAL}/memories"

    def get(path: str) -> None:
        service.wanted("GET", f"{memories}{path}")

    def post(path: str, **body: object) -> None:
        service.wanted("POST", f"{PERSONAL}{path}", body)

    def number() -> int:
        return chance.randint(1, size)

    operations: dict[str, _Call] = {
        "search": lambda: post("/search", query=run.corpus.query()),
        "recall": lambda: post("/recall", query=run.corpus.query(), dry_run=True),
        "list, newest": lambda: get("?limit=50"),
        "list, by vitality": lambda: get(f"?limit=50&sort=vitality&importance_min={chance.randint(2, 9)}"),
        "list, of a source": lambda: get(f"?source=conversation-{number() // TURNS}&sort=oldest"),
        "one memory": lambda: get(f"/{number()}"),
        "history": lambda: get(f"/{number()}/history"),
        "add": lambda: service.wanted("POST", memories, next(drafts)),
    }
    first = _seconds(operations["search"]) * 1000
    run.report.add(f"{title}: search, the first after a start", first, "ms")
    if run.corpus.plain:
        del operations["list, of a source"]
    for operation, call in operations.items():
        run.tell(f"{title}: {operation}", service, call, _bars(run.search, operation, size))


def _bars(search: str, operation: str, size: int) -> Bars:
    """The bars of one operation in a space of `size`, on one engine."""
    if operation == "search" and search == "embedded":
        return Bars(MIDDLE_MS if size == MIDDLE else None, LARGE_MS if size == LARGE else None)
    if operation.startswith(("list", "history", "add")) and size == LARGE:
        return Bars(p95=LARGE_MS)
    return NONE


def _against_engine(run: _Run, title: str, service: Service) -> None:
    """The product and the engine alone, turn by turn with the same queries."""
    account = service.wanted("GET", "/v1/me")["account"]["id"]
    alone = TwoLegs(run.environment["PALIMPSEST_OPENSEARCH_URL"], account)
    through, fused, unfused = [], [], []
    for _ in range(run.times):
        query = run.corpus.query()
        if alone.fuses:
            fused.append(alone.fused(query))
        unfused.append(alone.unfused(query))
        began = time.perf_counter()
        service.wanted("POST", f"{PERSONAL}/search", {"query": query})
        through.append(time.perf_counter() - began)
    for name, seconds, bar in (
        ("hybrid query", fused, ENGINE_RATIO),
        ("two queries, not fused", unfused, None),
    ):
        if not seconds:
            run.report.say(f"{title}: this engine has no {name}")
            continue
        for share in (0.5, 0.95):
            its = quantile(seconds, share)
            run.report.add(f"{title}: the engine's own {name}, p{share * 100:.0f}", its * 1000, "ms")
        ratio = quantile(through, 0.5) / quantile(seconds, 0.5)
        run.report.add(f"{title}: search against the engine's own {name}, p50", ratio, at_most=bar)


def _with_embedding(run: _Run, title: str, service: Service, size: int) -> None:
    """The same data with the real embedder: start, search from end to end, memory."""
    large = size == LARGE
    run.report.add(f"{title}: start", service.start(), "s", at_most=START_S if large else None)

    def search() -> None:
        service.wanted("POST", f"{PERSONAL}/search", {"query": run.corpus.query()})

    run.report.add(f"{title}: search with embedding, the first", _seconds(search) * 1000, "ms")
    run.tell(f"{title}: search with embedding", service, search)
    memory = service.memory_bytes() / 1e6
    run.report.add(f"{title}: memory of the process", memory, "MB", at_most=MEMORY_MB if large else None)


def _many_spaces(run: _Run, spaces: int, each: int) -> None:
    """Searches in spaces of chance: each the first time, and again."""
    title, names = f"{run.search}, {spaces:,} x {each:,}", []
    with filling(run.folder, run.environment) as data:
        for place in range(spaces):
            names.append(data.pool(f"Project {place}"))
            data.fill(names[-1], run.corpus, each, start=place * each)
    asked = random.Random(spaces).sample(names, min(spaces, run.times + WARM_UP))
    run = replace(run, times=len(asked) - WARM_UP)
    with run.served(instant=True) as service:
        run.report.add(f"{title}: start", service.start(), "s")
        for time_ in ("the first time", "again"):
            left = iter(asked)

            def search(left: Iterator[str] = left) -> None:
                body = {"query": run.corpus.query()}
                service.wanted("POST", f"{space_path(next(left))}/search", body)

            run.tell(f"{title}: search, {time_}", service, search)
        seconds = _seconds(lambda: service.wanted("GET", "/v1/spaces"))
        run.report.add(f"{title}: list of spaces", seconds * 1000, "ms")
        run.report.add(f"{title}: memory of the process", service.memory_bytes() / 1e6, "MB")
        run.report.add(f"{title}: data folder", service.disk_bytes() / 1e6, "MB")


def _seconds(call: _Call) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
