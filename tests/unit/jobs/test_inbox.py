"""The queue's messages: each is done, or delivered again; order holds within a group."""

import json
from typing import Any

import pytest

from chalicelib.domain.drafts import NewJob
from chalicelib.errors import StoreUnavailableError
from chalicelib.jobs import inbox
from chalicelib.jobs.inbox import work_off
from tests.fakes.world import World


def message(identifier: str, body: dict[str, object] | str, group: str = "g") -> dict[str, Any]:
    """A record as SQS gives it."""
    text = body if isinstance(body, str) else json.dumps(body)
    return {"messageId": identifier, "body": text, "attributes": {"MessageGroupId": group}}


def deliver(*messages: dict[str, Any]) -> list[str]:
    """Which messages are to be delivered again."""
    return [one["itemIdentifier"] for one in work_off({"Records": list(messages)}, None)["batchItemFailures"]]


def begin(world: World) -> dict[str, object]:
    """A new job, as the message about it says."""
    if not world.parts.memories.page(world.scope(), after=None, limit=1):
        world.add("Tea is green.")
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    return {"space": world.scope().space.key, "job": job}


def state(world: World, body: dict[str, object]) -> str:
    return str(world.services.jobs.get(world.scope(), str(body["job"]))["job"]["state"])


def test_a_message_finishes_its_job(world: World) -> None:
    body = begin(world)
    assert deliver(message("1", body)) == []
    assert state(world, body) == "done"


def test_a_message_that_comes_twice_does_nothing_more(world: World) -> None:
    body = begin(world)
    assert deliver(message("1", body), message("2", body)) == []
    assert deliver(message("3", body)) == []
    assert state(world, body) == "done"


def test_a_message_about_a_job_that_is_gone_is_done(world: World) -> None:
    assert deliver(message("1", {"space": world.scope().space.key, "job": "job_nowhere"})) == []


def test_work_that_takes_long_goes_on_with_another_message(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "STEP_S", -1.0)
    body = begin(world)
    assert deliver(message("1", body)) == []
    assert state(world, body) == "running"
    following = world.parts.queue.receive()  # type: ignore[attr-defined]
    assert following.body == body
    monkeypatch.setattr(inbox, "STEP_S", 30.0)
    assert deliver(message("2", following.body)) == []
    assert state(world, body) == "done"


def test_after_a_failure_the_rest_of_its_group_waits_and_other_groups_are_done(world: World) -> None:
    body = begin(world)
    world.parts.memories.instead(  # type: ignore[attr-defined]
        "job", lambda own, scope, job: own(scope, job) if job == body["job"] else _down()
    )
    broken = {**body, "job": "job_broken"}
    again = deliver(message("1", broken, "a"), message("2", body, "a"), message("3", body, "b"))
    assert again == ["1", "2"]
    assert state(world, body) == "done"


def _down() -> object:
    raise StoreUnavailableError("down")


@pytest.mark.parametrize("poison", ["no JSON", "{}", '{"space": "nobody\'s", "job": "job_1"}'])
def test_a_message_that_cannot_be_read_is_delivered_again_alone(world: World, poison: str) -> None:
    body = begin(world)
    assert deliver(message("1", poison, "a"), message("2", body, "b")) == ["1"]
    assert state(world, body) == "done"
