"""The data folder: one process at a time, readable by its owner only, and a plain sentence when it cannot be used."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from chalicelib.errors import DataFolderError, StoreUnavailableError
from infra.local.data_folder import DataFolder

Open = Callable[[Path], DataFolder]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens data folders, and closes them after the test."""
    with ExitStack() as stack:

        def open_one(path: Path) -> DataFolder:
            folder = DataFolder(path)
            stack.callback(folder.close)
            return folder

        yield open_one


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk have no room from now on."""

    def fail(*_args: object, **_named: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "open", fail)
    monkeypatch.setattr(Path, "open", fail)


def test_what_it_holds_is_for_its_owner_only(opened: Open, tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        folder = opened(tmp_path / "a" / "data")
        folder.keep_key("plm_x")
        folder.announce({"url": "http://127.0.0.1:1", "key": "plm_x", "pid": 1})
    finally:
        os.umask(previous)
    assert mode(folder.path) == 0o700
    assert mode(folder.path / "key") == mode(folder.path / "run.json") == 0o600
    assert sorted(path.name for path in folder.path.iterdir()) == ["key", "lock", "run.json"]


def test_the_rights_of_a_folder_that_was_there_are_left_alone(opened: Open, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    opened(tmp_path).close()
    assert mode(tmp_path) == 0o755


def test_a_second_user_of_the_folder_is_told_who_has_it(opened: Open, tmp_path: Path) -> None:
    folder = opened(tmp_path)
    folder.announce({"url": "http://127.0.0.1:8340", "key": "plm_x", "pid": 4711})
    with pytest.raises(
        DataFolderError, match=r"in use by another Palimpsest \(http://127.0.0.1:8340, process 4711\)"
    ):
        DataFolder(tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["pid"] == 4711
    folder.close()
    opened(tmp_path).close()


@pytest.mark.parametrize("said", [None, "", "{", "[]", "{}", '"x"', "\xff"])
def test_a_second_user_is_told_also_when_the_first_does_not_say_where_it_is(
    opened: Open, tmp_path: Path, said: str | None
) -> None:
    folder = opened(tmp_path)
    if said is not None:
        (tmp_path / "run.json").write_text(said, encoding="latin-1")
    with pytest.raises(DataFolderError, match=r"in use by another Palimpsest\. Stop that one"):
        DataFolder(tmp_path)
    folder.close()


def test_what_a_killed_process_said_about_itself_is_taken_away(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    folder = opened(tmp_path)
    assert not (tmp_path / "run.json").exists()
    folder.announce({"url": "x"})
    folder.close()
    assert not (tmp_path / "run.json").exists()


def test_a_kept_key_is_read_again(opened: Open, tmp_path: Path) -> None:
    folder = opened(tmp_path)
    assert folder.read_key() is None
    folder.keep_key("plm_x")
    assert folder.read_key() == "plm_x"
    (tmp_path / "key").write_bytes(b" \n")
    assert folder.read_key() is None
    (tmp_path / "key").write_bytes(b"\xff\n")
    assert folder.read_key() == "\ufffd"


@pytest.mark.parametrize("lost", ["missing", "empty"])
def test_a_used_folder_whose_data_are_gone_is_not_begun_anew_unasked(
    opened: Open, tmp_path: Path, lost: str
) -> None:
    (tmp_path / "key").write_text("plm_x\n")
    if lost == "empty":
        (tmp_path / "palimpsest.sqlite").touch()
    with pytest.raises(DataFolderError, match=r"missing or empty.*Restore it from a backup, or remove .*key"):
        DataFolder(tmp_path)
    (tmp_path / "key").unlink()
    opened(tmp_path)


def test_a_key_that_cannot_be_read_is_a_plain_sentence(opened: Open, tmp_path: Path) -> None:
    folder = opened(tmp_path)
    (tmp_path / "key").mkdir()
    with pytest.raises(DataFolderError, match=r"key cannot be read \(Is a directory\)"):
        folder.read_key()


def test_a_file_is_no_data_folder(opened: Open, tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.touch()
    with pytest.raises(DataFolderError, match="is not a folder"):
        DataFolder(file)


def test_a_folder_that_cannot_be_made_is_a_plain_sentence(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataFolderError, match=r"cannot be used \(Not a directory\).*PALIMPSEST_DATA"):
        DataFolder(tmp_path / "file" / "data")


def test_with_no_room_the_key_is_not_kept_and_nothing_half_written_stays(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = opened(tmp_path)
    with monkeypatch.context() as patched:
        full(patched)
        with pytest.raises(DataFolderError, match=r"key cannot be written \(No space left on device\)"):
            folder.keep_key("plm_x")
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_room_is_looked_for_and_nothing_stays_of_the_look(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = opened(tmp_path)
    folder.check_room()
    with monkeypatch.context() as patched:
        full(patched)
        with pytest.raises(StoreUnavailableError):
            folder.check_room()
    folder.check_room()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
