"""R7 and R12 at full size.

python -m tests.prove.concurrency [--claim R7|R12] [--stores sqlite,moto,ministack] [--edits 1000] [--seed 1]
"""

import argparse
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass

from tests.prove.concurrency.hot import Hot
from tests.prove.concurrency.numbers import add_at_once
from tests.prove.concurrency.outbound import LIBRARIES, sites, unknown_libraries, unprobed
from tests.prove.concurrency.projectors import LAGGING, Projectors
from tests.prove.concurrency.silences import PROBES, listen
from tests.prove.concurrency.stages import STORES, stage
from tests.prove.projection.engines import Embedded

WRITERS = 64
PROJECTED_WRITES = 4_000


@dataclass(frozen=True)
class Size:
    """How much is written to a store at once."""

    writers: int
    edits: int
    adds: int


FULL = {
    "sqlite": Size(WRITERS, 1_000, 100),
    "moto": Size(16, 10, 10),
    "ministack": Size(WRITERS, 5, 5),
}
"""moto does one call at a time, and MiniStack a hundred times fewer than a disk: they show that it holds, not how long."""


def no_lost_update(stores: Sequence[str], edits: int | None, seed: int) -> tuple[str, bool]:
    """R7: its line, and whether it held."""
    acknowledged = conflicts = lost = doubled = found = added = wanted = 0
    for store in stores:
        size = FULL[store]
        each = min(edits or size.edits, size.edits)
        with stage(store) as client:
            edited = Hot(client, size.writers, each, seed).run()
        with stage(store) as client:
            numbered = add_at_once(client, size.writers, size.adds)
        print(
            f"{store}: {edited.acknowledged:,} edits of one memory by {size.writers} writers in {edited.seconds:.0f} s, "
            f"{edited.conflicts:,} conflicts; {numbered.acknowledged:,} adds in {numbered.seconds:.0f} s"
        )
        for fault in [*edited.faults, *numbered.faults][:20]:
            print(f"  {fault}")
        acknowledged += edited.acknowledged
        conflicts += edited.conflicts
        added += numbered.acknowledged
        lost += edited.lost + numbered.lost
        doubled += edited.doubled + numbered.doubled
        found += edited.found + numbered.found
        wanted += size.writers * (each + size.adds)
    projected = Projectors(Embedded(), seed).run(PROJECTED_WRITES)
    differences = projected.compared.differences
    print(
        f"{LAGGING + 1} projectors: {projected.writes:,} writes, {projected.records:,} records, {projected.seconds:.0f} s"
    )
    for one in differences[:20]:
        print(f"  {one}")
    writers = ", ".join(f"{FULL[store].writers} on {store}" for store in stores)
    line = (
        f"R7 no update is lost between many writers ({writers}): {acknowledged:,} edits and {added:,} "
        f"adds, {conflicts:,} conflicts, lost {lost}, doubled {doubled}; {LAGGING + 1} projectors over {projected.records:,} "
        f"records, difference {len(differences)}, found {found + len(differences)}, seed {seed}"
    )
    really = acknowledged + added == wanted and conflicts > 0 and projected.records > 0
    return line, not (found or differences) and really


def no_endless_wait(seed: int) -> tuple[str, bool]:
    """R12: its line, and whether it held."""
    os.environ.setdefault("AWS_ACCESS_KEY_ID", "test")
    os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "test")
    asked = sites()
    faults = [str(site) for site in asked if site.missing] + unknown_libraries() + unprobed(asked)
    for site in asked:
        print(site)
    heard = listen()
    print(", ".join(f"{name} {calls} calls" for name, calls in heard.by_adapter.items()))
    faults += heard.faults
    for fault in faults[:20]:
        print(f"  {fault}")
    line = (
        f"R12 every outbound call has a time-out: {len(asked)} places of {len(LIBRARIES)} libraries, {heard.calls:,} "
        f"calls before servers that never answer, slowest {heard.slowest_s:.1f} s, found {len(faults)}, seed {seed}"
    )
    return line, not faults and set(heard.by_adapter) == set(PROBES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from a terminal; one line for each claim."""
    asked = argparse.ArgumentParser(prog="python -m tests.prove.concurrency", description="R7, R12")
    asked.add_argument("--claim", choices=("R7", "R12"), help="only this one")
    asked.add_argument("--stores", default=",".join(STORES), help="of R7, with commas between them")
    asked.add_argument("--edits", type=int, help="of each writer, on SQLite at most so many")
    asked.add_argument("--seed", type=int, default=1)
    told = asked.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    lines = []
    if told.claim in (None, "R7"):
        lines.append(no_lost_update(told.stores.split(","), told.edits, told.seed))
    if told.claim in (None, "R12"):
        lines.append(no_endless_wait(told.seed))
    for line, _ in lines:
        print(line)
    return 0 if all(held for _, held in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
