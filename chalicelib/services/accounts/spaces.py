"""The list of spaces that a caller may use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chalicelib.domain.memory import State
from chalicelib.domain.pages import Page
from chalicelib.domain.scope import Right, Scope
from chalicelib.domain.shown_accounts import Shown
from chalicelib.services.accounts.access import Access, Caller, OpenSpace, known
from chalicelib.services.accounts.lists import listed, page_of

Counts = Callable[[Scope], Mapping[State, int] | None]
"""How many memories a space has in each state; None: that cannot be said now."""


@dataclass(frozen=True)
class SpaceList:
    """The use case of listing spaces."""

    access: Access
    counts: Counts

    def listed(self, caller: Caller | None, *, limit: int, cursor: str | None) -> Shown:
        """`{"items", "next"}`: one's own space first, then pools and communities by title. Each item is
        `{"space", "kind", "title", "rights", "counts"}`.

        `counts` is `{"active", "retired", "trashed"}`; null where the caller may not read, or they are not known now.
        """
        who = known(caller)

        def read(after: str | None, size: int) -> Page[OpenSpace]:
            spaces = enumerate(self.access.openable(who))
            return page_of(((f"{place:06d}", space) for place, space in spaces), after, size)

        of = {"list": "spaces", "account": who.account.id}
        return listed(of, limit=limit, cursor=cursor, read=read, show=self._show)

    def _show(self, open_space: OpenSpace) -> Shown:
        scope = open_space.scope
        counts = self.counts(scope) if scope.allows(Right.READ) else None
        return {
            "space": scope.space.name,
            "kind": scope.space.kind.value,
            "title": open_space.title,
            "rights": [right.value for right in Right if scope.allows(right)],
            "counts": None if counts is None else {state.value: counts.get(state, 0) for state in _SHOWN},
        }


_SHOWN = (State.ACTIVE, State.RETIRED, State.TRASHED)
