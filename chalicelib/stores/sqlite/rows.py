"""Memories and changes as rows, and back. Parsing is most of what a read costs, so each row is parsed once.

A memory's body is its JSON without what is counted (revision, use); those are columns, which `touch` changes
without touching the text.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from chalicelib.domain.change import Change
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.pages import Page

Item = TypeVar("Item")
Row = Sequence[Any]

_COUNTED = {"revision", "use_count", "last_used_at"}


def to_memory(row: Row) -> Memory:
    """The memory of a row `body, revision, use_count, last_used_at`."""
    body, revision, use_count, last_used_at = row
    used = f'"{last_used_at}"' if last_used_at else "null"
    counted = f',"revision":{revision},"use_count":{use_count},"last_used_at":{used}}}'
    return Memory.model_validate_json(body[:-1] + counted)


def of_memory(memory: Memory) -> dict[str, Any]:
    """The columns of a memory, all but space and number."""
    source = memory.source
    placed = source is not None and memory.state is not State.ERASED
    return {
        "version": memory.version,
        "revision": memory.revision,
        "use_count": memory.use_count,
        "last_used_at": rfc3339(memory.last_used_at) if memory.last_used_at else None,
        "erased": memory.state is State.ERASED,
        "conversation": source.conversation if source and placed else None,
        "position": source.position if source and placed else None,
        "context_from": None if memory.state is State.ERASED else memory.context_from,
        "body": memory.model_dump_json(exclude=_COUNTED),
    }


def to_change(row: Row) -> Change:
    """The change of a row `body, image`."""
    body, image = row
    return Change.model_validate_json(f'{body[:-1]},"image":{image or "null"}}}')


def of_change(change: Change) -> dict[str, Any]:
    """The columns of a change, all but the space."""
    return {
        "target": change.target,
        "version": change.version,
        "at": rfc3339(change.at),
        "grp": change.group,
        "body": change.model_dump_json(exclude={"image"}),
        "image": None if change.image is None else json.dumps(change.image, ensure_ascii=False),
    }


def journal(
    connection: sqlite3.Connection,
    select: str,
    parameters: tuple[object, ...],
    *,
    after: str | None,
    limit: int,
    read: Callable[[Row], Item],
) -> Page[Item]:
    """A page of a table that is read newest first. `select` gives `at`, `seq`, then the columns that `read` takes,
    and has a WHERE. A page's `next` is the place of its last row, so what is added meanwhile shifts nothing."""
    where = ""
    if after is not None:
        at, _, seq = after.rpartition("/")
        where = " AND (at, seq) < (?, ?)"
        parameters = (*parameters, at, int(seq))
    found = connection.execute(
        f"{select}{where} ORDER BY at DESC, seq DESC LIMIT ?", (*parameters, limit + 1)
    ).fetchall()
    shown = found[:limit]
    following = f"{shown[-1][0]}/{shown[-1][1]}" if len(found) > limit and shown else None
    return Page([read(row[2:]) for row in shown], following)
