"""What every use case on memories needs to know of its space at the start: rights, categories, settings."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from chalicelib.domain.category import Category, find, recallable_ids
from chalicelib.domain.change import Change
from chalicelib.domain.memory import Memory
from chalicelib.domain.records import Commit, SpaceRecord, SpaceWrite
from chalicelib.domain.scope import Right, Scope, Space
from chalicelib.domain.shown import show_memory
from chalicelib.domain.vitality import Retention
from chalicelib.errors import (
    ForbiddenError,
    InvalidError,
    NotFoundError,
    StaleVersionError,
    UnauthenticatedError,
)
from chalicelib.ports import AccountStore, Clock, MemoryStore

TRIES = 5
"""Times that a space's record is looked at anew when others change it meanwhile."""


def require(scope: Scope | None, right: Right) -> None:
    """What every use case asks first, before it looks at anything, an earlier outcome of the request too. Raises
    UnauthenticatedError for what is no scope of a space (CASES: memanto PR#1873), ForbiddenError unless the scope
    holds `right`."""
    if not isinstance(scope, Scope) or not isinstance(getattr(scope, "space", None), Space):
        raise UnauthenticatedError("nobody is signed in")
    if not scope.allows(right):
        raise ForbiddenError(
            f"this needs the right to {right.value} in {scope.space.name}", right=right.value
        )


@dataclass(frozen=True)
class Surroundings:
    """One space at one moment, read at most once a request."""

    scope: Scope
    now: datetime
    store: MemoryStore
    accounts: AccountStore

    @cached_property
    def all_categories(self) -> list[Category]:
        """Deleted ones too."""
        return self.store.categories(self.scope)

    @cached_property
    def categories(self) -> list[Category]:
        """Those that exist."""
        return [category for category in self.all_categories if not category.deleted]

    @cached_property
    def record(self) -> SpaceRecord | None:
        """The space's own record."""
        return self.store.space(self.scope)

    @cached_property
    def retention(self) -> Retention:
        """The admin's settings of retention as of now (M29)."""
        return self.accounts.installation().retention

    @cached_property
    def recallable(self) -> frozenset[str] | None:
        """Ids of the categories that may be recalled here (M8, M9); None: no such rule."""
        return recallable_ids(self.scope, self.categories)

    def category_id(self, wanted: str | None, field: str = "category") -> str | None:
        """The id of a category by name or id. Raises InvalidError naming `field` when there is none."""
        if wanted is None:
            return None
        found = find(self.categories, wanted)
        if found is None:
            raise InvalidError(field, "there is no such category in this space")
        return found.id

    def show(self, memory: Memory) -> dict[str, Any]:
        """JSON of a memory as of now."""
        return show_memory(memory, self.categories, self.retention, self.now)

    def hides(self, memory: Memory) -> bool:
        """Whether this caller may not know of the memory: a model is given nothing that may not be recalled (M8),
        and changes nothing that it cannot have been shown (M14)."""
        by_model = self.scope.actor.kind == "model"
        return by_model and self.recallable is not None and memory.category not in self.recallable

    def existing(self, number: int) -> Memory:
        """The memory, in any state but erased. Raises NotFoundError, also for one that is hidden from the caller."""
        memory = self.store.get(self.scope, number)
        if memory is None or memory.state == "erased" or self.hides(memory):
            raise NotFoundError(f"there is no memory #{number} in this space", number=number)
        return memory

    def recorded(self, target: str, version: int) -> Change:
        """The change that an outcome names. Raises NotFoundError."""
        change = self.store.change(self.scope, target, version)
        if change is None:
            raise NotFoundError(f"the change {target}-{version} is not recorded any more")
        return change

    def as_of(self, change: Change, current: Memory | None = None) -> Memory:
        """The memory as a change left it, with the context that its source still gives it. Raises NotFoundError
        when it was erased since. `current`: the memory now, if it was read already."""
        if change.image is None:
            raise NotFoundError(f"memory #{change.target} was erased since")
        memory = Memory.model_validate(change.image)
        if memory.context_from is None:
            return memory
        now = current or self.store.get(self.scope, memory.number)
        if now is None or now.context_from != memory.context_from:
            return memory
        return memory.model_copy(update={"context": now.context})

    def why_not_recalled(self, memory: Memory) -> str | None:
        """Why a memory is not given to a model here (M8), or None when it may be."""
        if memory.state != "active":
            return f"it is {memory.state.value}"
        if self.recallable is None or memory.category in self.recallable:
            return None
        if memory.category is None or memory.category not in {category.id for category in self.categories}:
            return "it has no category"
        return "its category is bound to another project"


@dataclass(frozen=True)
class Spaces:
    """Makes `Surroundings`."""

    store: MemoryStore
    accounts: AccountStore
    clock: Clock
    model: str | None = None
    """Fingerprint of the embedding model in use."""

    def look(self, scope: Scope, right: Right, now: datetime | None = None) -> Surroundings:
        """The surroundings of this scope. Raises ForbiddenError without `right`."""
        require(scope, right)
        return Surroundings(scope, now or self.clock(), self.store, self.accounts)

    def about_to_write(self, here: Surroundings) -> Surroundings:
        """Surroundings of a caller whose next step changes memories; asked last, since what is refused changes nothing.
        What is written now gets no vectors of models other than the one in use: theirs are complete no longer, and that
        is recorded first (A6). In a space that was made under another model, or none, and holds no memory yet, those
        of the one in use are."""
        record = here.record
        if record is None:
            return here
        kept = tuple(model for model in record.embedded_with if model == self.model)
        if not kept and self.model is not None and not self.store.page(here.scope, after=None, limit=1):
            kept = (self.model,)
        if kept == record.embedded_with:
            return here
        changed = record.model_copy(update={"embedded_with": kept, "version": record.version + 1})
        with suppress(StaleVersionError):  # somebody else did, or the next write will
            self.store.commit(
                here.scope, Commit(spaces=(SpaceWrite(record=changed, expected=record.version),))
            )
        return self.look(here.scope, Right.WRITE, here.now)

    def expect_contexts(self, here: Surroundings, first: SpaceRecord) -> Surroundings:
        """Surroundings whose record says that memories have a context: recorded before the first of them is stored, so
        that no search misses one. `first`: the record of a space that has none yet. Raises StaleVersionError when
        others keep changing the record."""
        for _ in range(TRIES):
            if here.record is not None and here.record.with_context:
                return here
            expected = here.record.version if here.record else None
            update = {"with_context": True, "version": (expected or 0) + 1}
            record = (here.record or first).model_copy(update=update)
            try:
                self.store.commit(here.scope, Commit(spaces=(SpaceWrite(record=record, expected=expected),)))
            except StaleVersionError:
                here = self.look(here.scope, Right.WRITE, here.now)
            else:
                return self.look(here.scope, Right.WRITE, here.now)
        raise StaleVersionError(("space",))
