"""Adding memories: always stored, similar ones reported (M12); one by one or in batches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.change import Change, of_memory
from chalicelib.domain.drafts import NewMemory
from chalicelib.domain.ids import new_id
from chalicelib.domain.memory import CONTEXT_MAX_CHARS, TEXT_MAX_BYTES, Memory, default_kind
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.records import Commit, MemoryWrite, SpaceWrite, Vector
from chalicelib.domain.scope import Right, Scope, SpaceKind
from chalicelib.domain.secrets import looks_like_secret
from chalicelib.errors import (
    EmbeddingError,
    InvalidError,
    NotFoundError,
    PalimpsestError,
    StaleVersionError,
    TooLargeError,
)
from chalicelib.observability import count
from chalicelib.ports import InboxStore, MemoryStore
from chalicelib.services.idempotency import Request, once, record
from chalicelib.services.memory.context import Spaces, Surroundings
from chalicelib.services.memory.embedding import Embedding
from chalicelib.services.memory.similar import Alike, Similar
from chalicelib.services.memory.thresholds import ThresholdsInForce

CHUNK = 32
"""Memories in one transaction: each is three actions (item, change, place in its conversation), of 100 at most."""
CHUNK_BYTES = 1_500_000


Added = dict[str, Any] | PalimpsestError
"""What became of one draft: `memory` and its similar ones as JSON, or the error that refused it."""


_Planned = Memory | PalimpsestError
"""One draft on its way: the memory it will be, or why it is refused."""


@dataclass(frozen=True)
class Remember:
    """The use case of adding."""

    spaces: Spaces
    store: MemoryStore
    inbox: InboxStore
    embedding: Embedding
    similar: Similar
    thresholds: ThresholdsInForce

    def add(self, scope: Scope, draft: NewMemory, request: Request) -> dict[str, Any]:
        """Store one memory. Answers `{memory, similar: [{memory, score}], recallable, …}`.

        Raises InvalidError (unknown category), TooLargeError, ForbiddenError; StaleVersionError when others keep
        changing the space's record.
        """
        added = self.add_many(scope, [draft], request)[0]
        if isinstance(added, PalimpsestError):
            raise added
        return added

    def add_many(
        self, scope: Scope, drafts: Sequence[NewMemory | PalimpsestError], request: Request
    ) -> list[Added]:
        """Store many, in order; a bad one (an error in its place, or found bad here) does not fail the others.

        Every part of the batch that fits into one transaction is done once, however often it is asked for.
        """
        here = self.spaces.look(scope, Right.WRITE, request.now)
        results: list[Added] = []
        for index, chunk in enumerate(_chunks(drafts)):
            part = request.part(index)
            results += once(
                self.inbox,
                part,
                lambda outcome: self._again(scope, outcome),
                lambda chunk=chunk, part=part: self._store(here, chunk, part),  # type: ignore[misc]
            )
        return results

    def _store(
        self, here: Surroundings, drafts: Sequence[NewMemory | PalimpsestError], request: Request
    ) -> list[Added]:
        good = sum(isinstance(draft, NewMemory) for draft in drafts)
        first = self.store.reserve(here.scope, good) if good else 0
        planned = self._plan(here, drafts, first)
        memories = [plan for plan in planned if isinstance(plan, Memory)]
        if memories:
            here = self.spaces.about_to_write(here)
        if any(memory.context for memory in memories):
            here = self.spaces.expect_contexts(here, self.embedding.first_record(here.scope.space, here.now))
        vectors, degraded = self._vectors(here, memories)
        entries = self.embedding.entries(here.scope, memories, vectors)
        alike, blind = self._alike(here, entries)
        degraded = degraded or blind
        self._commit(here, planned, vectors, alike, degraded, request)
        count("added", len(memories))
        return self._answers(here, planned, alike, degraded)

    def _plan(
        self, here: Surroundings, drafts: Sequence[NewMemory | PalimpsestError], first: int
    ) -> list[_Planned]:
        before = self._said_before(here.scope, drafts)
        planned: list[_Planned] = []
        spoken: dict[tuple[str, int], Memory] = {}
        number = first
        for draft in drafts:
            if not isinstance(draft, NewMemory):
                planned.append(draft)
                continue
            try:
                memory = _memory(here, draft, number, spoken, before)
            except PalimpsestError as error:
                planned.append(error)
            else:
                planned.append(memory)
                if memory.source is not None and memory.source.position is not None:
                    spoken[memory.source.conversation, memory.source.position] = memory
            number += 1
        return planned

    def _said_before(
        self, scope: Scope, drafts: Sequence[NewMemory | PalimpsestError]
    ) -> dict[tuple[str, int], Memory]:
        """The stored memories that were said just before these drafts, by place."""
        places = [
            (draft.source.conversation, draft.source.position - 1)
            for draft in drafts
            if isinstance(draft, NewMemory)
            and draft.context is None
            and draft.source
            and draft.source.position
        ]
        if not places:
            return {}
        numbers = self.store.at_position(scope, places)
        memories = self.store.get_many(scope, list(numbers.values()))
        return {
            place: memories[number]
            for place, number in numbers.items()
            if number in memories and memories[number].state in ("active", "retired")
        }

    def _vectors(self, here: Surroundings, memories: Sequence[Memory]) -> tuple[list[Vector], str | None]:
        if not self.embedding.serves(here.scope.space):
            return [], None
        try:
            return self.embedding.make(memories), None
        except EmbeddingError:
            return [], "embedder_unavailable"

    def _alike(
        self, here: Surroundings, entries: Sequence[IndexEntry]
    ) -> tuple[list[list[Alike]], str | None]:
        by_meaning = self.embedding.complete(here.scope.space, here.record)
        thresholds = self.thresholds.of(self.embedding.fingerprint if by_meaning else None)
        return self.similar.find(here.scope, entries, thresholds, by_meaning=by_meaning)

    def _commit(
        self,
        here: Surroundings,
        planned: Sequence[_Planned],
        vectors: Sequence[Vector],
        alike: Sequence[Sequence[Alike]],
        degraded: str | None,
        request: Request,
    ) -> None:
        group = new_id("grp")
        memories = [plan for plan in planned if isinstance(plan, Memory)]
        if not memories:
            return
        changes = [of_memory(memory, "add", here.scope.actor, group) for memory in memories]
        outcome = _outcome(planned, changes, alike, degraded)
        commit = Commit(
            memories=tuple(MemoryWrite(memory=memory, expected=None) for memory in memories),
            changes=tuple(changes),
            vectors=tuple(vectors),
            idempotency=record(request, outcome),
        )
        if here.record is not None:
            self.store.commit(here.scope, commit)
            return
        try:
            made = SpaceWrite(record=self.embedding.first_record(here.scope.space, here.now), expected=None)
            self.store.commit(here.scope, commit.model_copy(update={"spaces": (made,)}))
        except StaleVersionError as error:
            if error.targets and "space" not in error.targets:
                raise
            self.store.commit(here.scope, commit)  # somebody else made the space meanwhile

    def _answers(
        self,
        here: Surroundings,
        planned: Sequence[_Planned],
        alike: Sequence[Sequence[Alike]],
        degraded: str | None,
    ) -> list[Added]:
        wanted = sorted({found.number for one in alike for found in one})
        others = self.store.get_many(here.scope, wanted) if wanted else {}
        similar = iter(alike)
        results: list[Added] = []
        for plan in planned:
            if isinstance(plan, Memory):
                results.append(_answer(here, plan, next(similar), others, degraded))
            else:
                results.append(plan)
        return results

    def _again(self, scope: Scope, outcome: dict[str, Any]) -> list[Added]:
        """The first outcome of a part of a batch, read again from the change records."""
        here = self.spaces.look(scope, Right.WRITE)
        return [
            _error_again(item["error"]) if "error" in item else self._added_again(here, item)
            for item in outcome["items"]
        ]

    def _added_again(self, here: Surroundings, item: dict[str, Any]) -> Added:
        try:
            change = here.recorded(item["target"], item["version"])
            memory = here.as_of(change)
        except NotFoundError as error:
            return error
        alike = [Alike(number, score) for number, score in item["similar"]]
        others = self.store.get_many(here.scope, [one.number for one in alike])
        return _answer(replace(here, now=change.at), memory, alike, others, item["degraded"])


def _chunks(drafts: Sequence[NewMemory | PalimpsestError]) -> list[list[NewMemory | PalimpsestError]]:
    """`drafts` cut so that each part fits into one transaction; the same drafts are always cut alike."""
    chunks: list[list[NewMemory | PalimpsestError]] = [[]]
    size = 0
    for draft in drafts:
        weight = len(draft.text.encode()) + 10_000 if isinstance(draft, NewMemory) else 0
        if chunks[-1] and (len(chunks[-1]) == CHUNK or size + weight > CHUNK_BYTES):
            chunks.append([])
            size = 0
        chunks[-1].append(draft)
        size += weight
    return chunks


def _memory(
    here: Surroundings,
    draft: NewMemory,
    number: int,
    spoken: dict[tuple[str, int], Memory],
    before: dict[tuple[str, int], Memory],
) -> Memory:
    """The memory that a draft becomes. Raises InvalidError, TooLargeError."""
    if len(draft.text.encode()) > TEXT_MAX_BYTES:
        raise TooLargeError(
            f"text: at most {TEXT_MAX_BYTES:,} bytes of UTF-8", field="text", max=TEXT_MAX_BYTES
        )
    space = here.scope.space
    context, context_from = draft.context, None
    source = draft.source
    if context is None and source is not None and source.position:
        place = (source.conversation, source.position - 1)
        previous = spoken.get(place) or before.get(place)
        if previous is not None:
            context, context_from = previous.words, previous.number
    category = here.category_id(draft.category)
    if category is None and "category" not in draft.model_fields_set and here.record is not None:
        default = here.record.default_category
        category = default if any(known.id == default for known in here.categories) else None
    importance = draft.importance
    if importance is None and space.kind is not SpaceKind.COMMUNITY:
        importance = 5
    return Memory(
        space=space.key,
        number=number,
        version=1,
        revision=1,
        text=draft.text,
        kind=draft.kind or default_kind(space),
        importance=importance,
        category=category,
        key=draft.key,
        confidence=draft.confidence,
        subject=draft.subject,
        valid_from=draft.valid_from,
        source=source,
        context=context[-CONTEXT_MAX_CHARS:] if context else None,
        context_from=context_from,
        recorded_at=here.now,
        recorded_by=here.scope.actor,
        updated_at=here.now,
    )


def _answer(
    here: Surroundings,
    memory: Memory,
    alike: Sequence[Alike],
    others: dict[int, Memory],
    degraded: str | None,
) -> dict[str, Any]:
    why = here.why_not_recalled(memory)
    answer: dict[str, Any] = {
        "memory": here.show(memory),
        "similar": [
            {"memory": here.show(others[one.number]), "score": one.score}
            for one in alike
            if one.number in others
            and others[one.number].state != "erased"
            and not here.hides(others[one.number])
        ],
        "recallable": why is None,
        "degraded": degraded,
    }
    if why is not None:
        answer["why_not_recallable"] = why
    if looks_like_secret(memory.text):
        answer["warning"] = "secret"
    return answer


def _outcome(
    planned: Sequence[_Planned],
    changes: Sequence[Change],
    alike: Sequence[Sequence[Alike]],
    degraded: str | None,
) -> dict[str, Any]:
    stored = iter(zip(changes, alike, strict=True))
    items: list[dict[str, Any]] = []
    for plan in planned:
        if isinstance(plan, PalimpsestError):
            items.append({"error": {"code": plan.code, "message": plan.message, "details": plan.details}})
            continue
        change, similar = next(stored)
        items.append(
            {
                "target": change.target,
                "version": change.version,
                "similar": [[one.number, one.score] for one in similar],
                "degraded": degraded,
            }
        )
    return {"items": items}


def _error_again(error: dict[str, Any]) -> PalimpsestError:
    kind = TooLargeError if error["code"] == TooLargeError.code else None
    if kind is not None:
        return kind(error["message"], **error["details"])
    return InvalidError.of(error["details"]["fields"])
