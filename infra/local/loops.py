"""What the cloud does by itself, here as threads: the stream, the queue and the clock call the same functions."""

import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime

from chalicelib.jobs.inbox import work_off
from chalicelib.jobs.schedules import reconcile
from chalicelib.jobs.stream import JOB, MEMORY, project_changes
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.outbox import Outbox, OutboxRecord

log = logging.getLogger("palimpsest.local")

BATCH = 128
IDLE_S = 1.0
"""How long a loop sleeps at most when nobody wakes it: what was to be tried again later is looked for then."""
SCRUB_EVERY_S = 20.0
"""Within which an erased text is gone from the bytes of the file, too (SQLite leaves copies of what it moved)."""
SAMPLE_EVERY_S = 600.0
WHOLE_EVERY_S = 86_400.0


class Loop(threading.Thread):
    """Calls `turn` until it is stopped: at once again while `turn` finds work, else when woken or after a while."""

    def __init__(self, name: str, turn: Callable[[], bool]) -> None:
        super().__init__(name=f"palimpsest-{name}", daemon=True)
        self._turn = turn
        self._wake = threading.Event()
        self._stopping = threading.Event()

    def wake(self) -> None:
        """There may be work."""
        self._wake.set()

    def stop(self, seconds: float = 5.0) -> None:
        """End after the turn that runs now; waits for it, but no longer than `seconds`."""
        self._stopping.set()
        self._wake.set()
        if self.is_alive():
            self.join(seconds)

    def run(self) -> None:
        """The loop; a turn that fails is logged and tried again."""
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                busy = self._turn()
            except Exception:  # the boundary of a thread: a loop that died silently would be the worst fault
                log.exception("a turn failed", extra={"operation": self.name})
                busy = False
            if not busy:
                self._wake.wait(IDLE_S)


def stream_turn(outbox: Outbox, now: Callable[[], datetime]) -> bool:
    """Hand what waits in the outbox to the stream's function, as a table's stream would; whether there was any."""
    records = outbox.pending(BATCH)
    if not records:
        return False
    answer = project_changes({"Records": [_stream_record(record) for record in records]}, None)
    failed = {int(item["itemIdentifier"]) for item in answer["batchItemFailures"]}
    outbox.done([record.seq for record in records if record.seq not in failed])
    outbox.failed(sorted(failed), now())
    return True


def _stream_record(record: OutboxRecord) -> dict[str, object]:
    sort_key = f"{MEMORY}{int(record.id):016d}" if record.kind == "memory" else f"{JOB}{record.id}"
    keys = {"pk": {"S": record.space}, "sk": {"S": sort_key}}
    return {"eventName": "MODIFY", "dynamodb": {"Keys": keys, "SequenceNumber": str(record.seq)}}


def queue_turn(queue: SqliteQueue) -> bool:
    """Hand one message to the queue's function, as SQS would; whether there was one."""
    message = queue.receive()
    if message is None:
        return False
    record = {
        "messageId": message.receipt,
        "body": json.dumps(message.body),
        "attributes": {"MessageGroupId": message.group},
    }
    if work_off({"Records": [record]}, None)["batchItemFailures"]:
        queue.release(message, delay=2.0)
    else:
        queue.done(message)
    return True


class ClockTurn:
    """Fires what is due: the index is looked after at start, then by sample, and whole once a day; the file is
    scrubbed of what was erased."""

    def __init__(self, database: Database, monotonic: Callable[[], float]) -> None:
        self._database = database
        self._monotonic = monotonic
        self._scrub_at = 0.0
        self._sample_at = 0.0
        self._whole_at = monotonic() + WHOLE_EVERY_S

    def __call__(self) -> bool:
        """One look at the clock."""
        now = self._monotonic()
        if now >= self._scrub_at:
            self._scrub_at = now + SCRUB_EVERY_S
            self._database.scrub()
        if now >= self._whole_at:
            self._whole_at = now + WHOLE_EVERY_S
            self._sample_at = now + SAMPLE_EVERY_S
            reconcile({"whole": True}, None)
        elif now >= self._sample_at:
            self._sample_at = now + SAMPLE_EVERY_S
            reconcile({}, None)
        return False
