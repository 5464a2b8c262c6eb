"""`python -m infra.local` as a person starts it: a process with a data folder, a terminal's two streams, signals."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.fakes.caller import Caller, wait_until

PROJECT = Path(__file__).resolve().parents[2]
START_S = 60.0
END_S = 30.0


class Ended(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str


class Laptop(Caller):
    """One data folder, and the process that serves it while it runs.

    `before`: a command that runs the process (it gets the process's own command as arguments).
    """

    def __init__(self, folder: Path, *, before: Sequence[str] = (), **settings: str) -> None:
        self.data = folder / "data"
        self.settings = {"PORT": "0", "EMBEDDER": "none", "DATA": str(self.data), **settings}
        self._before = before
        self._out, self._err = folder / "out", folder / "err"
        self.process: subprocess.Popen[bytes] | None = None
        super().__init__("", "")

    # ------------------------------------------------------------------ the process

    def launch(self) -> None:
        """Start the process, and do not wait for it."""
        kept = {
            n: v
            for n, v in os.environ.items()
            if not n.startswith("PALIMPSEST_") and "proxy" not in n.lower()
        }
        stated = {f"PALIMPSEST_{name}": value for name, value in self.settings.items()}
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [*self._before, sys.executable, "-m", "infra.local"],
                cwd=PROJECT,
                env={**kept, **stated},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=_hear_every_signal,
            )

    def start(self) -> "Laptop":
        """Start it and wait until it is there."""
        self.launch()
        wait_until(lambda: self._running().poll() is not None or "Ctrl-C stops it" in self.out)
        assert self._running().poll() is None, f"it did not start:\n{self.out}\n{self.err}"
        running = json.loads(self.inside("run.json").read_text())
        self.url, self.key = running["url"], running["key"]
        return self

    def inside(self, name: str) -> Path:
        """A file of the data folder as the process sees it, also when its disk is its own."""
        path = self.data / name
        return Path(f"/proc/{self._running().pid}/root{path}") if self._before else path

    def tell(self, kind: signal.Signals) -> None:
        """As the terminal or an operator sends it: to the whole group."""
        os.killpg(self._running().pid, kind)

    def ended(self) -> Ended:
        """Wait for its end."""
        code = self._running().wait(END_S)
        self.process = None
        return Ended(code, self.out, self.err)

    def stop(self, kind: signal.Signals = signal.SIGTERM) -> Ended:
        """End it and wait."""
        self.tell(kind)
        return self.ended()

    def kill(self) -> None:
        """As `kill -9` does."""
        self.stop(signal.SIGKILL)

    @property
    def out(self) -> str:
        """What it has printed so far."""
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        """What it has printed to the error stream so far."""
        return self._err.read_text(encoding="utf-8")

    def _running(self) -> "subprocess.Popen[bytes]":
        assert self.process is not None
        return self.process

    def clear(self) -> None:
        """Leave nothing behind."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(END_S)


def _hear_every_signal() -> None:
    """As from a terminal: under `nohup` a process is started deaf to SIGHUP, and the service leaves it so."""
    for kind in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, signal.SIG_DFL)


@contextmanager
def laptop(folder: Path, *, before: Sequence[str] = (), **settings: str) -> Iterator[Laptop]:
    """A laptop that is not started yet, and of which nothing runs afterwards."""
    made = Laptop(folder, before=before, **settings)
    try:
        yield made
    finally:
        made.clear()
