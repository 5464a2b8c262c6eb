"""Taking a whole space out, page by page, as records that another installation can take in.

All pages show one moment, that of the first: each memory and category as its history had it then, with that history.
So nothing that is done meanwhile is in it by half: neither a merge of which one page has the new memory and another
still has the old ones, nor a memory in a category that no page has. Two things go beyond that moment: an erase, for
what is erased is told to nobody any more (M13), and counts of uses, which have no history.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from chalicelib.domain.category import Category
from chalicelib.domain.change import Change
from chalicelib.domain.ids import new_id
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.moving import SLACK, category_record, change_record, memory_record, space_record
from chalicelib.domain.scope import Right, Scope, SpaceKind
from chalicelib.errors import ConflictError, ForbiddenError, InvalidError
from chalicelib.ports import MemoryStore
from chalicelib.services.cursors import Place, read_cursor, write_cursor
from chalicelib.services.memory.context import Spaces, require

PAGE_BYTES = 1_500_000
"""Of JSON on one page: Lambda answers 6 MB at most, and may write a character in three times its bytes."""
STEP = 50
"""Memories read at a time."""
CHANGES_STEP = 20
"""Changes of one thing read at a time."""
TRIES = 5
IN_FLIGHT = timedelta(seconds=60)
"""No request is answered later than this: what was begun before an export may be written so long after it began."""
_DONE = -1
_FIRST = "-"
"""Stands before every id."""
_MARK = re.compile(r"(exp_[0-9a-z]{26}) ([cm]) (\S{1,128}) (\S{1,128}) (-1|[0-9]{1,13})")


def require_mover(scope: Scope, right: Right) -> None:
    """That a person, who holds `right`, moves a space: its own, or one that it may order. What a model read takes
    nothing along. Raises UnauthenticatedError, ForbiddenError."""
    require(scope, right)
    if scope.actor.kind != "person":
        raise ForbiddenError("a model moves no memories to another place", needs="person")
    if scope.space.kind is not SpaceKind.PERSONAL:
        require(scope, Right.CONFIGURE)


class _Mark(NamedTuple):
    """Up to where all is told: `target`, which was told because of `place`, to `version`, or whole (_DONE)."""

    export: str
    stage: str
    """`c`ategories by their id, then `m`emories by their number."""
    place: str
    target: str
    version: int


class _Told(NamedTuple):
    """One record, and the mark after it."""

    mark: _Mark
    record: dict[str, Any]
    living: int | None = None
    """The number whose text is told."""

    @property
    def context_from(self) -> int | None:
        """The number whose text is told as the context of this one."""
        return self.record.get("context_from") if self.record.get("context") is not None else None


@dataclass
class _Page:
    items: list[dict[str, Any]] = field(default_factory=list)
    living: set[int] = field(default_factory=set)
    contexts: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """Records with a context, by the number whose text it is."""
    following: _Mark | None = None


@dataclass(frozen=True)
class Export:
    """The use case."""

    spaces: Spaces
    store: MemoryStore

    def page(self, scope: Scope, *, limit: int, cursor: str | None) -> dict[str, Any]:
        """`{"items": [record …], "next"}`: the space's own record first, then categories and memories, each after the
        changes that made it what it is. Raises ForbiddenError, InvalidError (cursor), ConflictError."""
        require_mover(scope, Right.READ)
        query = {"export": scope.space.key}
        place = read_cursor(query, cursor)
        if place is None:
            first, mark, as_of = self._begin(scope)
        else:
            mark, as_of = _mark_of(place)
            first = []
        for _ in range(TRIES):
            page = self._page(scope, as_of, mark, first, limit)
            erased = self._erased(scope, page.living | page.contexts.keys())
            if not erased & page.living:
                for number in erased:
                    for record in page.contexts[number]:
                        record["context"] = None
                return {"items": page.items, "next": _cursor(query, page.following, as_of)}
        raise ConflictError("memories are being erased all the time; try again")

    def _begin(self, scope: Scope) -> tuple[list[dict[str, Any]], _Mark, datetime]:
        stored = self.store.space(scope)  # before the moment is chosen: what it names is in the export
        newest = self.store.changes(scope, after=None, limit=1).items
        # A clock that was put back must not hide what was written before.
        as_of = max([self.spaces.clock(), *(change.at for change in newest)])
        export = new_id("exp")
        last = self.store.last_number(scope)
        record = space_record(scope.space, stored, export=export, as_of=as_of, last_number=last)
        return [record], _Mark(export, "c", _FIRST, _FIRST, _DONE), as_of

    def _page(
        self, scope: Scope, as_of: datetime, mark: _Mark, first: Sequence[dict[str, Any]], limit: int
    ) -> _Page:
        page = _Page(items=list(first))
        size, last = 0, mark
        for told in self._records(scope, as_of, mark):
            size += len(json.dumps(told.record, ensure_ascii=False).encode())
            if page.items and (len(page.items) >= limit or size > PAGE_BYTES):
                page.following = last
                break
            page.items.append(told.record)
            if told.living is not None:
                page.living.add(told.living)
            if told.context_from is not None:
                page.contexts.setdefault(told.context_from, []).append(told.record)
            last = told.mark
        return page

    def _erased(self, scope: Scope, numbers: set[int]) -> set[int]:
        """Those that are erased by now: their text, and what it is the context of, is told no more (M13)."""
        found = self.store.get_many(scope, sorted(numbers)) if numbers else {}
        return {memory.number for memory in found.values() if memory.state is State.ERASED}

    def _records(self, scope: Scope, as_of: datetime, mark: _Mark) -> Iterator[_Told]:
        """Everything behind `mark`."""
        if mark.stage == "c":
            for category in sorted(self.store.categories(scope), key=lambda one: one.id):
                if category.id >= mark.target:
                    yield from self._category(scope, category, as_of, mark)
            mark = mark._replace(stage="m", place="0", target="0", version=_DONE)
        for memory in self._memories(scope, int(mark.place)):
            for one, after in [*self._changed_together(scope, memory, as_of), (memory, 0)]:
                begun = str(memory.number) == mark.place and one.number <= int(mark.target)
                if begun and (one.number < int(mark.target) or mark.version == _DONE):
                    continue
                here = mark._replace(place=str(memory.number), target=str(one.number))
                yield from self._memory(scope, one, as_of, here, mark.version if begun else after)

    def _memories(self, scope: Scope, first: int) -> Iterator[Memory]:
        after = first - 1
        while memories := self.store.page(scope, after=after, limit=STEP):
            yield from memories
            after = memories[-1].number

    def _changed_together(self, scope: Scope, memory: Memory, as_of: datetime) -> list[tuple[Memory, int]]:
        """Memories, told earlier, that one transaction changed together with this one, the highest of them, when the
        export had perhaps begun: they are told again, from before that change on."""
        if memory.updated_at <= as_of - IN_FLIGHT:
            return []
        before: dict[int, int] = {}
        for change in self._recent(scope, memory.number, as_of - IN_FLIGHT):
            if change.op not in ("merge", "undo") or change.at > as_of:
                continue
            others = {one.number: one.version for one in self.store.group(scope, change.group) if one.number}
            if max(others) == memory.number:
                for number, version in others.items():
                    before[number] = min(version - 1, before.get(number, version))
        found = self.store.get_many(scope, sorted(before.keys() - {memory.number})) if before else {}
        return [(found[number], before[number]) for number in sorted(found)]

    def _recent(self, scope: Scope, number: int, since: datetime) -> Iterator[Change]:
        after = None
        while found := self.store.history(scope, str(number), after=after, limit=CHANGES_STEP):
            for change in found:
                if change.at <= since:
                    return
                yield change
            after = found[-1].version

    def _category(self, scope: Scope, category: Category, as_of: datetime, mark: _Mark) -> Iterator[_Told]:
        begun = category.id == mark.target
        if begun and mark.version == _DONE:
            return
        here = mark._replace(place=category.id, target=category.id)
        last: Change | None = None
        for change in self._changes(scope, category.id, mark.version if begun else 0, category.version):
            if change.at > as_of:
                break
            last = change
            yield _Told(here._replace(version=change.version), change_record(change))
        last = last or (self.store.change(scope, category.id, mark.version) if begun else None)
        if last is not None:
            then = Category.model_validate(last.image)
            yield _Told(here._replace(version=_DONE), category_record(then))

    def _memory(
        self, scope: Scope, memory: Memory, as_of: datetime, here: _Mark, after: int
    ) -> Iterator[_Told]:
        """The changes of a memory behind version `after`, then what they had made of it."""
        erased = memory.state is State.ERASED
        number = memory.number
        living = None if erased else number
        last: Change | None = None
        for change in self._changes(scope, str(number), after, memory.version):
            if change.at > as_of and (not erased or change.version == 1):
                break
            last = change
            yield _Told(here._replace(version=change.version), change_record(change), living)
        last = last or (self.store.change(scope, str(number), after) if after else None)
        if last is None:
            return
        then = memory if last.version == memory.version else _as_of(memory, last)
        if then is not None:
            latest = max(as_of, self.spaces.clock())
            if then.last_used_at is not None and then.last_used_at - latest > SLACK:
                then = then.model_copy(update={"last_used_at": latest})  # by a clock that was put back since
            yield _Told(here._replace(version=_DONE), memory_record(then), living)

    def _changes(self, scope: Scope, target: str, after: int, newest: int) -> Iterator[Change]:
        """Changes of one thing behind version `after` up to `newest`, in their order."""
        while after < newest:
            until = min(after + CHANGES_STEP, newest)
            found = self.store.history(scope, target, after=until + 1, limit=until - after)
            yield from reversed(found)
            after = until


def _as_of(memory: Memory, last: Change) -> Memory | None:
    """The memory as its change `last` had left it, with the uses that were counted since; None when it is being erased,
    and read again as such."""
    if last.image is None:
        return None
    then = Memory.model_validate(last.image)
    uses = {name: getattr(memory, name) for name in ("revision", "use_count", "last_used_at")}
    if then.context_from is not None and then.context_from == memory.context_from:
        uses["context"] = memory.context
    return then.model_copy(update=uses)


def _cursor(query: dict[str, str], mark: _Mark | None, as_of: datetime) -> str | None:
    if mark is None:
        return None
    return write_cursor(query, Place(by="text", text=" ".join(map(str, mark)), now=as_of))


def _mark_of(place: Place) -> tuple[_Mark, datetime]:
    """Raises InvalidError."""
    said = _MARK.fullmatch(place.text or "")
    if said is None or place.now is None or place.now.year < 2000:
        raise InvalidError("cursor", "is not a cursor of this list")
    export, stage, at, target, version = said.groups()
    if stage == "m" and not (_is_number(at) and _is_number(target)):
        raise InvalidError("cursor", "is not a cursor of this list")
    return _Mark(export, stage, at, target, int(version)), place.now


def _is_number(text: str) -> bool:
    return re.fullmatch(r"0|[1-9][0-9]{0,14}", text) is not None
