"""A person at a terminal: runs `palimpsest` against a World that is served over real HTTP."""

import io
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from app import app
from infra.cli.app import run
from infra.local.front import Front
from infra.local.http_server import HttpServer
from tests.fakes.client import MAX_BODY, Client
from tests.fakes.world import World


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON values."""
        return json.loads(self.out)


class Terminal:
    """Types commands; nothing of the person's own environment or home is used. `client` asks the same service."""

    def __init__(self, world: World, url: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.world = world
        self.url = url
        self.client = Client(world)
        self.config = folder / "config"
        self._patch = patch
        patch.chdir(folder)
        patch.setenv("PALIMPSEST_CLI_CONFIG", str(self.config))
        patch.setenv("PALIMPSEST_CLI_URL", url)
        patch.setenv("PALIMPSEST_CLI_KEY", self.client.key)

    def set(self, **variables: str | None) -> None:
        """Set variables of the environment; None takes one away."""
        for name, value in variables.items():
            if value is None:
                self._patch.delenv(name, raising=False)
            else:
                self._patch.setenv(name, value)

    def type(self, *arguments: str, typed: str | bytes = "") -> Ended:
        """Run one command, with `typed` as its standard input."""
        raw = typed.encode() if isinstance(typed, str) else typed
        out, err = io.StringIO(), io.StringIO()
        with self._patch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = run(list(arguments))
        return Ended(code, out.getvalue(), err.getvalue())


@contextmanager
def served(world: World) -> Iterator[str]:
    """The URL at which the world is served, until the end of the block."""
    server = HttpServer(Front(app, MAX_BODY), "127.0.0.1", 0, threads=2, max_body_bytes=MAX_BODY)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.end()
        thread.join(10)
        server.close()
