"""The same programme against mem0's open-source library and against Palimpsest, with the same faults in their storages.

    python -m tests.bench.peers.mem0 [--adds 2000] [--seed 1]

Each runs in a process of its own with its data on disk, is made to fail at the interface of its storage (mem0's vector
store object; Palimpsest's memory store and search index), is killed and started again. The clients are the same: they
repeat what raised or got no answer until it is acknowledged.

What keeps a repeat from being a second write is, in Palimpsest, an idempotency key that its clients send; mem0 takes
none. So each is measured both ways: mem0 as it stores words as they are (`infer=False`) and as it stores what a model
takes from them (its default, which passes over what a search shows to be stored already); Palimpsest with keys and
without.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chalicelib.providers.scripted import ScriptedEmbedder
from tests.bench.peers.client import Programme
from tests.bench.peers.environment import NotInstalledError, python_of
from tests.bench.peers.loopback import REFUSED
from tests.bench.peers.models import models
from tests.bench.peers.plan import Step, plan
from tests.bench.peers.process import PeerProcess
from tests.bench.peers.report import Side, report


class Entry(NamedTuple):
    """A way to run a peer. `keys`: whether the clients send idempotency keys."""

    name: str
    python: Path
    module: str
    settings: Mapping[str, Any]
    keys: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all; 0 if Palimpsest kept its promises and every side had its size, 2 if mem0 cannot be had."""
    known = argparse.ArgumentParser(prog="python -m tests.bench.peers.mem0", description="Beside mem0.")
    known.add_argument("--adds", type=int, default=2_000)
    known.add_argument("--seed", type=int, default=1)
    asked = known.parse_args(arguments)
    try:
        python = python_of("mem0")
    except NotInstalledError as error:
        print(f"mem0 cannot be installed here.\n{error}", file=sys.stderr)
        return 2
    steps = plan(asked.adds, asked.seed)
    with models() as url:
        sides = [_side(steps, entry) for entry in _entries(python, url)]
    return report(sides, asked.adds, asked.seed)


def _entries(python: Path, url: str) -> list[Entry]:
    models_at = {"url": url, "dimension": ScriptedEmbedder().model.dimension}
    theirs, own, here = "tests.bench.peers.mem0_system", "tests.bench.peers.own_system", Path(sys.executable)
    return [
        Entry("mem0, as it is", python, theirs, {**models_at, "infer": False}, keys=True),
        Entry("mem0, inferred", python, theirs, {**models_at, "infer": True}, keys=True),
        Entry("ours, no keys", here, own, {}, keys=False),
        Entry("ours", here, own, {}, keys=True),
    ]


def _side(steps: Sequence[Step], entry: Entry) -> Side:
    """One peer, from nothing to the end of the programme."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-peer-"))
    environment = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "HOME": str(folder)}
    settings = {**entry.settings, "folder": str(folder)}
    peer = PeerProcess(entry.python, entry.module, settings, folder, environment)
    began = time.monotonic()
    programme = Programme(peer, steps, keys=entry.keys)
    try:
        counts = programme.run()
        counts.strangers = sum(line.startswith(REFUSED) for line in peer.log().splitlines())
    finally:
        peer.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return Side(entry.name, peer.version, counts, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main())
