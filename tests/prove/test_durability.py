"""What a laptop acknowledged is there, whatever happens to its process, its disk and its folder.

A slice; `python -m tests.prove.durability` is the full size. That kills, torn logs and old folders would find a fault is
shown by planting one; the full disk looks for every acknowledged write in the list, and starts count the winners.
"""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.bench.served import ServiceError, served
from tests.bench.writers import PERSONAL
from tests.prove.durability import full_disk, kills, old_folder, starts, torn_log
from tests.prove.durability.torn_log import FILE

WITHOUT_MODEL = {"PALIMPSEST_EMBEDDER": "none"}
PLANTED = "tests.prove.durability.planted"


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_or_doubled_by_a_kill_while_writing_stopping_and_starting() -> None:
    with served(WITHOUT_MODEL) as service:
        moments = ("stopping", "starting")
        outcome = kills.run(service, 40, 2, random.Random(1), moments)
    assert (outcome.found, outcome.missed) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["early", "dropped"])
def test_a_service_that_answers_before_it_commits_or_not_at_all_is_found(fault: str) -> None:
    with served({**WITHOUT_MODEL, "PALIMPSEST_TEST_FAULT": fault}, module=PLANTED) as service:
        killing = kills.Killing(service, random.Random(1))
        found = ""
        try:
            killing.round("writing", 30)
        except ServiceError as error:
            found = str(error)
        refused = [one for writer in killing.writers for one in writer.refused]
    assert killing.damage.lost, found or refused


@pytest.mark.slow
def test_a_memory_that_the_index_was_never_given_is_found() -> None:
    with served({**WITHOUT_MODEL, "PALIMPSEST_TEST_FAULT": "unindexed"}, module=PLANTED) as service:
        for number in range(12):
            service.wanted("POST", f"{PERSONAL}/memories", {"text": f"fact {number}"})
        service.settle(PERSONAL, 11)
        service.stop()
        assert kills.index_differences(service) == ["#9: table 1, index None"]


@pytest.mark.slow
def test_whole_frames_of_a_torn_log_are_kept_and_a_damaged_file_is_refused_as_it_is(tmp_path: Path) -> None:
    with served(WITHOUT_MODEL) as service:
        torn = torn_log.run(service, 40, 12, random.Random(1), tmp_path / "torn")
        assert (torn.found, torn.missed) == ([], [])
        damages = (torn_log.empty,)
        damaged = starts.damaged_files(service, tmp_path / "damaged", random.Random(1), damages)
        assert damaged.found == []


def test_a_log_whose_frames_are_not_all_read_is_found(tmp_path: Path) -> None:
    """A frame that is lost before the tear is told from one beyond it."""
    chance = random.Random(1)
    with served(WITHOUT_MODEL) as service:
        (image, *_) = torn_log.images(service, 20, 2, chance, tmp_path)
    log = image.folder / torn_log.LOG
    raw = log.read_bytes()
    middle = image.acknowledged[len(image.acknowledged) // 2].at.end
    log.write_bytes(torn_log.garble(raw, middle - 4_000, chance))

    def leave(raw: bytes, _at: int, _chance: random.Random) -> bytes:
        return raw

    looks = [torn_log.look(image, leave, chance, tmp_path / f"look{turn}") for turn in range(12)]
    assert any("is lost, its frames are whole" in one for seen in looks for one in seen.found)


@pytest.mark.slow
def test_a_full_disk_refuses_writes_says_so_and_loses_nothing(tmp_path: Path) -> None:
    outcome = full_disk.run(tmp_path / "disk", 1, random.Random(1))
    assert (outcome.found, outcome.missed) == ([], [])


@pytest.mark.slow
def test_of_several_starts_at_once_one_wins_and_the_others_say_why_in_a_sentence(tmp_path: Path) -> None:
    outcome = starts.run(tmp_path / "starts", [3])
    assert outcome.found == []


@pytest.mark.slow
def test_the_folder_of_an_earlier_version_is_served_whole(tmp_path: Path) -> None:
    outcome = old_folder.run(tmp_path / "old")
    assert (outcome.found, outcome.missed) == ([], [])


def test_tables_that_changed_without_a_step_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change of a published step, and a step too many in the old folder."""
    from chalicelib.stores.sqlite import schema

    (first,) = schema.STEPS
    changed = tuple(
        statement.replace("use_count INTEGER NOT NULL,", "used INTEGER, use_count INTEGER NOT NULL,")
        for statement in first
    )
    monkeypatch.setattr(schema, "STEPS", (changed,))
    assert old_folder.schema_faults(old_folder.fixtures()[0], tmp_path / "changed") == [
        "table memory differs"
    ]


def test_a_folder_that_lost_a_memory_is_not_served_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixture = tmp_path / "folder_0_1_0.sql"
    original = old_folder.fixtures()[0]
    shutil.copy(original.with_suffix(".json"), fixture.with_suffix(".json"))
    with closing(sqlite3.connect(old_folder.restored(original, tmp_path / "data"))) as connection:
        connection.execute("DELETE FROM memory WHERE number = 8")
        connection.commit()
        marks = "PRAGMA application_id = 1349283184; PRAGMA user_version = 1;"
        fixture.write_text("\n".join([*connection.iterdump(), marks]), encoding="utf-8")
    assert (tmp_path / "data" / FILE).exists()
    assert any(
        fault.startswith("memories:") for fault in old_folder.served_faults(fixture, tmp_path / "served")
    )
