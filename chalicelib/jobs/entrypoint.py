"""What wraps every function other than HTTP: correlation, logs, and answers that say which records to try again."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from chalicelib.domain.ids import new_id
from chalicelib.observability import observed_request

log = logging.getLogger("palimpsest.jobs")

Event = Mapping[str, Any]
Failures = dict[str, list[dict[str, str]]]
"""`{"batchItemFailures": [{"itemIdentifier": …}]}`: what Lambda, and the laptop's loops, deliver again."""


def failures(identifiers: Sequence[str]) -> Failures:
    """The answer that asks for these records to be delivered again."""
    return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in identifiers]}


def job(name: str) -> Callable[[Callable[[Event], Failures]], Callable[[Event, Any], Failures]]:
    """Make a function of an event a Lambda handler. An unknown error is logged and raised: the batch is delivered
    again as a whole."""

    def wrap(function: Callable[[Event], Failures]) -> Callable[[Event, Any], Failures]:
        @wraps(function)
        def handle(event: Event, _context: Any) -> Failures:
            with observed_request(new_id("job")):
                try:
                    answer = function(event)
                except Exception:  # the boundary: logged whole, and delivered again
                    log.exception("a job failed", extra={"operation": name})
                    raise
                again = len(answer["batchItemFailures"])
                if again:
                    log.warning("to be delivered again", extra={"operation": name, "records": again})
                return answer

        return handle

    return wrap
