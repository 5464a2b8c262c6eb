"""Taking in what was exported elsewhere: a page of records at a time, in their order.

A space takes in one export, into emptiness, or goes on with the one that it began with. What is there already, as the
export has it or changed since, is passed over; what is there and is something else is a conflict. So a page may come
again, after an interruption or whole, and all ends the same.

A memory is written after the changes that made it what it is, in their transaction or a later one: whoever reads it
finds its history complete. Its vectors are made by those who make them for every new memory.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.category import CATEGORIES_MAX, Category, folded
from chalicelib.domain.change import SPACE, Change
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
    check_bounds,
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
STEP = 200
"""Memories read at a time."""
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
            here = self.spaces.look(scope, Right.WRITE, request.now)
            source = draft.space
            if source.kind is not scope.space.kind:
                raise InvalidError("space.kind", f"is not the kind of the space {scope.space.name}")
            check_bounds(draft, here.now)
            bundles = bundles_of(draft, scope.space)
            check_categories(draft, [category.id for category in here.all_categories])
            _check_room(here, draft)
            self._begun(scope, source)
            self._in_the_way(scope, _arriving(here, draft))
            known = self._check(scope, bundles)
            here = self.spaces.about_to_write(here)
            if self.store.last_number(scope) < source.last_number:
                self.store.pass_numbers(scope, source.last_number)
            tally = _Tally()
            *first, last = [*chunks_of(bundles)] or [[]]
            for chunk in first:
                tally = self._write(here, source, chunk, known, tally, None)
            return self._write(here, source, last, known, tally, request).outcome(source.export)

        require_mover(scope, Right.WRITE)
        return once(self.inbox, request, lambda outcome: outcome, work)

    # ------------------------------------------------------------------ the space

    def _begun(self, scope: Scope, source: MovedSpace) -> SpaceRecord | None:
        """The space's record, when the space takes in this export already or may begin to. Raises ConflictError."""
        stored = self.store.space(scope)
        if stored is not None and stored.imported == source.export:
            return stored
        if self.store.page(scope, after=None, limit=1):
            raise ConflictError("this space holds memories that this export did not bring")
        if stored is not None and stored.imported is not None:
            raise ConflictError("this space takes in another export already")
        return stored

    def _with_space(
        self, here: Surroundings, source: MovedSpace, stored: SpaceRecord | None, commit: Commit
    ) -> Commit:
        """The same, if nobody changed the space's record since it was `stored`: so two exports never mix. The first of
        them makes the space one that takes in this export; with the category that is the default it becomes so."""
        begins = stored is None or stored.imported is None
        if not begins and not (commit.memories or commit.categories or commit.changes):
            return commit
        record = self._first(here, source, stored) if stored is None or begins else stored
        update: dict[str, Any] = {"version": stored.version + 1 if stored else 1}
        if any(write.memory.context for write in commit.memories):
            update["with_context"] = True
        if any(write.category.id == source.default_category for write in commit.categories):
            update["default_category"] = source.default_category
        record = record.model_copy(update=update)
        write = SpaceWrite(record=record, expected=stored.version if stored else None)
        told = (_import(here, source, record),) if begins else ()
        return commit.model_copy(update={"spaces": (write,), "changes": (*commit.changes, *told)})

    def _first(self, here: Surroundings, source: MovedSpace, stored: SpaceRecord | None) -> SpaceRecord:
        first = self.embedding.first_record(here.scope.space, source.created_at)
        return first.model_copy(
            update={
                "default_category": stored.default_category if stored and source.default_category else None,
                "trashed_at": tuple(at for at in source.trashed_at if at <= here.now),
                "imported": source.export,
                "with_context": stored is not None and stored.with_context,
            }
        )

    # ------------------------------------------------------------------ what is there

    def _check(self, scope: Scope, bundles: Sequence[Bundle]) -> dict[str, Change]:
        """Raises ConflictError for the first bundle that does not fit to what is there or was told on this page, or
        comes before its time. Those of the changes that are there already, by id."""
        things = self._things(scope, bundles)
        known = self._known(scope, bundles)
        told: dict[str, Change] = {}
        for bundle in bundles:
            now = things.get(bundle.target)
            if now is not None and now.version >= bundle.newest:
                self._check_same(scope, bundle, now)
            else:
                self._check_follows(scope, bundle, told)
            for change in bundle.changes:
                if not same(known.get(change.id) or told.setdefault(change.id, change), change):
                    raise _conflict(bundle)
        return known

    def _check_same(self, scope: Scope, bundle: Bundle, now: Thing) -> None:
        """That what is there was brought by this export, whatever was done to it here since."""
        stored = self.store.change(scope, bundle.target, bundle.newest)
        fits = stored is not None and (
            (not bundle.changes or same(stored, bundle.changes[-1]))
            and (bundle.thing is None or made(stored, bundle.thing, now))
        )
        if not fits:
            raise _conflict(bundle)

    def _check_follows(self, scope: Scope, bundle: Bundle, told: Mapping[str, Change]) -> None:
        """That the version before it is there, or was told on this page; and that it made the thing, if that comes
        alone."""
        before = bundle.changes[0].version - 1 if bundle.changes else bundle.newest
        if before == 0:
            return
        change = told.get(f"{bundle.target}-{before}") or self.store.change(scope, bundle.target, before)
        if change is None:
            raise _conflict(bundle, f"comes before its change {before}: send the pages in their order")
        if not bundle.changes and bundle.thing is not None and not made(change, bundle.thing):
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

    def _known(self, scope: Scope, bundles: Iterable[Bundle]) -> dict[str, Change]:
        """Those of the bundles' changes that are there already, by id: of an import that was interrupted, or that runs
        beside this one."""
        found: dict[str, Change] = {}
        for bundle in bundles:
            if bundle.changes:
                first, last = bundle.changes[0].version, bundle.changes[-1].version
                there = self.store.history(scope, bundle.target, after=last + 1, limit=last - first + 1)
                found |= {change.id: change for change in there if change.version >= first}
        return found

    # ------------------------------------------------------------------ writing

    def _write(
        self,
        here: Surroundings,
        source: MovedSpace,
        bundles: Sequence[Bundle],
        known: Mapping[str, Change],
        before: _Tally,
        request: Request | None,
    ) -> _Tally:
        """Write what fits into one transaction; the tally with it. `request`: whose last transaction this is, so that
        its outcome is kept with it."""
        for _ in range(TRIES):
            tally = before.copy()
            stored = self._begun(here.scope, source)
            commit = self._with_space(here, source, stored, self._commit(here, bundles, known, tally))
            if request is not None:
                done = record(request, tally.outcome(source.export))
                commit = commit.model_copy(update={"idempotency": done})
            if commit == Commit():
                return tally
            try:
                self.store.commit(here.scope, commit)
            except StaleVersionError:
                known = self._known(here.scope, bundles)
                continue
            return tally
        raise ConflictError("this space is being changed by others; try again")

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
            if any(not same(known[one.id], one) for one in bundle.changes if one.id in known):
                raise _conflict(bundle)
            changes += missing
            tally.count(bundle, changes=len(missing), thing=True)
            expected = now.version if now is not None else None
            if isinstance(bundle.thing, Memory):
                memories.append(MemoryWrite(memory=bundle.thing, expected=expected))
                if is_erased(bundle.thing) and not _is_new(bundle, missing):
                    strip.append(bundle.thing.number)
            elif bundle.thing is not None:
                categories.append(CategoryWrite(category=bundle.thing, expected=expected))
        for category in self._in_the_way(here.scope, [write.category for write in categories]):
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

    def _in_the_way(self, scope: Scope, coming: Sequence[Category | CategoryRecord]) -> list[Category]:
        """Categories that have the names of those that are coming. Raises ConflictError for one that holds memories."""
        names = {folded(category.name) for category in coming if not category.deleted}
        if not names:
            return []
        ids = {category.id for category in coming}
        found = {
            category.id: category
            for category in self.store.categories(scope)
            if not category.deleted and folded(category.name) in names and category.id not in ids
        }
        if (used := self._used(scope, found.keys())) is not None:
            raise ConflictError(
                f"a category of the name {found[used].name} is coming, and memories are in the one of this space; "
                "give it another name",
                category=used,
            )
        return list(found.values())

    def _used(self, scope: Scope, categories: Collection[str]) -> str | None:
        """The first of these categories that is found to hold a memory."""
        after = 0
        while categories and (memories := self.store.page(scope, after=after, limit=STEP)):
            for memory in memories:
                if memory.category in categories:
                    return memory.category
            after = memories[-1].number
        return None


def _import(here: Surroundings, source: MovedSpace, record: SpaceRecord) -> Change:
    """What the space's audit tells of it: who began to take in which export."""
    return Change(
        target=SPACE,
        version=record.version,
        op="import",
        at=here.now,
        by=here.scope.actor,
        image=source.model_dump(mode="json", include={"export", "as_of", "last_number"}),
        group=new_id("grp"),
    )


def _is_new(bundle: Bundle, missing: Sequence[Change]) -> bool:
    """Whether all changes of its thing are in it, and none is there, so that no text was written before."""
    return len(missing) == len(bundle.changes) > 0 and missing[0].version == 1


def _arriving(here: Surroundings, draft: Arrivals) -> list[CategoryRecord]:
    """The page's categories that are not there yet, or older."""
    there = {category.id: category.version for category in here.all_categories}
    records = [item for item in draft.items if isinstance(item, CategoryRecord)]
    return [item for item in records if there.get(item.id, 0) < item.version]


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
