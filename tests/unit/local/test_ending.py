"""Ctrl-C, a second Ctrl-C, SIGTERM and a closed terminal end the process once, and never in the middle of its end."""

import os
import signal
from collections.abc import Iterator

import pytest

from infra.local.ending import Ending

ALL = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """What pytest listens to is put back."""
    before = {kind: signal.getsignal(kind) for kind in ALL}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for kind, handler in before.items():
        signal.signal(kind, handler)


@pytest.mark.parametrize("kind", ALL)
def test_while_it_starts_a_signal_interrupts_what_runs_and_a_second_one_does_not(
    kind: signal.Signals,
) -> None:
    ending = Ending()
    ending.listen()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), kind)
    os.kill(os.getpid(), kind)
    assert ending.hurried


@pytest.mark.parametrize("kind", ALL)
def test_while_it_serves_a_signal_is_only_noted(kind: signal.Signals) -> None:
    told: list[str] = []
    ending = Ending()
    ending.listen()
    ending.announce_to(lambda: told.append("end"))
    os.kill(os.getpid(), kind)
    assert told == ["end"]
    assert not ending.hurried
    os.kill(os.getpid(), kind)
    assert ending.hurried


def test_a_service_that_was_told_to_outlive_its_terminal_does() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    Ending().listen()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


@pytest.mark.parametrize("kind", ALL)
def test_a_signal_that_comes_too_late_does_not_kill_it(kind: signal.Signals) -> None:
    ending = Ending()
    ending.listen()
    ending.over()
    os.kill(os.getpid(), kind)
    assert ending.times == 0
