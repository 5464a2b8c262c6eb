"""Changing memories: edit, categorise, retire, trash, restore, erase; singly and in bulk (M4, M11, M15)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.change import Operation, of_memory
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.drafts import Bulk, Edit, Ending, said
from chalicelib.domain.ids import new_id
from chalicelib.domain.memory import TEXT_MAX_BYTES, Memory, State, erased, next_version
from chalicelib.domain.records import Commit, MemoryWrite
from chalicelib.domain.scope import Right, Scope, SpaceKind
from chalicelib.domain.secrets import looks_like_secret
from chalicelib.domain.vitality import eligible_at
from chalicelib.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    PalimpsestError,
    StaleVersionError,
    TooLargeError,
)
from chalicelib.ports import InboxStore, MemoryStore
from chalicelib.services.idempotency import Request, once, record
from chalicelib.services.memory.context import Spaces, Surroundings, require

TRIES = 5
"""How often a change for which no version was named is tried against others' changes."""

CHUNK = 16
"""Memories in one transaction that loses a context: three actions each or more, of 100 at most."""

Evolve = Callable[[Surroundings, Memory], Memory]
"""What a memory becomes. Raises ConflictError when its state does not allow it."""


@dataclass(frozen=True)
class Revise:
    """The use cases that change one memory. Each answers `{"memory": {…}, …}`.

    All raise NotFoundError, ForbiddenError, and ConflictError (with the current state) when the version named is
    stale or the state does not allow it.
    """

    spaces: Spaces
    store: MemoryStore
    inbox: InboxStore

    def edit(self, scope: Scope, number: int, draft: Edit, request: Request) -> dict[str, Any]:
        """Change text, kind, importance, category, key, confidence, subject or valid_from."""

        def evolve(here: Surroundings, memory: Memory) -> Memory:
            fields = {name: value for name, value in said(draft).items() if name != "version"}
            if draft.text is not None and len(draft.text.encode()) > TEXT_MAX_BYTES:
                raise TooLargeError(
                    f"text: at most {TEXT_MAX_BYTES:,} bytes of UTF-8", field="text", max=TEXT_MAX_BYTES
                )
            if "category" in fields:
                fields["category"] = here.category_id(draft.category)
            if draft.valid_from and memory.valid_to and draft.valid_from > memory.valid_to:
                raise InvalidError("valid_from", "is after valid_to")
            if memory.state is State.TRASHED:
                raise ConflictError(
                    "a trashed memory is restored before it is edited", current=here.show(memory)
                )
            return memory.model_copy(update=fields)

        op: Operation = "categorise" if draft.model_fields_set == {"version", "category"} else "edit"
        return self._change(scope, number, draft.version, op, evolve, request)

    def categorise(
        self, scope: Scope, number: int, category: str | None, version: int | None, request: Request
    ) -> dict[str, Any]:
        """Put a memory into a category (by name or id), or (None) out of its own."""

        def evolve(here: Surroundings, memory: Memory) -> Memory:
            return memory.model_copy(update={"category": here.category_id(category)})

        return self._change(scope, number, version, "categorise", evolve, request)

    def retire(
        self, scope: Scope, number: int, ending: Ending, version: int | None, request: Request
    ) -> dict[str, Any]:
        """End a memory that was true: it is no longer recalled, and stays to be read."""

        def evolve(here: Surroundings, memory: Memory) -> Memory:
            if memory.state is not State.ACTIVE:
                raise ConflictError(f"it is {memory.state.value}, not active", current=here.show(memory))
            if ending.replaced_by is not None:
                _check_replacement(here, number, ending.replaced_by)
            end = ending.valid_to or here.now
            if memory.valid_from and end < memory.valid_from:
                raise InvalidError("valid_to", "is before valid_from")
            update = {"state": State.RETIRED, "valid_to": end, "replaced_by": ending.replaced_by}
            return memory.model_copy(update={**update, "reason": ending.reason})

        return self._change(scope, number, version, "retire", evolve, request)

    def trash(self, scope: Scope, number: int, version: int | None, request: Request) -> dict[str, Any]:
        """Delete: to the trash, from where it can be restored."""

        def evolve(here: Surroundings, memory: Memory) -> Memory:
            if memory.state is State.TRASHED:
                raise ConflictError("it is in the trash already", current=here.show(memory))
            return memory.model_copy(update={"state": State.TRASHED})

        return self._change(scope, number, version, "trash", evolve, request)

    def restore(self, scope: Scope, number: int, version: int | None, request: Request) -> dict[str, Any]:
        """Make a trashed or retired memory active again; its replacement, if any, is left alone. Says so when it
        may soon be trashed again, since restoring does not refresh vitality (M30)."""

        def evolve(here: Surroundings, memory: Memory) -> Memory:
            if memory.state is State.ACTIVE:
                raise ConflictError("it is active already", current=here.show(memory))
            update = {"state": State.ACTIVE, "valid_to": None, "reason": None, "replaced_by": None}
            return memory.model_copy(update=update)

        return self._change(scope, number, version, "restore", evolve, request)

    def erase(self, scope: Scope, number: int, version: int | None, request: Request) -> dict[str, Any]:
        """Remove a memory for good, its text everywhere (M13). Answers `{"erased": {number, space, at}}`."""

        def work() -> dict[str, Any]:
            for _ in range(TRIES):
                here = self.spaces.look(scope, Right.WRITE, request.now)
                if scope.actor.kind == "model":
                    raise ForbiddenError("a model moves to the trash; only a person erases")
                memory = here.existing(number)
                _check_version(here, memory, version)
                here = self.spaces.about_to_write(here)
                try:
                    self._clear_context_of_others(here, number)
                    answer = self._erase(here, memory, request)
                    self._clear_context_of_others(here, number)
                except StaleVersionError:
                    continue
                return answer
            raise ConflictError("it is being changed by others; try again", number=number)

        require(scope, Right.WRITE)
        return once(self.inbox, request, lambda outcome: outcome, work)

    def _erase(self, here: Surroundings, memory: Memory, request: Request) -> dict[str, Any]:
        gone = erased(memory, at=here.now)
        answer = {"erased": {"number": gone.number, "space": here.scope.space.name, "at": rfc3339(here.now)}}
        self.store.commit(
            here.scope,
            Commit(
                memories=(MemoryWrite(memory=gone, expected=memory.version),),
                changes=(of_memory(gone, "erase", here.scope.actor, new_id("grp")),),
                strip=(gone.number,),
                idempotency=record(request, answer),
            ),
        )
        return answer

    def _clear_context_of_others(self, here: Surroundings, number: int) -> None:
        """Take the text of memory `number` out of those whose context it was, and out of their history."""
        numbers = self.store.context_of(here.scope, number)
        for start in range(0, len(numbers), CHUNK):
            group = new_id("grp")
            cleared = []
            for other in self.store.get_many(here.scope, numbers[start : start + CHUNK]).values():
                if other.state is not State.ERASED and other.context_from == number:
                    bare = {"context": None, "context_from": None}
                    cleared.append((other, _next(other, bare, here)))
            if cleared:
                self.store.commit(
                    here.scope,
                    Commit(
                        memories=tuple(MemoryWrite(memory=new, expected=old.version) for old, new in cleared),
                        changes=tuple(of_memory(new, "edit", here.scope.actor, group) for _, new in cleared),
                        strip_context=tuple(new.number for _, new in cleared),
                    ),
                )

    def _change(
        self,
        scope: Scope,
        number: int,
        version: int | None,
        op: Operation,
        evolve: Evolve,
        request: Request,
    ) -> dict[str, Any]:
        require(scope, Right.WRITE)
        return once(
            self.inbox,
            request,
            lambda outcome: self._again(scope, outcome),
            lambda: self._try(scope, number, version, op, evolve, request),
        )

    def _try(
        self,
        scope: Scope,
        number: int,
        version: int | None,
        op: Operation,
        evolve: Evolve,
        request: Request,
    ) -> dict[str, Any]:
        for _ in range(TRIES):
            here = self.spaces.look(scope, Right.WRITE, request.now)
            memory = here.existing(number)
            _check_version(here, memory, version)
            evolved = evolve(here, memory)
            here = self.spaces.about_to_write(here)
            changed = _next(evolved, {}, here)
            change = of_memory(changed, op, scope.actor, new_id("grp"))
            outcome = {"target": change.target, "version": change.version}
            commit = Commit(
                memories=(MemoryWrite(memory=changed, expected=memory.version),),
                changes=(change,),
                idempotency=record(request, outcome),
            )
            try:
                self.store.commit(scope, commit)
            except StaleVersionError:
                continue
            return _changed(here, changed, op)
        raise ConflictError("it is being changed by others; try again", number=number)

    def _again(self, scope: Scope, outcome: dict[str, Any]) -> dict[str, Any]:
        here = self.spaces.look(scope, Right.WRITE)
        change = here.recorded(outcome["target"], outcome["version"])
        here = replace(here, now=change.at)
        return _changed(here, here.as_of(change), change.op)

    def bulk(self, scope: Scope, draft: Bulk, request: Request) -> list[dict[str, Any]]:
        """One operation on each number, each with its own outcome: `{number, status, memory | erased | error}`.

        Each is a request of its own under the same key, so a repeat goes on where the first one ended. Raises
        InvalidError when the key came with another request.
        """
        self.spaces.look(scope, Right.WRITE)
        once(self.inbox, request, lambda _: None, lambda: self._claim(scope, request))
        results = []
        for number in draft.numbers:
            version = draft.versions.get(str(number))
            try:
                answer = self._one(scope, number, version, draft, request.part(number))
            except PalimpsestError as error:
                shown = {"code": error.code, "message": error.message, "details": error.details}
                results.append({"number": number, "status": error.status, "error": shown})
            else:
                results.append({"number": number, "status": 200, **answer})
        return results

    def _claim(self, scope: Scope, request: Request) -> None:
        """Take the key for the whole, before its parts: which of them succeed is not known yet."""
        if request.key is not None:
            self.store.commit(scope, Commit(idempotency=record(request, {"parts": "by number"})))

    def _one(
        self, scope: Scope, number: int, version: int | None, draft: Bulk, part: Request
    ) -> dict[str, Any]:
        if draft.op == "categorise":
            return self.categorise(scope, number, draft.category, version, part)
        if draft.op == "retire":
            ending = Ending(reason=draft.reason, replaced_by=draft.replaced_by)
            return self.retire(scope, number, ending, version, part)
        simple = {"delete": self.trash, "restore": self.restore, "erase": self.erase}[draft.op]
        return simple(scope, number, version, part)


