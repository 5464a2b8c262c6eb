"""Data folders of earlier versions: today's service opens each, brings it up to date, and serves all of it.

`folder_<version>.sql` is the file of such a folder as SQL, `folder_<version>.json` what its service answered. A version
that changes the tables adds a numbered step for them; one that does not is found by the comparison of schemas.

    python -m tests.prove.durability.old_folder     # write the fixture of the present version, once, at its release
"""

import json
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from chalicelib import __version__
from chalicelib.bootstrap import build, parts_of, utc_now
from chalicelib.errors import DataFolderError
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.outbox import Outbox
from infra.local.data_folder import DataFolder
from tests.contracts.embedders.endpoints import serving
from tests.e2e.laptop import Laptop, laptop
from tests.fakes.caller import PERSONAL, Answer, wait_until
from tests.prove.durability.outcome import Outcome
from tests.prove.durability.torn_log import FILE

HERE = Path(__file__).parent
DIMENSION = 16
SHOWN = ("text", "state", "version", "kind", "importance", "subject", "key", "context", "source", "category")
"""What of a memory must be as it was."""
MARKS = ("application_id", "user_version")

Schema = dict[str, Any]


def fixtures() -> list[Path]:
    """The files of earlier versions."""
    return sorted(HERE.glob("folder_*.sql"))


def restored(fixture: Path, data: Path) -> Path:
    """The data folder as that version left it; its file."""
    data.mkdir(parents=True)
    file = data / FILE
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(fixture.read_text(encoding="utf-8"))
    return file


def schema_of(file: Path) -> Schema:
    """The tables as they are, and the versions that they say they have."""
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        versions = dict(connection.execute("SELECT part, version FROM schema_version").fetchall())
        marks = {mark: connection.execute(f"PRAGMA {mark}").fetchone()[0] for mark in MARKS}
    tables = {name: re.sub(r"\s+", " ", sql) for name, sql in rows if not name.startswith("sqlite_")}
    return {"tables": tables, "versions": versions, "marks": marks}


def open_all(data: Path) -> None:
    """Open the folder with everything that keeps tables in it, as a start does. Raises DataFolderError."""
    folder = DataFolder(data)
    try:
        database = Database(folder.database)
        try:
            build(Settings(), parts_of(Settings(), database))
            Outbox(database, clock=utc_now)
        finally:
            database.close()
    finally:
        folder.close()


def schema_faults(fixture: Path, place: Path) -> list[str]:
    """How an old folder, opened today, differs from a new one: tables that were changed without a step."""
    old, new = place / "old" / "data", place / "new" / "data"
    restored(fixture, old)
    for data in (old, new):
        open_all(data)
    was, fresh = schema_of(old / FILE), schema_of(new / FILE)
    faults = [
        f"{part}: {was[part]} instead of {fresh[part]}"
        for part in ("versions", "marks")
        if was[part] != fresh[part]
    ]
    tables, wanted = was["tables"], fresh["tables"]
    return faults + [
        f"table {name} differs" for name in tables | wanted if tables.get(name) != wanted.get(name)
    ]


def newer_faults(fixture: Path, place: Path) -> list[str]:
    """Whether a folder of a newer version is refused, and left as it is."""
    parts = list(schema_of(restored(fixture, place / "any" / "data"))["versions"])
    changes = ["PRAGMA user_version = 99"]
    changes += [f"UPDATE schema_version SET version = 99 WHERE part = '{part}'" for part in parts]
    faults = []
    for turn, change in enumerate(changes):
        data = place / f"newer{turn}" / "data"
        file = restored(fixture, data)
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute(change)
        before = _rows(file)
        try:
            open_all(data)
            faults.append(f"not refused after {change}")
        except DataFolderError as error:
            if "newer version" not in str(error):
                faults.append(f"{change}: {error}")
        if _rows(file) != before:
            faults.append(f"{change}: the file was changed")
    return faults


