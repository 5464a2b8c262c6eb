"""How long a person waits: from the start of the process to its first answer, and for the import of the package.

python -m tests.bench startup [--rounds 3]
"""

from collections.abc import Sequence

from tests.bench import import_time
from tests.bench.figures import Report, parser
from tests.bench.quantiles import quantile
from tests.bench.served import served

FIRST_ANSWER_S = 8.0


def main(arguments: Sequence[str]) -> int:
    """Run it; see the module."""
    known = parser("startup", "From the start of the process to its first answer.")
    known.add_argument("--rounds", type=int, default=3)
    known.add_argument("--embedder", choices=["bundled", "none"], default="bundled")
    asked = known.parse_args(arguments)
    report = Report()
    first, later = [], []
    for _ in range(asked.rounds):
        with served({"PALIMPSEST_EMBEDDER": asked.embedder}, start=False) as service:
            first.append(service.start())
            service.stop()
            later.append(service.start())
    for name, seconds in (("first start, new folder", first), ("later start", later)):
        report.add(f"startup: {name}, median", quantile(seconds, 0.5), "s")
        report.add(f"startup: {name}, longest", max(seconds), "s", at_most=FIRST_ANSWER_S)
    bars = {
        "with bytecode": import_time.WITH_BYTECODE_MS,
        "without bytecode": import_time.WITHOUT_BYTECODE_MS,
    }
    for name, times in import_time.measure().items():
        report.add(f"startup: import of the app {name}, best", min(times), "ms", at_most=bars[name])
    return report.end(asked)
