"""R1: no acknowledged write is lost, whatever fails.

    python -m tests.prove.faults --faults 10000 --acknowledged 20000 --seed 1

Programs of real use cases, one installation each, under faults of every call of every port, until so many faults have
fired and so many writes were acknowledged, and every kind of every method has fired. What was acknowledged is compared
with what is stored.
"""

import argparse
import logging
import sys
import time
from collections.abc import Iterable

from tests.prove.faults.dynamo_stage import DynamoStage
from tests.prove.faults.founding import found
from tests.prove.faults.injector import Injector, Site
from tests.prove.faults.kinds import Kind, expected, undecided
from tests.prove.faults.run import Outcome, run_program

OPERATIONS = (
    "add edit retire trash restore erase merge categorise undo category reindex cleanup crowd account.create "
    "account.edit account.delete account.settings account.sign_up key.create key.delete project.create project.edit "
    "project.delete project.member.add project.member.remove community.create community.edit community.delete "
    "community.team.add community.team.edit community.team.remove settings.edit move"
).split()
"""Each of these is to be done at least once."""
PROGRAMS = 400
"""At most."""
ON_DYNAMODB = 8
"""One program of so many has its stores there."""
DYNAMO_STEPS = 40
FOUNDINGS = 40


def run(faults: int, acknowledged: int, seed: int) -> Outcome:
    """As many programs as it takes; stops at the first that breaks the promise."""
    whole = Outcome()
    for number in range(FOUNDINGS):
        injector = Injector(seed + number)
        whole.findings.wrong += [f"first start, seed {seed + number}: {one}" for one in found(injector)]
        whole.fired += injector.fired
    for number in range(PROGRAMS):
        if whole.findings.all() or _enough(whole, faults, acknowledged):
            break
        only = frozenset(lacking(whole)) if _reached(whole, faults, acknowledged) else frozenset()
        on_dynamodb = _is_on_dynamodb(number, only)
        program = seed * 1_000 + number
        told = "".join(f" --only '{one}'" for one in _told(only))
        name = f"--program {program}{' --dynamodb' * on_dynamodb}{told}"
        whole.add(one(program, on_dynamodb=on_dynamodb, only=only), name)
        if number % 10 == 9:
            print(
                f"{number + 1} programs: {whole.fired.total():,} faults, {whole.tally.acknowledged:,} acknowledged",
                flush=True,
            )
    return whole


def one(program: int, *, on_dynamodb: bool, only: frozenset[Site] = frozenset()) -> Outcome:
    """One program, by its seed; `only` these (method, kind) fail, or all."""
    if on_dynamodb:
        return run_program(program, DYNAMO_STEPS, DynamoStage, only=only)
    return run_program(program, only=only)


def _is_on_dynamodb(number: int, only: frozenset[Site]) -> bool:
    """Whether this program has its stores there: one of a few; when only some faults are left, wherever they are."""
    if not only:
        return number % ON_DYNAMODB == 0
    below = {site.startswith("DynamoDB.") for site, _ in only}
    return number % 2 == 0 if len(below) == 2 else below == {True}


def _reached(whole: Outcome, faults: int, acknowledged: int) -> bool:
    return whole.fired.total() >= faults and whole.tally.acknowledged >= acknowledged


def _enough(whole: Outcome, faults: int, acknowledged: int) -> bool:
    return _reached(whole, faults, acknowledged) and not lacking(whole)


def lacking(whole: Outcome) -> set[Site]:
    """Every (method, kind) of the table that never fired."""
    return expected("SQLite", "DynamoDB") - set(whole.fired)


def _told(sites: Iterable[Site]) -> list[str]:
    return sorted(f"{site}: {kind}" for site, kind in sites)


def summary(whole: Outcome, seed: int) -> str:
    """The one line."""
    found = whole.findings
    return (
        f"R1 no acknowledged write is lost: {whole.fired.total():,} faults, {whole.tally.acknowledged:,} acknowledged, "
        f"lost {len(found.lost)}, phantom {len(found.phantom)}, doubled {len(found.doubled)}, "
        f"wrong answers {len(found.wrong)}, found {len(found.all())}, seed {seed}"
    )


def main() -> int:
    """Run from a terminal."""
    asked = argparse.ArgumentParser(description="R1: no acknowledged write is lost")
    asked.add_argument("--faults", type=int, default=10_000)
    asked.add_argument("--acknowledged", type=int, default=20_000)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--program", type=int, help="only this program")
    asked.add_argument("--dynamodb", action="store_true", help="run it on DynamoDB")
    asked.add_argument(
        "--only", action="append", default=[], help="only this 'Port.method: kind' fails in it"
    )
    told = asked.parse_args()
    logging.disable(logging.CRITICAL)
    if told.program is not None:
        only = frozenset(
            site for site in expected("SQLite", "DynamoDB") if set(_told([site])) & set(told.only)
        )
        findings = one(told.program, on_dynamodb=told.dynamodb, only=only).findings.all()
        print(*findings, sep="\n")
        return 1 if findings else 0
    started = time.monotonic()
    whole = run(told.faults, told.acknowledged, told.seed)
    problems = [*undecided(), *whole.findings.all()]
    if not whole.findings.all():
        problems += [f"never fired: {one}" for one in _told(lacking(whole))]
        problems += [f"never done: {one}" for one in OPERATIONS if not whole.tally.ops[one]]
        problems += (
            [] if _enough(whole, told.faults, told.acknowledged) else ["not as many as were asked for"]
        )
        problems += (
            [] if whole.tally.compared else ["no read met a fault and was answered: nothing was compared"]
        )
    kinds = {kind.value: sum(n for (_, k), n in whole.fired.items() if k is kind) for kind in Kind}
    print(*problems, sep="\n")
    print(f"{vars(whole.tally)}, started {whole.starts:,} times, {kinds}, {time.monotonic() - started:.0f} s")
    print(summary(whole, told.seed))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
