"""`palimpsest memories …` does over HTTP what it says, and tells what became of it."""

import json

import pytest

from tests.fakes.terminal import Terminal

LIST = "/v1/spaces/personal/memories?state=all&limit=200"


def _texts(terminal: Terminal) -> list[str]:
    return [one["text"] for one in terminal.client.get(LIST).json["items"]]


def test_what_is_added_is_found_shown_and_listed(terminal: Terminal) -> None:
    added = terminal.type("memories", "add", "Marie is allergic to peanuts.", "--importance", "8")
    assert (added.code, added.err) == (0, "")
    assert "#1" in added.out
    assert "Marie is allergic to peanuts." in terminal.type("memories", "search", "peanuts").out
    assert "importance" in terminal.type("memories", "show", "1").out
    assert "Marie" in terminal.type("memories", "list", "--sort", "importance").out


def test_json_is_the_answer_of_the_api_unchanged(terminal: Terminal) -> None:
    added = terminal.type("memories", "add", "Мари не ест рыбу.", "--json")
    assert added.json["memory"]["text"] == "Мари не ест рыбу."
    for command, path in (("show", "memories/1"), ("history", "memories/1/history")):
        shown = terminal.type("memories", command, "1", "--json").out
        assert json.loads(shown) == terminal.client.get(f"/v1/spaces/personal/{path}").json


