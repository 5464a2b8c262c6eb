"""The stream of a DynamoDB table, read here as Lambda reads it in the cloud.

Each record is copied into the outbox of the data folder, in one transaction with how far its shard was read; from
there the same loop hands it on as for SQLite. Nothing is lost when the process dies, nothing is read from the
beginning again, and a record that cannot be worked off does not hold back its shard.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Literal

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.domain.scope import Space
from chalicelib.errors import StoreUnavailableError
from chalicelib.sqlite_file import Database, Step
from chalicelib.stores.dynamodb.keys import written
from chalicelib.stores.sqlite.outbox import announce

log = logging.getLogger("palimpsest.local")

SHARDS_EVERY_S = 30.0
"""Within which a shard that was split off begins to be read."""
_EXPIRED = "ExpiredIteratorException"
_TRIMMED = "TrimmedDataAccessException"
_GONE = "ResourceNotFoundException"

_FIRST: Step = (
    """CREATE TABLE shard (
        id TEXT PRIMARY KEY,
        stream TEXT NOT NULL,
        sequence TEXT,
        ended INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
)
_STEPS: tuple[Step, ...] = (_FIRST,)


class TableStream:
    """One look at it is a turn of a loop. `missed` is called when records may have been lost: a day is as long as
    DynamoDB keeps them.

    `streams`: boto3's client for DynamoDB's streams. `stream_of` gives the ARN of the table's stream, which is
    another one after the table was made anew. Raises StoreUnavailableError.
    """

    def __init__(
        self,
        streams: Any,
        stream_of: Callable[[], str],
        database: Database,
        *,
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
        missed: Callable[[], object],
    ) -> None:
        database.migrate("table_stream", _STEPS)
        self._streams = streams
        self._stream_of = stream_of
        self._database = database
        self._now = now
        self._monotonic = monotonic
        self._missed = missed
        self._look_at = 0.0
        self._iterators: dict[str, str | None] = {}
        """By shard that is read; None = one is to be asked for."""
        self._stream = ""

    def turn(self) -> bool:
        """Read each shard once; whether there was anything."""
        try:
            if self._monotonic() >= self._look_at:
                self._look_for_shards()
                self._look_at = self._monotonic() + SHARDS_EVERY_S
            found = [self._read(shard) for shard in list(self._iterators)]
        except (BotoCoreError, ClientError) as error:
            self._look_at = 0.0
            raise StoreUnavailableError(f"the table's stream does not answer ({name_of(error)})") from error
        return any(found)

    def _look_for_shards(self) -> None:
        """Begin with those that are new; forget those that are gone."""
        self._stream = self._stream_of()
        there, known = set(self._described()), self._known()
        gone = [shard for shard, (stream, _) in known.items() if stream != self._stream or shard not in there]
        new = sorted(shard for shard in there if shard not in known or shard in gone)
        if not known or any(not known[shard][1] for shard in gone):
            self._missed()
        if gone or new:
            with self._database.write() as connection:
                connection.executemany("DELETE FROM shard WHERE id = ?", [(shard,) for shard in gone])
                connection.executemany(
                    "INSERT INTO shard (id, stream) VALUES (?, ?)", [(shard, self._stream) for shard in new]
                )
            known = self._known()
        self._iterators = {
            shard: None if shard in new else self._iterators.get(shard)
            for shard, (_, ended) in sorted(known.items())
            if not ended
        }

    def _described(self) -> Iterable[str]:
        begin: dict[str, str] = {}
        while True:
            answer = self._streams.describe_stream(StreamArn=self._stream, **begin)["StreamDescription"]
            yield from (shard["ShardId"] for shard in answer["Shards"])
            if not answer.get("LastEvaluatedShardId"):
                return
            begin = {"ExclusiveStartShardId": answer["LastEvaluatedShardId"]}

    def _known(self) -> dict[str, tuple[str, bool]]:
        """By shard: its stream, and whether it was read to its end."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT id, stream, ended FROM shard").fetchall()
        return {shard: (stream, bool(ended)) for shard, stream, ended in rows}

    def _read(self, shard: str) -> bool:
        try:
            iterator = self._iterators[shard] or self._iterator(shard)
            answer = self._streams.get_records(ShardIterator=iterator)
        except ClientError as error:
            return self._begin_anew(shard, error)
        following = answer.get("NextShardIterator")
        self._keep(shard, answer["Records"], ended=following is None)
        if following is None:
            del self._iterators[shard]
            self._look_at = 0.0
        else:
            self._iterators[shard] = following
        return bool(answer["Records"])

    def _begin_anew(self, shard: str, error: ClientError) -> bool:
        """After an iterator that holds no more. Raises `error` when it says anything else."""
        code = name_of(error)
        if code == _TRIMMED:
            log.warning("the table's stream was not read for a day: the index is compared with the table")
            with self._database.write() as connection:
                connection.execute("UPDATE shard SET sequence = NULL WHERE id = ?", (shard,))
            self._missed()
        elif code == _GONE:
            self._look_at = 0.0
        elif code != _EXPIRED:
            raise error
        self._iterators[shard] = None
        return code != _GONE

    def _iterator(self, shard: str) -> str:
        with self._database.read() as connection:
            sequence = connection.execute("SELECT sequence FROM shard WHERE id = ?", (shard,)).fetchone()[0]
        where = (
            {"ShardIteratorType": "TRIM_HORIZON"}
            if sequence is None
            else {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": sequence}
        )
        answer = self._streams.get_shard_iterator(StreamArn=self._stream, ShardId=shard, **where)
        return str(answer["ShardIterator"])

    def _keep(self, shard: str, records: list[Mapping[str, Any]], *, ended: bool) -> None:
        """What the records are about goes into the outbox, and how far the shard was read beside it."""
        if not records and not ended:
            return
        with self._database.write() as connection:
            for kind, space, name in filter(None, map(_about, records)):
                announce(connection, kind, space.key, [name], self._now())
            last = records[-1]["dynamodb"]["SequenceNumber"] if records else None
            connection.execute(
                "UPDATE shard SET sequence = coalesce(?, sequence), ended = ? WHERE id = ?",
                (last, ended, shard),
            )


def _about(record: Mapping[str, Any]) -> tuple[Literal["memory", "job"], Space, str] | None:
    item = record["dynamodb"]["Keys"]
    try:
        return written(item["pk"]["S"], item["sk"]["S"])
    except ValueError:
        log.warning("an item of somebody else is in the table; it was passed over")
        return None


def name_of(error: BotoCoreError | ClientError) -> str:
    """What AWS, or boto3, calls the error."""
    answered = error.response.get("Error", {}) if isinstance(error, ClientError) else {}
    return answered.get("Code", "") or type(error).__name__
