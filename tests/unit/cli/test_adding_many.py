"""Many memories at once: nothing twice after a lost connection, nothing lost, and each that was refused is named."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from infra.cli.memories import adding
from tests.fakes.terminal import Terminal
from tests.prove.degradation.gateway import Forward, Gateway, Reply, Request, gateway

FACTS = [f"fact {number}" for number in range(1, 8)]


@pytest.fixture
def way(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """The way from the terminal to the service; batches are of three, and nobody waits between tries."""
    monkeypatch.setattr(adding, "BATCH", 3)
    monkeypatch.setattr("infra.cli.service.FIRST_WAIT_S", 0.0)
    with gateway(terminal.url) as made:
        terminal.set(PALIMPSEST_CLI_URL=made.url)
        yield made


def _stored(terminal: Terminal) -> list[str]:
    items = terminal.client.get("/v1/spaces/personal/memories?limit=200&sort=oldest").json["items"]
    return [one["text"] for one in items]


def _file(folder: Path, lines: list[str], name: str = "facts.txt") -> str:
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / name)


def _loses(answers: Callable[[int], bool]) -> Callable[[Request, Forward, Event], Reply]:
    """Lets each request through, and loses the answer to those whose count says so."""
    count = 0

    def fault(_request: Request, forward: Forward, _closing: Event) -> Reply:
        nonlocal count
        count += 1
        answer = forward()
        return Reply(sent=None) if answers(count) else answer

    return fault


@pytest.mark.usefixtures("way")
def test_lines_of_a_file_or_of_standard_input_are_stored_in_order(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal.type("memories", "add", "--file", _file(tmp_path, FACTS)).err.startswith(
        "7 of 7 are stored"
    )
    assert terminal.type("memories", "add", "-", typed="a\n\nb\r\n").code == 0
    assert _stored(terminal) == [*FACTS, "a", "b"]


def test_an_answer_that_was_lost_doubles_nothing(terminal: Terminal, way: Gateway, tmp_path: Path) -> None:
    way.fault = _loses(lambda count: count % 2 == 1)
    assert terminal.type("memories", "add", "--file", _file(tmp_path, FACTS)).code == 0
    assert way.faulty == 6
    assert _stored(terminal) == FACTS


def test_the_same_command_after_a_lost_connection_stores_the_rest(
    terminal: Terminal, way: Gateway, tmp_path: Path
) -> None:
    way.fault = _loses(lambda count: count > 1)
    file = _file(tmp_path, FACTS)
    ended = terminal.type("memories", "add", "--file", file)
    assert ended.code == 3
    assert "3 of 7 are stored; it ended at line 4" in ended.err
    assert "Give the same command again" in ended.err
    way.fault = None
    assert terminal.type("memories", "add", "--file", file).code == 0
    assert _stored(terminal) == FACTS
    assert terminal.type("memories", "add", "--file", file, "--again").code == 0
    assert len(_stored(terminal)) == 14


def test_one_memory_whose_answer_was_lost_is_stored_once_with_the_key_that_is_told(
    terminal: Terminal, way: Gateway
) -> None:
    way.fault = _loses(lambda _count: True)
    ended = terminal.type("memories", "add", "Marie.")
    assert (ended.code, way.faulty) == (3, 4)
    key = ended.err.split("--idempotency-key ")[1].split(":")[0]
    way.fault = None
    assert terminal.type("memories", "add", "Marie.", "--idempotency-key", key).code == 0
    assert _stored(terminal) == ["Marie."]


@pytest.mark.usefixtures("way")
def test_a_refused_line_is_named_and_the_others_are_stored(terminal: Terminal, tmp_path: Path) -> None:
    lines = [json.dumps({"text": "one", "importance": 9}), json.dumps({"text": "two", "importance": 11})]
    file = _file(tmp_path, lines, "facts.jsonl")
    ended = terminal.type("memories", "add", "--file", file, "--kind", "feedback")
    assert ended.code == 4
    assert "line 2 was not stored: importance" in ended.err
    assert "1 of 2 are stored (#1 to #1)" in ended.err
    [kept] = terminal.client.get("/v1/spaces/personal/memories").json["items"]
    assert (kept["importance"], kept["kind"]) == (9, "feedback")
    (tmp_path / "facts.jsonl").write_text(lines[1])
    assert terminal.type("memories", "add", "--file", file).code == 1


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'"x"', b"\xff", b'{"importance": NaN}', b'{"text": "\\ud800"}']
)
@pytest.mark.usefixtures("way")
def test_a_line_that_cannot_be_read_stores_nothing(terminal: Terminal, line: bytes) -> None:
    ended = terminal.type("memories", "add", "-", "--lines", "json", typed=b'{"text": "good"}\n' + line)
    assert ended.code == 1
    assert "line 2" in ended.err
    assert _stored(terminal) == []


@pytest.mark.usefixtures("way")
def test_with_json_each_answer_is_a_line(terminal: Terminal) -> None:
    ended = terminal.type("memories", "add", "-", "--json", typed="\n".join(FACTS))
    answers = [json.loads(line) for line in ended.out.splitlines()]
    assert [item["memory"]["text"] for answer in answers for item in answer["items"]] == FACTS
