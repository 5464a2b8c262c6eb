"""The clock: what is done again and again, whether anybody asks or not. All of it is safe to run twice, and late."""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from chalicelib.bootstrap import Services, services
from chalicelib.domain.scope import Space
from chalicelib.jobs.entrypoint import Event, Failures, failures, job, step
from chalicelib.observability import count

log = logging.getLogger("palimpsest.schedules")

SAMPLE = 256
IDLE = timedelta(minutes=2)
"""A job on which nobody worked for so long has lost its message: a step of it takes seconds."""


@job("reconcile")
def reconcile(event: Event) -> Failures:
    """Compare the index with the table and repair it: `{"whole": true}` all of it, else a sample of each space.
    Builds the index anew when there is none."""
    here = services()
    sample = None if event.get("whole") else SAMPLE
    if step("reconcile", partial(_rebuild_if_missing, here)):
        _each_space("reconcile", here, lambda space: _compare(here, space, sample))
    return failures()


@job("cleanup")
def clean_up(_event: Event) -> Failures:
    """Daily cleanup of every space (SPEC M28): the limit holds for any 24 hours, however often this runs."""
    here = services()
    _each_space("cleanup", here, lambda space: _clean(here, space))
    return failures()


@job("sweep")
def sweep(event: Event) -> Failures:
    """Send again the messages of unfinished jobs that were lost: of those on which nobody has worked for IDLE, or
    (`{"all": true}`, when no worker can be at work) of all."""
    here = services()
    idle = timedelta(0) if event.get("all") else IDLE
    _each_space("sweep", here, lambda space: here.jobs.wake_unfinished(space, idle))
    return failures()


def _each_space(name: str, here: Services, work: Callable[[Space], object]) -> None:
    """Do it for every space: one that fails does not keep the others from it. The list itself may fail, too."""

    def all_of_them() -> None:
        for space in here.parts.memories.spaces():
            step(name, partial(work, space))

    step(name, all_of_them)


def _rebuild_if_missing(here: Services) -> None:
    if not here.parts.index.ready():
        log.warning("the index is missing: it is built anew")
        here.rebuild.rebuild()


def _compare(here: Services, space: Space, sample: int | None) -> None:
    found = here.reconciler.compare(space, sample=sample)
    count("reconciled", found.count)
    if found.count and sample is not None:  # where a sample differs, more may
        found = here.reconciler.compare(space)
        count("reconciled", found.count)
    if found.count:
        log.warning("the index differed and was repaired", extra={"records": found.count})


def _clean(here: Services, space: Space) -> None:
    trashed = here.retain.clean(space)
    if trashed:
        log.info("memories were moved to the trash", extra={"count": len(trashed)})