def _next(memory: Memory, update: dict[str, Any], here: Surroundings) -> Memory:
    """The next version of a memory."""
    return next_version(memory, here.now, update)


def _check_version(here: Surroundings, memory: Memory, version: int | None) -> None:
    if version is not None and version != memory.version:
        raise ConflictError(
            f"version {version} is stale: it is at version {memory.version}", current=here.show(memory)
        )


def _check_replacement(here: Surroundings, number: int, replacement: int) -> None:
    if replacement == number:
        raise InvalidError("replaced_by", "a memory cannot replace itself")
    found = here.store.get(here.scope, replacement)
    if found is None or found.state is State.ERASED:
        raise InvalidError("replaced_by", f"there is no memory #{replacement} in this space")


def _changed(here: Surroundings, memory: Memory, op: Operation) -> dict[str, Any]:
    answer: dict[str, Any] = {"memory": here.show(memory)}
    why = here.why_not_recalled(memory)
    answer["recallable"] = why is None
    if why is not None:
        answer["why_not_recallable"] = why
    if op == "edit" and looks_like_secret(memory.text):
        answer["warning"] = "secret"
    if op == "restore" and here.scope.space.kind is not SpaceKind.COMMUNITY:
        answer["notice"] = _soon_trashed_again(here, memory)
    return answer


def _soon_trashed_again(here: Surroundings, memory: Memory) -> str | None:
    retention = here.retention
    if not retention.automatic or eligible_at(memory, retention) > here.now:
        return None
    return (
        "Restoring does not refresh vitality: the next cleanup may move it to the trash again. "
        "The master switch of memory retention (settings: retention.automatic) stops that."
    )
