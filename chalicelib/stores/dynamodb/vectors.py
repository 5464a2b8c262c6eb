"""Kept vectors. None comes back to a memory that is erased: each is written on condition that it is not (M13)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pynamodb.expressions.operand import Path

from chalicelib.domain.memory import State
from chalicelib.domain.records import Commit, Vector
from chalicelib.domain.scope import Scope
from chalicelib.stores.dynamodb import items, keys
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.keys import in_space, partition
from chalicelib.stores.dynamodb.retries import ConditionFailedError
from chalicelib.stores.dynamodb.tables import MEMORY, PK, SK, STATE
from chalicelib.stores.dynamodb.transactions import Check, Delete, Put, Transaction, Write
from chalicelib.stores.dynamodb.values import Item, text

NOT_ERASED = Path([STATE]).exists() & (Path([STATE]) != text(State.ERASED))


class Vectors:
    """The vectors of all spaces."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, scope: Scope, numbers: Sequence[int], model: str) -> list[Vector]:
        """Those of these memories that are kept, of one model."""
        wanted = [
            in_space(scope, keys.vector(number, model, role)) for number in numbers for role in keys.ROLES
        ]
        return [items.to_vector(item) for item in self._database.get_many(wanted)]

    def put(self, scope: Scope, vectors: Iterable[Vector]) -> None:
        """Keep them; those of memories that are erased, or never were, are dropped.

        A transaction and not a batch: a batch has no conditions (CASES: pynamodb#1203).
        """
        waiting = _by_number(vectors)
        while waiting:
            transaction = Transaction()
            taken: list[int] = []
            for number, some in waiting.items():
                writes: list[Write] = [_check(scope, number), *(_put(scope, vector) for vector in some)]
                if taken and not transaction.fits(writes):
                    break
                transaction.writes += writes
                taken.append(number)
            try:
                self._database.transact(transaction)
            except ConditionFailedError as error:
                taken = [int(number) for number in transaction.about(error.failed)]
            for number in taken:
                del waiting[number]

    def contexts_of(self, scope: Scope, numbers: Iterable[int]) -> list[Write]:
        """Writes that delete the vectors of these memories' contexts, of all models."""
        return [
            Delete(key=in_space(scope, item[SK]["S"]))
            for number in numbers
            for item in self._of(scope, number)
            if item[SK]["S"].endswith("#context")
        ]

    def delete_all(self, scope: Scope, number: int) -> None:
        """Delete the vectors of one memory, of all models and roles."""
        self._database.delete_many([in_space(scope, item[SK]["S"]) for item in self._of(scope, number)])

    def _of(self, scope: Scope, number: int) -> Iterable[Item]:
        prefix = Path([SK]).startswith(keys.vectors_of(number))
        return self._database.query(MEMORY, partition(scope), prefix, attributes=[PK, SK])


def join(scope: Scope, commit: Commit, transaction: Transaction) -> list[Vector]:
    """Let the commit's vectors be written by its transaction as far as there is room; returns the others."""
    alive = {write.memory.number for write in commit.memories if write.memory.state is not State.ERASED}
    left: list[Vector] = []
    for number, some in _by_number(commit.vectors).items():
        writes = [_put(scope, vector) for vector in some]
        if number in alive and transaction.fits(writes):
            transaction.writes += writes
        else:
            left += some
    return left


def _by_number(vectors: Iterable[Vector]) -> dict[int, list[Vector]]:
    """Each vector once (of equal ones the last), together with the others of its memory."""
    last = {(vector.number, vector.model, vector.role): vector for vector in vectors}
    found: dict[int, list[Vector]] = defaultdict(list)
    for vector in last.values():
        found[vector.number].append(vector)
    return found


def _check(scope: Scope, number: int) -> Check:
    return Check(key=in_space(scope, keys.memory(number)), condition=NOT_ERASED, about=str(number))


def _put(scope: Scope, vector: Vector) -> Put:
    key = in_space(scope, keys.vector(vector.number, vector.model, vector.role))
    return Put(key=key, item=items.of_vector(vector))
