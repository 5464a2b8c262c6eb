"""A torn write-ahead log: the folder as a loss of power leaves it, its log cut or garbled at any place.

The service writes; now and then it is frozen for a moment and its folder copied. In each copy the log's tail is torn.
Whatever whole frames come before the tear is there, transactions are there wholly or not at all, and it opens.
"""

import os
import random
import shutil
import signal
import sqlite3
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import NamedTuple

from chalicelib.domain.scope import Space
from chalicelib.services.memory.project import pages, pass_scope
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from infra.local.data_folder import DataFolder
from tests.bench.served import Service
from tests.bench.writers import PERSONAL
from tests.prove.durability.outcome import Outcome

HEADER, FRAME_HEADER = 32, 24
TOGETHER = 3
"""Memories of one batch, which is one transaction."""
FILE, LOG = "palimpsest.sqlite", "palimpsest.sqlite-wal"


class Place(NamedTuple):
    """How far the log had been written: its salt, which changes when it begins anew, and bytes of whole frames."""

    salt: bytes
    end: int


class Acknowledged(NamedTuple):
    """One batch: its number of order, the numbers of its memories, and where the log ended when it was acknowledged."""

    turn: int
    numbers: tuple[int, ...]
    at: Place


@dataclass
class Image:
    """The folder as it was at one moment, and all that had been acknowledged by then, `log` its log's place."""

    folder: Path
    log: Place
    acknowledged: list[Acknowledged] = field(default_factory=list)


def place_of(log: Path) -> Place:
    """Where whole frames of the newest salt end."""
    raw = log.read_bytes() if log.exists() else b""
    if len(raw) < HEADER:
        return Place(b"", 0)
    size, salt = HEADER + 0, raw[16:24]
    page = struct.unpack(">I", raw[8:12])[0]
    while raw[size + 8 : size + 16] == salt and size + FRAME_HEADER + page <= len(raw):
        size += FRAME_HEADER + page
    return Place(salt, size)


@contextmanager
def frozen(service: Service) -> Iterator[None]:
    """Nothing of the service runs inside the block."""
    os.killpg(service.pid, signal.SIGSTOP)
    try:
        while _state(service.pid) not in "Tt":
            pass
        yield
    finally:
        os.killpg(service.pid, signal.SIGCONT)


def _state(pid: int) -> str:
    """As ps shows it; T = stopped."""
    status = Path(f"/proc/{pid}/stat")
    return status.read_text().rpartition(")")[2].split()[0] if status.exists() else "T"


