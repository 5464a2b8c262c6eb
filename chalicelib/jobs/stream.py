"""The table's stream: every change of a memory reaches the index; every new job reaches the queue."""

import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from chalicelib.bootstrap import Services, services
from chalicelib.domain.scope import Space
from chalicelib.errors import SearchIndexError, StoreError
from chalicelib.jobs.entrypoint import Event, Failures, failures, job
from chalicelib.services.memory.project import by_space

log = logging.getLogger("palimpsest.stream")

MEMORY = "m#"
JOB = "job#"


class _Record(NamedTuple):
    identifier: str
    space: str
    sort_key: str


@job("stream")
def project_changes(event: Event) -> Failures:
    """A batch of stream records (keys are enough: the table is read again, so order and repeats do not matter)."""
    records = [_record(raw) for raw in event["Records"]]
    memories = {r: int(r.sort_key.removeprefix(MEMORY)) for r in records if r.sort_key.startswith(MEMORY)}
    again = _project(services(), memories)
    again += _wake(services(), [r for r in records if r.sort_key.startswith(JOB)])
    return failures(again)


def _record(raw: Mapping[str, Any]) -> _Record:
    change = raw["dynamodb"]
    return _Record(str(change["SequenceNumber"]), change["Keys"]["pk"]["S"], change["Keys"]["sk"]["S"])


def _project(here: Services, memories: Mapping[_Record, int]) -> list[str]:
    again: list[str] = []
    for space, numbers in by_space([(record.space, number) for record, number in memories.items()]):
        try:
            failed = set(here.projector.project(space, numbers))
        except (SearchIndexError, StoreError) as error:
            log.warning("a space was not projected", extra={"error": type(error).__name__})
            failed = set(numbers)
        again += [r.identifier for r, number in memories.items() if r.space == space.key and number in failed]
    return again


def _wake(here: Services, records: list[_Record]) -> list[str]:
    again = []
    for record in records:
        name = record.sort_key.removeprefix(JOB)
        try:
            here.jobs.wake(Space.from_key(record.space), name)
        except StoreError:
            again.append(record.identifier)
    return again
