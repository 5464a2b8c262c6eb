"""A peer as a process of its own, in its own environment, that can be killed and started again with the same data."""

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.peers.client import GoneError

PROJECT = Path(__file__).resolve().parents[3]
ANSWER_S = 60.0
FORGOTTEN = ("OPENAI", "OPENROUTER", "MEM0", "PALIMPSEST", "AWS")
"""Names in the environment that begin so could change what a peer does."""


class PeerProcess:
    """`python -m module SETTINGS`. `environment`: what is set besides the bench's own."""

    def __init__(
        self,
        python: Path,
        module: str,
        settings: Mapping[str, Any],
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.version = ""
        self.starts = 0
        self._command = [str(python), "-m", module, json.dumps(settings)]
        self._log = folder / "peer.log"
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(FORGOTTEN) and not name.lower().endswith("_proxy")
        }
        self._environment = {**inherited, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def start(self) -> None:
        """Start it, and wait until it is ready. Raises GoneError with the end of its log."""
        self.stop()
        self._unread = b""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=PROJECT,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        self.starts += 1
        self.version = self._answer(self._process)["version"]

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request. Raises GoneError."""
        process = self._process
        if process is None or process.stdin is None:
            raise GoneError("it does not run")
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError as error:
            raise GoneError("it took no request") from error
        return self._answer(process)

    def log(self) -> str:
        """All that its processes said on standard error."""
        return self._log.read_text(errors="replace")

    def kill(self) -> None:
        """SIGKILL."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(ANSWER_S)

    def stop(self) -> None:
        """End it, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait(ANSWER_S)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue

    def _answer(self, process: "subprocess.Popen[bytes]") -> dict[str, Any]:
        assert process.stdout is not None
        until = time.monotonic() + ANSWER_S
        while b"\n" not in self._unread:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, until - time.monotonic()))
            read = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if not read:
                self.kill()
                raise GoneError(self.log()[-2_000:] or "it ended without a word")
            self._unread += read
        line, _, self._unread = self._unread.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer
