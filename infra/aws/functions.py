"""The functions of a deployment: how large each is, how long it may take, and what it may do. One role each.

A grant is a list of actions on one thing. `tests/infra` records what the functions really ask of AWS, and holds this
table to it: an action that is missing fails there, and so does one that nobody uses.
"""

from dataclasses import dataclass
from typing import Literal

On = Literal[
    "memory", "memory indexes", "memory stream", "account", "inbox", "queue", "stream failures", "schedule failures",
    "search", "model", "secret", "log", "traces", "streams",
]  # fmt: skip
"""What an action is allowed on. `traces` and `streams` can only be granted on everything (AWS knows no resources for
these actions)."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Actions of one service on one thing."""

    on: On
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """One function. `name` is Chalice's, and `resource` what `chalice package` calls it."""

    name: str
    resource: str
    seconds: int
    megabytes: int
    grants: tuple[Grant, ...]


def _dynamodb(on: On, *actions: str) -> Grant:
    return Grant(on, tuple(f"dynamodb:{action}" for action in actions))


OBSERVED = (
    Grant("log", ("logs:CreateLogStream", "logs:PutLogEvents")),
    Grant("traces", ("xray:PutTraceSegments", "xray:PutTelemetryRecords")),
)
"""What every function writes about itself."""

GIVES_UP = Grant("schedule failures", ("sqs:SendMessage",))
"""Where Lambda puts the event of a schedule whose function failed to the end."""

READS_SPACES = _dynamodb("memory", "Scan")
"""Passes go over every space there is."""

SEARCHES = ("es:ESHttpGet", "es:ESHttpPost")
WRITES_THE_INDEX = (*SEARCHES, "es:ESHttpPut")
BUILDS_THE_INDEX = (*WRITES_THE_INDEX, "es:ESHttpDelete")

MODEL = Grant("model", ("bedrock:InvokeModel",))
SECRET = Grant("secret", ("secretsmanager:GetSecretValue",))

HTTP = Function(
    "api_handler",
    "APIHandler",
    seconds=29,
    megabytes=1769,
    grants=(
        _dynamodb(
            "memory",
            "BatchGetItem", "BatchWriteItem", "ConditionCheckItem", "DeleteItem", "DescribeTable", "GetItem", "PutItem",
            "Query", "Scan", "UpdateItem",
        ),
        _dynamodb("memory indexes", "Query"),
        _dynamodb(
            "account",
            "BatchGetItem", "DeleteItem", "DescribeTable", "GetItem", "PutItem", "Query", "UpdateItem",
        ),
        _dynamodb("inbox", "DescribeTable", "GetItem", "PutItem"),
        Grant("queue", ("sqs:GetQueueAttributes",)),
        Grant("search", SEARCHES),
        MODEL,
        SECRET,
        *OBSERVED,
    ),
)  # fmt: skip
STREAM = Function(
    "stream",
    "Stream",
    seconds=120,
    megabytes=1769,
    grants=(
        _dynamodb("memory stream", "DescribeStream", "GetRecords", "GetShardIterator"),
        _dynamodb("streams", "ListStreams"),
        _dynamodb(
            "memory",
            "BatchGetItem", "BatchWriteItem", "ConditionCheckItem", "GetItem", "PutItem", "Query", "UpdateItem",
        ),
        Grant("queue", ("sqs:SendMessage",)),
        Grant("stream failures", ("sqs:SendMessage",)),
        Grant("search", WRITES_THE_INDEX),
        MODEL,
        SECRET,
        *OBSERVED,
    ),
)  # fmt: skip
INBOX = Function(
    "inbox",
    "Inbox",
    seconds=120,
    megabytes=1769,
    grants=(
        _dynamodb("memory", "BatchGetItem", "ConditionCheckItem", "GetItem", "PutItem", "Query"),
        _dynamodb("memory indexes", "Query"),
        Grant(
            "queue",
            ("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage",
             "sqs:SendMessage"),
        ),
        Grant("search", WRITES_THE_INDEX),
        MODEL,
        SECRET,
        *OBSERVED,
    ),
)  # fmt: skip
RECONCILE = Function(
    "reconcile",
    "Reconcile",
    seconds=900,
    megabytes=1769,
    grants=(
        _dynamodb("memory", "BatchGetItem", "ConditionCheckItem", "GetItem", "PutItem", "Query"),
        _dynamodb("memory indexes", "Query"),
        READS_SPACES,
        GIVES_UP,
        Grant("search", BUILDS_THE_INDEX),
        MODEL,
        SECRET,
        *OBSERVED,
    ),
)
CLEANUP = Function(
    "cleanup",
    "Cleanup",
    seconds=900,
    megabytes=512,
    grants=(
        _dynamodb("memory", "BatchGetItem", "GetItem", "PutItem", "UpdateItem"),
        READS_SPACES,
        _dynamodb("account", "GetItem"),
        GIVES_UP,
        Grant("search", ("es:ESHttpPost",)),
        SECRET,
        *OBSERVED,
    ),
)
SWEEP = Function(
    "sweep",
    "Sweep",
    seconds=300,
    megabytes=512,
    grants=(
        _dynamodb("memory", "BatchGetItem"),
        _dynamodb("memory indexes", "Query"),
        READS_SPACES,
        Grant("queue", ("sqs:SendMessage",)),
        GIVES_UP,
        SECRET,
        *OBSERVED,
    ),
)

FUNCTIONS = (HTTP, STREAM, INBOX, RECONCILE, CLEANUP, SWEEP)
