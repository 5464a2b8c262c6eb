"""What people read: one memory, lists, history, the space's audit (M11, M13)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from chalicelib.domain.category import find
from chalicelib.domain.change import SPACE, Change
from chalicelib.domain.drafts import SearchFilters
from chalicelib.domain.filters import MemoryFilter, Sort, order, sort_value
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.pages import Page
from chalicelib.domain.scope import Right, Scope
from chalicelib.domain.shown import show_memory
from chalicelib.domain.vitality import Retention
from chalicelib.errors import InvalidError, NotFoundError, SearchIndexError
from chalicelib.ports import Analyzer, MemoryStore, SearchIndex
from chalicelib.services.cursors import Place, moment_of, read_cursor, write_cursor
from chalicelib.services.memory.context import Spaces, Surroundings
from chalicelib.services.memory.embedding import FRESH_MAX

SHOWN_STATES = frozenset({State.ACTIVE, State.RETIRED, State.TRASHED})
_MOST_PAGES = 20


class _Pending(NamedTuple):
    """Numbers that the index may not have as they are, and those memories among them that are wanted."""

    numbers: frozenset[int]
    matching: list[Memory]


def wanted(here: Surroundings, filters: SearchFilters) -> MemoryFilter:
    """The filter that a caller's words mean here. Raises InvalidError for an unknown category."""
    category_in, category_not_in = None, None
    if filters.category == "none":
        category_not_in = frozenset(category.id for category in here.categories)
    elif filters.category is not None:
        found = find(here.categories, filters.category)
        if found is None:
            raise InvalidError("category", "there is no such category in this space")
        category_in = frozenset({found.id})
    return MemoryFilter(
        states=SHOWN_STATES if filters.state == "all" else frozenset({State(filters.state)}),
        category_in=category_in,
        category_not_in=category_not_in,
        kinds=frozenset({filters.kind}) if filters.kind else None,
        importance_min=filters.importance_min,
        importance_max=filters.importance_max,
        subject=filters.subject,
        source=filters.source,
    )


def only_recallable(asked: MemoryFilter, recallable: frozenset[str] | None) -> MemoryFilter:
    """The filter without what may not be given to a model (M8); `recallable`: None = no such rule."""
    if recallable is None:
        return asked
    allowed = recallable if asked.category_in is None else recallable & asked.category_in
    return asked.model_copy(update={"category_in": allowed})


