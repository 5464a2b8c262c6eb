"""Times: always aware, always UTC, milliseconds at most; RFC 3339 with `Z` on the wire."""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer

DAY = 86_400.0


def to_utc(moment: datetime) -> datetime:
    """The same instant in UTC, cut to milliseconds. A naive time is taken as UTC (CASES: mem0#3213)."""
    if moment.tzinfo is UTC and moment.microsecond % 1000 == 0:
        return moment
    try:
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the time is outside the years 1 to 9999") from error
    finer = aware.microsecond % 1000
    return aware.replace(microsecond=aware.microsecond - finer) if finer else aware


def rfc3339(moment: datetime) -> str:
    """`2026-11-30T15:09:56.123Z`: fixed width, so texts sort as times do."""
    return to_utc(moment).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def days_between(earlier: datetime, later: datetime) -> float:
    """Days from `earlier` to `later`, never below zero (clocks differ)."""
    return max(0.0, (later - earlier).total_seconds() / DAY)


_DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ]|$)")


def _only_times(value: object) -> object:
    """Refuses numbers, and texts that pydantic would take for seconds since 1970: `20240501` is a day in May."""
    if not isinstance(value, datetime) and not (isinstance(value, str) and _DATED.match(value)):
        raise ValueError("is a time such as 2026-11-30T15:09:56Z")
    return value


Moment = Annotated[
    datetime,
    BeforeValidator(_only_times),
    AfterValidator(to_utc),
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
]
