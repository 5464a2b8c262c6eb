"""`python -m tests.prove [NAME …]`: the promises of the product, proved at full size, two at a time.

Each proof is a command of its own. It prints what it did, ends with lines that begin with its name (what was done how
often, what was found, by which seed), and with exit code 0 only if the promise held; `make test` runs a seeded slice of
each. All of them together write `docs/proofs.md`; what is asked for by name is run alone and writes nothing.
"""

import platform
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.prove.proofs import PROOFS, Proof

PROJECT = Path(__file__).parents[2]
PAGE = PROJECT / "docs" / "proofs.md"
PROOF_S = 3_000
LANES = 2
"""Proofs side by side: most of them use one processor."""
FAILED = "did not come to its end"


@dataclass(frozen=True)
class Outcome:
    """How a proof ended: whether the promise held, what it said, how long it took."""

    proof: Proof
    held: bool
    lines: tuple[str, ...]
    seconds: float

    @property
    def verdict(self) -> str:
        """For a terminal."""
        return (
            f"{'held' if self.held else 'FAILED':<7}{'; '.join(self.lines) or f'{self.proof.name} {FAILED}'}"
        )


def main(names: Sequence[str]) -> int:
    """Run the proofs of these names, or all; 1 when one failed, 2 when there is none of that name."""
    unknown = set(names) - {proof.name for proof in PROOFS}
    if unknown:
        print(f"there is no proof named {', '.join(sorted(unknown))}; there are:", file=sys.stderr)
        for proof in PROOFS:
            print(f"  {proof.name:<8} {proof.claim}", file=sys.stderr)
        return 2
    asked = [proof for proof in PROOFS if not names or proof.name in names]
    began = time.monotonic()
    with ThreadPoolExecutor(LANES) as lanes:
        done = {proof.name: lanes.submit(run, proof) for proof in asked if not proof.alone}
    found = {name: each.result() for name, each in done.items()}
    found |= {proof.name: run(proof) for proof in asked if proof.alone}
    outcomes = [found[proof.name] for proof in asked]
    print()
    for outcome in outcomes:
        print(outcome.verdict)
    if not names:
        minutes = (time.monotonic() - began) / 60
        PAGE.write_text(page(outcomes, commit(), datetime.now(UTC), minutes), encoding="utf-8")
        print(f"written to {PAGE.relative_to(PROJECT)}")
    return 0 if all(outcome.held for outcome in outcomes) else 1


def run(proof: Proof) -> Outcome:
    """Run one, and show what it printed when it has ended; it fails if it takes longer than PROOF_S."""
    print(f"{proof.name}: {proof.claim} ...", flush=True)
    started = time.monotonic()
    command = [sys.executable, "-m", *proof.command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as running:
        limit = threading.Timer(PROOF_S, running.kill)
        limit.start()
        printed, _ = running.communicate()
        limit.cancel()
    seconds = time.monotonic() - started
    print(f"\n$ python -m {' '.join(proof.command)}  ({seconds:,.0f} s)\n{printed}", flush=True)
    starts = tuple(f"{name} " for name in proof.names)
    lines = tuple(line.strip() for line in printed.splitlines() if line.startswith(starts))
    return Outcome(proof, running.returncode == 0 and bool(lines), lines, seconds)


def page(outcomes: Sequence[Outcome], of_commit: str, at: datetime, minutes: float) -> str:
    """`docs/proofs.md`."""
    rows = [
        f"| {outcome.proof.claim} | {'<br>'.join(outcome.lines) or FAILED} | {'yes' if outcome.held else '**no**'} "
        f"| `python -m {' '.join(outcome.proof.command)}` | {outcome.seconds:,.0f} s |"
        for outcome in outcomes
    ]
    return f"""# Proofs

What Palimpsest promises, attacked at full size. `make prove` repeats all of it and writes this page; `make prove ARGS=R1` runs one. The fast suite (`make test`) runs a seeded slice of each, and plants a fault of each kind to see that it is found. Commands are as `make prove` runs them, in the project's environment.

Commit `{of_commit}`, {at:%Y-%m-%d}, {platform.system()} {platform.machine()}, Python {platform.python_version()}, {minutes:,.0f} minutes in all.

| Promise | Done and found | Held | Command | Time |
|---|---|---|---|---|
{chr(10).join(rows)}
"""


def commit() -> str:
    """What is proved; with a plus sign if files were changed since, this page apart."""
    asked = ["git", "describe", "--always", "--abbrev=10"]
    known = subprocess.run(asked, capture_output=True, text=True, cwd=PROJECT, check=False).stdout.strip()
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", ":!docs/proofs.md"],
        capture_output=True,
        text=True,
        cwd=PROJECT,
        check=False,
    ).stdout
    return f"{known or 'unknown'}{'+' if changed else ''}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
