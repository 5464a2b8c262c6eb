"""R9: what the contract says holds, whatever is asked (RELIABILITY R9).

    python -m tests.api.conformance --cases 20000 --seed 1

sends generated requests to every operation, valid ones and such that break the contract in each place, singly and in
sequences, and holds each answer to all checks of Schemathesis. It needs no network, and repeats with its seed.
"""

import argparse
import logging
import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from schemathesis import Case, GenerationMode, Response

from chalicelib.web.openapi import document
from tests.api.judge import Found, Judge
from tests.api.stage import FRONT

MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
STEPS = 10
"""Requests in a sequence."""


@cache
def contract(*, credentials: bool = True) -> Any:
    """The contract, as Schemathesis reads it. Its own probes without a credential go to `FRONT` too.

    `credentials`: whether it makes some up; else requests come with Anna's, and what is wrong with them is elsewhere.
    """
    schema = schemathesis.openapi.from_dict(document(), config=schemathesis.Config(seed=0))
    schema.config.generation.update(with_security_parameters=credentials)
    schema.app = FRONT
    return schema


def labels() -> list[str]:
    """The operations: `GET /v1/me` …"""
    return [operation.ok().label for operation in contract().get_all_operations()]


def run(judge: Judge, cases: int, chosen: int, only: Iterable[str] | None = None) -> None:
    """Judge every single way in which the contract can be met or broken, once, and then requests generated from the
    seed `chosen`, spread over all operations (or `only` those), until there are `cases` of all."""
    wanted = set(labels() if only is None else only)
    for operation in contract().get_all_operations():
        chance = random.Random(chosen)
        for case in _coverage(operation.ok()) if operation.ok().label in wanted else ():
            judge.judge(case, chance if chance.random() < 0.5 else None)
    while judge.found.cases < cases:
        for label in sorted(wanted):
            generate(judge, 100, chosen, label)
        chosen += 1


def _coverage(operation: Any) -> Iterator[Case]:
    generation = operation.schema.config.generation_for(operation=operation)
    yield from operation.schema.iter_coverage_cases(
        operation, generation_modes=list(MODES), generation_config=generation
    )


def _settings(cases: int, **more: Any) -> settings:
    return settings(
        max_examples=cases,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=False,
        database=None,
        deadline=None,
        **more,
    )


def generate(judge: Judge, cases: int, chosen: int, only: str) -> None:
    """Judge at most `cases` requests of one operation, generated from the seed `chosen`."""
    operations = contract(credentials=False).get_all_operations()
    operation = next(one.ok() for one in operations if one.ok().label == only)
    strategies = [operation.as_strategy(generation_mode=mode) for mode in MODES]

    @seed(chosen)
    @_settings(cases)
    @given(case=st.one_of(strategies), chance=st.integers(0, 2**32))
    def each(case: Case, chance: int) -> None:
        judge.judge(case, random.Random(chance))

    each()


def sequences(judge: Judge, count: int, chosen: int) -> None:
    """Judge sequences in which requests use what earlier answers gave: what was made is there, what was deleted is
    gone."""

    class Sequence(contract().as_state_machine()):  # type: ignore[misc]
        """One sequence, on a stage of its own."""

        def setup(self) -> None:
            judge.fresh_stage()

        def before_call(self, case: Case) -> None:
            judge.stage.spare(case)

        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            return judge.stage.how()

        def validate_response(self, response: Response, case: Case, **_: Any) -> None:
            judge.look_at(case, response, self.recorder)

    with suppress(
        Flaky
    ):  # Schemathesis draws from earlier answers, which Hypothesis takes for a changed strategy
        seed(chosen)(Sequence).run(settings=_settings(count, stateful_step_count=STEPS))


def main() -> int:
    """Run from a terminal; one line of result."""
    asked = argparse.ArgumentParser(description="R9: API conformance")
    asked.add_argument("--cases", type=int, default=20_000)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", action="append", help="an operation, as `GET /v1/me`; default: all")
    told = asked.parse_args()
    logging.disable(logging.CRITICAL)
    judge = Judge()
    try:
        for round_ in range(0 if told.only else max(1, told.cases // 2_000)):
            sequences(judge, 10, told.seed + round_)
        run(judge, told.cases, told.seed, told.only)
    finally:
        judge.close()
    return report(judge.found, told.seed, told.only or labels())


def report(found: Found, chosen: int, wanted: list[str]) -> int:
    """Print what was found, in one line and each fault before it; 0 if nothing was."""
    for fault in found.faults.values():
        print(fault)
    missing = sorted(set(wanted) - found.reached)
    if missing:
        print(f"never reached with success: {', '.join(missing)}")
    print(
        f"R9 API conformance: {found.cases:,} cases, {found.server_errors} answers 5xx, "
        f"{len(found.faults)} violations, {len(wanted) - len(missing)} of {len(wanted)} operations reached with "
        f"success, seed {chosen}"
    )
    return 1 if found.faults or missing or found.server_errors else 0


if __name__ == "__main__":
    raise SystemExit(main())
