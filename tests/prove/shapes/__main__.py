"""R9: stored text of every shape comes back as it was said, on every engine (RELIABILITY R9; SPEC M15).

python -m tests.prove.shapes --seed 1
"""

import argparse
import logging
import sys
from collections import Counter

from tests.fakes.engines import ENGINES, Engine, Servers, running_servers
from tests.prove.shapes.prove import Proof, prove
from tests.prove.shapes.texts import CATEGORIES

TEXTS: dict[Engine, int] = {"sqlite": 2_000, "moto": 40, "cloud": 200}


def main() -> int:
    """Run from a terminal; one line of result."""
    asked = argparse.ArgumentParser(description="R9: stored text round-trips unchanged")
    asked.add_argument("--texts", type=int, help="on each engine; default: as many as it takes in minutes")
    asked.add_argument("--engine", action="append", choices=ENGINES, help="default: all")
    asked.add_argument("--seed", type=int, default=1)
    told = asked.parse_args()
    logging.disable(logging.CRITICAL)
    engines: list[Engine] = told.engine or list(ENGINES)
    if "cloud" in engines:
        with running_servers() as servers:
            proofs = _prove(engines, told.texts, told.seed, servers)
    else:
        proofs = _prove(engines, told.texts, told.seed, None)
    return report(proofs, told.seed)


def _prove(engines: list[Engine], texts: int | None, seed: int, servers: Servers | None) -> list[Proof]:
    return [
        prove(engine, TEXTS[engine] if texts is None else texts, seed + place, servers)
        for place, engine in enumerate(engines)
    ]


def report(proofs: list[Proof], seed: int) -> int:
    """Print what was found, in one line and each fault before it; 0 if nothing was and nothing was left out."""
    found = [f"{proof.engine}, seed {proof.seed}: {one}" for proof in proofs for one in proof.found]
    found += [f"{proof.engine} never tried: {way}" for proof in proofs for way in proof.untried()]
    for one in found[:50]:
        print(one)
    categories = set().union(*(proof.categories for proof in proofs))
    readings = sum((proof.readings.ways for proof in proofs), Counter[str]()).total()
    print(
        f"R9 stored text round-trips unchanged: {sum(proof.texts for proof in proofs):,} texts, "
        f"{readings:,} readings, {len(categories)} of {len(CATEGORIES)} Unicode categories, "
        f"{sum(proof.refusals for proof in proofs):,} refusals on {', '.join(proof.engine for proof in proofs)}, "
        f"found {len(found)}, seed {seed}"
    )
    return 1 if found or len(categories) < len(CATEGORIES) else 0


if __name__ == "__main__":
    sys.exit(main())
