"""`ports.MemoryStore` on DynamoDB: what is in spaces, one partition a space."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from pynamodb.expressions.operand import Path

from chalicelib.domain.category import Category
from chalicelib.domain.change import Change
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.ids import is_id
from chalicelib.domain.memory import Memory
from chalicelib.domain.pages import Page
from chalicelib.domain.records import Commit, Job, SpaceRecord, Vector
from chalicelib.domain.scope import Scope, Space
from chalicelib.errors import AlreadyDoneError, StoreUnavailableError
from chalicelib.ports import Clock
from chalicelib.stores.dynamodb import items, keys
from chalicelib.stores.dynamodb.commits import transaction_of
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.erasure import Erasure
from chalicelib.stores.dynamodb.history import History
from chalicelib.stores.dynamodb.inbox import commit_once
from chalicelib.stores.dynamodb.keys import Key, in_space, partition
from chalicelib.stores.dynamodb.retries import ConditionFailedError
from chalicelib.stores.dynamodb.tables import (
    BY_LINK,
    BY_TIME,
    COUNT,
    LAST_USED_AT,
    LINK,
    MEMORY,
    NUMBERS,
    PK,
    PLACE,
    REVISION,
    SK,
    USE_COUNT,
    WHEN,
)
from chalicelib.stores.dynamodb.transactions import Update
from chalicelib.stores.dynamodb.values import Item, get_text, get_whole, get_wholes, text, whole
from chalicelib.stores.dynamodb.vectors import NOT_ERASED, Vectors, join
from chalicelib.stores.limits import check_commit

_log = logging.getLogger(__name__)

NUMBER_MAX = 10**15
UNPROJECTED_FOR = timedelta(seconds=60)


def _now() -> datetime:
    return datetime.now(UTC)


class DynamoMemoryStore:
    """The truth about spaces, on DynamoDB. All reads are strongly consistent."""

    def __init__(
        self, database: Database, *, clock: Clock = _now, unprojected_for: timedelta = UNPROJECTED_FOR
    ) -> None:
        """`unprojected_for`: how long the index may take to have a write (see `unprojected`)."""
        self._database = database
        self._clock = clock
        self._unprojected_for = unprojected_for
        self._history = History(database)
        self._vectors = Vectors(database)
        self._erasure = Erasure(database, self._vectors)

    def get(self, scope: Scope, number: int) -> Memory | None:
        item = self._database.get(in_space(scope, keys.memory(number)))
        return None if item is None else items.to_memory(item)

    def get_many(self, scope: Scope, numbers: Sequence[int]) -> dict[int, Memory]:
        found = self._database.get_many([in_space(scope, keys.memory(number)) for number in numbers])
        memories = (items.to_memory(item) for item in found)
        return {memory.number: memory for memory in memories}

    def reserve(self, scope: Scope, count: int) -> int:
        key = in_space(scope, keys.COUNTER)
        # Counted twice after a time-out, it leaves a gap, which is allowed.
        changed = self._database.update(Update(key=key, adds={COUNT: whole(count)}))
        return get_whole(changed, COUNT) - count + 1

    def last_number(self, scope: Scope) -> int:
        item = self._database.get(in_space(scope, keys.COUNTER))
        return 0 if item is None else get_whole(item, COUNT)

    def pass_numbers(self, scope: Scope, last: int) -> None:
        lower = Path([COUNT]).does_not_exist() | (Path([COUNT]) < whole(last))
        counter = in_space(scope, keys.COUNTER)
        with suppress(ConditionFailedError):  # it is as high already
            self._database.update(Update(key=counter, sets={COUNT: whole(last)}, condition=lower))

    def commit(self, scope: Scope, commit: Commit) -> None:
        check_commit(commit)
        transaction = transaction_of(scope, commit, self._clock())
        transaction.writes += self._vectors.contexts_of(scope, commit.strip_context)
        transaction.refuse_too_large()
        vectors = join(scope, commit, transaction)
        try:
            commit_once(self._database, transaction, commit.idempotency)
        except AlreadyDoneError:
            self._finish(scope, commit.strip)  # the first time may have been interrupted there
            raise
        self._finish(scope, commit.strip)
        try:
            self._vectors.put(scope, vectors)
        except StoreUnavailableError as error:
            _log.warning("%d vectors were not kept: %s", len(vectors), error)

    def finish_strip(self, scope: Scope, number: int) -> bool:
        """Finish the stripping of an erased memory if a commit was interrupted there; safe to repeat, at any time.

        For the pass that follows the table's stream. False when nothing was left to do. Raises StoreUnavailableError.
        """
        return self._erasure.finish(scope, number)

    def page(
        self, scope: Scope, *, after: int | None, limit: int, newest_first: bool = False
    ) -> list[Memory]:
        lowest, highest = 1, NUMBER_MAX
        if after is not None and newest_first:
            highest = min(after - 1, highest)
        elif after is not None:
            lowest = max(after + 1, lowest)
        if lowest > highest:
            return []
        found = self._database.query(
            MEMORY,
            partition(scope),
            Path([SK]).between(text(keys.memory(lowest)), text(keys.memory(highest))),
            limit=limit,
            newest_first=newest_first,
        )
        return [items.to_memory(item) for item in found]

    def unprojected(self, scope: Scope, limit: int) -> list[int]:
        """Numbers that were changed or recalled within the last `unprojected_for`, newest first.

        The stream does not tell us what the index has, so this names what it may not have yet; what it has already
        does no harm, since the index passes over revisions that it knows.
        """
        since = keys.when_written(self._clock() - self._unprojected_for, 0)
        found = self._database.query(
            MEMORY,
            partition(scope),
            Path([WHEN]).between(text(since), text(keys.WRITTEN + keys.LAST)),
            limit=limit,
            index=BY_TIME,
            newest_first=True,
        )
        return [_number(item) for item in found]

    def waiting(self, scope: Scope, numbers: Sequence[int]) -> dict[int, datetime]:
        """When each was changed or recalled last: the stream does not tell us what the index has."""
        found = self._database.get_many(
            [in_space(scope, keys.memory(number)) for number in numbers], attributes=[SK, WHEN]
        )
        return {_number(item): keys.written_at(get_text(item, WHEN)) for item in found}

    def at_position(self, scope: Scope, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """As the port says. A place keeps every number that was ever said there; the memories tell which still are."""
        by_key = {keys.source(*place): place for place in places}
        pointers = self._database.get_many([in_space(scope, key) for key in by_key])
        said = {get_text(item, SK): get_wholes(item, NUMBERS) for item in pointers}
        wanted = [in_space(scope, keys.memory(number)) for number in set().union(*said.values())]
        memories = self._database.get_many(wanted, attributes=[SK, PLACE])
        where = {_number(item): item.get(PLACE, {}).get("S") for item in memories}
        found: dict[tuple[str, int], int] = {}
        for key, numbers in said.items():
            there = [number for number in numbers if where.get(number) == key]
            if there:
                found[by_key[key]] = max(there)
        return found

    def context_of(self, scope: Scope, number: int) -> list[int]:
        linked = Path([LINK]) == text(keys.link_of_context(number))
        return [
            _number(item) for item in self._database.query(MEMORY, partition(scope), linked, index=BY_LINK)
        ]

    def touch(self, scope: Scope, numbers: Sequence[int], at: datetime) -> None:
        for number in dict.fromkeys(numbers):
            recall = Update(
                key=in_space(scope, keys.memory(number)),
                sets={LAST_USED_AT: text(rfc3339(at)), WHEN: text(keys.when_written(self._clock(), number))},
                adds={USE_COUNT: whole(1), REVISION: whole(1)},
                condition=NOT_ERASED,
            )
            try:
                self._database.update(recall, repeatable=False)
            except ConditionFailedError:
                continue

    def history(self, scope: Scope, target: str, *, after: int | None, limit: int) -> list[Change]:
        return self._history.of_target(scope, target, after=after, limit=limit)

    def change(self, scope: Scope, target: str, version: int) -> Change | None:
        return self._history.one(scope, target, version)

    def changes(self, scope: Scope, *, after: str | None, limit: int) -> Page[Change]:
        return self._history.of_space(scope, after=after, limit=limit)

    def group(self, scope: Scope, group: str) -> list[Change]:
        return self._history.of_group(scope, group)

    def categories(self, scope: Scope) -> list[Category]:
        prefix = Path([SK]).startswith(keys.CATEGORIES)
        found = self._database.query(MEMORY, partition(scope), prefix)
        return sorted((items.to(Category, item) for item in found), key=lambda c: (c.name, c.id))

    def space(self, scope: Scope) -> SpaceRecord | None:
        item = self._database.get(in_space(scope, keys.SPACE))
        return None if item is None else items.to(SpaceRecord, item)

    def vectors(self, scope: Scope, numbers: Sequence[int], model: str) -> list[Vector]:
        return self._vectors.get(scope, numbers, model)

    def put_vectors(self, scope: Scope, vectors: Sequence[Vector]) -> None:
        self._vectors.put(scope, vectors)

    def job(self, scope: Scope, job: str) -> Job | None:
        item = self._database.get(in_space(scope, keys.job(job))) if is_id(job) else None
        return None if item is None else items.to(Job, item)

    def jobs(self, scope: Scope, limit: int) -> list[Job]:
        newest = Path([WHEN]).startswith(keys.ASKED)
        found = self._database.query(
            MEMORY, partition(scope), newest, limit=limit, index=BY_TIME, newest_first=True
        )
        wanted = [in_space(scope, get_text(item, SK)) for item in found]
        jobs = {job.id: job for job in (items.to(Job, item) for item in self._database.get_many(wanted))}
        return sorted(jobs.values(), key=lambda job: (job.created_at, job.id), reverse=True)

    def spaces(self) -> Iterator[Space]:
        """As the port says. One read a space: from the first item of a partition to behind its last.

        A partition with nothing but a counter, which sorts last, holds nothing.
        """
        first = self._database.first_behind(MEMORY, None)
        while first is not None:
            if get_text(first, SK) != keys.COUNTER:
                yield Space.from_key(get_text(first, PK))
            behind = Key(MEMORY, get_text(first, PK), keys.BEHIND_ALL)
            first = self._database.first_behind(MEMORY, behind.item())

    def _finish(self, scope: Scope, numbers: Sequence[int]) -> None:
        try:
            for number in numbers:
                self._erasure.finish(scope, number)
        except StoreUnavailableError as error:
            raise StoreUnavailableError(f"erased, but not yet stripped: {error}", unknown=True) from error


def _number(item: Item) -> int:
    return keys.number_of(get_text(item, SK))
