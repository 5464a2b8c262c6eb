"""Many clients at once: reads a second, and no answer may hold what another request asked for.

    python -m tests.bench throughput [--clients 8] [--requests 10000]

Each client is a person of its own with memories of its own; every answer is checked against who asked for what, and
carries the number of its request back. A server that does nothing, asked in the same way in the same run, is the
base of the ratio.
"""

import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.figures import Report, parser
from tests.bench.quantiles import quantile
from tests.bench.served import PROJECT, START_S, Response, Service, ServiceError, served
from tests.bench.writers import PERSONAL

READS_A_SECOND = 500
MEMORIES = 25


@dataclass
class Client:
    """One person with a key of its own, and the numbers of its memories, in all of which is its token."""

    service: Service
    key: str
    account: str
    token: str
    numbers: list[int]
    chance: random.Random

    def read(self, request: str) -> str | None:
        """One read of chance, as request number `request`; what was wrong with its answer, or None."""
        check: Callable[[Response], bool]
        kind = self.chance.choices(("memory", "list", "history", "search", "me"), (60, 15, 10, 10, 5))[0]
        number = self.chance.choice(self.numbers)
        method, path, body = "GET", f"{PERSONAL}/memories/{number}", None
        if kind == "memory":
            check = lambda answer: answer.body["memory"]["number"] == number and self._own([answer.body])  # noqa: E731
        elif kind == "list":
            path = f"{PERSONAL}/memories?limit=10"
            check = lambda answer: self._own([{"memory": one} for one in answer.body["items"]])  # noqa: E731
        elif kind == "history":
            path = f"{PERSONAL}/memories/{number}/history"
            check = lambda answer: self.token in str(answer.body)  # noqa: E731
        elif kind == "search":
            method, path, body = "POST", f"{PERSONAL}/search", {"query": f"what did {self.token} say"}
            check = lambda answer: self._own(answer.body["items"])  # noqa: E731
        else:
            path = "/v1/me"
            check = lambda answer: self.account in str(answer.body)  # noqa: E731
        answer = self.service.send(method, path, body, key=self.key, headers={"X-Correlation-Id": request})
        if answer.status != 200:
            return f"{kind}: {answer.status} {answer.body}"
        if answer.headers.get("x-correlation-id") != request or not check(answer):
            return f"{kind}: an answer to another request"
        return None

    def _own(self, items: Sequence[dict[str, Any]]) -> bool:
        return bool(items) and all(self.token in item["memory"]["text"] for item in items)


@dataclass
class Reads:
    """What all reads gave."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def a_second(self) -> float:
        """How many."""
        return len(self.times) / self.seconds


def main(arguments: Sequence[str]) -> int:
    """Run it; see the module."""
    known = parser("throughput", "Many clients at once.")
    known.add_argument("--clients", type=int, default=8)
    known.add_argument("--requests", type=int, default=10_000)
    known.add_argument("--embedder", choices=["bundled", "none"], default="bundled")
    asked = known.parse_args(arguments)
    report = Report()
    each = asked.requests // asked.clients
    bare = _bare(asked.clients, each)
    with served({"PALIMPSEST_EMBEDDER": asked.embedder}) as service:
        reads = read_at_once(people(service, asked.clients), each)
    report.add("throughput: requests", len(reads.times))
    report.add("throughput: answers of another request, or failed", len(reads.wrong), at_most=0)
    for one in reads.wrong[:5]:
        report.say(f"    {one}")
    report.add("throughput: reads", reads.a_second, "/s", at_least=READS_A_SECOND)
    for share in (0.5, 0.95, 0.99):
        report.add(f"throughput: one read, p{share * 100:.0f}", quantile(reads.times, share) * 1000, "ms")
    report.add("throughput: a server that does nothing", bare, "/s")
    report.add("throughput: of what the bare server does", reads.a_second / bare)
    report.say(
        f"threads no answer holds another request's data: {len(reads.times):,} requests of {asked.clients} clients, "
        f"found {len(reads.wrong)}, seeds 0 to {asked.clients - 1}"
    )
    return report.end(asked)


def people(service: Service, count: int) -> list[Client]:
    """`count` persons with memories of their own."""
    clients = []
    for place in range(count):
        made = service.wanted("POST", "/v1/accounts", {"name": f"Person {place}", "first_key": True})
        key, token = _secret(made), f"zebrodak{'abcdefghijklmnop'[place % 16]}{place}"
        items = [{"text": f"{token} said sentence number {one}."} for one in range(MEMORIES)]
        added = service.wanted("POST", f"{PERSONAL}/memories/batch", {"items": items}, key=key)
        numbers = [item["memory"]["number"] for item in added["items"]]
        clients.append(Client(service, key, made["account"]["id"], token, numbers, random.Random(place)))
    return clients


def _secret(made: dict[str, Any]) -> str:
    """The plain key in the answer to a new account."""
    key = made["key"]
    return str(key["key"] if isinstance(key, dict) and "key" in key else key)


def read_at_once(clients: Sequence[Client], each: int) -> Reads:
    """Every client makes `each` reads, all clients at once."""
    reads = Reads()
    start = threading.Barrier(len(clients) + 1)

    def run(place: int, client: Client) -> tuple[list[float], list[str]]:
        times, wrong = [], []
        start.wait(30)
        for one in range(each):
            began = time.perf_counter()
            fault = client.read(f"bench-{place}-{one}")
            times.append(time.perf_counter() - began)
            if fault is not None:
                wrong.append(fault)
        return times, wrong

    with ThreadPoolExecutor(len(clients)) as pool:
        running = [pool.submit(run, place, client) for place, client in enumerate(clients)]
        start.wait(30)
        began = time.perf_counter()
        for one in running:
            times, wrong = one.result()
            reads.times += times
            reads.wrong += wrong
    reads.seconds = time.perf_counter() - began
    return reads


def _bare(clients: int, each: int) -> float:
    """Requests a second of the server that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([sys.executable, "-m", "tests.bench.bare", folder], cwd=PROJECT)
        try:
            url = Path(folder) / "url"
            until = time.monotonic() + START_S
            while not url.exists():
                if process.poll() is not None or time.monotonic() > until:
                    raise ServiceError("the bare server did not start")
                time.sleep(0.01)
            service = Service({}, Path(folder))
            service.url = url.read_text()
            return _bare_reads(service, clients, each)
        finally:
            process.kill()
            process.wait()


def _bare_reads(service: Service, clients: int, each: int) -> float:
    def run() -> None:
        for _ in range(each):
            service.send("GET", "/", key="none", headers={"X-Correlation-Id": "bench-0"})

    began = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        for one in [pool.submit(run) for _ in range(clients)]:
            one.result()
    return clients * each / (time.perf_counter() - began)
