"""A write that is asked for twice under one key is done once, and answers its first outcome twice.

The record is written in the same transaction as the change, so there is no moment in which one exists without
the other. It says where the outcome is to be read again (ids, versions, scores), never a memory's text: erasing
a memory leaves nothing behind here (M13).
"""

import hmac
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from chalicelib.domain.clock import Moment
from chalicelib.domain.records import IdempotencyRecord
from chalicelib.errors import AlreadyDoneError, ConflictError, InvalidError
from chalicelib.ports import InboxStore

Outcome = TypeVar("Outcome")

KEY_MAX_CHARS = 255


class Request(BaseModel):
    """One write as it was asked for: by whom, under which key (None: not repeatable), and a hash of all of it."""

    model_config = ConfigDict(frozen=True)

    owner: str
    key: str | None
    hash: str
    now: Moment
    keep_days: int = 7

    def part(self, index: int) -> "Request":
        """The request for one part of what does not fit into one transaction. No caller's own key can be a part's
        (callers' keys have no blank)."""
        return (
            self.model_copy(update={"key": f"{self.key} {index}"}) if self.key is not None and index else self
        )


def replay(inbox: InboxStore, request: Request) -> dict[str, Any] | None:
    """The outcome of this request if it was done before.

    Raises InvalidError when the same key came with another request.
    """
    if request.key is None:
        return None
    found = inbox.outcome(request.owner, request.key, request.now)
    if found is None:
        return None
    if not hmac.compare_digest(found.request_hash, request.hash):
        raise InvalidError("Idempotency-Key", "was used before with another request")
    return found.outcome


def record(request: Request, outcome: dict[str, Any]) -> IdempotencyRecord | None:
    """What is to be written together with the change; None when the request has no key."""
    if request.key is None:
        return None
    return IdempotencyRecord(
        owner=request.owner,
        key=request.key,
        request_hash=request.hash,
        outcome=outcome,
        at=request.now,
        expires_at=request.now + timedelta(days=request.keep_days),
    )


def once(
    inbox: InboxStore,
    request: Request,
    again: Callable[[dict[str, Any]], Outcome],
    work: Callable[[], Outcome],
) -> Outcome:
    """Do `work`, unless it was done before: then `again` reads its outcome. Two at the same moment do it once."""
    found = replay(inbox, request)
    if found is not None:
        return again(found)
    try:
        return work()
    except AlreadyDoneError:
        found = replay(inbox, request)
        if found is None:
            raise ConflictError("another request with this Idempotency-Key is in flight") from None
        return again(found)
