"""From the path of a request to its route, as API Gateway finds it."""

from collections.abc import Mapping
from typing import NamedTuple


class Match(NamedTuple):
    """The route of a path, and its parts as they came."""

    resource: str
    parts: dict[str, str]


class Router:
    """Finds the route of a path; a fixed part wins over a parameter. `routes`: by path, by method."""

    def __init__(self, routes: Mapping[str, Mapping[str, object]]) -> None:
        self._methods = {path: frozenset(methods) for path, methods in routes.items()}
        self._routes = sorted(
            ((path, tuple(path[1:].split("/"))) for path in routes),
            key=lambda route: [_is_parameter(part) for part in route[1]],
        )

    def match(self, path: str) -> Match | None:
        """The route of a raw path (its parts still encoded), or None."""
        if not path.startswith("/"):
            return None
        parts = tuple(path[1:].split("/"))
        for resource, wanted in self._routes:
            if len(wanted) == len(parts) and all(map(_fits, wanted, parts)):
                named = {
                    want[1:-1]: part for want, part in zip(wanted, parts, strict=True) if _is_parameter(want)
                }
                return Match(resource, named)
        return None

    def methods(self, resource: str) -> list[str]:
        """What may be done there: HEAD wherever GET may."""
        methods = self._methods[resource]
        return sorted(methods | {"HEAD"} if "GET" in methods else methods)


def _is_parameter(part: str) -> bool:
    return part.startswith("{")


def _fits(wanted: str, part: str) -> bool:
    return bool(part) if _is_parameter(wanted) else wanted == part
