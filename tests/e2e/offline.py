"""`python -m infra.local` on a machine without a network: what tries to reach another one is refused, and it is noted
in the file that PALIMPSEST_TEST_REACHED names."""

import ipaddress
import os
import sys
from pathlib import Path
from typing import Any

LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname")
CALLS = ("socket.connect", "socket.sendto")


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """The interpreter calls this before each look-up and connection. Raises OSError when it is of another machine."""
    if event in LOOKUPS:
        host, harmless = arguments[0], _address(arguments[0]) is not None
    elif event in CALLS and isinstance(arguments[-1], tuple):
        host = arguments[-1][0]
        address = _address(host)
        harmless = address is not None and address.is_loopback
    else:
        return
    if not harmless:
        with Path(os.environ["PALIMPSEST_TEST_REACHED"]).open("a", encoding="utf-8") as reached:
            print(event, host, file=reached)
        raise OSError("there is no network here")


def _address(host: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """What is written as numbers, which no look-up leaves the machine for, or this machine's name; else None."""
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    try:
        return ipaddress.ip_address("127.0.0.1" if name == "localhost" else name)
    except ValueError:
        return None


if __name__ == "__main__":
    sys.addaudithook(refuse)
    from infra.local.__main__ import main

    sys.exit(main())
