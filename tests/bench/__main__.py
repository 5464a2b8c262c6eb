"""`python -m tests.bench NAME …`: measure the product; `--check` asks for the bars."""

import importlib
import signal
import sys

BENCHES = {
    "locomo": "recall over long conversations, latency, ablation of the ranking signals",
    "scale": "latency, throughput and size at 1,000 to 100,000 memories, and 1,000 spaces",
    "throughput": "8 clients, 10,000 requests at once: reads a second, and no mixed answers",
    "kill": "kill -9 while 4 clients write: nothing acknowledged is lost, nothing is doubled",
    "startup": "from the start of the process to its first answer, and the import of the package",
    "cold": "the first answer of a function that is not there yet, from the package's own files",
    "embedding": "what adding costs beyond the embedder's own time",
}


def main(arguments: list[str]) -> int:
    """Run one bench by name; 2 when there is none of that name."""
    if not arguments or arguments[0] not in BENCHES:
        print("python -m tests.bench NAME [--check] [--json FILE] …", file=sys.stderr)
        for name, what in BENCHES.items():
            print(f"  {name:<11} {what}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end still stops what was started
    bench = importlib.import_module(f"tests.bench.{arguments[0]}")
    return int(bench.main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
