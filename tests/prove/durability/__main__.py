"""All of it at full size: `python -m tests.prove.durability [--seed 1] [--writes 2000] [--kills 20]`.

The last lines say what was done and found: D1 kills, D2 torn log and file, D3 full disk, D4 starts, D5 old folders.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.served import Service, served
from tests.prove.durability import full_disk, kills, old_folder, starts, torn_log
from tests.prove.durability.outcome import Outcome

WITHOUT_MODEL = {"PALIMPSEST_EMBEDDER": "none"}
RACES = (10, 10, 10, 10)


def main(arguments: Sequence[str]) -> int:
    """Run it; 0 if all was tried at the size asked for, and nothing was found."""
    known = argparse.ArgumentParser(prog="python -m tests.prove.durability", description=__doc__)
    known.add_argument("--seed", type=int, default=1)
    known.add_argument("--writes", type=int, default=2_000, help="acknowledged while being killed")
    known.add_argument("--kills", type=int, default=20)
    known.add_argument("--tears", type=int, default=120)
    known.add_argument("--disks", type=int, default=5, help="how often the disk is filled")
    asked = known.parse_args(arguments)
    place = Path(tempfile.mkdtemp(prefix="palimpsest-durability-"))
    try:
        outcomes = [_timed(part) for part in _parts(asked, place)]
    finally:
        shutil.rmtree(place, ignore_errors=True)
    for outcome in outcomes:
        for fault in [*outcome.found, *outcome.missed]:
            print(f"{outcome.name}: {fault}  (--seed {asked.seed})")
    for outcome in outcomes[1:]:
        print(f"{outcome.line}, found {len(outcome.found)}, seed {asked.seed}")
    print(f"{outcomes[0].line}, found {len(outcomes[0].found)}, seed {asked.seed}")
    return 0 if all(outcome.held for outcome in outcomes) else 1


def _parts(asked: argparse.Namespace, place: Path) -> list[Callable[[], Outcome]]:
    def chance(part: str) -> random.Random:
        return random.Random(f"{asked.seed} {part}")

    def torn(service: Service) -> Outcome:
        log = torn_log.run(service, 300, asked.tears, chance("torn"), place / "torn")
        return log.joined(starts.damaged_files(service, place / "damaged", chance("damaged")))

    return [
        lambda: _with_service(lambda service: kills.run(service, asked.writes, asked.kills, chance("kills"))),
        lambda: _with_service(torn),
        lambda: full_disk.run(place / "disk", asked.disks, chance("disk")),
        lambda: starts.run(place / "starts", RACES),
        lambda: old_folder.run(place / "old"),
    ]


def _with_service(part: Callable[[Service], Outcome]) -> Outcome:
    with served(WITHOUT_MODEL) as service:
        return part(service)


def _timed(part: Callable[[], Outcome]) -> Outcome:
    began = time.monotonic()
    outcome = part()
    print(f"{outcome.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
