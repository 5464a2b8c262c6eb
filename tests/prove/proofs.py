"""Which promises are proved, and by which command."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """A promise, and the command that proves it."""

    name: str
    claim: str
    command: tuple[str, ...]
    lines: tuple[str, ...] = ()
    """What its lines of result begin with, if not with its name: the promises that the command proves."""
    alone: bool = False
    """Whether it measures, or waits for others' time-outs, so that nothing may run beside it."""

    @property
    def names(self) -> tuple[str, ...]:
        """What its lines of result begin with."""
        return self.lines or (self.name,)


PROOFS = (
    Proof("R8-moto", "the system does what its model says: DynamoDB in this process",
          ("tests.prove.machine", "--engine", "moto"), lines=("R8",)),
    Proof("shapes", "stored text of every shape comes back unchanged",
          ("tests.prove.shapes",), lines=("R9",)),
    Proof("R7", "no update is lost, and every call has a time-out",
          ("tests.prove.concurrency",), lines=("R7", "R12")),
    Proof("R8-sqlite", "the system does what its model says: SQLite",
          ("tests.prove.machine", "--engine", "sqlite"), lines=("R8",)),
    Proof("R8-opensearch", "the system does what its model says: a real OpenSearch node",
          ("tests.prove.machine", "--engine", "opensearch"), lines=("R8",)),
    Proof("R9", "the API does what its contract says",
          ("tests.api.conformance", "--cases", "20000")),
    Proof("R8-ministack", "the system does what its model says: DynamoDB as a server",
          ("tests.prove.machine", "--engine", "ministack"), lines=("R8",)),
    Proof("R5", "the index equals the table, and is rebuilt under load",
          ("tests.prove.projection",), lines=("R5", "R6")),
    Proof("S1", "nothing of one tenant reaches another",
          ("tests.security.isolation", "--attempts", "200000")),
    Proof("S5", "an erased text is nowhere",
          ("tests.security.erasure",)),
    Proof("mem0", "the same failures, beside mem0's open-source library",
          ("tests.bench.peers.mem0",), lines=("R1",)),
    Proof("R1", "no acknowledged write is lost, whatever fails",
          ("tests.prove.faults",)),
    Proof("D1", "nothing is lost on one machine by kills, torn files or a full disk",
          ("tests.prove.durability",), lines=("D1", "D2", "D3", "D4", "D5")),
    Proof("R14", "each part may fail, and the answer says so",
          ("tests.prove.degradation",), alone=True),
    Proof("threads", "no answer holds another request's data",
          ("tests.bench", "throughput", "--check"), alone=True),
)  # fmt: skip
"""The longest first: two run side by side."""
