"""Merging several memories into a new one; the old ones are retired and point to it (M11, M33)."""

from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.change import of_memory
from chalicelib.domain.drafts import Merge
from chalicelib.domain.ids import new_id
from chalicelib.domain.memory import TEXT_MAX_BYTES, Memory, State, next_version
from chalicelib.domain.records import Commit, MemoryWrite
from chalicelib.domain.scope import Right, Scope
from chalicelib.domain.secrets import looks_like_secret
from chalicelib.errors import ConflictError, NotFoundError, StaleVersionError, TooLargeError
from chalicelib.ports import InboxStore, MemoryStore
from chalicelib.services.idempotency import Request, once, record
from chalicelib.services.memory.context import Spaces, Surroundings, require


@dataclass(frozen=True)
class MergeMemories:
    """The use case of merging."""

    spaces: Spaces
    store: MemoryStore
    inbox: InboxStore

    def merge(self, scope: Scope, draft: Merge, request: Request) -> dict[str, Any]:
        """One new memory with `text`, `derived_from` the merged ones, which are retired with `replaced_by` the new.

        Answers `{"memory": {…}, "merged": [{…}, …]}`. What the draft does not say is taken from the merged ones:
        the highest importance, the first category that there is, the kind of the first one. Undone as a whole.
        Raises NotFoundError, ConflictError (a stale version, or one that is not active; the current state is in it).
        """
        require(scope, Right.WRITE)
        return once(
            self.inbox,
            request,
            lambda outcome: self._again(scope, outcome),
            lambda: self._merge(scope, draft, request),
        )

    def _merge(self, scope: Scope, draft: Merge, request: Request) -> dict[str, Any]:
        here = self.spaces.look(scope, Right.WRITE, request.now)
        if len(draft.text.encode()) > TEXT_MAX_BYTES:
            raise TooLargeError(
                f"text: at most {TEXT_MAX_BYTES:,} bytes of UTF-8", field="text", max=TEXT_MAX_BYTES
            )
        old = self._fit_to_merge(here, draft)
        here = self.spaces.about_to_write(here)
        merged = _merged(here, draft, old, self.store.reserve(scope, 1))
        ended = [_ended(here, memory, merged.number) for memory in old]
        group = new_id("grp")
        changes = [of_memory(memory, "merge", scope.actor, group) for memory in (merged, *ended)]
        outcome = {"changes": [[change.target, change.version] for change in changes]}
        expected = {memory.number: memory.version for memory in old}
        try:
            self.store.commit(
                scope,
                Commit(
                    memories=tuple(
                        MemoryWrite(memory=memory, expected=expected.get(memory.number))
                        for memory in (merged, *ended)
                    ),
                    changes=tuple(changes),
                    idempotency=record(request, outcome),
                ),
            )
        except StaleVersionError:
            self._fit_to_merge(here, draft)
            raise ConflictError("one of them was changed meanwhile; try again") from None
        return _answer(here, merged, ended)

    def _fit_to_merge(self, here: Surroundings, draft: Merge) -> list[Memory]:
        found = self.store.get_many(here.scope, draft.numbers)
        memories = []
        for number in draft.numbers:
            memory = found.get(number)
            if memory is None or memory.state is State.ERASED or here.hides(memory):
                raise NotFoundError(f"there is no memory #{number} in this space", number=number)
            memories.append(memory)
        stale = [m for m in memories if m.version != draft.versions[str(m.number)]]
        if stale:
            raise ConflictError(
                f"stale: {', '.join(f'#{m.number} is at version {m.version}' for m in stale)}",
                current=[here.show(memory) for memory in stale],
            )
        ended = [m for m in memories if m.state is not State.ACTIVE]
        if ended:
            raise ConflictError(
                f"not active: {', '.join(f'#{m.number} is {m.state.value}' for m in ended)}",
                current=[here.show(memory) for memory in ended],
            )
        return memories

    def _again(self, scope: Scope, outcome: dict[str, Any]) -> dict[str, Any]:
        memories = []
        here = self.spaces.look(scope, Right.WRITE)
        for target, version in outcome["changes"]:
            change = here.recorded(target, version)
            here = replace(here, now=change.at)
            memories.append(here.as_of(change))
        return _answer(here, memories[0], memories[1:])


def _merged(here: Surroundings, draft: Merge, old: list[Memory], number: int) -> Memory:
    said = draft.model_fields_set
    category = here.category_id(draft.category) if "category" in said else _kept_category(here, old)
    scores = [memory.importance for memory in old if memory.importance is not None]
    return Memory(
        space=here.scope.space.key,
        number=number,
        version=1,
        revision=1,
        text=draft.text,
        kind=draft.kind or old[0].kind,
        importance=draft.importance or (max(scores) if scores else None),
        category=category,
        key=draft.key if "key" in said else old[0].key,
        confidence=draft.confidence if "confidence" in said else old[0].confidence,
        subject=draft.subject if "subject" in said else old[0].subject,
        valid_from=draft.valid_from,
        derived_from=tuple(memory.number for memory in old),
        recorded_at=here.now,
        recorded_by=here.scope.actor,
        updated_at=here.now,
    )


def _kept_category(here: Surroundings, old: list[Memory]) -> str | None:
    """The first category that there is. One that was deleted counts as none (M9); it stays the merged one's only when
    there is no other, so that undoing its deletion brings this memory back into it, too."""
    there = {category.id for category in here.categories}
    return min(old, key=lambda memory: (memory.category not in there, memory.category is None)).category


def _ended(here: Surroundings, memory: Memory, replacement: int) -> Memory:
    end = {"state": State.RETIRED, "valid_to": here.now, "reason": "merged", "replaced_by": replacement}
    return next_version(memory, here.now, end)


def _answer(here: Surroundings, merged: Memory, ended: list[Memory]) -> dict[str, Any]:
    why = here.why_not_recalled(merged)
    answer: dict[str, Any] = {
        "memory": here.show(merged),
        "merged": [here.show(memory) for memory in ended],
        "recallable": why is None,
    }
    if why is not None:
        answer["why_not_recallable"] = why
    if looks_like_secret(merged.text):
        answer["warning"] = "secret"
    return answer
