"""Many memories at once: nothing twice after a lost connection, nothing lost, and each that was refused is named."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from infra.cli.memories import adding
from infra.cli.service import Service
from tests.fakes.terminal import Ended, Terminal
from tests.prove.degradation.gateway import Forward, Gateway, Reply, Request, gateway

FACTS = [f"fact {number}" for number in range(1, 8)]


@pytest.fixture
def way(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """The way from the terminal to the service; batches are of three, and nobody waits between tries."""
    monkeypatch.setattr(adding, "BATCH", 3)
    monkeypatch.setattr("infra.cli.service.FIRST_WAIT_S", 0.0)
    terminal.world.now = datetime.now(UTC)
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
def test_what_was_stored_before_is_told_apart_from_what_is_stored_now(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path, FACTS)
    assert terminal.type("memories", "add", "--file", file).err == "7 of 7 are stored (#1 to #7).\n"
    monkeypatch.setattr("infra.cli.service.DATE_S", -5)  # as if so many seconds had gone by
    ended = terminal.type("memories", "add", "--file", file)
    assert (ended.code, "7 of them were stored before" in ended.err) == (0, True)
    (tmp_path / "facts.txt").write_text("one more")
    monkeypatch.setattr("infra.cli.service.DATE_S", 2)
    assert "before" not in terminal.type("memories", "add", "--file", file).err


def test_what_was_stored_before_and_is_not_active_any_more_is_told(
    terminal: Terminal, way: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path, FACTS)
    terminal.type("memories", "add", "--file", file)
    monkeypatch.setattr("infra.cli.service.DATE_S", -5)
    terminal.type("memories", "delete", "2")
    terminal.type("memories", "erase", "3", "--yes")
    for option in ([], ["--json"]):
        ended = terminal.type("memories", "add", "--file", file, *option)
        assert ended.code == 4
        assert "1 of those are not active any more (#2 is trashed): palimpsest memories rest" in ended.err
        assert "line 3 was stored before, and is erased since" in ended.err
    way.fault = lambda request, forward, _closing: (
        forward() if request.method == "POST" else Reply(status=500)
    )
    assert "could not be read" in terminal.type("memories", "add", "--file", file).err


def test_one_memory_that_is_repeated_and_not_active_any_more_is_told(terminal: Terminal) -> None:
    again = ["memories", "add", "Marie.", "--idempotency-key", "k"]
    assert terminal.type(*again).code == 0
    ended = terminal.type(*again)
    assert (ended.code, "#1 was stored before, with the same key" in ended.err) == (0, True)
    terminal.type("memories", "delete", "1")
    for option in ([], ["--json"]):
        ended = terminal.type(*again, *option)
        assert (ended.code, "is trashed now: palimpsest memories restore 1" in ended.err) == (4, True)


def _interrupted(terminal: Terminal, patch: pytest.MonkeyPatch, after: int, *command: str) -> Ended:
    """The command, with a Ctrl-C in place of the answer to its request number `after` + 1."""
    ask, count = Service.ask, 0

    def once(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        answer = ask(*arguments, **named)
        if count > after:
            raise KeyboardInterrupt
        return answer

    with patch.context() as patched:
        patched.setattr(Service, "ask", once)
        return terminal.type(*command)


@pytest.mark.usefixtures("way")
def test_an_interrupted_command_says_how_much_was_done_and_can_be_given_again(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = ["memories", "add", "--file", _file(tmp_path, FACTS)]
    ended = _interrupted(terminal, monkeypatch, 1, *again)
    assert (ended.code, "3 of 7 are stored; it was interrupted at line 4" in ended.err) == (130, True)
    assert "Give the same command again" in ended.err
    assert terminal.type(*again).code == 0
    assert _stored(terminal) == FACTS
    monkeypatch.setattr("infra.cli.memories.changing.AT_ONCE", 2)
    ended = _interrupted(terminal, monkeypatch, 1, "memories", "delete", "1", "2", "3", "4")
    assert (ended.code, "2 of 4 are done; it was interrupted at #3" in ended.err) == (130, True)
    one = _interrupted(terminal, monkeypatch, 0, "memories", "add", "Marie.")
    key = one.err.split("--idempotency-key ")[1].split(":")[0]
    assert one.code == 130
    assert terminal.type("memories", "add", "Marie.", "--idempotency-key", key).code == 0
    assert _stored(terminal)[-1] == "Marie."


@pytest.mark.parametrize("url", ["https://127.0.0.1:{}", "https://localhost:{}"])
def test_where_tls_is_refused_nothing_was_sent_and_it_says_so(
    terminal: Terminal, way: Gateway, url: str
) -> None:
    terminal.set(PALIMPSEST_CLI_URL=url.format(way.url.rsplit(":", 1)[1]))
    ended = terminal.type("memories", "add", "Marie.")
    assert (ended.code, "cannot be reached (TLS" in ended.err) == (3, True)
    assert "nobody knows" not in ended.err
    assert way.received == 0


@pytest.mark.usefixtures("way")
def test_with_json_each_answer_is_a_line(terminal: Terminal) -> None:
    ended = terminal.type("memories", "add", "-", "--json", typed="\n".join(FACTS))
    answers = [json.loads(line) for line in ended.out.splitlines()]
    assert [item["memory"]["text"] for answer in answers for item in answer["items"]] == FACTS
