"""How often a call to DynamoDB is made again, and how long is waited: the only retries there are (botocore's are off).

Waiting is exponential with full jitter, so that those who met once do not meet again (CASES: pynamodb#1264).
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pynamodb.exceptions import PynamoDBException

from chalicelib.errors import ItemTooLargeError, StoreUnavailableError
from chalicelib.stores.dynamodb.failures import Failure, classify, name, reasons

Result = TypeVar("Result")
Piece = TypeVar("Piece")


class ConditionFailedError(Exception):
    """A condition of a write does not hold; nothing was written by this attempt. Never leaves the adapter."""

    def __init__(self, failed: tuple[int, ...], *, uncertain: bool) -> None:
        super().__init__("a condition does not hold")
        self.failed = failed
        """Places of the actions whose conditions failed, in a transaction."""
        self.uncertain = uncertain
        """An earlier attempt may have written, and so may be why this one failed."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How patient the adapter is. Seconds."""

    attempts: int = 8
    """Of one call in all, as long as the database answers."""
    silences: int = 2
    """Of these at most so many may end without an answer: each takes a whole time-out."""
    first_wait: float = 0.025
    """The most that is waited before the second attempt; doubled before each further one."""
    longest_wait: float = 1.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[float, float], float] = random.uniform

    def wait(self, attempt: int) -> None:
        """Wait after the failure of the `attempt`-th attempt (the first is 1)."""
        self.sleep(self.jitter(0.0, min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))))

    def call(
        self, operation: Callable[[], Result], *, write: bool = False, repeatable: bool = True
    ) -> Result:
        """What `operation` returns, tried again while the failure is a passing one.

        `repeatable`: whether doing it twice is as good as once; if not, it is not tried again after a failure that
        may hide a success. Raises ConditionFailedError, ItemTooLargeError, StoreUnavailableError (`unknown` when
        a write may have happened).
        """
        attempt = silences = 0
        uncertain = False
        while True:
            try:
                return operation()
            except PynamoDBException as error:
                failure = _answered(error, uncertain=uncertain)
                uncertain = uncertain or (write and failure.uncertain)
                attempt += 1
                silences += failure in (Failure.SILENT, Failure.UNREACHED)
                spent = attempt >= self.attempts or silences >= self.silences
                if spent or not failure.passing or (failure.uncertain and not repeatable):
                    raise StoreUnavailableError(f"{failure} ({name(error)})", unknown=uncertain) from error
            self.wait(attempt)

    def until_done(self, work: list[Piece], size: int, do: Callable[[list[Piece]], list[Piece]]) -> None:
        """Give `do` the work in parts of at most `size`; what it returns was left undone and is given again.

        Raises StoreUnavailableError when nothing at all was done so many times in a row as there are attempts.
        """
        idle = 0
        while work:
            part, work = work[:size], work[size:]
            left = do(part)
            if left:
                idle = idle + 1 if len(left) == len(part) else 1
                if idle >= self.attempts:
                    raise StoreUnavailableError(f"{Failure.THROTTLED} (left unprocessed)")
                self.wait(idle)
            work = left + work


def _answered(error: PynamoDBException, *, uncertain: bool) -> Failure:
    """What failed, unless the database gave an answer that settles the call: that is raised."""
    failure = classify(error)
    if failure is Failure.CONDITION:
        raise ConditionFailedError(_failed(error), uncertain=uncertain) from error
    if failure is Failure.TOO_LARGE:
        raise ItemTooLargeError(failure) from error
    return failure


def _failed(error: PynamoDBException) -> tuple[int, ...]:
    return tuple(
        place
        for place, reason in enumerate(reasons(error))
        if reason is not None and reason.code == "ConditionalCheckFailed"
    )
