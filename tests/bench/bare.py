"""The least that any HTTP service of this kind costs: the same server, an application that does nothing.

`python -m tests.bench.bare FOLDER` writes its URL to FOLDER/url and answers 204 until it is ended.
"""

import logging
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from waitress.server import create_server

THREADS = 8


def nothing(
    _environ: dict[str, Any], start: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    """204, whatever is asked."""
    start("204 No Content", [])
    return [b""]


def main(folder: Path) -> None:
    """Serve on a free port of this machine."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that requests wait is what is wanted here
    server = create_server(nothing, host="127.0.0.1", port=0, threads=THREADS)
    port = server.effective_port  # type: ignore[union-attr]
    (folder / "new").write_text(f"http://127.0.0.1:{port}")
    (folder / "new").replace(folder / "url")
    server.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
