"""The queue in the laptop's file: what SQS FIFO does in the cloud. In order within a group, at least once.

A message that is being worked on holds back the rest of its group until it is done, released, or its lease runs
out. One that is given out too often is set aside, so that it does not hold back its group for ever (R10).
"""

import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.ports import Clock
from chalicelib.sqlite_file import Database, Step

DEDUPLICATION_SECONDS = 300.0

_FIRST: Step = (
    """CREATE TABLE queue_message (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        grp TEXT NOT NULL,
        body TEXT NOT NULL,
        visible_at REAL NOT NULL,
        receives INTEGER NOT NULL DEFAULT 0,
        receipt TEXT,
        set_aside INTEGER NOT NULL DEFAULT 0
    )""",
    "CREATE INDEX queue_message_by_group ON queue_message (grp, seq) WHERE NOT set_aside",
    "CREATE TABLE queue_sent (deduplicate TEXT PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID",
    "CREATE INDEX queue_sent_by_time ON queue_sent (until)",
)
_STEPS: tuple[Step, ...] = (_FIRST,)

_NEXT = """
SELECT seq, grp, body, receives FROM queue_message AS message
WHERE NOT set_aside AND visible_at <= :now AND NOT EXISTS (
    SELECT 1 FROM queue_message AS earlier
    WHERE earlier.grp = message.grp AND NOT earlier.set_aside AND earlier.seq < message.seq
)
ORDER BY seq LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Message:
    """One message, leased to whoever received it. `receives`: how often it was given out, this time included."""

    group: str
    body: dict[str, Any]
    receives: int
    receipt: str


class SqliteQueue:
    """Queue in the file, both ends of it. Raises StoreUnavailableError.

    `lease`: seconds that a receiver has. `receives`: how often a message is given out before it is set aside.
    """

    def __init__(self, database: Database, *, clock: Clock, lease: float = 60.0, receives: int = 5) -> None:
        database.migrate("queue", _STEPS)
        self._database = database
        self._clock = clock
        self._lease = lease
        self._receives = receives

    def send(self, group: str, body: Mapping[str, object], *, deduplicate: str) -> None:
        now = self._clock().timestamp()
        with self._database.write() as connection:
            connection.execute("DELETE FROM queue_sent WHERE until <= ?", (now,))
            first = connection.execute(
                "INSERT OR IGNORE INTO queue_sent (deduplicate, until) VALUES (?, ?)",
                (deduplicate, now + DEDUPLICATION_SECONDS),
            )
            if first.rowcount:
                connection.execute(
                    "INSERT INTO queue_message (grp, body, visible_at) VALUES (?, ?, ?)",
                    (group, json.dumps(body, ensure_ascii=False), now),
                )

    def receive(self) -> Message | None:
        """The oldest message whose group has nothing under way; None when there is none now."""
        now = self._clock().timestamp()
        with self._database.read() as connection:
            if connection.execute(_NEXT, {"now": now}).fetchone() is None:
                return None
        with self._database.write() as connection:
            while (row := connection.execute(_NEXT, {"now": now}).fetchone()) is not None:
                seq, group, body, receives = row
                if receives >= self._receives:
                    connection.execute("UPDATE queue_message SET set_aside = 1 WHERE seq = ?", (seq,))
                    continue
                receipt = self._take(connection, seq, now)
                return Message(group=group, body=json.loads(body), receives=receives + 1, receipt=receipt)
        return None

    def _take(self, connection: sqlite3.Connection, seq: int, now: float) -> str:
        receipt = secrets.token_hex(16)
        connection.execute(
            "UPDATE queue_message SET visible_at = ?, receives = receives + 1, receipt = ? WHERE seq = ?",
            (now + self._lease, receipt, seq),
        )
        return receipt

    def extend(self, message: Message) -> bool:
        """Begin the lease anew; False when it ran out and another received the message meanwhile."""
        with self._database.write() as connection:
            extended = connection.execute(
                "UPDATE queue_message SET visible_at = ? WHERE receipt = ?",
                (self._clock().timestamp() + self._lease, message.receipt),
            )
        return extended.rowcount == 1

    def done(self, message: Message) -> bool:
        """Take it off the queue; False when another received it meanwhile: then it stays that one's."""
        with self._database.write() as connection:
            gone = connection.execute("DELETE FROM queue_message WHERE receipt = ?", (message.receipt,))
        return gone.rowcount == 1

    def release(self, message: Message, *, delay: float = 0.0) -> None:
        """Give it back, to be received again after `delay` seconds. Passed over when another has it by now."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE queue_message SET visible_at = ?, receipt = NULL WHERE receipt = ?",
                (self._clock().timestamp() + delay, message.receipt),
            )

    def reclaim(self) -> int:
        """Take back all that is leased, to be received at once; how many. For the start of the only process that
        receives here: who had them is gone."""
        with self._database.write() as connection:
            taken = connection.execute(
                "UPDATE queue_message SET visible_at = ?, receipt = NULL WHERE receipt IS NOT NULL AND NOT set_aside",
                (self._clock().timestamp(),),
            )
        return taken.rowcount

    def depth(self) -> int:
        """As `waiting`: what the port asks."""
        return self.waiting()

    def waiting(self) -> int:
        """How many messages are not done, those under way included, those set aside not."""
        return self._count("SELECT count(*) FROM queue_message WHERE NOT set_aside")

    def set_aside(self) -> int:
        """How many messages were given out too often, and wait for a person."""
        return self._count("SELECT count(*) FROM queue_message WHERE set_aside")

    def redrive(self) -> int:
        """Put what was set aside back in its place; how many those were."""
        with self._database.write() as connection:
            moved = connection.execute(
                "UPDATE queue_message SET set_aside = 0, receives = 0, receipt = NULL, visible_at = ? WHERE set_aside",
                (self._clock().timestamp(),),
            )
        return moved.rowcount

    def _count(self, query: str) -> int:
        with self._database.read() as connection:
            return int(connection.execute(query).fetchone()[0])
