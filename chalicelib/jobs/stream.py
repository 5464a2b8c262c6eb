"""The table's stream: every change of a memory reaches the index; every new job reaches the queue."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from chalicelib.bootstrap import Services, services, written
from chalicelib.domain.scope import Space
from chalicelib.errors import SearchIndexError, StoreUnavailableError
from chalicelib.jobs.entrypoint import Event, Failures, failures, job, step
from chalicelib.observability import count, measure

log = logging.getLogger("palimpsest.stream")


class _Record(NamedTuple):
    """One record that concerns us: of a memory (`name` is its number), or of a job (`name` is its id)."""

    identifier: str
    written_at: float | None
    """Seconds since 1970; None where the stream does not tell."""
    kind: str
    space: Space
    name: str


@job("stream")
def project_changes(event: Event) -> Failures:
    """A batch of stream records (keys are enough: the table is read again, so order and repeats do not matter).

    Records of other items are passed over, and so is what cannot be read: brought again it would hold back the others
    for hours. One that fails is delivered again; the others are done all the same.
    """
    records: list[_Record] = []
    again: list[str] = []
    for raw in event["Records"]:
        identifier = str(raw["dynamodb"]["SequenceNumber"])
        step("stream", partial(_read, identifier, raw, records))  # what is no record of ours never will be
    again += _project(services(), [record for record in records if record.kind == "memory"])
    for record in records:
        if record.kind == "job" and not step(
            "stream", partial(services().jobs.wake, record.space, record.name)
        ):
            again.append(record.identifier)
    return failures(again)


def _read(identifier: str, raw: Mapping[str, Any], records: list[_Record]) -> None:
    keys = raw["dynamodb"]["Keys"]
    about = written(keys["pk"]["S"], keys["sk"]["S"])
    if about is not None:
        at = raw["dynamodb"].get("ApproximateCreationDateTime")
        records.append(_Record(identifier, None if at is None else _seconds(at), *about))


def _seconds(at: Any) -> float:
    """Lambda tells the time as a number; what reads the stream by itself may have a datetime."""
    return float(at.timestamp()) if isinstance(at, datetime) else float(at)


def _project(here: Services, records: Sequence[_Record]) -> list[str]:
    """Project space by space; the identifiers of those that failed."""
    by_space: dict[Space, set[int]] = {}
    for record in records:
        by_space.setdefault(record.space, set()).add(int(record.name))
    failed = {space: _failed(here, space, sorted(numbers)) for space, numbers in by_space.items()}
    lost = sum(map(len, failed.values()))
    count("projected", sum(map(len, by_space.values())) - lost)
    count("projection_failed", lost)
    written = [
        record.written_at
        for record in records
        if record.written_at is not None and int(record.name) not in failed[record.space]
    ]
    if written:
        measure("projection_lag", max(0.0, here.clock().timestamp() - min(written)) * 1000)
    return [record.identifier for record in records if int(record.name) in failed[record.space]]


def _failed(here: Services, space: Space, numbers: Sequence[int]) -> set[int]:
    """Those that were not projected: all when a part is down; else, what fails together is tried one at a time, so
    that one memory does not hold back the others."""
    failed: set[int] = set()
    if step("stream", lambda: failed.update(_projected(here, space, numbers))):
        return failed
    if len(numbers) == 1:
        return set(numbers)
    return {number for number in numbers if _failed(here, space, [number])}


def _projected(here: Services, space: Space, numbers: Sequence[int]) -> Sequence[int]:
    try:
        return here.projector.project(space, numbers)
    except (SearchIndexError, StoreUnavailableError) as error:
        log.warning("a space was not projected", extra={"error": type(error).__name__, "reason": str(error)})
        return numbers