@dataclass(frozen=True)
class Read:
    """The use cases of reading. All raise ForbiddenError, NotFoundError, InvalidError (cursor, category)."""

    spaces: Spaces
    store: MemoryStore
    index: SearchIndex
    analyzer: Analyzer

    def get(self, scope: Scope, number: int) -> dict[str, Any]:
        """One memory in any state but erased: `{"memory": {…}, "recallable", …}`."""
        here = self.spaces.look(scope, Right.READ)
        memory = here.existing(number)
        why = here.why_not_recalled(memory)
        answer: dict[str, Any] = {"memory": here.show(memory), "recallable": why is None}
        if why is not None:
            answer["why_not_recallable"] = why
        return answer

    def browse(
        self,
        scope: Scope,
        filters: SearchFilters,
        *,
        sort: Sort = "newest",
        text: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> dict[str, Any]:
        """A page: `{"items", "next", "degraded"}`. Pages until `limit` *matching* rows are there.

        The order is the index's; each row is checked against the table; the latest writes that the index may not
        have are merged into the first page. Without an index: by number, and `degraded` says so.
        """
        here = self.spaces.look(scope, Right.READ)
        if text is not None and not self.analyzer.stems(text):
            raise InvalidError("q", "holds no word to search for")
        asked = wanted(here, filters)
        if scope.actor.kind == "model":
            asked = only_recallable(asked, here.recallable)
        query = {
            "filters": filters.model_dump(mode="json"),
            "sort": sort,
            "text": text,
            "space": scope.space.key,
        }
        place = read_cursor(query, cursor)
        if place is not None and place.by == "number":
            return self._by_number(here, asked, text, limit, place.number, query, "index_unavailable")
        try:
            return self._by_index(here, asked, sort, text, limit, place, query)
        except SearchIndexError as error:
            return self._by_number(here, asked, text, limit, None, query, error.degraded)

    def _by_index(
        self,
        here: Surroundings,
        asked: MemoryFilter,
        sort: Sort,
        text: str | None,
        limit: int,
        place: Place | None,
        query: Mapping[str, Any],
    ) -> dict[str, Any]:
        now = moment_of(place, here.now)
        after = place.row if place else None
        pending = self._pending(here, asked, text)
        order_of = partial(_order, sort=sort, now=now, retention=here.retention)
        fresh = sorted((m for m in pending.matching if _beyond(order_of(m), after, sort)), key=order_of)
        rows, more, last = self._indexed(here, asked, pending.numbers, sort, text, limit, after, now)
        if more and last is not None:
            fresh = [memory for memory in fresh if order_of(memory) <= last]
        merged = sorted([*rows, *fresh], key=order_of)
        page = merged[:limit]
        following = None
        if page and (more or len(merged) > limit):
            row = (sort_value(page[-1], sort, now, here.retention), page[-1].number)
            following = write_cursor(query, Place(by="index", row=row, now=now))
        behind = "index_behind" if len(pending.numbers) >= FRESH_MAX else None
        return {"items": [here.show(memory) for memory in page], "next": following, "degraded": behind}

    def _pending(self, here: Surroundings, asked: MemoryFilter, text: str | None) -> _Pending:
        """The latest writes, which the index may not have: they are listed from the table instead (M25)."""
        numbers = self.store.unprojected(here.scope, FRESH_MAX)
        found = self.store.get_many(here.scope, numbers) if numbers else {}
        return _Pending(
            frozenset(numbers),
            [memory for memory in found.values() if asked.matches(memory) and self._has_words(memory, text)],
        )

    def _indexed(
        self,
        here: Surroundings,
        asked: MemoryFilter,
        pending: frozenset[int],
        sort: Sort,
        text: str | None,
        limit: int,
        after: tuple[int, int] | None,
        now: datetime,
    ) -> tuple[list[Memory], bool, tuple[int, int] | None]:
        """Rows of the index that the table confirms; whether more may follow; the order of the last row looked at."""
        settled = asked.model_copy(update={"exclude": asked.exclude | pending})
        rows: list[Memory] = []
        last = None
        more = True
        while more and len(rows) <= limit:
            page = self.index.browse(
                here.scope,
                settled,
                sort=sort,
                limit=limit + 1,
                after=after,
                text=text,
                now=now,
                retention=here.retention,
            )
            found = self.store.get_many(here.scope, page.numbers)
            rows += [found[n] for n in page.numbers if n in found and settled.matches(found[n])]
            more = page.more
            at_end = found.get(page.numbers[-1]) if page.numbers else None
            if at_end is None:
                break
            after = (sort_value(at_end, sort, now, here.retention), at_end.number)
            last = order(*after, sort)
        return rows, more, last

    def _has_words(self, memory: Memory, text: str | None) -> bool:
        return (
            text is None
            or self.analyzer.coverage(self.analyzer.stems(text), self.analyzer.stems(memory.words)) == 1
        )

    def _by_number(
        self,
        here: Surroundings,
        asked: MemoryFilter,
        text: str | None,
        limit: int,
        after: int | None,
        query: Mapping[str, Any],
        degraded: str,
    ) -> dict[str, Any]:
        """Without an index: the newest numbers first, whatever the sort, read from the table in bounded steps."""
        rows: list[Memory] = []
        ended = False
        for _ in range(_MOST_PAGES):
            page = self.store.page(here.scope, after=after, limit=200, newest_first=True)
            for memory in page:
                after = memory.number
                if asked.matches(memory) and self._has_words(memory, text):
                    rows.append(memory)
                if len(rows) == limit:
                    break
            ended = len(page) < 200
            if len(rows) == limit or ended:
                break
        ended = ended and len(rows) < limit
        following = None if ended else write_cursor(query, Place(by="number", number=after))
        return {"items": [here.show(memory) for memory in rows], "next": following, "degraded": degraded}

    def history(
        self, scope: Scope, number: int, *, limit: int = 50, cursor: str | None = None
    ) -> dict[str, Any]:
        """Every change of a memory, newest first: `{"items": [{id, op, at, by, before, after, …}], "next"}`. Of an
        erased one who, when and which number stay, without any text (M13)."""
        here = self.spaces.look(scope, Right.READ)
        current = self.store.get(scope, number)
        if current is None or (current.state is not State.ERASED and here.hides(current)):
            raise NotFoundError(f"there is no memory #{number} in this space", number=number)
        query = {"history": number, "space": scope.space.key}
        place = read_cursor(query, cursor)
        after = place.number if place else None
        found = self.store.history(scope, str(number), after=after, limit=limit + 2)
        shown = [
            _show_change(here, change, found[place + 1] if place + 1 < len(found) else None, current)
            for place, change in enumerate(found[:limit])
        ]
        more = len(found) > limit
        mark = Place(by="number", number=found[limit - 1].version) if more else None
        following = write_cursor(query, mark) if mark else None
        return {"items": shown, "next": following}

    def audit(self, scope: Scope, *, limit: int = 50, cursor: str | None = None) -> dict[str, Any]:
        """Every change in the space, newest first: who, when, what, which number; without texts."""
        here = self.spaces.look(scope, Right.READ)
        query = {"audit": scope.space.key}
        place = read_cursor(query, cursor)
        after = place.text if place else None
        page: Page[Change] = self.store.changes(here.scope, after=after, limit=limit)
        following = write_cursor(query, Place(by="text", text=page.next)) if page.next else None
        return {"items": [_show_act(change) for change in page.items], "next": following}


def _order(memory: Memory, *, sort: Sort, now: datetime, retention: Retention) -> tuple[int, int]:
    return order(sort_value(memory, sort, now, retention), memory.number, sort)


def _beyond(place: tuple[int, int], after: tuple[int, int] | None, sort: Sort) -> bool:
    return after is None or place > order(*after, sort)


def _show_act(change: Change) -> dict[str, Any]:
    shown = change.model_dump(mode="json", include={"op", "at", "by", "run", "group", "undoes", "version"})
    about: dict[str, Any] = (
        {"category": change.target} if change.number is None else {"number": change.number}
    )
    if change.target == SPACE:
        about = {"imported": change.image}
    return {"id": change.id, **about, **shown}


def _show_change(
    here: Surroundings, change: Change, before: Change | None, current: Memory
) -> dict[str, Any]:
    def image(of: Change | None) -> dict[str, Any] | None:
        if of is None or of.image is None:
            return None
        return show_memory(here.as_of(of, current), here.all_categories, here.retention, of.at)

    return {**_show_act(change), "before": image(before), "after": image(change)}
