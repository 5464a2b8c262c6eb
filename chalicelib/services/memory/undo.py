"""Undoing a change, and all that was done with it (M13)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.category import CATEGORIES_MAX, Category, folded
from chalicelib.domain.change import Change, of_memory, parse_id
from chalicelib.domain.ids import new_id
from chalicelib.domain.memory import CONTENT_FIELDS, STATE_FIELDS, Memory, State, next_version
from chalicelib.domain.records import CategoryWrite, Commit, MemoryWrite
from chalicelib.domain.scope import Right, Scope
from chalicelib.errors import ConflictError, NotFoundError, StaleVersionError
from chalicelib.ports import InboxStore, MemoryStore
from chalicelib.services.idempotency import Request, once, record
from chalicelib.services.memory.categories import category_change, check_may_configure
from chalicelib.services.memory.context import Spaces, Surroundings, require

_FIELDS = tuple(name for name in (*CONTENT_FIELDS, *STATE_FIELDS) if name not in ("context", "context_from"))
"""What an undo gives back. A context is no change of anybody's."""


@dataclass(frozen=True)
class Undo:
    """The use case of undoing."""

    spaces: Spaces
    store: MemoryStore
    inbox: InboxStore

    def undo(self, scope: Scope, change_id: str, request: Request) -> dict[str, Any]:
        """Take back one change: each field that it changed gets its former value, if nobody changed that field
        since. Changes of one merge are taken back together. Undoing an add moves the memory to the trash.

        Answers `{"undone": id, "memories": […], "categories": […]}`. The undo is a change too, and can be undone.
        Raises NotFoundError; ConflictError when it was an erase, or a field was changed since (with current state).
        """
        require(scope, Right.WRITE)
        return once(
            self.inbox,
            request,
            lambda outcome: self._again(scope, outcome),
            lambda: self._undo(scope, change_id, request),
        )

    def _undo(self, scope: Scope, change_id: str, request: Request) -> dict[str, Any]:
        here = self.spaces.look(scope, Right.WRITE, request.now)
        parsed = parse_id(change_id)
        change = self.store.change(scope, *parsed) if parsed else None
        if change is None:
            raise NotFoundError("there is no such change in this space", change=change_id)
        together = self.store.group(scope, change.group) if change.op in ("merge", "undo") else [change]
        memories: list[MemoryWrite] = []
        categories: list[CategoryWrite] = []
        for one in sorted(together, key=lambda each: (each.target, each.version)):
            if one.number is None:
                categories.append(self._category_before(here, one))
            else:
                memories.append(self._memory_before(here, one))
        group = new_id("grp")
        changes = [of_memory(w.memory, "undo", scope.actor, group, undoes=change.group) for w in memories]
        changes += [
            category_change(w.category, "undo", scope.actor, group, undoes=change.group) for w in categories
        ]
        outcome = {"undone": change_id, "changes": [[c.target, c.version] for c in changes]}
        commit = Commit(
            memories=tuple(memories),
            categories=tuple(categories),
            changes=tuple(changes),
            idempotency=record(request, outcome),
        )
        self.spaces.about_to_write(here)
        try:
            self.store.commit(scope, commit)
        except StaleVersionError:
            raise ConflictError("it is being changed by others; try again", change=change_id) from None
        here = self.spaces.look(scope, Right.WRITE, request.now)
        return _answer(here, change_id, changes)

    def _memory_before(self, here: Surroundings, change: Change) -> MemoryWrite:
        current = self.store.get(here.scope, change.number or 0)
        if current is not None and current.state is not State.ERASED and here.hides(current):
            raise NotFoundError("there is no such change in this space", change=change.id)
        if current is None or current.state is State.ERASED or change.image is None:
            raise ConflictError("an erased memory cannot be brought back", change=change.id)
        after = Memory.model_validate(change.image)
        if change.version == 1:
            if current.state is State.TRASHED:
                raise ConflictError(
                    "it is in the trash already", current=here.show(current), change=change.id
                )
            update: dict[str, Any] = {"state": State.TRASHED}
        else:
            before = self._image(here.scope, change)
            touched = [name for name in _FIELDS if getattr(before, name) != getattr(after, name)]
            moved = [name for name in touched if getattr(current, name) != getattr(after, name)]
            if moved and all(getattr(current, name) == getattr(before, name) for name in touched):
                raise ConflictError("it is undone already", current=here.show(current), change=change.id)
            if moved:
                raise ConflictError(
                    f"{', '.join(moved)} changed since", current=here.show(current), change=change.id
                )
            update = {name: getattr(before, name) for name in touched}
        return MemoryWrite(memory=next_version(current, here.now, update), expected=current.version)

    def _image(self, scope: Scope, change: Change) -> Memory:
        before = self.store.change(scope, change.target, change.version - 1)
        if before is None or before.image is None:
            raise ConflictError("what was before is not known any more", change=change.id)
        return Memory.model_validate(before.image)

    def _category_before(self, here: Surroundings, change: Change) -> CategoryWrite:
        check_may_configure(here.scope)
        current = next((c for c in here.all_categories if c.id == change.target), None)
        if current is None or current.version != change.version:
            raise ConflictError("the category changed since", change=change.id)
        if change.version == 1:
            update: dict[str, Any] = {"deleted": True}
        else:
            before = self.store.change(here.scope, change.target, change.version - 1)
            if before is None or before.image is None:
                raise ConflictError("what was before is not known any more", change=change.id)
            former = Category.model_validate(before.image)
            update = {name: getattr(former, name) for name in ("name", "description", "project", "deleted")}
            _check_place(here, former)
        counted = {"version": current.version + 1, "updated_at": here.now}
        return CategoryWrite(
            category=current.model_copy(update={**update, **counted}), expected=current.version
        )

    def _again(self, scope: Scope, outcome: dict[str, Any]) -> dict[str, Any]:
        here = self.spaces.look(scope, Right.WRITE)
        changes = [here.recorded(target, version) for target, version in outcome["changes"]]
        return _answer(replace(here, now=changes[0].at), outcome["undone"], changes)


def _check_place(here: Surroundings, former: Category) -> None:
    """That a category may be again what it was. Raises ConflictError when its name is taken, or there is no room."""
    others = [category for category in here.categories if category.id != former.id]
    if any(folded(category.name) == folded(former.name) for category in others):
        raise ConflictError("its name was given to another category since", category=former.id)
    if len(others) >= CATEGORIES_MAX:
        raise ConflictError(f"at most {CATEGORIES_MAX} categories in a space", max=CATEGORIES_MAX)


def _answer(here: Surroundings, undone: str, changes: Sequence[Change]) -> dict[str, Any]:
    memories = [here.as_of(change) for change in changes if change.number is not None and change.image]
    categories = [c.image for c in changes if c.number is None and c.image]
    shown = [{k: v for k, v in image.items() if k != "space"} for image in categories]
    return {"undone": undone, "memories": [here.show(memory) for memory in memories], "categories": shown}
