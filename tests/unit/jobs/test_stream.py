"""From the table's stream to the index and the queue: nothing is lost, and nothing holds back anything else."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from chalicelib.domain.drafts import NewJob
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.scope import Space
from chalicelib.errors import IndexMissingError, IndexUnavailableError, StoreUnavailableError
from chalicelib.jobs.stream import project_changes
from chalicelib.stores.dynamodb import keys
from tests.fakes.world import World

ANNA = Space.personal("anna")


def record(sort_key: str, sequence: int = 1, space: str = ANNA.key) -> dict[str, Any]:
    """A stream record with keys only, as DynamoDB makes it."""
    return {
        "eventName": "MODIFY",
        "dynamodb": {"Keys": {"pk": {"S": space}, "sk": {"S": sort_key}}, "SequenceNumber": str(sequence)},
    }


def deliver(*records: dict[str, Any]) -> list[str]:
    """Which records are to be delivered again."""
    answer = project_changes({"Records": list(records)}, None)
    return [one["itemIdentifier"] for one in answer["batchItemFailures"]]


def memories(*numbers: int, space: str = ANNA.key) -> list[dict[str, Any]]:
    return [record(keys.memory(number), number, space) for number in numbers]


def indexed(world: World) -> list[int]:
    return [state.number for state in world.parts.index.indexed(world.scope(), after=0, limit=100)]


def add(world: World, *texts: str) -> list[int]:
    return [world.add(text)["memory"]["number"] for text in texts]


def test_a_changed_memory_reaches_the_index(world: World) -> None:
    numbers = add(world, "Tea is green.", "Snow is white.")
    assert indexed(world) == []
    assert deliver(*memories(*numbers)) == []
    assert indexed(world) == numbers


def test_repeats_and_any_order_leave_the_index_as_the_table_is(world: World) -> None:
    numbers = add(world, "Tea is green.", "Snow is white.")
    assert deliver(*memories(*reversed(numbers)), *memories(*numbers), *memories(*numbers)) == []
    assert deliver(*memories(*numbers)) == []
    assert indexed(world) == numbers


def test_records_of_other_items_are_passed_over(world: World) -> None:
    others = ["change#m#0000000000000001#0000000000000001", "category#cat_1", "space", "~counter", "vector#1"]
    assert deliver(*(record(sort_key, place) for place, sort_key in enumerate(others))) == []


def test_a_new_job_is_sent_to_the_queue_once(world: World) -> None:
    add(world, "Tea is green.")
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    again = record(keys.job(job), 7)
    assert deliver(again, again) == []
    assert world.parts.queue.depth() == 1


def test_a_job_that_runs_already_is_not_sent_again(world: World) -> None:
    add(world, "Tea is green.")
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    world.services.jobs.run(world.scope(), job, lambda: True)
    assert deliver(record(keys.job(job))) == []
    assert world.parts.queue.depth() == 0


def test_a_job_that_the_queue_did_not_take_is_delivered_again_and_memories_are_not(world: World) -> None:
    (number,) = add(world, "Tea is green.")
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    world.parts.queue.fails("send", StoreUnavailableError("down"))  # type: ignore[attr-defined]
    assert deliver(record(keys.job(job), 70), *memories(number)) == ["70"]
    assert indexed(world) == [number]


@pytest.mark.parametrize("error", [IndexUnavailableError("down"), IndexMissingError("dropped")])
def test_while_the_index_is_away_every_record_is_delivered_again_after_one_try(
    world: World, error: Exception
) -> None:
    numbers = add(world, "Tea is green.", "Snow is white.")
    tries: list[int] = []

    def apply(_own: object, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        tries.append(len(entries))
        raise error

    world.parts.index.instead("apply", apply)  # type: ignore[attr-defined]
    assert deliver(*memories(*numbers)) == [str(number) for number in numbers]
    assert tries == [2]


def test_while_the_table_is_away_every_record_is_delivered_again(world: World) -> None:
    numbers = add(world, "Tea is green.", "Snow is white.")
    world.parts.memories.fails("get_many", StoreUnavailableError("down"))  # type: ignore[attr-defined]
    assert deliver(*memories(*numbers)) == [str(number) for number in numbers]


def test_what_the_index_refuses_is_delivered_again_alone(world: World) -> None:
    numbers = add(world, "Tea is green.", "Snow is white.", "Grass is green.")

    def apply(own: Callable[..., list[IndexEntry]], entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        refused = [entry for entry in entries if entry.number == numbers[1]]
        return own([entry for entry in entries if entry not in refused]) + refused

    world.parts.index.instead("apply", apply)  # type: ignore[attr-defined]
    assert deliver(*memories(*numbers)) == [str(numbers[1])]
    assert indexed(world) == [numbers[0], numbers[2]]


def test_a_memory_that_breaks_the_projector_does_not_hold_back_the_others(world: World) -> None:
    numbers = add(world, "Tea is green.", "Snow is white.", "Grass is green.")

    def apply(own: Callable[..., list[IndexEntry]], entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        if any(entry.number == numbers[1] for entry in entries):
            raise ZeroDivisionError
        return own(entries)

    world.parts.index.instead("apply", apply)  # type: ignore[attr-defined]
    assert deliver(*memories(*numbers)) == [str(numbers[1])]
    assert indexed(world) == [numbers[0], numbers[2]]


def test_one_space_that_fails_does_not_hold_back_another(world: World) -> None:
    pool = world.add_project("rocket")
    (mine,) = add(world, "Tea is green.")
    theirs = world.add("Snow is white.", world.scope(pool))["memory"]["number"]

    def get_many(own: Callable[..., object], scope: Any, numbers: Sequence[int]) -> object:
        if scope.space == ANNA:
            raise StoreUnavailableError("throttled")
        return own(scope, numbers)

    world.parts.memories.instead("get_many", get_many)  # type: ignore[attr-defined]
    assert deliver(record(keys.memory(mine), 1), record(keys.memory(theirs), 2, pool.key)) == ["1"]


def test_the_same_number_in_two_spaces_is_told_apart(world: World) -> None:
    pool = world.add_project("rocket")
    (mine,) = add(world, "Tea is green.")
    theirs = world.add("Snow is white.", world.scope(pool))["memory"]["number"]
    assert mine == theirs
    world.parts.index.instead(  # type: ignore[attr-defined]
        "apply", lambda own, entries: own(entries) if entries[0].space == ANNA else list(entries)
    )
    assert deliver(record(keys.memory(mine), 1), record(keys.memory(theirs), 2, pool.key)) == ["2"]


def test_a_record_that_cannot_be_read_holds_back_nobody(world: World) -> None:
    """It is not asked for again: it never will be read, and the stream would stand still until it is too old."""
    (number,) = add(world, "Tea is green.")
    foreign = record(keys.memory(1), 5, space="nobody's")
    assert deliver(foreign, record("memory#x", 6), *memories(number)) == []
    assert indexed(world) == [number]


def test_a_memory_whose_vectors_cannot_be_made_is_found_by_words_and_tried_again(world: World) -> None:
    world.break_embedder()
    (number,) = add(world, "Tea is green.")
    assert deliver(*memories(number)) == [str(number)]
    assert indexed(world) == [number]
    world.break_embedder(0)
    assert deliver(*memories(number)) == []
    (state,) = world.parts.index.indexed(world.scope(), after=0, limit=10)
    assert state.models


def test_an_erase_that_was_interrupted_is_finished(world: World) -> None:
    numbers = add(world, "Tea is green.", "Snow is white.")
    world.services.revise.erase(world.scope(), numbers[0], None, world.request())
    finished: list[int] = []
    world.parts.memories.instead(  # type: ignore[attr-defined]
        "finish_strip", lambda own, scope, number: finished.append(number) or own(scope, number)
    )
    assert deliver(*memories(*numbers)) == []
    assert finished == [numbers[0]]


def test_an_erase_that_cannot_be_finished_yet_is_delivered_again(world: World) -> None:
    numbers = add(world, "Tea is green.")
    world.services.revise.erase(world.scope(), numbers[0], None, world.request())
    world.parts.memories.fails("finish_strip", StoreUnavailableError("throttled"))  # type: ignore[attr-defined]
    assert deliver(*memories(*numbers)) == [str(numbers[0])]
