"""Run the whole matrix: `python -m tests.prove.degradation [--seed 1] [--only embedder] [--case NAME]`."""

import argparse
import logging
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests import shared_services
from tests.prove.degradation.matrix import CASES, GROUPS
from tests.prove.degradation.trial import Row, run

HEADER = ("part", "what it does", "writes", "reads", "degraded", "health", "kept", "met", "whole after", "")
EMULATED = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def main(arguments: Sequence[str]) -> int:
    """Run it; 0 if every case was tried, and nothing was found."""
    known = argparse.ArgumentParser(prog="python -m tests.prove.degradation", description=__doc__)
    known.add_argument("--seed", type=int, default=1)
    known.add_argument("--only", choices=GROUPS, action="append", help="the cases of one group")
    known.add_argument("--case", action="append", help="one case, by its name")
    asked = known.parse_args(arguments)
    names = [
        name
        for name in CASES
        if (not asked.only or name.split(":")[0] in asked.only) and (not asked.case or name in asked.case)
    ]
    logging.getLogger("palimpsest").propagate = False
    os.environ.update(EMULATED)
    with servers({name.split(":")[0] for name in names}) as there:
        rows = dict(_tried(names, there, asked.seed))
    _print(rows)
    missed = [name for name, row in rows.items() if not _happened(row)]
    found = sum(len(row.found) for row in rows.values())
    for name in missed:
        print(f"{name}: the fault was not met")
    print(
        f"R14 each dependency down, slow or talking nonsense: {len(rows):,} cases, found {found}, seed {asked.seed}"
    )
    return 1 if found or missed or not rows else 0


@contextmanager
def servers(groups: set[str]) -> Iterator[dict[str, str]]:
    """The real servers that these groups need, by name."""
    folder = shared_services.begin_run()
    try:
        there = {}
        if "opensearch" in groups:
            there["opensearch"] = shared_services.opensearch(folder, required=True)
        if "dynamodb" in groups:
            there["dynamodb"] = shared_services.ministack(folder)
        yield there
    finally:
        shared_services.end_run(folder)


def _tried(names: Sequence[str], there: dict[str, str], seed: int) -> Iterator[tuple[str, Row]]:
    for name in names:
        folder = Path(tempfile.mkdtemp(prefix="palimpsest-degraded-"))
        try:
            row = run(CASES[name], folder / "data", there, random.Random(f"{seed} {name}"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        for fault in row.found:
            print(f"{name}: {fault}  (--seed {seed} --case {name!r})", flush=True)
        print(f"{name}: {row.took_s:.1f} s, found {len(row.found)}", file=sys.stderr, flush=True)
        yield name, row


def _happened(row: Row) -> bool:
    """Whether the case showed anything: it had writes and reads, and the fault was met where that is counted."""
    counted = row.case.stage.__name__ != "file_stage" and row.met > 0
    own_state = row.case.stage.__name__ in {"file_stage", "opensearch_stage"}
    return bool(row.writes and row.reads) and (counted or own_state)


def _print(rows: dict[str, Row]) -> None:
    cells = [HEADER, *(_cells(name, row) for name, row in rows.items())]
    widths = [max(len(line[place]) for line in cells) for place in range(len(HEADER))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cells(name: str, row: Row) -> tuple[str, ...]:
    group, _, what = name.partition(": ")
    after = "never" if row.whole_after_s is None else f"{row.whole_after_s} s"
    words = ", ".join(sorted(row.degraded)) or "-"
    writes, reads = "/".join(sorted(row.writes)), "/".join(sorted(row.reads))
    verdict = "" if not row.found else f"FOUND {len(row.found)}"
    return group, what, writes, reads, words, row.health, str(row.acknowledged), str(row.met), after, verdict


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
