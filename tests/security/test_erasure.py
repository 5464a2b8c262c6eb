"""What was erased is nowhere: by no way of asking, in no file (SPEC M13; RELIABILITY S5; CASES "Deletion that does not
delete": mem0 PR#3610, PR#4505, PR#5541, supermemory#142, cognee#3526).

A seeded slice; `python -m tests.security.erasure` is the full size. That it would find remains is shown by leaving some.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from chalicelib.services.memory import remember
from chalicelib.services.memory.revise import Revise
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from tests.security.erasure import live_erase_and_look
from tests.security.life import MEMORIES, Life, Remains

STEPS = 30


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """A person without memories, in a data folder of their own."""
    made = Life(tmp_path, 1)
    yield made
    made.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_what_was_erased_is_nowhere_and_nothing_else_is_gone(tmp_path: Path, seed: int) -> None:
    remains = live_erase_and_look(tmp_path, seed, STEPS)
    assert remains.found == []
    assert remains.lost == []
    assert remains.erased > 5
    assert remains.canaries > remains.erased


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "at once"])
@pytest.mark.parametrize("state", ["active", "retired", "trashed", "merged", "edited"])
@pytest.mark.parametrize("way", ["erase", "bulk"])
def test_a_memory_can_be_erased_in_every_state(life: Life, state: str, way: str, settled: bool) -> None:
    """And it is gone for searches at once, whether the index has caught up or not."""
    for _ in range(2):
        life._add()
    number = min(life.told)
    change: dict[str, tuple[str, str, Any]] = {
        "retired": ("POST", f"{MEMORIES}/{number}/retire", {"version": 1}),
        "trashed": ("DELETE", f"{MEMORIES}/{number}", None),
        "merged": (
            "POST",
            f"{MEMORIES}/merge",
            {"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": "x"},
        ),
        "edited": ("PATCH", f"{MEMORIES}/{number}", {"version": 1, "text": "another"}),
    }
    if state in change:
        assert life._write(*change[state]).status < 300
    if settled:
        life.world.settle()
    if way == "erase":
        assert life._write("POST", f"{MEMORIES}/{number}/erase").status == 200
    else:
        body = {"op": "erase", "numbers": [number]}
        assert life._write("POST", f"{MEMORIES}/bulk", body).json["items"][0]["status"] == 200
    life.told[number].erased = True
    remains = life.look()
    life.look_at_files(remains)
    assert remains.found == []
    assert remains.canaries > 0


def test_who_when_and_which_number_stay(life: Life) -> None:
    """SPEC M13."""
    life._add()
    life._write("PATCH", f"{MEMORIES}/1", {"version": 1, "text": "another"})
    life._write("POST", f"{MEMORIES}/1/erase")
    history = life.client.get(f"{MEMORIES}/1/history").json["items"]
    assert [(one["op"], one["by"]["id"], one["before"], one["after"]) for one in history] == [
        (op, "anna", None, None) for op in ("erase", "edit", "add")
    ]
    assert all(one["at"] for one in history)


def test_erasing_what_was_said_before_leaves_the_next_memory_without_its_context(life: Life) -> None:
    life._add_said()
    assert life.client.get(f"{MEMORIES}/2").json["memory"]["context"] is not None
    life._write("POST", f"{MEMORIES}/1/erase")
    life.told[1].erased = True
    assert life.client.get(f"{MEMORIES}/2").json["memory"]["context"] is None
    remains = life.look()
    life.look_at_files(remains)
    assert remains.found == []


def test_the_same_words_of_another_memory_stay(life: Life) -> None:
    """CASES Hal0ai/hal0#449: identical texts shared one vector, and deleting one orphaned the other."""
    for _ in range(2):
        life.client.post(MEMORIES, {"text": "the lantern of the harbour"})
    life.world.settle()
    life.client.post(f"{MEMORIES}/1/erase")
    for _ in range(2):
        found = life.client.post("/v1/spaces/personal/search", {"query": "lantern harbour"}).json["items"]
        assert [one["memory"]["number"] for one in found] == [2]
        life.world.settle()


def test_a_rebuilt_index_does_not_raise_the_dead(life: Life) -> None:
    """CASES topoteretes/cognee#3526: forgotten facts came back after re-processing."""
    life.live(STEPS)
    life.erase(0.5)
    life.world.settle()
    life.world.services.rebuild.rebuild()
    life.world.reindex()
    remains = life.look()
    life.look_at_files(remains)
    assert remains.found == []


# ------------------------------------------------------------------ remains that are left on purpose


def remains_of(folder: Path) -> Remains:
    """What is found of the erased of one short life."""
    return live_erase_and_look(folder, 1, 8)


def test_changes_that_keep_their_texts_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = SqliteMemoryStore.commit

    def keeping(self: SqliteMemoryStore, scope: Scope, what: Commit) -> None:
        commit(self, scope, what.model_copy(update={"strip": ()}))

    monkeypatch.setattr(SqliteMemoryStore, "commit", keeping)
    found = remains_of(tmp_path).found
    assert any("palimpsest.sqlite" in one for one in found)
    assert any("vectors" in one for one in found)


def test_contexts_that_were_taken_from_the_erased_are_found(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Revise, "_clear_context_of_others", lambda *_: None)
    life._add_said()
    life._write("POST", f"{MEMORIES}/1/erase")
    life.told[1].erased = True
    remains = life.look()
    assert any(" in #2" in one for one in remains.found)
    life.look_at_files(remains)
    assert any("palimpsest.sqlite" in one for one in remains.found)


def test_a_text_in_an_idempotency_record_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = remember._outcome

    def telling(planned: Any, *more: Any) -> Any:
        return {**outcome(planned, *more), "texts": [getattr(plan, "text", None) for plan in planned]}

    monkeypatch.setattr(remember, "_outcome", telling)
    found = remains_of(tmp_path).found
    assert found
    assert all("palimpsest.sqlite" in one for one in found)


def test_a_file_that_is_not_written_anew_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where SQLite would only mark what it deletes as free."""
    write = Database.write
    monkeypatch.setattr(Database, "write", lambda self, **how: write(self, **{**how, "scrub": False}))
    monkeypatch.setattr(Database, "scrub", lambda _self: True)
    assert any("palimpsest.sqlite" in one for one in remains_of(tmp_path).found)


def test_an_index_that_keeps_the_erased_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chalicelib.services.memory.embedding import Embedding

    entries = Embedding.entries

    def without_tombstones(self: Embedding, *what: Any) -> Any:
        return [entry for entry in entries(self, *what) if entry.memory is not None]

    monkeypatch.setattr(Embedding, "entries", without_tombstones)
    assert remains_of(tmp_path).found
