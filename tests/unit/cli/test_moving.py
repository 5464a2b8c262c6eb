"""`palimpsest export` and `palimpsest import`: a file that is whole or not there, and counts that are exact."""

import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from chalicelib.errors import StoreUnavailableError
from infra.cli import export_file, moving
from infra.cli.export_file import opened, written
from infra.cli.moving import KINDS
from tests.fakes.moving import Life, export, told
from tests.fakes.terminal import Terminal
from tests.fakes.world import World


@pytest.fixture
def life(world: World) -> Life:
    """Anna has lived."""
    lived = Life(world, 5)
    lived.live(30)
    return lived


@pytest.fixture
def whole(life: Life, terminal: Terminal) -> Path:
    """What she exported."""
    assert terminal.type("export", "--to", "memories.jsonl").code == 0
    return Path("memories.jsonl").absolute()


COUNTED = ("categories", "memories", "changes")


class Elsewhere:
    """The same terminal; the service that it reaches is another installation."""

    def __init__(self, terminal: Terminal, world: World) -> None:
        self.world = world
        anna = world.parts.accounts.account("anna")
        assert anna is not None
        world.category(default=True)
        terminal.set(PALIMPSEST_CLI_KEY=world.services.founding.new_key(anna, "k", world.now).plain)
        bootstrap.use(world.services)


@pytest.fixture
def elsewhere(whole: Path, terminal: Terminal) -> Iterator[Elsewhere]:
    """After the export."""
    with ExitStack() as stack:
        world = World(admin=True)
        stack.callback(world.database.close)
        yield Elsewhere(terminal, world)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


# ------------------------------------------------------------------ out


def test_a_file_holds_all_records_between_a_header_and_a_trailer(life: Life, terminal: Terminal) -> None:
    ended = terminal.type("export", "--to", "out.jsonl", "--json")
    assert (ended.code, ended.err) == (0, "")
    header, *records, trailer = [json.loads(line) for line in lines(Path("out.jsonl"))]
    assert told(records) == told(export(life.client))
    assert header["palimpsest"] == "export"
    assert (header["format"], header["space"], header["export"]) == (1, "personal", records[0]["export"])
    assert set(header) == {"palimpsest", "format", "space", "service", "export", "as_of", "written_at"}
    assert sum(trailer["trailer"]["records"].values()) == len(records)
    distinct = {
        kind: len({json.dumps(one) for one in records if KINDS.get(one["record"]) == kind})
        for kind in COUNTED
    }
    assert ended.json["counts"] == distinct
    assert stat.S_IMODE(Path("out.jsonl").stat().st_mode) == 0o600
    assert [one.name for one in Path().iterdir() if "out" in one.name] == ["out.jsonl"]


def test_a_file_that_is_there_is_not_written_over_unless_one_says_so(whole: Path, terminal: Terminal) -> None:
    before = whole.read_bytes()
    refused = terminal.type("export", "--to", str(whole))
    assert (refused.code, whole.read_bytes()) == (1, before)
    assert "exists already" in refused.err
    assert terminal.type("export", "--to", str(whole), "--overwrite").code == 0
    assert whole.read_bytes() != before


def test_an_export_that_fails_half_way_leaves_no_file(
    life: Life, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "PAGE", 5)
    asked: list[int] = []
    page = life.world.parts.memories.page

    def failing(*of: Any, **how: Any) -> Any:
        asked.append(1)
        if len(asked) > 3:
            raise StoreUnavailableError("scripted")
        return page(*of, **how)

    monkeypatch.setattr(life.world.parts.memories, "page", failing)
    monkeypatch.setattr("infra.cli.service._pause", lambda *_: 0.0)
    ended = terminal.type("export", "--to", "out.jsonl")
    assert ended.code == 1
    assert "the table does not answer" in ended.err
    assert not [one for one in Path().iterdir() if "out" in one.name]


