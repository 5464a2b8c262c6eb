"""The functions beside HTTP, as Lambda calls them: one each, with a role of its own. Which event calls which function
is said by the stack (`infra/aws`), so that its retries, limits and failure destination are said in one place.

Lambda imports this module without `app.py`.
"""

from typing import Any

from chalice.app import Blueprint

from chalicelib.jobs.entrypoint import Event, Failures
from chalicelib.jobs.inbox import work_off
from chalicelib.jobs.schedules import clean_up, reconcile, sweep
from chalicelib.jobs.stream import project_changes

functions = Blueprint(__name__)


@functions.lambda_function(name="stream")
def on_changes(event: Event, context: Any) -> Failures:
    """Records of the memory table's stream."""
    return project_changes(event, context)


@functions.lambda_function(name="inbox")
def on_messages(event: Event, context: Any) -> Failures:
    """Messages of the queue."""
    return work_off(event, context)


@functions.lambda_function(name="reconcile")
def on_reconcile(event: Event, context: Any) -> Failures:
    """A schedule: hourly by sample, nightly `{"whole": true}`."""
    return reconcile(event, context)


@functions.lambda_function(name="cleanup")
def on_cleanup(event: Event, context: Any) -> Failures:
    """A schedule: daily."""
    return clean_up(event, context)


@functions.lambda_function(name="sweep")
def on_sweep(event: Event, context: Any) -> Failures:
    """A schedule: every few minutes."""
    return sweep(event, context)
