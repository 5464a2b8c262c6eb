"""Errors as HTTP answers: `{"error": {"code", "message", "details"}}`, the right status, never a stack trace."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from chalice.app import Response
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from chalicelib.errors import (
    InvalidError,
    ItemTooLargeError,
    PalimpsestError,
    SearchIndexError,
    StaleVersionError,
    StoreError,
    StoreUnavailableError,
    TooLargeError,
    TooManyRequestsError,
    UnavailableError,
)
from chalicelib.observability import count

log = logging.getLogger("palimpsest.web")

RETRY_AFTER_S = 2
FIELDS_MAX = 50
SHOWN_MAX = 300
"""Characters of a field's name or message: names may be the caller's own, and of any length."""

_PLAINLY = {"extra_forbidden": "is not a field here", "missing": "is required"}


def answer(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer in UTF-8."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return Response(safe, {"Content-Type": "application/json", **(headers or {})}, status)


def problem(error: PalimpsestError) -> Response:
    """The answer for an error of ours."""
    headers = {}
    if isinstance(error, UnavailableError):
        headers["Retry-After"] = str(RETRY_AFTER_S)
        count("failures", part=str(error.details.get("part", "other")))
    if error.status == 409:
        count("conflicts")
    if isinstance(error, TooManyRequestsError):
        headers["Retry-After"] = str(error.details.get("retry_after", RETRY_AFTER_S))
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="palimpsest"'
    body = {"error": {"code": error.code, "message": error.message, "details": error.details}}
    return answer(error.status, body, headers)


def of_adapter(error: StoreError | SearchIndexError, *, may_have_written: bool) -> PalimpsestError:
    """What an adapter's error means to a caller, where no service has turned it into something better.

    `may_have_written`: the work had begun, and a commit of it may lie before the call that failed. Then nobody is
    told that nothing was changed, though the failed call itself changed nothing."""
    if isinstance(error, ItemTooLargeError):
        return TooLargeError("it is too large to be stored; nothing was changed")
    if isinstance(error, StaleVersionError):
        return UnavailableError("others are changing the same; try again", part="table")
    if isinstance(error, SearchIndexError):
        return UnavailableError("the search index does not answer", part="index")
    log.error("the table failed", extra={"error": type(error).__name__})
    if may_have_written or (isinstance(error, StoreUnavailableError) and error.unknown):
        return UnavailableError(
            "the table did not answer; repeat with the same Idempotency-Key to learn whether it was done",
            part="table",
        )
    return UnavailableError("the table does not answer; nothing was changed", part="table")


def of_fields(error: ValidationError, prefix: str = "") -> InvalidError:
    """Which fields are wrong, and why; never what was in them. At most FIELDS_MAX are told of."""
    told = error.errors(include_input=False, include_url=False)[:FIELDS_MAX]
    return InvalidError.of([_field(one, prefix) for one in told])


def _field(one: ErrorDetails, prefix: str) -> dict[str, str]:
    place = ".".join(str(part) for part in one["loc"])
    message = one["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if one["type"] == "value_error" and ": " in message:
        named, message = message.split(": ", 1)
        place = f"{place}.{named}" if place else named
    message = _PLAINLY.get(one["type"], message)
    if one["type"] in ("too_long", "string_too_long"):
        context = one.get("ctx", {})
        unit = "characters" if context.get("field_type") in (None, "Value") else "items"
        message = f"has at most {context['max_length']:,} {unit}"
    return {"field": f"{prefix}{place}"[:SHOWN_MAX] or "body", "message": message[:SHOWN_MAX]}
