"""R7: many add to one space at once. Each memory has a number of its own, and none is missing afterwards."""

import threading
import time
from collections import Counter

from tests.fakes.client import Client
from tests.prove.concurrency.hot import MEMORIES, PAGE, Written
from tests.prove.concurrency.stages import at_once


def add_at_once(client: Client, writers: int, adds: int) -> Written:
    """So many threads add so many memories each."""
    numbered = Written()
    lock = threading.Lock()
    told: list[tuple[int, str]] = []

    def write(writer: int) -> None:
        for turn in range(adds):
            text = f"writer {writer} says {turn}"
            reply = client.post(MEMORIES, {"text": text})
            with lock:
                if reply.status == 201:
                    told.append((reply.json["memory"]["number"], text))
                else:
                    numbered.faults.append(f"{text} -> {reply.status} {reply.text[:200]}")

    began = time.monotonic()
    at_once(writers, write)
    numbered.seconds = time.monotonic() - began
    stored = _stored(client)
    numbered.acknowledged = len(told)
    numbered.lost = sum(stored.get(number) != text for number, text in told)
    numbered.doubled = sum(times - 1 for times in Counter(number for number, _ in told).values())
    numbered.doubled += sum(times - 1 for times in Counter(stored.values()).values())
    if len(stored) != len(told):
        numbered.faults.append(f"{len(stored)} memories are stored, {len(told)} were acknowledged")
    return numbered


def _stored(client: Client) -> dict[int, str]:
    """All texts by number, as the table has them."""
    found: dict[int, str] = {}
    store, scope = client.world.parts.memories, client.world.scope()
    while page := store.page(scope, after=max(found, default=0), limit=PAGE):
        found |= {memory.number: memory.text for memory in page}
    return found
