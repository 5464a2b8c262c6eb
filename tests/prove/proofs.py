"""Which promises are proved, and by which command."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Proof:
    """A promise, and the command that proves it."""

    name: str
    claim: str
    command: tuple[str, ...]
    also: tuple[str, ...] = ()
    """Other promises that the same command proves."""
    alone: bool = False
    """Whether it measures, or waits for others' time-outs, so that nothing may run beside it."""

    @property
    def names(self) -> tuple[str, ...]:
        """What its lines of result begin with."""
        return (self.name, *self.also)


PROOFS = (
    Proof("R8", "the system does what its model says",
          ("tests.prove.machine", "--processes", "1")),
    Proof("R1", "no acknowledged write is lost, whatever fails",
          ("tests.prove.faults",)),
    Proof("mem0", "the same failures, beside mem0's open-source library",
          ("tests.bench.peers.mem0",), also=("R1",)),
    Proof("R5", "the index equals the table, and is rebuilt under load",
          ("tests.prove.projection",), also=("R6",)),
    Proof("R7", "no update is lost, and every call has a time-out",
          ("tests.prove.concurrency",), also=("R12",)),
    Proof("R9", "the API does what its contract says",
          ("tests.api.conformance", "--cases", "20000")),
    Proof("shapes", "stored text of every shape comes back unchanged",
          ("tests.prove.shapes",), also=("R9",)),
    Proof("R14", "each part may fail, and the answer says so",
          ("tests.prove.degradation",), alone=True),
    Proof("D1", "nothing is lost on one machine by kills, torn files or a full disk",
          ("tests.prove.durability",), also=("D2", "D3", "D4", "D5")),
    Proof("S1", "nothing of one tenant reaches another",
          ("tests.security.isolation", "--attempts", "200000")),
    Proof("S5", "an erased text is nowhere",
          ("tests.security.erasure",)),
    Proof("threads", "no answer holds another request's data",
          ("tests.bench", "throughput", "--check"), alone=True),
)  # fmt: skip
"""The longest first: two run side by side."""
