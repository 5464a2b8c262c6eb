"""Taking in what was exported elsewhere: a page of records at a time, in their order.

A space takes in one export, into emptiness, or goes on with the one that it began with. What is there already, as the
export has it or changed since, is passed over; what is there and is something else is a conflict. So a page may come
again, after an interruption or whole, and all ends the same.

A memory is written after the changes that made it what it is, in their transaction or a later one: whoever reads it
finds its history complete. Its vectors are made by those who make them for every new memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.category import CATEGORIES_MAX, Category, folded
from chalicelib.domain.change import Change
from chalicelib.domain.ids import new_id
from chalicelib.domain.memory import Memory
from chalicelib.domain.moving import Arrivals, CategoryRecord, MovedSpace
from chalicelib.domain.records import CategoryWrite, Commit, MemoryWrite, SpaceRecord, SpaceWrite
from chalicelib.domain.scope import Right, Scope
from chalicelib.errors import ConflictError, InvalidError, StaleVersionError
from chalicelib.ports import InboxStore, MemoryStore
from chalicelib.services.idempotency import Request, once, record
from chalicelib.services.memory.bundles import (
    Bundle,
    Thing,
    bundles_of,
    check_categories,
    chunks_of,
    is_erased,
    made,
    same,
)
from chalicelib.services.memory.categories import category_change
from chalicelib.services.memory.context import Spaces, Surroundings
from chalicelib.services.memory.embedding import Embedding
from chalicelib.services.memory.export import require_mover

TRIES = 5
_KINDS = ("categories", "memories", "changes")


def _none_yet() -> dict[str, int]:
    return dict.fromkeys(_KINDS, 0)


@dataclass(frozen=True)
class _Tally:
    """How many records were written, and how many were there already, by kind."""

    written: dict[str, int] = field(default_factory=_none_yet)
    there: dict[str, int] = field(default_factory=_none_yet)

    def copy(self) -> "_Tally":
        """The same numbers, to be counted on from."""
        return _Tally(dict(self.written), dict(self.there))

    def count(self, bundle: Bundle, *, changes: int, thing: bool) -> None:
        """So many of a bundle's changes were written, and its thing or not; the rest was there."""
        self.written["changes"] += changes
        self.there["changes"] += len(bundle.changes) - changes
        if bundle.thing is not None:
            kind = "memories" if isinstance(bundle.thing, Memory) else "categories"
            (self.written if thing else self.there)[kind] += 1

    def outcome(self, export: str) -> dict[str, Any]:
        """The answer."""
        return {"export": export, "written": self.written, "there": self.there}