def test_similar_memories_are_told(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie is allergic to peanuts.")
    added = terminal.type("memories", "add", "Marie is allergic to peanuts.")
    assert "Says much the same" in added.err
    assert "#1" in added.err


def test_a_memory_that_no_model_is_given_is_told(terminal: Terminal) -> None:
    assert "not given to models" in terminal.type("memories", "add", "Fish.", "--uncategorised").err


def test_what_recall_left_out_and_a_degraded_answer_are_told(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie does not eat fish.", "--uncategorised")
    terminal.type("memories", "add", "Marie does not eat meat.")
    terminal.world.break_embedder()
    recalled = terminal.type("memories", "recall", "What does Marie eat? fish meat")
    assert recalled.code == 0
    assert "[#2] Marie does not eat meat." in recalled.out
    assert "left out: 1 without a category" in recalled.err
    assert "degraded: embedder_unavailable" in recalled.err


def test_an_edit_reads_the_version_first_and_a_stale_one_is_told_with_the_state_of_now(
    terminal: Terminal,
) -> None:
    terminal.type("memories", "add", "Marie is allergic to peanuts.")
    assert terminal.type("memories", "edit", "1", "--text", "Marie is allergic to nuts.").code == 0
    refused = terminal.type("memories", "edit", "1", "--text", "Mine.", "--version", "1")
    assert refused.code == 1
    reason, now = refused.err.splitlines()
    assert "version 1 is stale" in reason
    assert now == "Now #1 is at version 2, active: Marie is allergic to nuts."
    assert _texts(terminal) == ["Marie is allergic to nuts."]
    as_json = terminal.type("memories", "edit", "1", "--text", "Mine.", "--version", "1", "--json")
    assert as_json.json["error"]["code"] == "conflict"


def test_a_field_can_be_emptied(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie.", "--subject", "Marie")
    assert terminal.type("memories", "edit", "1", "--clear", "subject", "--clear", "category").code == 0
    memory = terminal.client.get("/v1/spaces/personal/memories/1").json["memory"]
    assert (memory["subject"], memory["category"]) == (None, None)
    assert terminal.type("memories", "edit", "1", "--clear", "text").code == 2
    assert terminal.type("memories", "edit", "1").code == 2


def test_a_change_is_undone_by_the_id_that_history_shows(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie eats fish.")
    terminal.type("memories", "edit", "1", "--text", "Marie eats meat.")
    history = terminal.type("memories", "history", "1").out
    assert "1-2" in history
    assert "text: Marie eats fish. → Marie eats meat." in history
    assert terminal.type("memories", "undo", "1-2").code == 0
    assert _texts(terminal) == ["Marie eats fish."]
    assert "takes back 1-2" in terminal.type("memories", "history", "1").out
    assert "takes back an earlier" in terminal.type("memories", "history", "1", "--limit", "1").out
    again = terminal.type("memories", "undo", "1-2")
    assert (again.code, "undone already" in again.err) == (1, True)


def test_merged_memories_are_retired_and_point_to_the_new_one(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie eats fish.")
    terminal.type("memories", "add", "Marie eats meat.")
    merged = terminal.type("memories", "merge", "1", "2", "--text", "Marie eats fish and meat.")
    assert (merged.code, "Retired: #1, #2" in merged.err) == (0, True)
    assert "retired (by #3)" in terminal.type("memories", "list", "--state", "retired").out


def test_from_the_trash_a_memory_comes_back_and_a_retired_one_says_why(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie eats fish.")
    assert "trashed" in terminal.type("memories", "delete", "1").out
    assert "active" in terminal.type("memories", "restore", "1").out
    assert terminal.type("memories", "retire", "1", "--reason", "no longer").code == 0
    assert "no longer" in terminal.type("memories", "show", "1").out


def test_erasing_asks_first_and_shows_what_goes(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie eats fish.")
    kept = terminal.type("memories", "erase", "1", typed="n\n")
    assert (kept.code, "#1 Marie eats fish." in kept.err) == (1, True)
    assert _texts(terminal) == ["Marie eats fish."]
    assert terminal.type("memories", "erase", "1", "--yes").code == 0
    assert _texts(terminal) == []


def test_many_are_changed_at_once_and_those_that_cannot_be_are_named(terminal: Terminal) -> None:
    for text in ("one", "two"):
        terminal.type("memories", "add", text)
    done = terminal.type("memories", "delete", "1", "2", "9")
    assert done.code == 4
    assert "#9 was left as it is" in done.err
    assert "2 of 3 are done" in done.err
    assert terminal.type("memories", "delete", "8", "9").code == 1


def test_a_memory_that_is_not_there_is_told_with_the_words_of_the_api(terminal: Terminal) -> None:
    missing = terminal.type("memories", "show", "7")
    told = terminal.client.get("/v1/spaces/personal/memories/7").json["error"]["message"]
    assert (missing.code, missing.err) == (1, told + "\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["memories", "show", "none"],
        ["memories", "add"],
        ["memories", "add", "x", "--importance", "11"],
        ["memories", "add", "-", "--idempotency-key", "k"],
        ["memories", "add", "x", "--category", "General", "--uncategorised"],
        ["memories", "list", "--state", "erased"],
        ["memories", "list", "--limit", "0"],
    ],
)
def test_wrong_usage_ends_with_2_and_sends_nothing(terminal: Terminal, arguments: list[str]) -> None:
    assert terminal.type(*arguments).code == 2
    assert _texts(terminal) == []


def test_pages_go_on_where_the_last_one_ended(terminal: Terminal) -> None:
    terminal.world.add_facts(5)
    first = terminal.type("memories", "list", "--limit", "2", "--sort", "oldest")
    assert "There are more: --all, or --cursor" in first.err
    cursor = first.err.split("--cursor ")[1].strip()
    assert (
        "fact 3"
        in terminal.type("memories", "list", "--limit", "2", "--sort", "oldest", "--cursor", cursor).out
    )
    pages = terminal.type("memories", "list", "--limit", "2", "--sort", "oldest", "--all", "--json").out
    numbers = [one["number"] for page in pages.splitlines() for one in json.loads(page)["items"]]
    assert numbers == [1, 2, 3, 4, 5]


HOSTILE = "before \x1b]0;owned\x07\x1b[2J\u009b31m\u202eafter"


def test_what_a_memory_says_cannot_steer_the_terminal(terminal: Terminal) -> None:
    stored = terminal.client.post("/v1/spaces/personal/memories", {"text": HOSTILE})
    assert stored.status == 201
    outputs = [
        terminal.type("memories", *command)
        for command in (
            ["list"],
            ["show", "1"],
            ["search", "before"],
            ["history", "1"],
            ["erase", "1"],
            ["recall", "before"],
        )
    ]
    outputs += [
        terminal.type("memories", "show", "1", "--json"),
        terminal.type("memories", "edit", "1", "--text", "x", "--version", "9"),
    ]
    for ended in outputs:
        assert not set("\x1b\x07\u009b\u202e") & set(ended.out + ended.err)
        assert "after" in ended.out + ended.err
    assert outputs[-2].json["memory"]["text"] == HOSTILE