def images(service: Service, batches: int, wanted: int, chance: random.Random, place: Path) -> list[Image]:
    """Write `batches` batches and copy the folder at `wanted` moments of chance."""
    moments = set(chance.sample(range(batches // 10, batches), wanted))
    acknowledged: list[Acknowledged] = []
    found = []
    log = service.data / LOG
    for turn in range(batches):
        items = [{"text": f"turn{turn} part{part} {'x' * chance.randrange(600)}"} for part in range(TOGETHER)]
        answer = service.wanted("POST", f"{PERSONAL}/memories/batch", {"items": items})
        numbers = tuple(item["memory"]["number"] for item in answer["items"])
        if turn in moments:
            with frozen(service):
                acknowledged.append(Acknowledged(turn, numbers, place_of(log)))
                copy = place / f"image{turn}"
                shutil.copytree(
                    service.data, copy, ignore=shutil.ignore_patterns("*-shm", "run.json", "lock", ".room")
                )
            found.append(Image(copy, place_of(copy / LOG), list(acknowledged)))
        else:
            acknowledged.append(Acknowledged(turn, numbers, place_of(log)))
    return found


Tear = Callable[[bytes, int, random.Random], bytes]


def cut(raw: bytes, at: int, _chance: random.Random) -> bytes:
    """The log ends there."""
    return raw[:at]


def garble(raw: bytes, at: int, chance: random.Random) -> bytes:
    """All from there on is noise."""
    return raw[:at] + chance.randbytes(len(raw) - at)


def blank(raw: bytes, at: int, _chance: random.Random) -> bytes:
    """All from there on is zeros, as file systems leave what was not written yet."""
    return raw[:at] + bytes(len(raw) - at)


def flip(raw: bytes, at: int, chance: random.Random) -> bytes:
    """One bit there is another."""
    torn = bytearray(raw)
    torn[min(at, len(raw) - 1)] ^= 1 << chance.randrange(8)
    return bytes(torn)


TEARS: tuple[Tear, ...] = (cut, garble, blank, flip)


@dataclass
class Look:
    """What a torn folder held."""

    found: list[str] = field(default_factory=list)
    kept: int = 0
    gone: int = 0


def look(image: Image, tear: Tear, chance: random.Random, copy: Path) -> Look:
    """Tear the log of a copy, open it as a start does, and compare."""
    shutil.copytree(image.folder, copy)
    raw = (copy / LOG).read_bytes()
    at = chance.randrange(HEADER if tear is flip else 0, max(HEADER + 1, image.log.end))
    (copy / LOG).write_bytes(tear(raw, at, chance))
    seen = Look()
    try:
        texts = _texts_of(copy, seen)
    except Exception as error:  # noqa: BLE001 - whatever it is, a start would have died of it
        seen.found.append(f"{tear.__name__} at {at}: {error!r}")
        return seen
    for batch in image.acknowledged:
        there = [number for number in batch.numbers if number in texts]
        before = batch.at.salt != image.log.salt or batch.at.end <= at
        if before and len(there) < TOGETHER:
            seen.found.append(
                f"{tear.__name__} at {at}: batch {batch.turn} is lost, its frames are whole ({batch.at.end})"
            )
        seen.kept += len(there) == TOGETHER
        seen.gone += not there
    turns = [text.split()[0] for text in texts.values()]
    seen.found += [
        f"{tear.__name__} at {at}: half of {turn}" for turn in set(turns) if turns.count(turn) != TOGETHER
    ]
    return seen


def _texts_of(folder: Path, seen: Look) -> dict[int, str]:
    """The memories of a folder by number; each has its change, and the file is sound."""
    held = DataFolder(folder)
    database = Database(held.database)
    try:
        store = SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
        with database.read() as connection:
            checked = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        seen.found += [line for line in checked if line != "ok"]
        found: dict[int, str] = {}
        for space in store.spaces():
            scope = pass_scope(Space.from_key(space.key), "proof")
            for memory in (one for page in pages(store, scope) for one in page):
                found[memory.number] = memory.text
                if store.change(scope, str(memory.number), memory.version) is None:
                    seen.found.append(f"#{memory.number} has no change record")
        with database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO counter (space, last) VALUES ('proof', 1)")
        return found
    finally:
        database.close()
        held.close()


def run(service: Service, batches: int, tears: int, chance: random.Random, place: Path) -> Outcome:
    """Copy at some moments of `batches` writes, and tear each copy in many ways, `tears` in all."""
    there = images(service, batches, max(2, min(8, batches // 20)), chance, place)
    service.stop()
    looks = []
    for turn in range(tears):
        copy = place / f"torn{turn}"
        looks.append(look(there[turn % len(there)], TEARS[turn % len(TEARS)], chance, copy))
        shutil.rmtree(copy, ignore_errors=True)
    outcome = Outcome("torn log", found=[one for seen in looks for one in seen.found])
    kept, gone = sum(seen.kept for seen in looks), sum(seen.gone for seen in looks)
    outcome.line = (
        f"D2 torn log: {tears:,} tears in {len(there)} copies of {batches:,} writes, {kept:,} of {kept + gone:,} before "
        f"the tear and kept"
    )
    outcome.needs(kept > 0 and gone > 0, f"kept {kept}, gone {gone}: the tears did not reach what matters")
    return outcome


# ------------------------------------------------------------------ the file itself


def headless(raw: bytes, chance: random.Random) -> bytes:
    """The first page is noise."""
    return chance.randbytes(4096) + raw[4096:]


def half(raw: bytes, chance: random.Random) -> bytes:
    """A copy that was broken off."""
    return raw[: chance.randrange(len(raw) // 4, len(raw) // 4 * 3)]


def empty(_raw: bytes, _chance: random.Random) -> bytes:
    """A copy that was broken off at once."""
    return b""


def noise(raw: bytes, chance: random.Random) -> bytes:
    """Not a page of it is left."""
    return chance.randbytes(len(raw))


def rotten_schema(raw: bytes, _chance: random.Random) -> bytes:
    """The list of tables cannot be read."""
    return raw[:100] + bytes(4096 - 100) + raw[4096:]


Damage = Callable[[bytes, random.Random], bytes]
DAMAGES: tuple[Damage, ...] = (headless, half, empty, noise, rotten_schema)


def whole_file(folder: Path) -> bytes:
    """The file with all that was in its log."""
    with suppress(FileNotFoundError):
        connection = sqlite3.connect(folder / FILE, isolation_level=None)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()
    return (folder / FILE).read_bytes()


def copies(
    folder: Path, place: Path, chance: random.Random, damages: Sequence[Damage]
) -> Iterator[tuple[str, Path, bytes]]:
    """The folder once for each way to damage the file: its name, the copy, what the file is in it."""
    raw, turn = whole_file(folder), count()
    for damage in damages:
        copy = place / f"damaged{next(turn)}" / "data"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*-shm", "*-wal"))
        torn = damage(raw, chance)
        (copy / FILE).write_bytes(torn)
        yield damage.__name__, copy, torn
