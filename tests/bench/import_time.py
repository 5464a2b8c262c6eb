"""How long a cold start waits for `import app`: the median and the best of several fresh processes.

Bars: 400 ms from the package, which ships bytecode; 600 ms when nothing but the standard library has any.
Run it with `python -m tests.bench.import_time`; the exit code says whether both bars hold.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ROUNDS = 5
WITH_BYTECODE_MS = 400
WITHOUT_BYTECODE_MS = 600

TIMED = "import time; t = time.perf_counter(); import app; print((time.perf_counter() - t) * 1000)"
STANDARD_LIBRARY = """
import importlib, sys
import app
print(*sorted(name for name in sys.modules if name.split(".")[0] in sys.stdlib_module_names))
"""


def import_ms(cache: Path, *, write: bool, rounds: int = ROUNDS) -> list[float]:
    """Milliseconds of `import app` in `rounds` fresh processes that read bytecode from `cache` only."""
    return [float(_python(TIMED, cache, write=write)) for _ in range(rounds)]


def measure() -> dict[str, list[float]]:
    """Import times in milliseconds, with bytecode and without it."""
    with tempfile.TemporaryDirectory() as folder:
        full, standard = Path(folder) / "full", Path(folder) / "standard"
        names = _python(STANDARD_LIBRARY, full, write=True).split()
        _python(
            f"import importlib\nfor name in {names!r}: importlib.import_module(name)", standard, write=True
        )
        return {
            "with bytecode": import_ms(full, write=False),
            "without bytecode": import_ms(standard, write=False),
        }


def main() -> int:
    """Print one line for each bar; 0 if both hold, otherwise 1."""
    bars = {"with bytecode": WITH_BYTECODE_MS, "without bytecode": WITHOUT_BYTECODE_MS}
    held = True
    for name, times in measure().items():
        best, middle = min(times), statistics.median(times)
        held = held and best <= bars[name]
        print(
            f"import app {name}: best {best:.0f} ms, median {middle:.0f} ms of {len(times)}, bar {bars[name]} ms"
        )
    return 0 if held else 1


def _python(code: str, cache: Path, *, write: bool) -> str:
    flags = [] if write else ["-B"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))
    }
    done = subprocess.run(
        [sys.executable, *flags, "-X", f"pycache_prefix={cache}", "-c", code],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