def test_a_folder_that_cannot_be_written_is_told(terminal: Terminal) -> None:
    ended = terminal.type("export", "--to", "nowhere/out.jsonl")
    assert ended.code == 1
    assert "cannot be written (No such file or directory)" in ended.err
    Path("a-file").touch()
    ended = terminal.type("export", "--all", "--to", "a-file")
    assert ended.code == 1
    assert "cannot be made" in ended.err


def test_all_spaces_that_one_may_export_go_into_a_folder(life: Life, terminal: Terminal) -> None:
    world = life.world
    world.add_project("rocket")
    world.add_community("1001")
    world.add_community("1002", configure=False)
    ended = terminal.type("export", "--all", "--to", "all")
    assert ended.code == 0, ended.err
    names = {one.name for one in Path("all").iterdir()}
    assert names == {"personal.jsonl", "project-rocket.jsonl", "community-discord-1001.jsonl"}
    assert len(ended.out.splitlines()) == 3
    Path("all/personal.jsonl").unlink()
    partly = terminal.type("export", "--all", "--to", "all")
    assert partly.code == 4
    assert "Exported: personal." in partly.err
    assert "Not exported: project:rocket, community:discord:1001." in partly.err
    assert terminal.type("export", "--all", "--space", "project:rocket", "--to", "x").code == 2


# ------------------------------------------------------------------ in


