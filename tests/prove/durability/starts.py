"""Starts that must be refused in one plain sentence, and of several at once the one that wins."""

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.bench.served import Service
from tests.e2e.laptop import Ended, Laptop, laptop
from tests.fakes.caller import wait_until
from tests.prove.durability import torn_log
from tests.prove.durability.outcome import Outcome

READY = "Ctrl-C stops it"
_SENTENCES = re.compile(r"[^\n]{20,600}\n?")


def refusal(end: Ended) -> str | None:
    """What is wrong with how a start was refused; None when it was one plain line on the error stream, and code 1."""
    if end.code != 1:
        return f"ended with {end.code}: {end.out[-200:]}{end.err[-300:]}"
    if end.out or not _SENTENCES.fullmatch(end.err) or "Traceback" in end.err:
        return f"said {end.out[-200:]!r} {end.err[-300:]!r}"
    return None


def damaged_files(
    service: Service,
    place: Path,
    chance: random.Random,
    damages: Sequence[torn_log.Damage] = torn_log.DAMAGES,
) -> Outcome:
    """A main file that was torn or garbled is refused, and stays as it is."""
    outcome = Outcome("damaged file")
    tried = 0
    for name, folder, torn in torn_log.copies(service.data, place, chance, damages):
        with laptop(folder.parent) as here:
            wrong = _refused_or_running(here)
        if wrong is not None:
            outcome.found.append(f"{name}: {wrong}")
        if (folder / torn_log.FILE).read_bytes() != torn:
            outcome.found.append(f"{name}: the file was changed")
        tried += 1
    outcome.line = f"main file damaged in {tried} ways and refused"
    return outcome


def _refused_or_running(here: Laptop) -> str | None:
    here.launch()
    assert here.process is not None
    process = here.process
    wait_until(lambda: process.poll() is not None or READY in here.out)
    if process.poll() is None:
        return f"it started: {here.out.splitlines()[1:4]}"
    return refusal(here.ended())


def race(place: Path, starts: int) -> list[str]:
    """As many starts at once on one folder, new or used: what went wrong. Exactly one must win."""
    wrong = []
    with ExitStack() as stack:
        racing = []
        for turn in range(starts):
            own = place / f"start{turn}"
            own.mkdir(parents=True, exist_ok=True)
            racing.append(stack.enter_context(laptop(own, DATA=str(place / "data"))))
        for one in racing:
            one.launch()
        wait_until(lambda: all(_decided(one) for one in racing))
        winners = [one for one in racing if one.process is not None and one.process.poll() is None]
        if len(winners) != 1:
            wrong.append(f"{len(winners)} of {starts} won")
        refusals = [refusal(one.ended()) for one in racing if one not in winners]
        wrong += [said for said in refusals if said is not None]
        for winner in winners:
            wrong += _works(winner, place / "data")
    return wrong


def _decided(one: Laptop) -> bool:
    return READY in one.out or one.process is None or one.process.poll() is not None


def _works(winner: Laptop, data: Path) -> list[str]:
    """The winner serves, what it is told is kept, and it ends well."""
    running = json.loads((data / "run.json").read_text())
    winner.url, winner.key = running["url"], running["key"]
    before = len(winner.listed()[0])
    number = winner.add("Tea is green.")
    wait_until(lambda: winner.search("tea")["degraded"] is None)
    found = number in winner.found("tea") and len(winner.listed()[0]) == before + 1
    end = winner.stop()
    wrong = [] if found else [f"the winner does not find #{number}"]
    return wrong if end.code == 0 else [*wrong, f"the winner ended with {end.code}: {end.err[-300:]}"]


def sound(data: Path) -> list[str]:
    """What SQLite finds wrong with the file of a folder that nobody uses."""
    connection = sqlite3.connect(data / torn_log.FILE)
    try:
        return [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    finally:
        connection.close()


def second_start(place: Path) -> list[str]:
    """While one runs, another on the same folder is refused, names the first, and does it no harm."""
    with (
        laptop(place / "first") as first,
        laptop(place / "second", DATA=str(place / "first" / "data")) as second,
    ):
        first.start()
        first.add("Snow is white.")
        second.launch()
        end = second.ended()
        wrong = [said] if (said := refusal(end)) is not None else []
        if first.url not in end.err:
            wrong.append(f"the refusal does not name the first: {end.err!r}")
        if not (first.data / "run.json").exists() or first.listed()[0] != [1]:
            wrong.append("the first was harmed")
        first.add("Grass is green.")
        ended = first.stop()
        return wrong if ended.code == 0 else [*wrong, f"the first ended with {ended.code}"]


def run(place: Path, rounds: Sequence[int]) -> Outcome:
    """A second start, then a race of so many starts for each of `rounds`, every other on a folder with data."""
    for name in ("first", "second"):
        (place / name).mkdir(parents=True)
    outcome = Outcome("starts", found=second_start(place))
    for turn, starts in enumerate(rounds):
        folder = place / f"race{turn // 2}"
        outcome.found += race(folder, starts)
        outcome.found += sound(folder / "data")
    shutil.rmtree(place, ignore_errors=True)
    outcome.line = f"D4 starts on one folder: a second one refused, {sum(rounds)} starts in {len(rounds)} races with one winner each"
    return outcome
