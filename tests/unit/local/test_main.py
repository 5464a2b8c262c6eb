"""`python -m infra.local`: exit codes and the last words (its whole life is in `tests/e2e/test_run.py`)."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib import bootstrap, observability
from chalicelib.errors import IndexUnavailableError, StoreUnavailableError
from infra.local import __main__ as program
from infra.local.ending import Ending
from infra.local.service import LocalService


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A data folder of its own; signals, logs and services of this process are put back."""
    for name, value in {"DATA": str(tmp_path), "PORT": "0", "EMBEDDER": "none"}.items():
        monkeypatch.setenv(f"PALIMPSEST_{name}", value)
    monkeypatch.setattr(bootstrap, "_services", None)
    monkeypatch.setattr(observability, "configure", lambda **_named: None)
    kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {kind: signal.getsignal(kind) for kind in kinds}
    yield
    for kind, handler in before.items():
        signal.signal(kind, handler)


def test_a_setting_that_makes_no_sense_ends_it_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PALIMPSEST_PORT", "eighty")
    assert program.main() == 1
    assert "PALIMPSEST_PORT" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [StoreUnavailableError("the disk is full"), IndexUnavailableError("damaged")]
)
def test_data_that_cannot_be_used_are_a_plain_sentence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_service: LocalService) -> str:
        raise error

    monkeypatch.setattr(LocalService, "start", fail)
    assert program.main() == 1
    said = capsys.readouterr()
    assert said.err == f"The data cannot be used: {error}. Mend that, and start again.\n"
    assert said.out == ""


def test_ctrl_c_while_it_starts_ends_it_with_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupted(_service: LocalService) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        return "not reached"

    monkeypatch.setattr(LocalService, "start", interrupted)
    assert program.main() == 0
    assert capsys.readouterr().out == "\nStopped before it was ready.\n"
    assert not (tmp_path / "run.json").exists()


def test_ctrl_c_while_it_serves_ends_it_with_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []

    def serve(_service: LocalService, ending: Ending) -> None:
        ending.announce_to(lambda: told.append("end"))
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(LocalService, "start", lambda _service: "here I am")
    monkeypatch.setattr(LocalService, "serve", serve)
    assert program.main() == 0
    assert told == ["end"]
    assert capsys.readouterr().out == "here I am\n\nStopped; the data stay.\n"


def test_a_terminal_that_was_closed_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, _text: str) -> int:
            raise BrokenPipeError

        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    program._say("hello")


def test_with_threads_that_are_still_busy_the_interpreter_is_not_taken_down_around_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    go_on = threading.Event()
    busy = threading.Thread(target=go_on.wait, args=[20], daemon=True)
    busy.start()
    with pytest.raises(SystemExit):
        program._leave(3)
    assert ended == [3]
    go_on.set()
    busy.join(20)


def test_otherwise_it_ends_as_programs_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread()])
    with pytest.raises(SystemExit) as ended:
        program._leave(0)
    assert ended.value.code == 0
