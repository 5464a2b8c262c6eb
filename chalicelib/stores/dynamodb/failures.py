"""What went wrong in a call to DynamoDB, read from what PynamoDB raises, and what may be done about it."""

from collections.abc import Sequence
from enum import StrEnum

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.exceptions import ConnectionError as NotConnectedError
from pynamodb.exceptions import CancellationReason, PynamoDBException, TransactWriteError

from chalicelib.stores.dynamodb.connection import UnreadableAnswerError


class Failure(StrEnum):
    """Kinds of failure; the text is what a person reads."""

    CONDITION = "a condition does not hold"
    CONFLICT = "another transaction holds the item"
    IN_PROGRESS = "the same transaction is still being written"
    THROTTLED = "throttled"
    UNREACHED = "not reached"
    SILENT = "no answer in time"
    UNREADABLE = "an answer that cannot be read"
    BROKEN = "an error inside the database"
    TOO_LARGE = "an item or a space is larger than the database keeps"
    REFUSED = "refused"

    @property
    def passing(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self not in (Failure.CONDITION, Failure.TOO_LARGE, Failure.REFUSED)

    @property
    def uncertain(self) -> bool:
        """Whether the write that failed so may have happened all the same."""
        return self in (Failure.SILENT, Failure.UNREADABLE, Failure.BROKEN, Failure.IN_PROGRESS)


_BY_CODE: dict[str, Failure] = {
    "ConditionalCheckFailedException": Failure.CONDITION,
    "ConditionalCheckFailed": Failure.CONDITION,
    "TransactionConflictException": Failure.CONFLICT,
    "TransactionConflict": Failure.CONFLICT,
    "TransactionInProgressException": Failure.IN_PROGRESS,
    "ProvisionedThroughputExceededException": Failure.THROTTLED,
    "ProvisionedThroughputExceeded": Failure.THROTTLED,
    "ThrottlingException": Failure.THROTTLED,
    "ThrottlingError": Failure.THROTTLED,
    "Throttling": Failure.THROTTLED,
    "RequestLimitExceeded": Failure.THROTTLED,
    "InternalServerError": Failure.BROKEN,
    "InternalFailure": Failure.BROKEN,
    "ServiceUnavailable": Failure.BROKEN,
    "ServiceUnavailableException": Failure.BROKEN,
    "500": Failure.BROKEN,
    "502": Failure.BROKEN,
    "503": Failure.BROKEN,
    "504": Failure.BROKEN,
    "ItemCollectionSizeLimitExceededException": Failure.TOO_LARGE,
    "ItemCollectionSizeLimitExceeded": Failure.TOO_LARGE,
}

_WORST_FIRST = (
    Failure.CONDITION,
    Failure.TOO_LARGE,
    Failure.REFUSED,
    Failure.BROKEN,
    Failure.THROTTLED,
    Failure.CONFLICT,
)
"""Of several reasons, the first of these counts: a condition that failed fails again however often it is tried."""


def classify(error: PynamoDBException) -> Failure:
    """What kind of failure this is."""
    if isinstance(error.cause, BotoCoreError):
        return _of_transport(error.cause)
    code, message = _answer(error)
    if code == "TransactionCanceledException":
        return _of_reasons([reason for reason in reasons(error) if reason is not None])
    return _of_code(code, message)


def reasons(error: PynamoDBException) -> Sequence[CancellationReason | None]:
    """Why a transaction was cancelled: one a piece, in the order checks, deletes, puts, updates; None = not why."""
    return error.cancellation_reasons if isinstance(error, TransactWriteError) else ()


def name(error: PynamoDBException) -> str:
    """The error's own name, to be shown and logged: no value of any item is in it."""
    code, _ = _answer(error)
    return code or type(error.cause or error).__name__


def _answer(error: PynamoDBException) -> tuple[str, str]:
    """Code and message of the database's answer, if it gave one. (PynamoDB's own properties for these raise
    AttributeError after a time-out.)"""
    answered = error.cause.response.get("Error", {}) if isinstance(error.cause, ClientError) else {}
    return answered.get("Code", ""), answered.get("Message", "")


def _of_transport(cause: BotoCoreError) -> Failure:
    if isinstance(cause, NotConnectedError):
        return Failure.UNREACHED
    if isinstance(cause, UnreadableAnswerError):
        return Failure.UNREADABLE
    if isinstance(cause, HTTPClientError | IncompleteReadError):
        return Failure.SILENT
    return Failure.REFUSED


def _of_code(code: str, message: str) -> Failure:
    if code in ("ValidationException", "ValidationError") and "size" in message.lower():
        return Failure.TOO_LARGE
    return _BY_CODE.get(code, Failure.REFUSED)


def _of_reasons(reasons: Sequence[CancellationReason]) -> Failure:
    found = {_of_code(reason.code, reason.message or "") for reason in reasons}
    return next((failure for failure in _WORST_FIRST if failure in found), Failure.REFUSED)
