"""Under which names a laptop's service may be called.

A page of the web can make its own name lead to this machine (DNS rebinding), and the browser then sends requests here
as if they were for that page. They carry the page's name as `Host`, and so are told from ours.
"""

import re
from collections.abc import Iterable
from ipaddress import ip_address

_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\s\[\]:@/?#]+))(?::[0-9]{0,5})?")


class Hosts:
    """`localhost`, every loopback address, and `names`, with any port: one may reach us through a tunnel."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset({"localhost", *(name.lower().rstrip(".") for name in names)})

    def admit(self, authority: str) -> bool:
        """Whether this is one of them, as the `Host` of a request or the authority of its target states it."""
        stated = _AUTHORITY.fullmatch(authority.strip())
        if stated is None:
            return False
        name = (stated["v6"] or stated["name"]).lower().rstrip(".")
        if name in self._names:
            return True
        try:
            return ip_address(name).is_loopback
        except ValueError:
            return False