def _rows(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as connection:
        return list(connection.iterdump())


@contextmanager
def _service(folder: Path) -> Iterator[Laptop]:
    """A laptop with an embedding model, always the same."""
    with ExitStack() as stack:
        endpoint = stack.enter_context(serving())
        endpoint.dimension = DIMENSION
        model = {
            "EMBEDDER": "openai",
            "EMBEDDING_MODEL": "our-own-model",
            "EMBEDDING_DIMENSION": str(DIMENSION),
            "EMBEDDING_URL": f"{endpoint.url}/v1",
        }
        yield stack.enter_context(laptop(folder, **model))


def told(here: Laptop) -> dict[str, Any]:
    """What a service answers of its owner's space, as far as it must never change."""
    listed = here.ask("GET", f"{PERSONAL}/memories?state=all&sort=oldest&limit=200").body["items"]
    numbers = [memory["number"] for memory in listed]
    return {
        "memories": {str(memory["number"]): {name: memory[name] for name in SHOWN} for memory in listed},
        "history": {str(n): _ops(here, n) for n in numbers},
        "categories": [one["name"] for one in here.ask("GET", f"{PERSONAL}/categories").body["items"]],
        "audit": [act["op"] for act in here.ask("GET", f"{PERSONAL}/audit?limit=200").body["items"]],
        "projects": [one["name"] for one in here.ask("GET", "/v1/projects").body["items"]],
    }


def _ops(here: Laptop, number: int) -> list[str]:
    return [change["op"] for change in here.ask("GET", f"{PERSONAL}/memories/{number}/history").body["items"]]


def served_faults(fixture: Path, place: Path) -> list[str]:
    """What today's service answers otherwise than that version did."""
    wanted = json.loads(fixture.with_suffix(".json").read_text(encoding="utf-8"))
    restored(fixture, place / "served" / "data")
    with _service(place / "served") as here:
        here.start()
        got = told(here)
        faults = [
            f"{name}: {got[name]} instead of {wanted[name]}" for name in got if got[name] != wanted[name]
        ]
        active = {n: m["text"] for n, m in wanted["memories"].items() if m["state"] == "active"}
        for number, text in active.items():
            answer = here.search(text)
            if int(number) not in [item["memory"]["number"] for item in answer["items"]]:
                faults.append(f"#{number} is not found by {text!r}")
            if (answer["matched_by"], answer["degraded"]) != ("meaning", None):
                faults.append(f"found by {answer['matched_by']}, degraded {answer['degraded']}")
        if (added := here.add("A new one.")) != wanted["next"]:
            faults.append(f"the next number is {added}, not {wanted['next']}")
        if here.health()["status"] != "ok":
            faults.append(f"health: {here.health()}")
        if (end := here.stop()).code != 0:
            faults.append(f"it ended with {end}")
    return faults


def run(place: Path) -> Outcome:
    """Each earlier version's folder, today."""
    outcome = Outcome("old folder")
    for fixture in fixtures():
        faults = schema_faults(fixture, place / fixture.stem / "schema")
        faults += newer_faults(fixture, place / fixture.stem / "newer")
        faults += served_faults(fixture, place / fixture.stem)
        outcome.found += [f"{fixture.stem}: {fault}" for fault in faults]
    shutil.rmtree(place, ignore_errors=True)
    names = ", ".join(fixture.stem.removeprefix("folder_").replace("_", ".") for fixture in fixtures())
    outcome.line = f"D5 folders of earlier versions ({names}): {len(fixtures())} opened and served whole, newer ones refused"
    outcome.needs(bool(fixtures()), "there is no folder of an earlier version")
    return outcome


# ------------------------------------------------------------------ making a fixture


def live(here: Laptop) -> None:
    """A life that leaves something in every table: memories in all states, what they were, who may see them."""
    memories = f"{PERSONAL}/memories"

    def write(method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        answer = here.ask(method, path, dict(body or {}))
        assert answer.status < 300, answer
        return answer

    write("POST", f"{PERSONAL}/categories", {"name": "Travel", "description": "Where Anna goes."})
    texts = (
        "Anna lives in Brno.", "Petr drinks green tea.", "Marie is allergic to peanuts.", "Jan sails on the Sázava.",
        "Eva paints doors blue.", "Tom mends clocks.", "Lída keeps eleven goats.", "Ota flies a kite.",
    )  # fmt: skip
    for text in texts:
        write("POST", memories, {"text": text, "importance": 7, "subject": text.split()[0]})
    source = {"conversation": "talk", "author": "Petr", "said_at": "2026-01-05T10:00:00Z"}
    for position, text in enumerate(("Where did you go?", "We went kayaking.")):
        write(
            "POST", memories, {"text": text, "source": {**source, "position": position}, "category": "Travel"}
        )
    write("PATCH", f"{memories}/1", {"version": 1, "text": "Anna lives in Olomouc.", "key": "home"})
    write("POST", f"{memories}/2/retire", {"version": 1, "reason": "He prefers coffee now."})
    write("DELETE", f"{memories}/3")
    write("POST", f"{memories}/4/erase")
    merge = {"numbers": [5, 6], "versions": {"5": 1, "6": 1}, "text": "Eva paints doors, Tom mends clocks."}
    write("POST", f"{memories}/merge", merge)
    write("DELETE", f"{memories}/7")
    write("POST", f"{memories}/7/restore")
    write("POST", f"{PERSONAL}/recall", {"query": "Ota flies a kite."})
    project = write("POST", "/v1/projects", {"name": "Rocket", "pool": True}).body["project"]["id"]
    write("POST", f"/v1/spaces/project%3A{project}/memories", {"text": "The rocket is red."})
    write("POST", f"{PERSONAL}/jobs", {"kind": "reindex"})
    wait_until(lambda: here.ask("GET", f"{PERSONAL}/jobs").body["items"][0]["state"] == "done")


def make(fixture: Path) -> None:
    """Write the fixture of the present version."""
    with tempfile.TemporaryDirectory() as place, _service(Path(place)) as here:
        here.start()
        live(here)
        wanted = told(here) | {"next": here.add("The last one.") + 1}
        wanted |= told(here)
        here.stop()
        with closing(sqlite3.connect(here.data / FILE)) as connection:
            marks = [
                f"PRAGMA {mark} = {connection.execute(f'PRAGMA {mark}').fetchone()[0]};" for mark in MARKS
            ]
            fixture.write_text("\n".join([*connection.iterdump(), *marks, ""]), encoding="utf-8")
    text = json.dumps(wanted, ensure_ascii=False, indent=1, sort_keys=True)
    fixture.with_suffix(".json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    made = HERE / f"folder_{__version__.replace('.', '_')}.sql"
    if made.exists():
        sys.exit(f"{made.name} is there: what a version left is never changed")
    make(made)
