"""S5: what was erased is nowhere (SPEC M13; RELIABILITY S5; CASES "Deletion that does not delete").

    python -m tests.security.erasure --people 20 --seed 1

People live through months of memories: they add, edit, merge, retire, sort, undo, in every order, and erase some. All
that was ever said in a memory is a canary of its own. Afterwards everything is asked for by every way there is, each
write once more under its key, and every byte of every file of the data folder is looked at; where tables and index are
on servers, every item of every table and every document of every index.
"""

import argparse
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from chalicelib.observability import JsonLines
from tests.fakes.engines import ENGINES, Engine, Servers, running_servers, world_on
from tests.security.kept import look_at_index, look_at_tables
from tests.security.life import Life, Remains

AT_ONCE: dict[Engine, int] = {"sqlite": 40, "moto": 6, "cloud": 12}
"""Memories that are added in one request, at most; the emulators take their time."""
SHARE: dict[Engine, tuple[int, int]] = {"sqlite": (1, 1), "moto": (10, 4), "cloud": (5, 2)}
"""How many times fewer people live on an engine, and how many times fewer steps they take."""
LIBRARIES = ("boto3", "botocore", "moto", "opensearch", "opensearchpy", "urllib3", "responses", "s3transfer")
"""Heard from warnings on, as in the service (`chalicelib.observability`)."""


class Listening(logging.Handler):
    """Keeps every line that the service logs, as it is written, and what is in the record beside."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(f"{JsonLines().format(record)} {record.getMessage()}")


def live_erase_and_look(
    folder: Path, seed: int, steps: int, engine: Engine = "sqlite", servers: Servers | None = None
) -> Remains:
    """One life, from its first memory to the last byte that is left."""
    with world_on(engine, servers, file=folder / "palimpsest.sqlite") as world:
        life = Life(folder, seed, world, AT_ONCE[engine])
        with _listening(life.log):
            life.live(steps)
            if seed % 2:  # else the index never had the newest of what is erased
                life.world.settle()
            life.erase(0.4)
            remains = life.look()
            for look in looks(engine):
                look(life, remains)
                assert life.seen_alive > 0, f"{look.__name__} finds nothing at all"
                life.seen_alive_no_more()
        return remains


def looks(engine: Engine) -> list[Callable[[Life, Remains], None]]:
    """Where the memories of an engine are kept."""
    if engine == "sqlite":
        return [Life.look_at_files]
    return [look_at_tables, Life.look_at_files] if engine == "moto" else [look_at_tables, look_at_index]


@contextmanager
def _listening(lines: list[str]) -> Iterator[None]:
    handler, root = Listening(lines), logging.getLogger()
    levels = {name: logging.getLogger(name).level for name in ("", *LIBRARIES)}
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    for name in LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def main() -> int:
    """Run from a terminal; one line of result."""
    asked = argparse.ArgumentParser(description="S5: erasure")
    asked.add_argument("--people", type=int, default=20, help="with files; fewer on servers")
    asked.add_argument("--steps", type=int, default=60)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--engine", action="append", choices=ENGINES, help="default: all")
    told = asked.parse_args()
    engines: list[Engine] = told.engine or list(ENGINES)
    whole, people = Remains(), 0
    with running_servers() if "cloud" in engines else nullcontext() as servers:
        for engine in engines:
            fewer, shorter = SHARE[engine]
            for person in range(max(1, told.people // fewer)):
                with tempfile.TemporaryDirectory() as folder:
                    seed = told.seed + person
                    remains = live_erase_and_look(Path(folder), seed, told.steps // shorter, engine, servers)
                whole.add(remains, f"{engine}, seed {seed}")
                people += 1
    for one in whole.found + whole.lost:
        print(one)
    print(
        f"S5 erasure: {people} people, {whole.erased:,} memories erased with {whole.canaries:,} canaries, "
        f"{whole.answers:,} answers and {whole.bytes:,} bytes looked at, found {len(whole.found)}, "
        f"lost {len(whole.lost)}, seed {told.seed}"
    )
    return 1 if whole.found or whole.lost or not whole.erased else 0


if __name__ == "__main__":
    raise SystemExit(main())
