"""What the cloud does by itself, here as threads: the table's stream and the queue call the same functions."""

import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime

from chalicelib.errors import SearchIndexError, StoreError
from chalicelib.jobs.inbox import work_off
from chalicelib.jobs.stream import project_changes
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.sqlite.outbox import Outbox, OutboxRecord

log = logging.getLogger("palimpsest.local")

BATCH = 128
TOGETHER = 2
"""What has failed more often is handed on alone, so that it cannot fail others with it."""
IDLE_S = 1.0
"""How long a loop sleeps at most when nobody wakes it: what was to be tried again later is looked for then."""
FAILED_S = 5.0
"""How long a loop waits at most after a turn that failed."""
AGAIN_S = 2.0


class Loop(threading.Thread):
    """Calls `turn` until it is stopped: at once again while `turn` finds work, else when woken or after `idle`
    seconds. A turn that fails is said once, and tried again."""

    def __init__(self, name: str, turn: Callable[[], bool], *, idle: float = IDLE_S) -> None:
        super().__init__(name=f"palimpsest-{name}", daemon=True)
        self._turn = turn
        self._idle = idle
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._failures = 0
        self._said: type[Exception] | None = None

    def wake(self) -> None:
        """There may be work."""
        self._wake.set()

    def stop(self) -> None:
        """End after the turn that runs now; `join` waits for it."""
        self._stopping.set()
        self._wake.set()

    def run(self) -> None:
        """The loop."""
        while not self._stopping.is_set():
            self._wake.clear()
            if not self._turned():
                self._wake.wait(self._idle if not self._failures else min(FAILED_S, self._failures))

    def _turned(self) -> bool:
        """Whether there may be more to do at once."""
        try:
            busy = self._turn()
        except (StoreError, SearchIndexError) as error:
            if self._is_news(error):
                log.warning("a part does not answer; it is tried again", extra=self._extra(error))
            return False
        except (
            Exception
        ) as error:  # the boundary of a thread: a loop that died silently would be the worst fault
            if self._is_news(error):
                log.exception("a turn failed; it is tried again", extra=self._extra(error))
            return False
        if self._failures:
            log.warning("works again", extra={"operation": self.name})
        self._failures, self._said = 0, None
        return busy

    def _is_news(self, error: Exception) -> bool:
        """Whether it failed otherwise a moment ago: a full disk is no news every five seconds."""
        news = self._said is not type(error) and not self._stopping.is_set()
        self._failures += 1
        self._said = type(error)
        return news

    def _extra(self, error: Exception) -> dict[str, str]:
        return {"operation": self.name, "error": type(error).__name__}


def stream_turn(
    outbox: Outbox, now: Callable[[], datetime], settled: Callable[[], object] = lambda: None
) -> bool:
    """Hand what waits in the outbox to the stream's function, as a table's stream would; whether there was any.

    `settled` is called before records are done with: from then on, searches rely on the index alone (M25).
    """
    records = outbox.pending(BATCH, failures=TOGETHER)
    _hand_on(records, outbox, now, settled)
    if len(records) < BATCH:
        alone = outbox.pending(1)
        _hand_on(alone, outbox, now, settled)
        return bool(records or alone)
    return True


def _hand_on(
    records: list[OutboxRecord], outbox: Outbox, now: Callable[[], datetime], settled: Callable[[], object]
) -> None:
    if not records:
        return
    answer = project_changes({"Records": [_stream_record(record) for record in records]}, None)
    failed = {int(item["itemIdentifier"]) for item in answer["batchItemFailures"]}
    done = [record.seq for record in records if record.seq not in failed]
    if done:
        settled()
    outbox.done(done)
    outbox.failed(sorted(failed), now())


def _stream_record(record: OutboxRecord) -> dict[str, object]:
    sort_key = keys.memory(int(record.id)) if record.kind == "memory" else keys.job(record.id)
    item = {"pk": {"S": record.space}, "sk": {"S": sort_key}}
    return {"eventName": "MODIFY", "dynamodb": {"Keys": item, "SequenceNumber": str(record.seq)}}


def queue_turn(queue: SqliteQueue) -> bool:
    """Hand one message to the queue's function, as SQS would; whether there was one. After a failure it is handed on
    again, later each time."""
    message = queue.receive()
    if message is None:
        return False
    record = {
        "messageId": message.receipt,
        "body": json.dumps(message.body),
        "attributes": {"MessageGroupId": message.group},
    }
    if work_off({"Records": [record]}, None)["batchItemFailures"]:
        queue.release(message, delay=AGAIN_S**message.receives)
    else:
        queue.done(message)
    return True
