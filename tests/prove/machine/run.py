"""Runs the machine on one engine, and says what happened."""

import logging
from dataclasses import dataclass

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.prove.machine.engines import Name, Open
from tests.prove.machine.rules import Machine
from tests.prove.machine.tally import Tally


@dataclass(frozen=True)
class Effort:
    """How closely is looked, which is a matter of what a request costs on the engine."""

    looks: int
    last_look: int
    rebuilds: int


EFFORT: dict[Name, Effort] = {
    "sqlite": Effort(looks=2, last_look=16, rebuilds=1),
    "moto": Effort(looks=0, last_look=1, rebuilds=1),
    "ministack": Effort(looks=0, last_look=1, rebuilds=1),
    "opensearch": Effort(looks=1, last_look=4, rebuilds=8),
}


def run(
    name: Name, worlds: Open, *, programs: int, steps: int, seed: int, shrink: bool = True
) -> tuple[Tally, BaseException | None]:
    """So many whole programs of so many steps; the counterexample, if there is one, after it was made small.

    Hypothesis begins with some short programs, which are not counted: it is asked again, with another seed, until there
    are enough.
    """
    tally, found = Tally(steps), None
    while tally.programs < programs and found is None:
        found = _round(name, worlds, tally, programs - tally.programs, seed, shrink=shrink)
        seed += 1_000_003
    return tally, found


def _round(
    name: Name, worlds: Open, tally: Tally, programs: int, seed: int, *, shrink: bool
) -> BaseException | None:
    fields = {"open": staticmethod(worlds), "tally": tally, **vars(EFFORT[name])}
    machine = hypothesis.seed(seed)(type(f"{name.title()}Machine", (Machine,), fields))
    chosen = settings(
        max_examples=programs,
        stateful_step_count=tally.length + 1,  # the beginning counts as one
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        run_state_machine_as_test(machine, settings=chosen)
    except Exception as found:  # noqa: BLE001 - whatever ends a program is the finding
        return found
    finally:
        logging.disable(before)
    return None
