"""How the world of accounts is written: one transaction for the change, its audit entry and the idempotency record.

A change of an entity is tried against others' changes: when the caller named a version, the first stranger's change
ends in a conflict with the current state; when it named none, the change is computed again on what is current.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from chalicelib.domain.accounts import (
    Account,
    AccountCommit,
    ApiKey,
    AuditEntry,
    Community,
    Entity,
    EntityWrite,
    Installation,
    Member,
    Project,
    TeamMember,
)
from chalicelib.domain.ids import new_id
from chalicelib.domain.shown_accounts import Shown
from chalicelib.errors import AlreadyDoneError, ConflictError, NotFoundError, StaleVersionError
from chalicelib.ports import AccountStore, InboxStore
from chalicelib.services.accounts.access import Caller
from chalicelib.services.idempotency import Request, once, record, replay

TRIES = 5
CHUNK = 30
"""Entities that one transaction removes at most; an entity may be several items in a store, of 100 at most."""

Item = TypeVar("Item", Account, ApiKey, Project, Member, Community, TeamMember, Installation)


class _Versioned(Protocol):
    @property
    def version(self) -> int: ...


@dataclass(frozen=True)
class Deed:
    """What is done, by whom, to whom: all that the audit tells, except when. No names, no secrets."""

    caller: Caller
    op: str
    target: str
    details: dict[str, Any]


@dataclass(frozen=True)
class Ledger:
    """Writes deeds."""

    store: AccountStore
    inbox: InboxStore

    def once(self, request: Request, again: Callable[[Shown], Shown], work: Callable[[], Shown]) -> Shown:
        """Do `work` once for this request, against others' changes; a repeat reads its answer `again` (M15).

        Raises ConflictError when others change the same thing faster than `work` can.
        """
        return once(self.inbox, request, again, lambda: _against_others(work))

    def commit(
        self, deed: Deed, writes: Sequence[EntityWrite], request: Request, outcome: dict[str, Any] | None
    ) -> None:
        """Write a deed. Without writes there is nothing to tell, and only the outcome is kept for a repeat.

        `outcome`: where the answer is read again; None while more transactions of the same request follow.
        Raises StaleVersionError, AlreadyDoneError; nothing was written then.
        """
        kept = record(request, outcome) if outcome is not None else None
        if not writes and kept is None:
            return
        entry = AuditEntry(
            id=new_id("aud"),
            at=request.now,
            by=deed.caller.account.id,
            op=deed.op,
            target=deed.target,
            details={**deed.details, "with_key": deed.caller.key},
        )
        audit = (entry,) if writes else ()
        self.store.commit(AccountCommit(writes=tuple(writes), audit=audit, idempotency=kept))

    def commit_all(
        self, deed: Deed, writes: Sequence[EntityWrite], request: Request, outcome: dict[str, Any]
    ) -> None:
        """Write a deed of any size, in order, CHUNK writes at a time. Only the last part keeps the outcome, so a
        repeat finishes what was interrupted; the first of several notes that the deed has begun."""
        parts = [writes[start : start + CHUNK] for start in range(0, len(writes), CHUNK)] or [writes]
        begun = self.begun(request)
        for part in parts[:-1]:
            try:
                self.commit(deed, part, request.part(1), None if begun else {"begun": deed.op})
            except AlreadyDoneError as error:
                # Done, but its answer was lost: the rest follows from what is current.
                raise StaleVersionError((deed.target,)) from error
            begun = True
        self.commit(deed, parts[-1], request, outcome)

    def begun(self, request: Request) -> bool:
        """Whether a part of this request was done before: what is current now is then partly its own work, and the
        version that it names need not be current any more."""
        return replay(self.inbox, request.part(1)) is not None


def _against_others(work: Callable[[], Shown]) -> Shown:
    for _ in range(TRIES):
        try:
            return work()
        except StaleVersionError:
            continue
    raise ConflictError("it is being changed by others; try again")


def created(entity: Entity) -> EntityWrite:
    """The write of something that must not exist yet."""
    return EntityWrite(entity=entity, expected=None)


def changed(entity: Item, **fields: Any) -> tuple[Item, EntityWrite]:
    """`entity` with other `fields` and the next version, and the write that makes it so.

    Version 0 is what was never stored: settings that nobody saved.
    """
    after = entity.model_copy(update={**fields, "version": entity.version + 1})
    return after, EntityWrite(entity=after, expected=entity.version or None)


def removed(entity: Entity) -> EntityWrite:
    """The write after which `entity` is gone."""
    return EntityWrite(entity=entity, expected=entity.version, delete=True)


def amended(entity: Item, wanted: dict[str, Any]) -> tuple[Item, list[EntityWrite], dict[str, Any]]:
    """`entity` with the fields of `wanted`, the write that makes it so, and those fields that really change.
    When none does, it is `entity` itself, and nothing is written."""
    fields = {name: value for name, value in wanted.items() if getattr(entity, name) != value}
    if not fields:
        return entity, [], {}
    after, write = changed(entity, **fields)
    return after, [write], fields


def check_version(wanted: int | None, current: _Versioned, shown: Shown) -> None:
    """Raises ConflictError with the current state when a version was named and is stale (M15)."""
    if wanted is not None and wanted != current.version:
        raise ConflictError(f"version {wanted} is not current, {current.version} is", current=shown)


def found(entity: Item | None, what: str) -> Item:
    """`entity` itself. Raises NotFoundError when there is none."""
    if entity is None:
        raise NotFoundError(f"there is no such {what}")
    return entity