@dataclass(frozen=True)
class TakeIn:
    """The use case."""

    spaces: Spaces
    store: MemoryStore
    inbox: InboxStore
    embedding: Embedding

    def page(self, scope: Scope, draft: Arrivals, request: Request) -> dict[str, Any]:
        """Write a page of an export; `{"export", "written": {categories, memories, changes}, "there": {…}}`.

        Raises ForbiddenError; InvalidError naming record and field, and then nothing is written; ConflictError when the
        space holds something else, naming the first number or category that is: nothing of this page is written then,
        unless others write here at the same moment.
        """

        def work() -> dict[str, Any]:
            here = self.spaces.look_to_write(scope, request.now)
            if draft.space.kind is not scope.space.kind:
                raise InvalidError("space.kind", f"is not the kind of the space {scope.space.name}")
            bundles = bundles_of(draft, scope.space)
            check_categories(draft, [category.id for category in here.all_categories])
            _check_room(here, draft)
            self._begin(here, draft.space)
            self._check(scope, bundles)
            highest = max([bundle.number for bundle in bundles if bundle.number], default=0)
            if highest > draft.space.last_number:
                self.store.pass_numbers(scope, highest)
            tally = _Tally()
            *first, last = [*chunks_of(bundles)] or [[]]
            for chunk in first:
                tally = self._write(here, chunk, tally, draft.space.export, None)
            return self._write(here, last, tally, draft.space.export, request).outcome(draft.space.export)

        require_mover(scope, Right.WRITE)
        return once(self.inbox, request, lambda outcome: outcome, work)

    # ------------------------------------------------------------------ the space

    def _begin(self, here: Surroundings, source: MovedSpace) -> None:
        """Make the space one that takes in this export. From now on nobody else gets a number that it needs."""
        scope = here.scope
        for _ in range(TRIES):
            stored = self.store.space(scope)
            if stored is not None and stored.imported == source.export:
                return
            if self.store.page(scope, after=None, limit=1):
                raise ConflictError("this space holds memories that this export did not bring")
            self.store.pass_numbers(scope, source.last_number)
            try:
                self.store.commit(scope, Commit(spaces=(self._space(here, stored, source),)))
            except StaleVersionError:
                continue
            return
        raise _busy()

    def _space(self, here: Surroundings, stored: SpaceRecord | None, source: MovedSpace) -> SpaceWrite:
        model = self.embedding.fingerprint if self.embedding.serves(here.scope.space) else None
        taken = SpaceRecord(
            space=here.scope.space.key,
            version=stored.version + 1 if stored else 1,
            created_at=source.created_at,
            default_category=source.default_category,
            embedded_with=(model,) if model else (),
            trashed_at=source.trashed_at,
            imported=source.export,
        )
        return SpaceWrite(record=taken, expected=stored.version if stored else None)

    # ------------------------------------------------------------------ what is there

    def _check(self, scope: Scope, bundles: Sequence[Bundle]) -> None:
        """Raises ConflictError for the first bundle that does not fit to what is there, or comes before its time."""
        things = self._things(scope, bundles)
        told: dict[str, int] = {}
        for bundle in bundles:
            now = things.get(bundle.target)
            if now is not None and now.version >= bundle.newest:
                self._check_same(scope, bundle, now)
            else:
                first = bundle.changes[0].version if bundle.changes else bundle.newest + 1
                self._check_follows(scope, bundle, first - 1, told.get(bundle.target, 0))
            told[bundle.target] = max(bundle.newest, told.get(bundle.target, 0))

    def _check_same(self, scope: Scope, bundle: Bundle, now: Thing) -> None:
        """That what is there was brought by this export, whatever was done to it here since."""
        stored = self.store.change(scope, bundle.target, bundle.newest)
        fits = stored is not None and (
            (not bundle.changes or same(stored, bundle.changes[-1], now))
            and (bundle.thing is None or made(stored, bundle.thing, now))
        )
        if not fits:
            raise _conflict(bundle)

    def _check_follows(self, scope: Scope, bundle: Bundle, before: int, told: int) -> None:
        """That version `before` is there, or was told on this page; and that it made the thing, if that comes alone."""
        if before <= told and bundle.changes:
            return
        stored = self.store.change(scope, bundle.target, before)
        if stored is None:
            raise _conflict(bundle, f"comes before its change {before}: send the pages in their order")
        if not bundle.changes and bundle.thing is not None and not made(stored, bundle.thing):
            raise _conflict(bundle)

    def _things(self, scope: Scope, bundles: Iterable[Bundle]) -> dict[str, Thing]:
        """Those of the bundles' things that are there, by target."""
        numbers = {bundle.number for bundle in bundles if bundle.number is not None}
        found: dict[str, Thing] = {}
        if numbers:
            found |= {str(one.number): one for one in self.store.get_many(scope, sorted(numbers)).values()}
        if any(bundle.number is None for bundle in bundles):
            found |= {one.id: one for one in self.store.categories(scope)}
        return found

    # ------------------------------------------------------------------ writing

    def _write(
        self,
        here: Surroundings,
        bundles: Sequence[Bundle],
        before: _Tally,
        export: str,
        request: Request | None,
    ) -> _Tally:
        """Write what fits into one transaction; the tally with it. `request`: whose last transaction this is, so that
        its outcome is kept with it."""
        known: dict[str, Change] = {}
        for _ in range(TRIES):
            tally = before.copy()
            commit = self._commit(here, bundles, known, tally)
            if request is not None:
                done = record(request, tally.outcome(export))
                commit = commit.model_copy(update={"idempotency": done})
            if commit == Commit():
                return tally
            try:
                self.store.commit(here.scope, commit)
            except StaleVersionError:
                known = self._known(here.scope, bundles)
                continue
            return tally
        raise _busy()

    def _known(self, scope: Scope, bundles: Sequence[Bundle]) -> dict[str, Change]:
        """Those changes that are there already: of an import that was interrupted, or that runs beside this one."""
        changes = [change for bundle in bundles for change in bundle.changes]
        found = [self.store.change(scope, change.target, change.version) for change in changes]
        return {change.id: change for change in found if change is not None}

    def _commit(
        self, here: Surroundings, bundles: Sequence[Bundle], known: Mapping[str, Change], tally: _Tally
    ) -> Commit:
        """What of these bundles is not there yet. Raises ConflictError."""
        things = self._things(here.scope, bundles)
        changes: list[Change] = []
        memories: list[MemoryWrite] = []
        categories: list[CategoryWrite] = []
        strip: list[int] = []
        for bundle in bundles:
            now = things.get(bundle.target)
            if now is not None and now.version >= bundle.newest:
                self._check_same(here.scope, bundle, now)
                tally.count(bundle, changes=0, thing=False)
                continue
            missing = [change for change in bundle.changes if change.id not in known]
            if any(not same(known[one.id], one, now) for one in bundle.changes if one.id in known):
                raise _conflict(bundle)
            changes += missing
            tally.count(bundle, changes=len(missing), thing=True)
            expected = now.version if now is not None else None
            if isinstance(bundle.thing, Memory):
                memories.append(MemoryWrite(memory=bundle.thing, expected=expected))
                if is_erased(bundle.thing) and not _is_whole(bundle):
                    strip.append(bundle.thing.number)
            elif bundle.thing is not None:
                categories.append(CategoryWrite(category=bundle.thing, expected=expected))
        for category in self._in_the_way(here.scope, bundles, categories):
            gone = category.model_copy(
                update={"deleted": True, "version": category.version + 1, "updated_at": here.now}
            )
            categories.append(CategoryWrite(category=gone, expected=category.version))
            changes.append(category_change(gone, "delete", here.scope.actor, new_id("grp")))
        return Commit(
            memories=tuple(memories),
            categories=tuple(categories),
            changes=tuple(changes),
            strip=tuple(strip),
        )

    def _in_the_way(
        self, scope: Scope, bundles: Sequence[Bundle], writes: Sequence[CategoryWrite]
    ) -> list[Category]:
        """Categories that had the names of those that are coming: made before there was a memory to be in them."""
        names = {folded(write.category.name) for write in writes if not write.category.deleted}
        if not names:
            return []
        coming = {bundle.target for bundle in bundles}
        return [
            category
            for category in self.store.categories(scope)
            if not category.deleted and folded(category.name) in names and category.id not in coming
        ]


