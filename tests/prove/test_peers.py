"""The harness that puts peers beside each other counts what is wrong, and only that (RELIABILITY R1).

`python -m tests.bench.peers.mem0` is the full size, with mem0 itself. Here a peer of a few lines stands in for it,
right or broken in one way at a time, and Palimpsest is run for a slice, all in this process.
"""

import json
import urllib.request
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from tests.bench.peers import mem0
from tests.bench.peers.client import Programme
from tests.bench.peers.environment import NotInstalledError
from tests.bench.peers.failing import WRITE, Failing, Switch
from tests.bench.peers.models import models
from tests.bench.peers.own_system import OwnSystem
from tests.bench.peers.plan import KILLS, USERS, WRITE_FAULTS, Fault, Step, plan
from tests.bench.peers.report import Side, report, untried
from tests.bench.peers.stand_ins import (
    METHODS,
    Drops,
    Ends,
    Forgets,
    Here,
    Invents,
    KeepsDeleted,
    KilledError,
    Mixes,
    Plain,
    Refuses,
    SaysSo,
    Storage,
    Swallows,
    TimedOutError,
    die,
)
from tests.bench.peers.witness import Counts

ADDS = 300


@pytest.fixture(scope="module")
def steps() -> list[Step]:
    return plan(ADDS, seed=2)


def counted(kind: type[Plain], steps: list[Step], *, keys: bool = True) -> Counts:
    storage = Storage()
    return Programme(Here(lambda: kind(storage)), steps, keys=keys).run()


def test_a_right_peer_has_nothing_wrong_and_every_fault_happens(steps: list[Step]) -> None:
    counts = counted(Plain, steps)
    assert counts.wrong() == []
    assert untried(counts, ADDS) == []
    assert counts.acknowledged == ADDS
    assert counts.faulty_reads == Counter(raised=counts.faults["read"])
    assert counts.reads["whole"] == counts.reads.total() > counts.faults["read"]


def test_palimpsest_has_nothing_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)
    few = plan(40, seed=3)
    few[:3] = [replace(step, fault=Fault(kind)) for step, kind in zip(few[:3], KILLS, strict=True)]
    counts = Programme(Here(lambda: OwnSystem({"folder": str(tmp_path)}, Switch(die))), few).run()
    assert counts.wrong() == []
    assert counts.acknowledged == 40
    assert counts.all_faults > 20
    assert set(KILLS) <= set(counts.faults)
    assert counts.faulty_reads["whole"] > 0 < counts.faulty_reads["raised"]


def test_without_keys_a_repeat_after_a_commit_doubles(steps: list[Step]) -> None:
    """And who deletes a memory that is there twice still finds it."""
    counts = counted(Plain, steps, keys=False)
    assert len(counts.doubled) > 20
    assert counts.deleted_found
    assert not counts.lost
    assert not counts.phantom


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Drops, "lost"),
        (Invents, "phantom"),
        (KeepsDeleted, "deleted_found"),
        (Mixes, "foreign"),
        (Forgets, "no_history"),
        (Refuses, "given_up"),
        (Ends, "crashes"),
        (Swallows, "silently_short"),
    ],
)
def test_each_way_of_being_broken_is_counted_under_its_name(
    steps: list[Step], kind: type[Plain], wrong: str
) -> None:
    counts = counted(kind, steps)
    assert getattr(counts, wrong)
    assert counts.wrong()


def test_an_answer_that_says_what_it_lacks_hides_nothing(steps: list[Step]) -> None:
    counts = counted(SaysSo, steps)
    assert counts.silently_short == 0
    assert counts.faulty_reads["short, said so"] > 0
    assert counts.wrong() == []


# ------------------------------------------------------------------ the programme


def test_the_programme_is_the_same_for_the_same_seed_and_only_then(steps: list[Step]) -> None:
    assert plan(ADDS, seed=2) == steps
    assert plan(ADDS, seed=3) != steps


