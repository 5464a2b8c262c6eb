"""The clock of a laptop: fires what the cloud's schedules fire, and looks after the index between them."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.errors import SearchIndexError
from chalicelib.jobs.schedules import clean_up, reconcile, sweep
from chalicelib.ports import SearchIndex

log = logging.getLogger("palimpsest.local")

LOOK_EVERY_S = 5.0
"""Within which a missing index begins to be built anew, and one that was away is found to be back."""
LOOK_LATER_S = 60.0
"""When building it anew fails again and again, it is tried so seldom."""
SAMPLE_EVERY_S = 600.0
SWEEP_EVERY_S = 60.0
DAY_S = 86_400.0
AFTER_START_S = 60.0
SETTLED_S = 10.0
"""What can wait leaves the first seconds to the first requests."""

Job = Callable[[Mapping[str, Any], Any], object]


class _Appointment:
    """A job that is due every so many seconds, for the first time `first` seconds from now."""

    def __init__(self, now: float, job: Job, event: Mapping[str, Any], *, every: float, first: float) -> None:
        self._job = job
        self._event = event
        self._every = every
        self.due_at = now + first

    def keep(self, now: float) -> None:
        """Do it if it is due."""
        if now >= self.due_at:
            self.due_at = now + self._every
            self._job(self._event, None)


class Clock:
    """One look at it is a turn of a loop. `back` is called when the index answers after it did not."""

    def __init__(
        self, index: SearchIndex, monotonic: Callable[[], float], back: Callable[[], object] = lambda: None
    ) -> None:
        now = monotonic()
        self._index = index
        self._monotonic = monotonic
        self._back = back
        self._was_ready = True
        self._look_at = now
        self._failed_builds = 0
        whole = _Appointment(now, reconcile, {"whole": True}, every=DAY_S, first=DAY_S)
        self._whole = whole
        self._of_the_index = [
            whole,
            _Appointment(now, reconcile, {}, every=SAMPLE_EVERY_S, first=SETTLED_S),
            _Appointment(now, clean_up, {}, every=DAY_S, first=AFTER_START_S),
        ]
        self._sweeps = [
            _Appointment(now, sweep, {"all": True}, every=float("inf"), first=0.0),
            _Appointment(now, sweep, {}, every=SWEEP_EVERY_S, first=SWEEP_EVERY_S),
        ]

    def compare_all(self) -> None:
        """Compare the whole index at the next turn: something may have been missed."""
        self._whole.due_at = self._monotonic()

    def turn(self) -> bool:
        """Do what is due; never more at once. What needs the index waits until it is ready."""
        now = self._monotonic()
        for appointment in self._sweeps:
            appointment.keep(now)
        if now >= self._look_at:
            ready = self._ready()
            if ready and not self._was_ready:
                self._back()
            self._was_ready = ready
            self._look_at = now + min(LOOK_EVERY_S * 2**self._failed_builds, LOOK_LATER_S)
        if self._was_ready:
            for appointment in self._of_the_index:
                appointment.keep(now)
        return False

    def _ready(self) -> bool:
        """Whether the index is there now; one that is missing is built anew first."""
        try:
            if not self._index.ready():
                reconcile({}, None)
                if not self._index.ready():
                    self._failed_builds += 1
                    return False
        except SearchIndexError as error:
            if self._was_ready:
                log.warning(
                    "the index does not answer", extra={"part": "index", "error": type(error).__name__}
                )
            return False
        self._failed_builds = 0
        return True
