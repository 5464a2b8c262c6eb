"""Conditions under which isolation must hold: each way by which a search or a list can be answered, one at a time."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chalicelib.domain.projection import ALL_LEGS, IndexQuery, Leg
from chalicelib.domain.scope import Scope
from chalicelib.errors import IndexUnavailableError
from tests.security.tenants import Tenants


def _as_it_is(tenants: Tenants) -> None:
    """Nothing is done to it."""


def _only(leg: Leg, tenants: Tenants) -> None:
    """Searches are answered by one leg alone, for what is indexed and for what was just written."""
    index = tenants.world.parts.index
    search = index.search

    def by_one_leg(scope: Scope, queries: Sequence[IndexQuery]) -> Any:
        return search(scope, [replace(query, legs=frozenset({leg})) for query in queries])

    index.search = by_one_leg  # type: ignore[method-assign]


def _index_missing(tenants: Tenants) -> None:
    """Somebody deleted it: searches and lists come from the table."""
    tenants.world.parts.index.drop()


def _index_down(tenants: Tenants) -> None:
    """Its engine does not answer."""

    def down(*_: Any, **__: Any) -> Any:
        raise IndexUnavailableError("scripted")

    for method in ("search", "browse", "counts", "apply", "indexed"):
        setattr(tenants.world.parts.index, method, down)


def _embedder_down(tenants: Tenants) -> None:
    """Queries have no vectors, nor has what is written now."""
    tenants.world.break_embedder()


SETTLED, FRESH = True, False
"""Whether the index has caught up, or has nothing yet and all comes from what was just written."""

CONDITIONS: dict[str, tuple[bool, Callable[[Tenants], None]]] = {
    "all is well": (SETTLED, _as_it_is),
    "just written": (FRESH, _as_it_is),
    **{f"{leg} alone": (SETTLED, partial(_only, leg)) for leg in sorted(ALL_LEGS)},
    **{f"{leg} alone, just written": (FRESH, partial(_only, leg)) for leg in sorted(ALL_LEGS)},
    "the index is missing": (SETTLED, _index_missing),
    "the index is down": (SETTLED, _index_down),
    "the embedder is down": (SETTLED, _embedder_down),
}
"""By name: whether the index has caught up, and what is done to the installation."""
WHOLE = ("all is well", "just written")
"""In these all legs answer, and each can be looked at by itself."""


def furnished(condition: str) -> Tenants:
    """An installation under this condition."""
    settled, bring_about = CONDITIONS[condition]
    tenants = Tenants(settled=settled)
    tenants.settles = settled and not condition.startswith("the ")
    bring_about(tenants)
    return tenants
