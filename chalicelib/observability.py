"""What the service tells its operator: log lines and metrics, both as JSON, neither ever with what a memory says.

    log = logging.getLogger(__name__)
    log.warning("the index does not answer", extra={"part": "index", "milliseconds": 5000})
    count("degraded", part="index")

A log line has what is in FIELDS and nothing else of `extra`. Of an exception it has the type and where it was raised,
and its message only if it is one of `chalicelib.errors`: messages of libraries quote their input.
"""

import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

FIELDS = frozenset(
    {
        "account", "attempts", "bytes", "category", "count", "degraded", "error", "event", "failed", "function", "group",
        "job", "key_id", "kind", "matched_by", "milliseconds", "model", "number", "op", "operation", "part", "project",
        "reason", "records", "remaining", "space", "status", "version",
    }
)  # fmt: skip
"""Names that `extra` may have: ids, numbers and words of a closed set. `reason` is the message of an error of ours."""

Metric = Literal[
    "added", "conflicts", "degraded", "failures", "projected", "projection_failed", "projection_lag", "recalled",
    "reconciled", "searched",
]  # fmt: skip
"""Every metric there is: counts, but for `projection_lag` (milliseconds). docs/operating.md says of each what it is."""

NAMESPACE = "Palimpsest"
OURS = ("palimpsest", "chalicelib")
LONGEST = 200
"""Characters of a value; longer ones are cut."""

_correlation: ContextVar[str | None] = ContextVar("correlation", default=None)
_METRICS = logging.getLogger("palimpsest.metrics")


@contextmanager
def observed_request(correlation_id: str) -> Iterator[None]:
    """All log lines inside carry `correlation_id`."""
    token = _correlation.set(correlation_id)
    try:
        yield
    finally:
        _correlation.reset(token)


def configure(
    *, level: str = "info", metrics: Literal["off", "emf"] = "off", stream: TextIO | None = None
) -> None:
    """Send our log lines from `level` on, and warnings of libraries, to `stream` (default: standard error), and metrics
    to standard output (or `stream`). What was configured before is replaced.

    Libraries are never heard below a warning: there they log whole requests.
    """
    lines = logging.StreamHandler(stream or sys.stderr)
    lines.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [lines]
    root.setLevel(logging.WARNING)
    for name in OURS:
        logging.getLogger(name).setLevel(level.upper())
    bare = logging.StreamHandler(stream or sys.stdout)
    bare.setFormatter(logging.Formatter("%(message)s"))
    _METRICS.handlers[:] = [bare]
    _METRICS.propagate = False
    _METRICS.setLevel(logging.INFO if metrics == "emf" else logging.CRITICAL)


def count(name: Metric, value: int = 1, **dimensions: str) -> None:
    """Add `value` to a metric, in the embedded metric format of CloudWatch. `dimensions` are named as in FIELDS, and
    their values come from a closed set: each combination is a metric of its own, and is paid for."""
    _write(name, value, "Count", dimensions)


def measure(name: Metric, milliseconds: float) -> None:
    """One value of a metric that is a time."""
    _write(name, round(milliseconds, 1), "Milliseconds", {})


def _write(name: Metric, value: float, unit: str, dimensions: Mapping[str, str]) -> None:
    if not _METRICS.isEnabledFor(logging.INFO):
        return
    stated = {key: str(word)[:LONGEST] for key, word in dimensions.items() if key in FIELDS - {name}}
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [sorted(stated)],
        "Metrics": [{"Name": name, "Unit": unit}],
    }
    now = round(datetime.now(UTC).timestamp() * 1000)
    emf = {"_aws": {"Timestamp": now, "CloudWatchMetrics": [directive]}, **stated, name: value}
    _METRICS.info("%s", json.dumps(emf))


class JsonLines(logging.Formatter):
    """A log record as one line of JSON: at, level, logger, message, correlation, the allowed fields, the exception."""

    def format(self, record: logging.LogRecord) -> str:
        ours = record.name.split(".")[0] in OURS
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            # A library's arguments may quote what it was given; its own words do not.
            "message": record.getMessage() if ours else str(record.msg),
        }
        if (correlation := _correlation.get()) is not None:
            line["correlation"] = correlation
        line |= {name: _plain(value) for name, value in record.__dict__.items() if name in FIELDS}
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = _exception(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | bool | None) else str(value)[:LONGEST]


def _exception(error: BaseException) -> dict[str, object]:
    kind = type(error)
    described: dict[str, object] = {
        "type": f"{kind.__module__}.{kind.__qualname__}",
        "stack": [f"{at.filename}:{at.lineno} {at.name}" for at in traceback.extract_tb(error.__traceback__)],
    }
    if kind.__module__ == "chalicelib.errors":
        described["message"] = str(error)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        described["cause"] = _exception(cause)
    return described
