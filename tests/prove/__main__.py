"""`python -m tests.prove [NAME …]`: each promise that is proved today, at full size, one after the other.

Each proof is a command of its own, which prints what it did and ends with 0 only if the promise held; `make test` runs
a seeded slice of each. What is asked for by name is run alone.
"""

import subprocess
import sys
import time
from dataclasses import dataclass

PROOF_S = 3_600


@dataclass(frozen=True)
class Proof:
    """A promise, and the command that proves it."""

    name: str
    claim: str
    command: tuple[str, ...]


PROOFS = (
    Proof("kill", "no acknowledged write is lost when everything is killed",
          ("tests.bench", "kill", "--check", "--rounds", "3")),
    Proof("threads", "no answer holds another request's data",
          ("tests.bench", "throughput", "--check")),
    Proof("S1", "nothing of one tenant reaches another",
          ("tests.security.isolation", "--attempts", "200000")),
    Proof("S5", "an erased text is nowhere",
          ("tests.security.erasure",)),
    Proof("R9", "the API does what its contract says",
          ("tests.api.conformance", "--cases", "20000")),
)  # fmt: skip


def main(names: list[str]) -> int:
    """Run the proofs of these names, or all; 1 when one failed, 2 when there is none of that name."""
    unknown = set(names) - {proof.name for proof in PROOFS}
    if unknown:
        print(f"there is no proof named {', '.join(sorted(unknown))}; there are:", file=sys.stderr)
        for proof in PROOFS:
            print(f"  {proof.name:<8} {proof.claim}", file=sys.stderr)
        return 2
    outcomes = [_run(proof) for proof in PROOFS if not names or proof.name in names]
    for line, _ in outcomes:
        print(line)
    return 0 if all(held for _, held in outcomes) else 1


def _run(proof: Proof) -> tuple[str, bool]:
    print(f"\n{proof.name}: {proof.claim}\n$ python -m {' '.join(proof.command)}", flush=True)
    started = time.monotonic()
    try:
        ended = subprocess.run([sys.executable, "-m", *proof.command], check=False, timeout=PROOF_S)
        held = ended.returncode == 0
    except subprocess.TimeoutExpired:
        held = False
    taken = round(time.monotonic() - started)
    return f"{proof.name:<8} {'held' if held else 'FAILED':<7} {proof.claim} ({taken} s)", held


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
