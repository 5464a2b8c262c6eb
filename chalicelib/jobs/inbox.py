"""The queue: work that may be long, one message at a time in each group."""

import json
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from chalicelib.bootstrap import services
from chalicelib.domain.scope import Space
from chalicelib.jobs.entrypoint import Event, Failures, failures, job, step
from chalicelib.services.memory.project import pass_scope

STEP_S = 30.0
"""How long one message may work before another goes on with it; each step of the work is saved."""


@job("inbox")
def work_off(event: Event) -> Failures:
    """A batch of queue messages; after a failure the later ones of its group are left to be delivered again, and
    those of other groups are done."""
    stopped: set[str] = set()
    again = []
    for record in event["Records"]:
        group = str(record["attributes"]["MessageGroupId"])
        if group in stopped or not step("inbox", partial(_work, record)):
            stopped.add(group)
            again.append(str(record["messageId"]))
    return failures(again)


def _work(record: Mapping[str, Any]) -> None:
    body = json.loads(record["body"])
    until = time.monotonic() + STEP_S
    scope = pass_scope(Space.from_key(str(body["space"])), "reindex")
    services().jobs.run(scope, str(body["job"]), lambda: time.monotonic() < until)
