"""Categories: made, changed, deleted; what they hold is recalled only while they exist (M8, M9)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.category import CATEGORIES_MAX, Category, folded
from chalicelib.domain.change import Change, Operation
from chalicelib.domain.drafts import CategoryEdit, NewCategory, said
from chalicelib.domain.ids import new_id
from chalicelib.domain.records import CategoryWrite, Commit, SpaceWrite
from chalicelib.domain.scope import Actor, Right, Scope, SpaceKind
from chalicelib.domain.shown import show_category
from chalicelib.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError, StaleVersionError
from chalicelib.ports import AccountStore, InboxStore, MemoryStore
from chalicelib.services.idempotency import Request, once, record
from chalicelib.services.memory.context import Spaces, Surroundings
from chalicelib.services.memory.embedding import Embedding

TRIES = 5


def check_may_configure(scope: Scope) -> None:
    """A pool's categories are changed by an admin only (M6); others need the right to write or configure.

    Raises ForbiddenError.
    """
    right = Right.WRITE if scope.space.kind is SpaceKind.PERSONAL else Right.CONFIGURE
    if not scope.allows(right):
        raise ForbiddenError("the categories of this space are changed by an admin only", right=right.value)


def category_change(category: Category, op: Operation, by: Actor, group: str, **extra: Any) -> Change:
    """The record of a change that made `category` what it is."""
    return Change(
        target=category.id,
        version=category.version,
        op=op,
        at=category.updated_at,
        by=by,
        image=category.model_dump(mode="json"),
        group=group,
        **extra,
    )


@dataclass(frozen=True)
class Categories:
    """The use cases of categories. Each write answers `{"category": {…}}`."""

    spaces: Spaces
    store: MemoryStore
    inbox: InboxStore
    embedding: Embedding
    accounts: AccountStore

    def listed(self, scope: Scope) -> list[dict[str, Any]]:
        """All categories by name; `default` says which one adds without a category get."""
        if not (scope.allows(Right.READ) or scope.allows(Right.CONFIGURE)):
            raise ForbiddenError("this needs the right to read or configure")
        here = self._look(scope)
        return [show_category(category, _default(here)) for category in here.categories]

    def get(self, scope: Scope, category: str) -> dict[str, Any]:
        """One category by id. Raises NotFoundError."""
        here = self._look(scope)
        return {"category": show_category(self._existing(here, category), _default(here))}

    def create(self, scope: Scope, draft: NewCategory, request: Request) -> dict[str, Any]:
        """Make a category. Raises InvalidError when the name is taken (case-blind), ConflictError above 200."""

        def work() -> dict[str, Any]:
            here = self._look(scope, request)
            if len(here.categories) >= CATEGORIES_MAX:
                raise ConflictError(f"at most {CATEGORIES_MAX} categories in a space", max=CATEGORIES_MAX)
            self._check_name(here, draft.name, None)
            self._check_project(scope, draft.project)
            category = Category(
                id=new_id("cat"),
                space=scope.space.key,
                name=draft.name,
                description=draft.description,
                project=draft.project,
                created_at=here.now,
                updated_at=here.now,
            )
            return self._commit(here, category, None, "add", draft.default or None, request)

        return self._once(scope, request, work)

    def edit(self, scope: Scope, category: str, draft: CategoryEdit, request: Request) -> dict[str, Any]:
        """Change name, description, binding, or which one is the default. Raises NotFoundError, ConflictError
        (stale version, with the current state), InvalidError (name taken)."""

        def work() -> dict[str, Any]:
            here = self._look(scope, request)
            current = self._existing(here, category)
            self._check_version(here, current, draft.version)
            if draft.name is not None:
                self._check_name(here, draft.name, current.id)
            self._check_project(scope, draft.project)
            update = {
                name: value for name, value in said(draft).items() if name not in ("version", "default")
            }
            return self._commit(
                here, _next(current, update, here), current.version, "edit", draft.default, request
            )

        return self._once(scope, request, work)

    def delete(self, scope: Scope, category: str, version: int | None, request: Request) -> dict[str, Any]:
        """Delete a category; its memories stay, uncategorised, and are not recalled until sorted again (M9)."""

        def work() -> dict[str, Any]:
            here = self._look(scope, request)
            current = self._existing(here, category)
            if version is not None:
                self._check_version(here, current, version)
            return self._commit(
                here, _next(current, {"deleted": True}, here), current.version, "delete", None, request
            )

        return self._once(scope, request, work)

    def _look(self, scope: Scope, request: Request | None = None) -> Surroundings:
        right = Right.READ if scope.allows(Right.READ) else Right.CONFIGURE
        return self.spaces.look(scope, right, request.now if request else None)

    def _once(self, scope: Scope, request: Request, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        def tried() -> dict[str, Any]:
            for _ in range(TRIES):
                try:
                    return work()
                except StaleVersionError:
                    continue
            raise ConflictError("the categories are being changed by others; try again")

        check_may_configure(scope)
        return once(self.inbox, request, lambda outcome: self._again(scope, outcome), tried)

    def _again(self, scope: Scope, outcome: dict[str, Any]) -> dict[str, Any]:
        change = self.store.change(scope, outcome["target"], outcome["version"])
        if change is None or change.image is None:
            raise NotFoundError("the category is gone since")
        return {"category": show_category(Category.model_validate(change.image), outcome["default"])}

    def _commit(
        self,
        here: Surroundings,
        category: Category,
        expected: int | None,
        op: Operation,
        default: bool | None,
        request: Request,
    ) -> dict[str, Any]:
        space = self._space_write(here, category, default)
        chosen = space.record.default_category
        change = category_change(category, op, here.scope.actor, new_id("grp"))
        outcome = {"target": category.id, "version": category.version, "default": chosen}
        self.store.commit(
            here.scope,
            Commit(
                categories=(CategoryWrite(category=category, expected=expected),),
                spaces=(space,),
                changes=(change,),
                idempotency=record(request, outcome),
            ),
        )
        return {"category": show_category(category, chosen)}

    def _space_write(self, here: Surroundings, category: Category, default: bool | None) -> SpaceWrite:
        """The space's record, made with the first category. Its version counts changes of categories, so that two
        at once cannot take the same name; and it holds which one is the default."""
        present = _default(here)
        wanted = (
            category.id if default else (None if default is False and present == category.id else present)
        )
        if here.record is None:
            first = self.embedding.first_record(here.scope.space, here.now)
            return SpaceWrite(record=first.model_copy(update={"default_category": wanted}), expected=None)
        changed = here.record.model_copy(
            update={"default_category": wanted, "version": here.record.version + 1}
        )
        return SpaceWrite(record=changed, expected=here.record.version)

    def _existing(self, here: Surroundings, category: str) -> Category:
        found = next((known for known in here.categories if known.id == category), None)
        if found is None:
            raise NotFoundError("there is no such category in this space", category=category)
        return found

    def _check_name(self, here: Surroundings, name: str, own: str | None) -> None:
        if folded(name) == "none":
            raise InvalidError("name", "`none` means uncategorised in filters; choose another name")
        if any(folded(known.name) == folded(name) and known.id != own for known in here.categories):
            raise InvalidError("name", "there is a category of this name already")

    def _check_project(self, scope: Scope, project: str | None) -> None:
        if project is None:
            return
        if scope.space.kind is SpaceKind.COMMUNITY:
            raise InvalidError("project", "a community has no projects")
        if scope.space.kind is SpaceKind.PROJECT and project != scope.space.id:
            raise InvalidError("project", "a pool's category can be bound to its own project only")
        if scope.space.kind is SpaceKind.PERSONAL and self.accounts.member(project, scope.space.id) is None:
            raise InvalidError("project", "there is no such project")

    def _check_version(self, here: Surroundings, category: Category, version: int) -> None:
        if category.version != version:
            raise ConflictError(
                f"version {version} is stale: it is at version {category.version}",
                current=show_category(category, _default(here)),
            )


def _default(here: Surroundings) -> str | None:
    return here.record.default_category if here.record else None


def _next(category: Category, update: dict[str, Any], here: Surroundings) -> Category:
    return category.model_copy(update={**update, "version": category.version + 1, "updated_at": here.now})
