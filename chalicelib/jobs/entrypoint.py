"""What wraps every function other than HTTP: correlation, logs, and answers that say which records to try again."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from chalicelib.domain.ids import new_id
from chalicelib.errors import EmbeddingError, SearchIndexError, StoreError
from chalicelib.observability import count, observed_request

log = logging.getLogger("palimpsest.jobs")

Event = Mapping[str, Any]
Failures = dict[str, list[dict[str, str]]]
"""`{"batchItemFailures": [{"itemIdentifier": …}]}`: what Lambda, and the laptop's loops, deliver again."""


def failures(identifiers: Sequence[str] = ()) -> Failures:
    """The answer that asks for these records to be delivered again."""
    return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in identifiers]}


def job(name: str) -> Callable[[Callable[[Event], Failures]], Callable[[Event, Any], Failures]]:
    """Make a function of an event a Lambda handler. What it raises goes on to Lambda, which delivers the whole batch
    again; so a function of several records does each of them as a `step`."""

    def wrap(function: Callable[[Event], Failures]) -> Callable[[Event, Any], Failures]:
        @wraps(function)
        def handle(event: Event, _context: Any) -> Failures:
            with observed_request(new_id("job")):
                answer = function(event)
                if again := len(answer["batchItemFailures"]):
                    log.info("to be delivered again", extra={"operation": name, "records": again})
                return answer

        return handle

    return wrap


def step(name: str, work: Callable[[], object]) -> bool:
    """Do the work of one record, or of one space; whether it ended well. Its failure must not fail the others, so
    whatever it raises ends here: a part that is down is a line in the log, an unknown error is logged whole."""
    try:
        work()
    except (StoreError, SearchIndexError, EmbeddingError) as error:
        told = {"operation": name, "error": type(error).__name__, "reason": str(error)}
        log.warning("a part does not answer", extra=told)
    except Exception:  # the boundary
        log.exception("a step failed", extra={"operation": name})
    else:
        return True
    count("failures", part=name)
    return False