def _is_whole(bundle: Bundle) -> bool:
    """Whether all changes of its thing are in it, so that none was written before."""
    return bool(bundle.changes) and bundle.changes[0].version == 1


def _check_room(here: Surroundings, draft: Arrivals) -> None:
    """That there is room for the page's categories, each with a name of its own. Raises InvalidError, ConflictError."""
    coming = {
        item.id: (place, item) for place, item in enumerate(draft.items) if isinstance(item, CategoryRecord)
    }
    names: set[str] = set()
    for place, item in coming.values():
        if not item.deleted and folded(item.name) in names:
            raise InvalidError(f"items.{place}.name", "there is a category of this name already")
        names |= set() if item.deleted else {folded(item.name)}
    stay = [one for one in here.categories if one.id not in coming and folded(one.name) not in names]
    if names and len(stay) + len(names) > CATEGORIES_MAX:
        raise ConflictError(f"at most {CATEGORIES_MAX} categories in a space", max=CATEGORIES_MAX)


def _conflict(bundle: Bundle, why: str = "is something else here; nothing was changed") -> ConflictError:
    if bundle.number is None:
        return ConflictError(f"category {bundle.target} {why}", category=bundle.target)
    return ConflictError(f"#{bundle.number} {why}", number=bundle.number)


def _busy() -> ConflictError:
    return ConflictError("this space is being changed by others; try again")
