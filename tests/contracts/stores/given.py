"""What the store contracts begin with: scopes, memories, changes, commits; plain values, no store in sight."""

from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.category import Category
from chalicelib.domain.change import Change, Operation, of_memory
from chalicelib.domain.memory import Memory, erased
from chalicelib.domain.records import (
    Commit,
    IdempotencyRecord,
    Job,
    MemoryWrite,
    SpaceRecord,
    Vector,
)
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.ports import MemoryStore

T0 = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ACTOR = Actor(kind="person", id="acc_1")
MODEL = "scripted-m-4-0a1b2c3d"


def later(seconds: float) -> datetime:
    """So many seconds after the beginning of every story here."""
    return T0 + timedelta(seconds=seconds)


def scope_of(space: Space) -> Scope:
    """A pass's view of one space, with every right."""
    actor = Actor(kind="pass", id="contract")
    return Scope(actor=actor, space=space, rights=frozenset(Right), place="job")


ME = scope_of(Space.personal("acc_1"))


def memory(number: int, *, scope: Scope = ME, **fields: Any) -> Memory:
    """A memory at version 1 unless `fields` say otherwise."""
    whole: dict[str, Any] = {
        "text": f"fact {number}",
        "kind": "user",
        "space": scope.space.key,
        "number": number,
        "version": 1,
        "revision": 1,
        "recorded_at": T0,
        "recorded_by": ACTOR,
        "updated_at": T0,
    }
    return Memory(**(whole | fields))


def change(of: Memory, op: Operation = "add", group: str = "grp_1", **fields: Any) -> Change:
    """The record of the change that made this memory."""
    return of_memory(of, op, ACTOR, group, **fields)


def adding(*memories: Memory, group: str = "grp_1", **fields: Any) -> Commit:
    """The commit that adds these memories, with their changes."""
    return Commit(
        memories=tuple(MemoryWrite(memory=m, expected=None) for m in memories),
        changes=tuple(change(m, group=group) for m in memories),
        **fields,
    )


def editing(before: Memory, *, group: str = "grp_2", at: datetime | None = None, **fields: Any) -> Commit:
    """The commit that changes `before` to have these fields."""
    after = before.model_copy(
        update={"version": before.version + 1, "updated_at": at or later(before.version)} | fields
    )
    return Commit(
        memories=(MemoryWrite(memory=after, expected=before.version),),
        changes=(change(after, "edit", group),),
    )


def erasing(before: Memory, *, group: str = "grp_e", at: datetime | None = None) -> Commit:
    """The commit that erases `before`: its mark, a change without image, and the stripping of what was."""
    mark = erased(before, at=at or later(1000))
    return Commit(
        memories=(MemoryWrite(memory=mark, expected=before.version),),
        changes=(change(mark, "erase", group),),
        strip=(before.number,),
    )


def add(store: MemoryStore, number: int, *, scope: Scope = ME, group: str = "grp_1", **fields: Any) -> Memory:
    """A memory that was added to the store."""
    made = memory(number, scope=scope, **fields)
    store.commit(scope, adding(made, group=group))
    return made


def current(store: MemoryStore, number: int, scope: Scope = ME) -> Memory:
    """The memory as the store has it; it must be there."""
    found = store.get(scope, number)
    assert found is not None
    return found


def once(key: str = "key-1", owner: str = "acc_1", **fields: Any) -> IdempotencyRecord:
    """An idempotency record that lives for a day."""
    whole: dict[str, Any] = {
        "owner": owner,
        "key": key,
        "request_hash": "h1",
        "outcome": {"status": 201, "numbers": [1]},
        "at": T0,
        "expires_at": later(86_400),
    }
    return IdempotencyRecord(**(whole | fields))


def vector(number: int, **fields: Any) -> Vector:
    """A vector of a memory's text."""
    whole: dict[str, Any] = {
        "number": number,
        "role": "text",
        "model": MODEL,
        "text_hash": "t1",
        "data": bytes(range(16)),
    }
    return Vector(**(whole | fields))


def category(identifier: str, name: str, *, scope: Scope = ME, **fields: Any) -> Category:
    """A category at version 1."""
    whole: dict[str, Any] = {
        "id": identifier,
        "space": scope.space.key,
        "name": name,
        "description": f"what belongs to {name}",
        "created_at": T0,
        "updated_at": T0,
    }
    return Category(**(whole | fields))


def job(identifier: str, *, scope: Scope = ME, **fields: Any) -> Job:
    """A queued job."""
    whole: dict[str, Any] = {
        "id": identifier,
        "space": scope.space.key,
        "kind": "reindex",
        "asked_by": ACTOR,
        "created_at": T0,
        "updated_at": T0,
    }
    return Job(**(whole | fields))


def space_record(scope: Scope = ME, **fields: Any) -> SpaceRecord:
    """A space's record at version 1."""
    whole: dict[str, Any] = {"space": scope.space.key, "created_at": T0}
    return SpaceRecord(**(whole | fields))
