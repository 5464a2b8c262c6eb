"""What became of each peer, side by side, with what is needed to judge it."""

from collections.abc import Sequence
from typing import NamedTuple

from tests.bench.figures import Report
from tests.bench.peers.plan import KILLS, WRITE_FAULTS
from tests.bench.peers.witness import Counts

FAULTS_PER_ADD = 0.5
"""Fewer on any side, and its figures say too little."""
MOST_SHOWN = 20
NOTES = """\
mem0   add, search, get_all, get and delete of mem0.Memory; vector store: Qdrant in a local folder, its default; history:
       SQLite. Embeddings and model: its OpenAI provider, asking a server on this machine. Telemetry off. Without its
       extras for BM25 and spaCy, whose models are downloaded at run time: its search is by meaning alone.
       "as it is": infer=False. "inferred": infer=True, its default, with a model that remembers word for word, the
       best case for its check against what is stored already: a real one may word a repeat differently.
ours   the HTTP API over SQLite and the embedded index, with the same vectors. "no keys": without Idempotency-Key.
all    the same requests, clients and faults, each at the interface of the storage, with the error that its client
       library raises. mem0 has one storage to read, we have two: half of the faults in searches and lists are at each.
       By design: mem0 takes no idempotency key, and writes memory and history one after the other; its delete
       removes a memory, ours moves it to the trash. A memory that is there twice is deleted once.
"""


class Side(NamedTuple):
    """A peer, and what became of it; the last of all sides is the one that has promises to keep."""

    name: str
    version: str
    counts: Counts
    seconds: float


def rows(side: Side) -> list[tuple[str, int]]:
    """The figures of one side, in the order of the table."""
    counts = side.counts
    quiet, faulty = counts.reads, counts.faulty_reads
    return [
        ("adds acknowledged", counts.acknowledged),
        ("deletes acknowledged", counts.deletes),
        ("faults that happened", counts.all_faults),
        ("  write failed, and was not done", counts.faults["before"]),
        ("  write failed, and was done", counts.faults["after"]),
        ("  killed before, within or after a write", sum(counts.faults[kind] for kind in KILLS)),
        ("  read failed", counts.faults["read"]),
        ("lost: acknowledged, and not there", len(counts.lost)),
        ("phantom: there, and never acknowledged", len(counts.phantom)),
        ("doubled: further copies of an add", len(counts.doubled)),
        ("deleted, and still found", len(counts.deleted_found)),
        ("shown to another user", len(counts.foreign)),
        ("changes that the history does not tell", len(counts.no_history)),
        ("writes given up after five attempts", len(counts.given_up)),
        ("ends of the process by itself", len(counts.crashes)),
        ("reads without a fault", quiet.total()),
        ("  not whole", quiet.total() - quiet["whole"]),
        ("reads with a fault", faulty.total()),
        ("  raised", faulty["raised"]),
        ("  whole all the same", faulty["whole"]),
        ("  fewer, and said so", faulty["short, said so"]),
        ("  fewer, and did not say so", faulty["short"]),
        ("attempts to reach another machine", counts.strangers),
        ("seconds", round(side.seconds)),
    ]


def report(sides: Sequence[Side], adds: int, seed: int) -> int:
    """Print all beside each other and one line; 0 if the last side kept its promises and all were tried enough."""
    print("\n".join(dict.fromkeys(side.version for side in sides)))
    print(NOTES, end="")
    columns = [rows(side) for side in sides]
    table = [[row[0][0], *(f"{figure:,}" for _, figure in row)] for row in zip(*columns, strict=True)]
    Report().table(f"Faults in the storage, seed {seed}", ["", *(side.name for side in sides)], table)
    wrong = [f"{sides[-1].name}: {one}" for one in sides[-1].counts.wrong()]
    wrong += [f"{side.name}: {one}" for side in sides for one in untried(side.counts, adds)]
    for one in wrong[:MOST_SHOWN]:
        print(one)
    told = "; ".join(f"{side.name}: {_told(side.counts)}" for side in sides)
    print(
        f"R1 beside mem0: {min(side.counts.acknowledged for side in sides):,} acknowledged adds and "
        f"{min(side.counts.all_faults for side in sides):,} faults on each side at least; {told}; "
        f"found {len(wrong)}, seed {seed}"
    )
    return 1 if wrong else 0


def _told(counts: Counts) -> str:
    return (
        f"lost {len(counts.lost)}, phantom {len(counts.phantom)}, doubled {len(counts.doubled)}, "
        f"deleted and found {len(counts.deleted_found)}"
    )


def untried(counts: Counts, adds: int) -> list[str]:
    """What a run did not reach, so that its figures would say less than they seem to."""
    said = []
    if counts.acknowledged < adds:
        said.append(f"only {counts.acknowledged:,} of {adds:,} adds were acknowledged")
    if counts.all_faults < adds * FAULTS_PER_ADD:
        said.append(f"only {counts.all_faults:,} faults happened")
    kinds = {*WRITE_FAULTS, *KILLS, "read"}
    said += [f"no fault of the kind {kind} happened" for kind in sorted(kinds - set(counts.faults))]
    if counts.strangers:
        said.append(f"{counts.strangers} attempts to reach another machine")
    return said
