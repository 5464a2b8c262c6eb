"""The clock: what is done again and again, whether anybody asks or not."""

import logging

from chalicelib.bootstrap import services
from chalicelib.errors import SearchIndexError, StoreError
from chalicelib.jobs.entrypoint import Event, Failures, failures, job

log = logging.getLogger("palimpsest.schedules")

SAMPLE = 256


@job("cleanup")
def clean_up(_event: Event) -> Failures:
    """Daily cleanup of every space (SPEC M28). Safe to run twice, and late: the limit holds for any 24 hours."""
    here = services()
    for space in here.parts.memories.spaces():
        try:
            trashed = here.retain.clean(space)
        except (SearchIndexError, StoreError) as error:
            log.warning("a space was not cleaned", extra={"error": type(error).__name__})
            continue
        if trashed:
            log.info("memories were moved to the trash", extra={"count": len(trashed)})
    return failures([])


@job("reconcile")
def reconcile(event: Event) -> Failures:
    """Compare the index with the table and repair it: `{"whole": true}` all of it, else a sample of each space.

    Rebuilds the index when there is none. Safe to run twice, and late.
    """
    here = services()
    try:
        if not here.parts.index.ready():
            log.warning("the index is missing: it is built anew")
            here.rebuild.rebuild()
            return failures([])
        for space in here.parts.memories.spaces():
            found = here.reconciler.compare(space, sample=None if event.get("whole") else SAMPLE)
            if found.count:
                log.warning("the index differed and was repaired", extra={"records": found.count})
    except (SearchIndexError, StoreError) as error:
        log.warning("could not reconcile", extra={"error": type(error).__name__})
    return failures([])
