"""Cursors: where a page of a list begins, tied to that list. A cursor of another list opens nothing."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chalicelib.domain.clock import Moment
from chalicelib.errors import InvalidError

Whole = Annotated[int, Field(strict=True, ge=-(10**18), le=10**18)]


class Place(BaseModel):
    """Where a page begins."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    by: Literal["index", "number", "text"]
    row: tuple[Whole, Whole] | None = None
    """by index: (sort value, number) of the last row shown."""
    number: Whole | None = None
    """by number: the last number (or version) looked at."""
    text: Annotated[str, Field(max_length=1_000)] | None = None
    """by text: the store's own mark."""
    now: Moment | None = None
    """As of when the list is sorted, so that its pages fit together."""


def write_cursor(of: Mapping[str, Any], place: Place) -> str:
    """The cursor for `place` in the list that `of` describes (space, filters, sort …)."""
    body = {"of": _fingerprint(of), **place.model_dump(mode="json", exclude_none=True)}
    return base64.urlsafe_b64encode(json.dumps(body, separators=(",", ":")).encode()).decode().rstrip("=")


def read_cursor(of: Mapping[str, Any], cursor: str | None) -> Place | None:
    """The place that `cursor` names; None without one. Raises InvalidError when it is none, or another list's."""
    if cursor is None:
        return None
    try:
        body = json.loads(
            base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), b"-_", validate=True)
        )
        own = hmac.compare_digest(str(body.pop("of")).encode(), _fingerprint(of).encode())
        place = Place.model_validate(body)
    except (ValueError, ValidationError, AttributeError, KeyError, TypeError) as error:
        raise InvalidError("cursor", "is not a cursor of this list") from error
    if not own:
        raise InvalidError("cursor", "is not a cursor of this list")
    return place


def moment_of(place: Place | None, now: datetime) -> datetime:
    """As of when the list is sorted: that of its first page."""
    return place.now if place is not None and place.now is not None else now


def _fingerprint(of: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:16]
