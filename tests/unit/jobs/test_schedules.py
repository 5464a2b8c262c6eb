"""What the clock fires: the index is mended, the trash filled, lost messages sent again; twice does no harm."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.drafts import NewJob
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.scope import Space
from chalicelib.errors import IndexUnavailableError, StoreUnavailableError
from chalicelib.jobs.inbox import work_off
from chalicelib.jobs.schedules import clean_up, reconcile, sweep
from tests.fakes.world import World


def spoil(world: World, number: int) -> None:
    """Let the index forget a memory."""
    world.parts.index.repair([IndexEntry(world.scope().space, number, 99, None)])


def known(world: World) -> list[int]:
    states = world.parts.index.indexed(world.scope(), after=0, limit=1_000)
    return [state.number for state in states if state.content_hash]


def test_a_missing_index_is_built_anew(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.add_facts(3)
    world.parts.index.drop()
    reconcile({}, None)
    assert known(world) == [1, 2, 3]
    assert "the index is missing: it is built anew" in caplog.messages
    assert world.services.health.look()["parts"]["index"] == "ok"


def test_what_differs_is_repaired_and_said(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.add_facts(3)
    spoil(world, 2)
    reconcile({"whole": True}, None)
    assert known(world) == [1, 2, 3]
    assert [record.records for record in caplog.records if hasattr(record, "records")] == [1]


def test_a_second_time_finds_nothing_to_repair(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.add_facts(3)
    reconcile({"whole": True}, None)
    reconcile({}, None)
    assert not caplog.records


def test_a_sample_looks_at_a_bounded_number_of_memories(world: World) -> None:
    world.add_facts(600)
    read = 0

    def page(own: Callable[..., list[Any]], *args: Any, **named: Any) -> list[Any]:
        nonlocal read
        found = own(*args, **named)
        read += len(found)
        return found

    world.parts.memories.instead("page", page)  # type: ignore[attr-defined]
    reconcile({}, None)
    assert read <= 256 + 128 + 1


def test_one_space_that_cannot_be_compared_keeps_no_other_from_it(world: World) -> None:
    pool = world.add_project("rocket")
    world.add("Snow is white.", world.scope(pool))
    world.add_facts(2)
    spoil(world, 1)

    def unprojected(own: Callable[..., object], scope: Any, limit: int) -> object:
        if scope.space == pool:
            raise ZeroDivisionError
        return own(scope, limit)

    world.parts.memories.instead("unprojected", unprojected)  # type: ignore[attr-defined]
    reconcile({"whole": True}, None)
    assert known(world) == [1, 2]


@pytest.mark.parametrize("job", [reconcile, clean_up, sweep])
def test_with_the_table_down_nothing_is_raised_and_it_is_said(
    world: World, job: Callable[[dict[str, Any], Any], object], caplog: pytest.LogCaptureFixture
) -> None:
    def spaces(_own: object) -> object:
        raise StoreUnavailableError("down")

    world.parts.memories.instead("spaces", spaces)  # type: ignore[attr-defined]
    assert job({}, None) == {"batchItemFailures": []}
    assert [(r.message, r.error) for r in caplog.records] == [
        ("a part does not answer", "StoreUnavailableError")
    ]


def test_with_the_engine_down_nothing_is_compared(world: World) -> None:
    world.add_facts(1)
    world.parts.index.fails("ready", IndexUnavailableError("down"))  # type: ignore[attr-defined]
    world.parts.memories.fails("spaces", AssertionError())  # type: ignore[attr-defined]
    assert reconcile({}, None) == {"batchItemFailures": []}


def test_faded_memories_go_to_the_trash_and_no_more_of_them_at_a_second_firing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "palimpsest.schedules")
    world.category(default=True)
    world.add_facts(9, importance=1)
    world.later(days=200)
    clean_up({}, None)
    clean_up({}, None)
    trashed = [
        m for m in world.parts.memories.page(world.scope(), after=0, limit=100) if m.state == "trashed"
    ]
    assert len(trashed) == 5
    assert caplog.messages.count("memories were moved to the trash") == 1


def unfinished_job(world: World) -> str:
    world.add("Tea is green.")
    return str(world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"])


def test_a_job_whose_message_was_lost_is_sent_again(world: World) -> None:
    job = unfinished_job(world)
    world.later(minutes=3)
    sweep({}, None)
    message = world.parts.queue.receive()  # type: ignore[attr-defined]
    assert message.body == {"space": world.scope().space.key, "job": job}
    record = {
        "messageId": "1",
        "body": json.dumps(message.body),
        "attributes": {"MessageGroupId": "g"},
    }
    assert work_off({"Records": [record]}, None) == {"batchItemFailures": []}
    assert world.services.jobs.get(world.scope(), job)["job"]["state"] == "done"


def test_a_job_on_which_somebody_works_is_left_alone_unless_nobody_can(world: World) -> None:
    unfinished_job(world)
    world.later(seconds=30)
    sweep({}, None)
    assert world.parts.queue.depth() == 0
    sweep({"all": True}, None)
    assert world.parts.queue.depth() == 1


def test_two_sweeps_in_a_row_send_one_message(world: World) -> None:
    unfinished_job(world)
    world.later(minutes=3)
    sweep({}, None)
    sweep({}, None)
    assert world.parts.queue.depth() == 1


def test_a_finished_job_is_not_sent_again(world: World) -> None:
    job = unfinished_job(world)
    world.services.jobs.run(world.scope(), job, lambda: True)
    world.later(days=1)
    sweep({}, None)
    assert world.parts.queue.depth() == 0


def test_a_sweep_goes_over_every_space(world: World) -> None:
    pool = world.add_project("rocket")
    world.add("Snow is white.", world.scope(pool))
    world.services.jobs.start(world.scope(pool), NewJob(kind="reindex"), world.request())
    unfinished_job(world)
    sweep({"all": True}, None)
    groups = {world.parts.queue.receive().group for _ in range(2)}  # type: ignore[attr-defined]
    assert groups == {Space.personal("anna").key, pool.key}