def test_the_programme_has_its_size_and_every_kind(steps: list[Step]) -> None:
    assert Counter(step.kind for step in steps)["add"] == ADDS
    assert {step.kind for step in steps} == {"add", "delete", "search", "list", "get"}
    assert {step.user for step in steps} == set(USERS)
    kinds = {step.fault.kind for step in steps if step.fault}
    assert kinds == {*WRITE_FAULTS, *KILLS, "read"}
    assert len({step.text for step in steps if step.kind == "add"}) == ADDS


def test_the_programme_asks_each_user_for_what_is_their_own(steps: list[Step]) -> None:
    owners = {step.text: step.user for step in steps if step.kind == "add"}
    assert all(owners[step.text] == step.user for step in steps if step.text)


# ------------------------------------------------------------------ its parts


@pytest.mark.parametrize(
    ("kind", "kept"), [("before", 0), ("after", 1), ("kill_before", 0), ("kill_after", 1)]
)
def test_a_fault_is_before_the_write_or_after_it(kind: str, kept: int) -> None:
    storage, switch = Storage(), Switch(die)
    failing = Failing(storage, switch, METHODS, TimedOutError)
    switch.arm({"kind": kind, "part": "write"})
    with pytest.raises((TimedOutError, KilledError)):
        failing.insert("anna", "1", "tea", None)
    assert len(storage.kept) == kept
    assert switch.disarm()
    failing.insert("anna", "1", "tea", None)
    assert not Switch().disarm()


def test_a_fault_waits_for_its_part_and_a_renamed_method_is_noticed() -> None:
    switch = Switch(die)
    failing = Failing(Storage(), switch, METHODS, TimedOutError)
    switch.arm({"kind": "read", "part": "table"})
    failing.insert("anna", "1", "tea", None)
    with pytest.raises(TimedOutError):
        failing.rows("anna")
    with pytest.raises(TypeError, match="upsert"):
        Failing(Storage(), switch, {"upsert": WRITE}, TimedOutError)


def test_the_server_of_models_gives_the_same_vector_for_the_same_words_and_remembers_the_newest() -> None:
    text = "tea was said by a guest at table 3"
    prompt = f"## Existing Memories\ncoffee was said by a guest at table 1\n\n## New Messages\nuser: {text}\n\n## End"
    with models() as url:
        one, other = (_posted(f"{url}/embeddings", {"model": "m", "input": [text]}) for _ in range(2))
        told = _posted(f"{url}/chat/completions", {"model": "m", "messages": [{"content": prompt}]})
    assert one["data"] == other["data"]
    assert len(one["data"][0]["embedding"]) == 256
    assert [item["text"] for item in json.loads(told["choices"][0]["message"]["content"])["memory"]] == [text]


def _posted(url: str, body: dict[str, Any]) -> Any:
    with urllib.request.urlopen(
        urllib.request.Request(url, json.dumps(body).encode()), timeout=5
    ) as answered:
        return json.loads(answered.read())


def test_the_report_fails_for_what_is_wrong_with_the_last_side_and_for_what_was_not_tried(
    steps: list[Step], capsys: pytest.CaptureFixture[str]
) -> None:
    right = Side("ours", "one", counted(Plain, steps), 1.0)
    wrong = Side("theirs", "two", counted(Plain, steps, keys=False), 1.0)
    assert report([wrong, right], ADDS, 2) == 0
    assert capsys.readouterr().out.rstrip().endswith("found 0, seed 2")
    assert report([right, wrong], ADDS, 2) == 1
    assert report([wrong, right], ADDS * 9, 2) == 1
    unkilled = replace(right.counts, faults=Counter(before=ADDS))
    assert report([wrong, right._replace(counts=unkilled)], ADDS, 2) == 1
    assert "no fault of the kind kill_after" in capsys.readouterr().out


def test_where_mem0_cannot_be_installed_it_says_what_was_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def python_of(name: str) -> Path:
        raise NotInstalledError(f"$ pip install {name}: no answer")

    monkeypatch.setattr(mem0, "python_of", python_of)
    assert mem0.main([]) == 2
    assert "no answer" in capsys.readouterr().err
