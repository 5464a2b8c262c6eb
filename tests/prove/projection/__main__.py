"""R5 and R6 at full size.

python -m tests.prove.projection [--engine embedded|opensearch] [--claim R5|R6] [--operations 100000] [--seed 1]
"""

import argparse
import logging
import secrets
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.prove.projection.differences import rebuilt, reconciled
from tests.prove.projection.engines import Engine, OpenSearch, engine_of
from tests.prove.projection.equality import prove
from tests.prove.projection.loss import lose


@dataclass(frozen=True)
class Size:
    """How much is done on an engine."""

    operations: int
    each: int
    """Operations in one life."""
    memories: int
    """Memories whose index is damaged, or dropped in use."""
    drops: int
    rebuilt: int
    answers: int
    """People must have been given so many at least while the index was dropped."""


FULL = {
    "embedded": Size(100_000, 4_000, 3_000, 5, 20_000, 500),
    "opensearch": Size(10_000, 1_000, 1_000, 3, 5_000, 300),
}


def equality(engine: Engine, size: Size, seed: int) -> tuple[str, bool]:
    """R5: its line, and whether it held."""
    told = prove(engine, size.operations, size.each, seed, print)
    for name, counted in (("operations", told.operations), ("faults", told.faults), ("records", told.seen)):
        print(f"{name}: {_counted(counted)}")
    never = told.never()
    if never:
        print(f"never happened: {', '.join(never)}")
    done, compared = told.operations.total(), told.compared
    different = len(compared.differences)
    line = (
        f"R5 the index equals the table ({engine.name}): {done:,} operations, {told.seen['kills']:,} kills, "
        f"{told.faults.total():,} faults, {told.seen['records repeated']:,} records repeated, compared "
        f"{compared.memories:,} memories and {compared.tombstones:,} tombstones, difference {different}, "
        f"found {different}, seed {seed}"
    )
    return line, not (different or never) and done >= size.operations


def loss(engine: Engine, size: Size, seed: int) -> tuple[str, bool]:
    """R6: its line, and whether it held."""
    mended = reconciled(engine, size.memories, seed)
    print(f"planted: {_counted(mended.planted)}")
    entries, seconds, differences = rebuilt(engine, size.rebuilt, seed)
    print(f"rebuild: {entries:,} entries in {seconds:.1f} s, {entries / seconds:,.0f} entries/s")
    with tempfile.TemporaryDirectory(prefix="palimpsest-loss-") as folder:
        settings = _settings(engine)
        lost = lose(engine, settings, Path(folder), memories=size.memories, drops=size.drops, seed=seed)
    print(f"under load: {_counted(lost.answers)}; complete again after {_seconds(lost.rebuilt_s)}")
    faults = [*mended.faults, *differences, *lost.faults, *mended.never()]
    for fault in faults[:20]:
        print(f"  {fault}")
    answers = lost.answers.total()
    line = (
        f"R6 a lost index comes back, and every difference is repaired ({engine.name}): {lost.drops} drops under "
        f"4 clients, {answers:,} answers, {lost.degraded:,} degraded, errors {len(lost.faults)}; "
        f"{mended.planted.total():,} planted differences, rebuild {entries / seconds:,.0f} entries/s, difference "
        f"{len(mended.compared.differences) + len(differences) + len(lost.compared.differences)}, "
        f"found {len(faults)}, seed {seed}"
    )
    enough = answers >= size.answers and lost.drops >= size.drops and lost.degraded > 0
    return line, not faults and enough


def _settings(engine: Engine) -> dict[str, Any]:
    if not isinstance(engine, OpenSearch):
        return {}
    prefix = f"loss-{secrets.token_hex(4)}"
    return {"search": "opensearch", "opensearch_url": engine.url, "opensearch_prefix": prefix}


def _counted(counted: Counter[str]) -> str:
    return ", ".join(f"{name} {times:,}" for name, times in counted.most_common())


def _seconds(seconds: Sequence[float]) -> str:
    return ", ".join(f"{one:.1f} s" for one in seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from a terminal; one line for each claim."""
    asked = argparse.ArgumentParser(prog="python -m tests.prove.projection", description="R5, R6")
    asked.add_argument("--engine", choices=sorted(FULL), default="embedded")
    asked.add_argument("--claim", choices=("R5", "R6"), help="only this one")
    asked.add_argument("--operations", type=int, help="of R5; the full size of the engine without it")
    asked.add_argument("--seed", type=int, default=1)
    told = asked.parse_args(arguments)
    logging.disable(logging.CRITICAL)
    full = FULL[told.engine]
    size = Size(
        told.operations or full.operations, full.each, full.memories, full.drops, full.rebuilt, full.answers
    )
    claims = [claim for claim in ("R5", "R6") if told.claim in (None, claim)]
    with engine_of(told.engine) as engine:
        lines = [(equality if claim == "R5" else loss)(engine, size, told.seed) for claim in claims]
    for line, _ in lines:
        print(line)
    return 0 if all(held for _, held in lines) else 1


if __name__ == "__main__":
    raise SystemExit(main())
