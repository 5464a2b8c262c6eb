"""`kill -9` of every process of the service while clients write: nothing acknowledged may be lost or doubled.

    python -m tests.bench kill [--rounds 3] [--clients 4] [--writes 200]

After each kill the service starts again with the same data; the clients ask once more for what got no answer, under
the same key. Then all is compared through HTTP: the list (the table), the counts and the search (the index).
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.bench.figures import Report, parser
from tests.bench.served import Service, served
from tests.bench.writers import PERSONAL, Promised, Writer

SEARCHED = 500
"""Words that are searched for at most: a sample, drawn anew each time."""


@dataclass
class Damage:
    """What the comparison found: words of memories, or sentences."""

    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    phantom: list[str] = field(default_factory=list)
    unfound: list[str] = field(default_factory=list)
    unrepeatable: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """All rounds together."""

    acknowledged: int = 0
    memories: int = 0
    pending: int = 0
    damage: Damage = field(default_factory=Damage)
    restarts: list[float] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    """Run it; see the module."""
    known = parser("kill", "kill -9 while clients write.")
    known.add_argument("--rounds", type=int, default=3)
    known.add_argument("--clients", type=int, default=4)
    known.add_argument("--writes", type=int, default=200, help="acknowledged writes before each kill")
    known.add_argument("--seed", type=int, default=1)
    known.add_argument("--embedder", choices=["bundled", "none"], default="bundled")
    asked = known.parse_args(arguments)
    report = Report()
    with served({"PALIMPSEST_EMBEDDER": asked.embedder}) as service:
        outcome = rounds(service, asked.rounds, asked.clients, asked.writes, random.Random(asked.seed))
    report.say(f"{asked.rounds} kills, {asked.clients} clients, seed {asked.seed}")
    report.add("kill: writes acknowledged", outcome.acknowledged)
    report.add("kill: memories", outcome.memories)
    report.add("kill: writes without an answer, asked for again", outcome.pending)
    report.add("kill: longest start afterwards", max(outcome.restarts), "s")
    for name, found in vars(outcome.damage).items():
        report.add(f"kill: {name}", len(found), at_most=0)
        for one in found[:5]:
            report.say(f"    {one}")
    return report.end(asked)


def rounds(service: Service, count: int, clients: int, writes: int, chance: random.Random) -> Outcome:
    """`count` times: write, kill, start again, compare."""
    outcome = Outcome()
    made_at_start = set(numbers_of(service))
    writers = [Writer(service, f"client{place}", random.Random(chance.random())) for place in range(clients)]
    for _ in range(count):
        _write_and_kill(service, writers, writes, chance)
        outcome.restarts.append(service.start())
        outcome.pending += sum(writer.pending is not None for writer in writers)
        for writer in writers:
            if not writer.repeat():
                outcome.damage.unrepeatable.append(f"{writer.name}: {writer.last}")
            if writer.pending is not None:
                writer.write()
        _compare(service, writers, made_at_start, chance, outcome.damage)
    outcome.acknowledged = sum(writer.writes for writer in writers)
    outcome.memories = sum(len(writer.promised) for writer in writers)
    outcome.damage.refused += [one for writer in writers for one in writer.refused]
    return outcome


def _write_and_kill(service: Service, writers: Sequence[Writer], writes: int, chance: random.Random) -> None:
    """Let all write; kill at a moment of chance after `writes` were acknowledged."""
    gone = threading.Event()
    enough = sum(writer.writes for writer in writers) + writes
    with ThreadPoolExecutor(len(writers)) as pool:
        running = [pool.submit(writer.write_until, gone) for writer in writers]
        try:
            while sum(writer.writes for writer in writers) < enough and not any(r.done() for r in running):
                time.sleep(0.002)
            time.sleep(chance.uniform(0.0, 0.05))
            service.kill()
        finally:
            gone.set()
        for one in running:
            one.result()


def numbers_of(service: Service) -> dict[int, dict[str, Any]]:
    """All memories of the personal space by number, page by page."""
    found: dict[int, dict[str, Any]] = {}
    cursor = ""
    while True:
        page = service.wanted("GET", f"{PERSONAL}/memories?state=all&sort=oldest&limit=200{cursor}")
        found |= {memory["number"]: memory for memory in page["items"]}
        if page["next"] is None:
            return found
        cursor = f"&cursor={page['next']}"


def _compare(
    service: Service, writers: Sequence[Writer], known: set[int], chance: random.Random, damage: Damage
) -> None:
    """Everything promised is there once, as promised, and nothing else is; the index finds it."""
    promised = {word: one for writer in writers for word, one in writer.promised.items()}
    stored = {number: memory for number, memory in numbers_of(service).items() if number not in known}
    words = Counter(memory["text"].split()[0] for memory in stored.values())
    damage.doubled += [word for word, times in words.items() if times > 1]
    damage.phantom += [word for word in words if word not in promised]
    damage.lost += [word for word, one in promised.items() if one.number not in stored]
    damage.changed += [
        f"#{one.number} {stored[one.number]['text']!r} instead of {one.text!r}"
        for one in promised.values()
        if one.number in stored and not _as_promised(stored[one.number], one)
    ]
    service.settle(PERSONAL, len(stored) + len(known))
    damage.unfound += _unfound(service, promised, chance)


def _as_promised(memory: Mapping[str, Any], promised: Promised) -> bool:
    return bool(memory["version"] == promised.version and memory["text"] == promised.text)


def _unfound(service: Service, promised: Mapping[str, Promised], chance: random.Random) -> list[str]:
    """Words whose memory no search finds."""
    missing = []
    for word in chance.sample(sorted(promised), min(SEARCHED, len(promised))):
        answer = service.wanted("POST", f"{PERSONAL}/search", {"query": word, "limit": 5})
        if promised[word].number not in [item["memory"]["number"] for item in answer["items"]]:
            missing.append(word)
    return missing
