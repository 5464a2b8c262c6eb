"""R8: the model equals the system (SPEC; RELIABILITY R8).

    python -m tests.prove.machine                                       all engines, at full size
    python -m tests.prove.machine --engine sqlite --programs 200 --seed 7

Programs of everything that people, models and time do to memories run against the service and against a model of at most
150 lines; after each step all that can be asked must answer as the model says. Two engines run at a time, each in a
process of its own.
"""

import argparse
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from tests.prove.machine.engines import NAMES, Name, started
from tests.prove.machine.run import run

PROGRAMS: dict[Name, int] = {"sqlite": 2_000, "moto": 200, "ministack": 200, "opensearch": 200}
FIRST: tuple[Name, ...] = ("sqlite", "moto", "ministack", "opensearch")
"""The longest first, so that two processes end at about the same time."""


def main(arguments: list[str] | None = None) -> int:
    """Run from a terminal; one line of result for each engine."""
    asked = argparse.ArgumentParser(
        prog="python -m tests.prove.machine", description="R8: the model equals the system"
    )
    asked.add_argument("--engine", choices=NAMES, help="one of them alone")
    asked.add_argument("--programs", type=int, help="how many; by default what is promised for the engine")
    asked.add_argument("--steps", type=int, default=50)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--processes", type=int, default=2)
    told = asked.parse_args(arguments)
    names = [told.engine] if told.engine else FIRST
    prove = partial(_prove, programs=told.programs, steps=told.steps, seed=told.seed)
    if len(names) == 1:
        outcomes = [prove(names[0])]
    else:
        with ProcessPoolExecutor(
            told.processes, mp_context=get_context("spawn"), max_tasks_per_child=1
        ) as pool:
            outcomes = list(pool.map(prove, names))
    for report, _, _ in outcomes:
        print(report, end="")
    for _, line, _ in outcomes:
        print(line)
    return 0 if all(held for _, _, held in outcomes) else 1


def _prove(name: Name, *, programs: int | None, steps: int, seed: int) -> tuple[str, str, bool]:
    """What is to be read of an engine; its line; whether the promise held, at the size that was asked for."""
    wanted = PROGRAMS[name] if programs is None else programs
    began = time.monotonic()
    with started(name) as worlds:
        tally, found = run(name, worlds, programs=wanted, steps=steps, seed=seed)
    taken = time.monotonic() - began
    report = [
        f"{name}: {tally.programs:,} whole programs and {tally.shorter:,} shorter ones, {tally.steps:,} steps"
    ]
    report.append(
        f"  {taken:,.0f} s, {tally.steps / taken:.1f} steps and {tally.steps / taken / steps:.2f} programs a second"
    )
    report += [
        f"  {kind}: {_counts(counts)}" for kind, counts in (("done", tally.acts), ("seen", tally.looks))
    ]
    lacking = tally.lacking() if wanted >= FULL else []
    report += [f"  never happened: {what}" for what in lacking]
    if found is not None:
        report += ["".join(traceback.format_exception(found, limit=-8)), *getattr(found, "__notes__", [])]
    full = tally.programs >= wanted and not lacking
    line = (
        f"R8 the model equals the system ({name}): {tally.programs:,} programs x {steps} steps, "
        f"found {int(found is not None)}, seed {seed}"
    )
    return "\n".join(report) + "\n", line, found is None and full


FULL = 100
"""From so many programs on everything happens."""


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