def test_what_was_exported_is_there_after_the_import_and_the_counts_are_exact(
    life: Life, whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    ended = terminal.type("import", str(whole), "--json")
    assert (ended.code, ended.err) == (0, "")
    numbers = {json.loads(line).get("number") for line in lines(whole)[2:-1]} - {None}
    assert ended.json["written"]["memories"] == len(numbers)
    again = terminal.type("import", str(whole), "--json").json
    assert set(again["written"].values()) == {0}
    assert again["there"] == {
        kind: ended.json["written"][kind] + ended.json["there"][kind] for kind in COUNTED
    }
    shown = terminal.type("import", str(whole))
    assert (shown.code, "there already" in shown.out, "is in personal" in shown.out) == (0, True, True)
    memories = json.loads(terminal.type("memories", "list", "--state", "all", "--limit", "200", "--json").out)
    assert len(memories["items"]) > 5


DAMAGE: dict[str, tuple[str, Callable[[list[bytes]], list[bytes]]]] = {
    "the last line cut off": ("is not whole: its last line is missing", lambda all_: all_[:-1]),
    "cut within a line": ("is not whole: it ends within a line", lambda all_: [*all_[:5], all_[5][:9]]),
    "a line lost": ("is damaged: what it holds", lambda all_: all_[:4] + all_[5:]),
    "a letter changed": (
        "is damaged: what it holds",
        lambda all_: [all_[0], all_[1].replace(b'"personal"', b'"persomal"'), *all_[2:]],
    ),
    "no JSON": ("is damaged in line 3", lambda all_: [*all_[:2], b"\xff{\n", *all_[3:]]),
    "a list": ("is damaged in line 3", lambda all_: [*all_[:2], b"[]\n", *all_[3:]]),
    "something behind it": ("there is something behind its last line", lambda all_: [*all_, all_[1]]),
    "two files in one": ("there is something behind its last line", lambda all_: all_ + all_),
    "another file": ("is no export of Palimpsest", lambda _: [b'{"a": 1}\n']),
    "no file of lines": ("is no export of Palimpsest", lambda _: [b"PK\x03\x04\n"]),
    "nothing at all": ("is not whole", lambda _: []),
    "a newer format": (
        "is of format 2", lambda all_: [all_[0].replace(b'"format":1', b'"format":2'), *all_[1:]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_a_file_that_is_not_whole_is_refused_and_nothing_is_imported(
    name: str, whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    message, spoil = DAMAGE[name]
    whole.write_bytes(b"".join(spoil(lines(whole))))
    before = len(elsewhere.world.database_dump())
    ended = terminal.type("import", str(whole))
    assert (ended.code, ended.out) == (1, "")
    assert message in ended.err
    assert "Nothing was imported." in ended.err
    assert len(elsewhere.world.database_dump()) == before


@pytest.mark.parametrize("cut", [False, True])
def test_a_pipe_is_read_once_and_imported_whole_or_not_at_all(
    cut: bool, whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    """`… | palimpsest import /dev/stdin`, `palimpsest import <(…)`."""
    os.mkfifo("pipe")
    content = whole.read_bytes()[: -1 if cut else None]
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(content))
    writer.start()
    ended = terminal.type("import", "pipe", "--json")
    writer.join(10)
    listed = json.loads(terminal.type("memories", "list", "--state", "all", "--json").out)["items"]
    if cut:
        assert (ended.code, "Nothing was imported." in ended.err, listed) == (1, True, [])
    else:
        assert (ended.code, ended.json["written"]["memories"] > 5, len(listed) > 5) == (0, True, True)


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "cut at a line": lambda content: b"".join(content.splitlines(keepends=True)[:-9]),
    "cut within a line": lambda content: content[:-300],
    "emptied": lambda _: b"",
    "another letter": lambda content: content.replace(b"drinks", b"drunks"),
    "no JSON any more": lambda content: content.replace(b'{"record":"memory"', b'["record":"memory"'),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_is_changed_while_it_is_read_is_no_success(
    name: str, whole: Path, elsewhere: Elsewhere, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = export_file._looked_through

    def changing(path: Path, file: Any) -> Any:
        found = look(path, file)
        path.write_bytes(CHANGES[name](path.read_bytes()))
        return found

    monkeypatch.setattr(export_file, "_looked_through", changing)
    ended = terminal.type("import", str(whole))
    assert (ended.code, ended.out) == (1, "")
    assert "was changed while it was read" in ended.err


def test_what_was_taken_in_before_the_file_changed_is_told(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "RECORDS", 3)
    sent = moving._sent

    def changing(*of: Any) -> Any:
        whole.write_bytes(whole.read_bytes()[:-300])
        return sent(*of)

    monkeypatch.setattr(moving, "_sent", changing)
    ended = terminal.type("import", str(whole))
    assert ended.code == 4
    assert "was changed while it was read" in ended.err
    assert "Nothing was imported" not in ended.err


def test_half_a_surrogate_pair_is_told_by_its_line(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    """JSON can write it, UTF-8 cannot."""
    all_ = lines(whole)
    all_[4] = all_[4].replace(b'"record":', b'"\\ud800":1,"record":', 1)
    whole.write_bytes(b"".join(all_))
    ended = terminal.type("import", str(whole))
    assert (ended.code, "is damaged in line 5" in ended.err) == (1, True)


@pytest.mark.parametrize("place", [".", "/", "..", "folder"])
def test_a_folder_is_no_file_to_export_to(place: str, life: Life, terminal: Terminal) -> None:
    Path("folder").mkdir()
    ended = terminal.type("export", "--to", place, "--overwrite")
    assert (ended.code, "is a folder. Name a file." in ended.err) == (1, True)
    assert Path("folder").is_dir()


def test_a_line_without_end_is_no_reason_to_read_it_all(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.cli.export_file.LINE_BYTES", 1_000)
    whole.write_bytes(b"x" * 5_000)
    assert "has a line without end" in terminal.type("import", str(whole)).err


def test_a_file_that_is_not_there_is_told(terminal: Terminal) -> None:
    ended = terminal.type("import", "nothing.jsonl")
    assert (ended.code, "cannot be read (No such file or directory)" in ended.err) == (1, True)


def test_an_import_that_is_interrupted_tells_how_far_it_came_and_goes_on(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "RECORDS", 10)
    monkeypatch.setattr("infra.cli.service._pause", lambda *_: 0.0)
    store = elsewhere.world.parts.memories
    commit, done = store.commit, []

    def failing(scope: Scope, what: Commit) -> None:
        if len(done) >= 4:
            raise StoreUnavailableError("scripted")
        done.append(1)
        commit(scope, what)

    monkeypatch.setattr(store, "commit", failing)
    ended = terminal.type("import", str(whole))
    assert ended.code == 4
    assert "40 of " in ended.err
    assert "Run the same command again" in ended.err
    monkeypatch.setattr(store, "commit", commit)
    again = terminal.type("import", str(whole), "--json")
    assert again.code == 0
    counted = json.loads(lines(whole)[-1])["trailer"]["records"]
    sums = {kind: again.json["written"][kind] + again.json["there"][kind] for kind in again.json["written"]}
    assert sums["memories"] == counted["memory"]
    assert again.json["there"]["changes"] > 5


def test_pages_that_are_too_large_for_the_service_are_halved(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    small = elsewhere.world.services.settings.model_copy(update={"max_body_bytes": 6_000})
    bootstrap.use(_with(elsewhere.world.services, small))
    ended = terminal.type("import", str(whole), "--json")
    assert ended.code == 0, ended.err
    assert ended.json["written"]["memories"] > 5


def _with(services: Any, settings: Any) -> Any:
    from dataclasses import replace

    return replace(services, settings=settings)


def test_a_space_that_holds_something_else_is_refused_in_the_services_words(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    elsewhere.world.add("mine")
    ended = terminal.type("import", str(whole))
    assert (ended.code, ended.out) == (1, "")
    assert "this space holds memories that this export did not bring" in ended.err


def test_a_record_that_is_refused_is_named_by_its_line(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    """Somebody wrote into the file, and made its last line fit."""
    records = [json.loads(line) for line in lines(whole)][1:-1]
    place = next(place for place, one in enumerate(records) if one["record"] == "memory_change")
    records[place]["image"]["importance"] = 99
    with written(whole, overwrite=True) as file:
        file.header({"space": "personal"})
        for record in records:
            file.record(record)
        file.trailer()
    ended = terminal.type("import", str(whole))
    assert ended.code == 1
    assert f"line {place + 2}: memory_change.image.importance: " in ended.err
    records[0]["default_category"] = "#"
    with written(whole, overwrite=True) as file:
        file.header({"space": "personal"})
        file.record(records[0])
        file.trailer()
    assert "space.default_category: " in terminal.type("import", str(whole)).err


def test_a_memory_that_was_being_written_when_the_export_began_takes_its_number_along(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    """It is above the count of then; nobody else may get it while the rest comes."""
    records = [json.loads(line) for line in lines(whole)][1:-1]
    highest = max(one.get("number", 0) for one in records)
    records[0]["last_number"] = highest - 2
    with written(whole, overwrite=True) as file:
        file.header({"space": "personal"})
        for record in records:
            file.record(record)
        file.trailer()
    with opened(whole) as file_:
        assert file_.space["last_number"] == highest
    assert terminal.type("import", str(whole)).code == 0
    assert elsewhere.world.add("next")["memory"]["number"] == highest + 1


def test_an_empty_space_can_be_moved(world: World, terminal: Terminal) -> None:
    world.add_project("empty")
    world.add_project("other")
    assert terminal.type("export", "--space", "project:empty", "--to", "e.jsonl").code == 0
    ended = terminal.type("import", "e.jsonl", "--space", "project:other", "--json")
    assert (ended.code, ended.json["space"]) == (0, "project:other")
    assert ended.json["written"] == {"categories": 0, "memories": 0, "changes": 0}


def test_what_a_file_says_cannot_steer_the_terminal(
    whole: Path, elsewhere: Elsewhere, terminal: Terminal
) -> None:
    record = {**json.loads(lines(whole)[1]), "\x1b[2J": 1}
    with written(whole, overwrite=True) as file:
        file.header({"space": "personal"})
        file.record(record)
        file.trailer()
    ended = terminal.type("import", str(whole))
    assert ended.code == 1
    assert "\x1b" not in ended.err + ended.out


def test_the_memories_that_came_are_found(whole: Path, elsewhere: Elsewhere, terminal: Terminal) -> None:
    assert terminal.type("import", str(whole)).code == 0
    elsewhere.world.settle()
    found = json.loads(terminal.type("memories", "search", "drinks tea", "--json").out)
    assert found["items"]
