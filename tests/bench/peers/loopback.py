"""No way out: from here on this process reaches nothing but its own machine.

Standard library only: it runs in the environment of each peer.
"""

import sys
from typing import Any

HERE = {"127.0.0.1", "::1", "localhost"}
REFUSED = "may not reach another machine:"


def close() -> None:
    """Refuse every connection to another machine, and every look-up of one's name; a line on standard error each."""
    sys.addaudithook(_look)


def _look(event: str, given: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(given[1], tuple):
        _refuse_unless_here(given[1][0])
    if event == "socket.getaddrinfo":
        _refuse_unless_here(given[0])


def _refuse_unless_here(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name not in HERE:
        print(REFUSED, name, file=sys.stderr, flush=True)
        raise PermissionError(f"{REFUSED} {name}")
