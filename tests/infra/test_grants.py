"""Least privilege (S7): each function may do what it does, and nothing else. What it does is recorded while it works on
DynamoDB, SQS and a real OpenSearch node; what Lambda does for it is what AWS's documentation asks for."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from moto import mock_aws

from chalicelib import bootstrap
from chalicelib.domain.drafts import NewJob
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.scope import Space
from chalicelib.jobs import functions, inbox
from chalicelib.jobs.entrypoint import Event
from chalicelib.stores.dynamodb import keys
from infra.aws.functions import (
    CLEANUP,
    FUNCTIONS,
    HTTP,
    INBOX,
    RECONCILE,
    STREAM,
    SWEEP,
    Function,
    Grant,
)
from tests.contracts.search.engine_opensearch import opened
from tests.contracts.stores.dynamodb_stores import moto_database
from tests.fakes.client import Client
from tests.fakes.engines import DynamoWorld
from tests.infra.asked import Asked, Recorder
from tests.infra.every_operation import Life

pytestmark = [pytest.mark.opensearch, pytest.mark.xdist_group("opensearch")]

SECRET = ("secret", "secretsmanager:GetSecretValue")
"""Asked before anything else, by `bootstrap`: tests/unit/providers/test_secrets_manager.py."""
ABOUT_ITSELF = {
    ("log", "logs:CreateLogStream"),
    ("log", "logs:PutLogEvents"),
    ("traces", "xray:PutTelemetryRecords"),
    ("traces", "xray:PutTraceSegments"),
}
"""Asked by Lambda in the function's name: for what it prints, and because tracing is on. No call of ours, so nothing
records it; the two actions of each are what AWS's own policies for it hold (the group is made by the stack)."""
BY_LAMBDA: dict[str, tuple[Grant, ...]] = {
    "stream": (
        Grant(
            "memory stream", ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator")
        ),
        Grant("streams", ("dynamodb:ListStreams",)),
        Grant("stream failures", ("sqs:SendMessage",)),
    ),
    "inbox": (
        Grant(
            "queue",
            (
                "sqs:ReceiveMessage",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ChangeMessageVisibility",
            ),
        ),
    ),
    **{
        name: (Grant("schedule failures", ("sqs:SendMessage",)),)
        for name in ("reconcile", "cleanup", "sweep")
    },
}
"""What Lambda does with the role of a function to bring it its events, and to put away those that failed."""


@pytest.fixture(scope="module")
def recorded(opensearch_url: str) -> Iterator[dict[str, Asked]]:
    """What each function asked for, by its name."""
    recorder = Recorder()
    with mock_aws(), moto_database() as tables, opened(opensearch_url) as index:
        # what the world needs to be made is the operator's, and is not recorded
        world = DynamoWorld(tables, index, admin=True, embedder=recorder.embedder())
        world.parts = replace(world.parts, queue=recorder.queue())
        world.services = bootstrap.build(world.services.settings, world.parts, world.clock)
        before = tables.connection._make_api_call
        recorder.hear_tables(tables)
        recorder.hear_index(index)
        try:
            yield _lives(world, recorder)
        finally:
            tables.connection._make_api_call = before  # type: ignore[method-assign]
            world.database.close()


def _lives(world: DynamoWorld, recorder: Recorder) -> dict[str, Asked]:
    asked: dict[str, Asked] = {function.name: set() for function in FUNCTIONS}
    client = Client(world)
    settle = world.settle

    def settled() -> None:
        with recorder.into(set()):
            settle()

    world.settle = settled  # type: ignore[method-assign]
    with recorder.into(asked[HTTP.name]):
        life = Life(client)
        life.live()
    assert life.missing() == [], "an operation that no role is tested for"
    space = Space.personal("anna")
    _change_model(world, recorder, "newer")
    changes = _everything_changed(world, space)
    with recorder.into(asked[STREAM.name]):
        assert _ended_well(functions.on_changes(changes, None))
    _change_model(world, recorder, "newest")
    with recorder.into(asked[INBOX.name]):
        _inbox(world, space)
    world.parts.index.drop()
    world.parts.index.rebuild_begin()  # and its builder died
    _add_without_vectors(world, "Not in the index, and without vectors.")
    with recorder.into(asked[RECONCILE.name]):
        assert _ended_well(functions.on_reconcile({}, None))
    _lose_the_vectors(world, space)
    with recorder.into(asked[RECONCILE.name]):
        assert _ended_well(functions.on_reconcile({"whole": True}, None))
    world.later(days=1000)
    scope = world.scope(space)
    world.services.jobs.start(scope, NewJob(kind="reindex"), world.request())
    world.later(days=1)
    with recorder.into(asked[CLEANUP.name]):
        assert _ended_well(functions.on_cleanup({}, None))
    with recorder.into(asked[SWEEP.name]):
        assert _ended_well(functions.on_sweep({}, None))
    return asked


def _change_model(world: DynamoWorld, recorder: Recorder, name: str) -> None:
    world.change_embedder(recorder.embedder(name))
    bootstrap.use(world.services)


def _everything_changed(world: DynamoWorld, space: Space) -> Event:
    """The stream says that every item of the space has changed. Memories need vectors, one was erased, a job was started."""
    scope = world.scope(space)
    _add_without_vectors(world, "Not embedded yet.")
    interrupted = world.add("Its erasing was interrupted.")["memory"]["number"]
    erasure: Any = world.parts.memories._erasure  # type: ignore[attr-defined]
    erasure.finish, finish = (lambda *_: False), erasure.finish
    world.services.revise.erase(scope, interrupted, None, world.request())
    erasure.finish = finish
    numbers = [
        memory.number for memory in world.parts.memories.page(world.scope(space), after=None, limit=99)
    ]
    jobs = [job.id for job in world.parts.memories.jobs(scope, 9)]
    changed = [keys.memory(number) for number in numbers] + [keys.job(job) for job in jobs]
    records = [
        {"dynamodb": {"SequenceNumber": str(at), "Keys": {"pk": {"S": space.key}, "sk": {"S": key}}}}
        for at, key in enumerate(changed)
    ]
    return {"Records": records}


def _add_without_vectors(world: DynamoWorld, text: str) -> None:
    world.break_embedder()
    world.add(text)
    world.break_embedder(0)


def _inbox(world: DynamoWorld, space: Space) -> None:
    """A job that is not done in time, and goes on in a second message."""
    (job, *_) = [one for one in world.parts.memories.jobs(world.scope(space), 9) if one.state == "queued"]
    message = {
        "messageId": "1",
        "attributes": {"MessageGroupId": space.key},
        "body": json.dumps({"space": space.key, "job": job.id}),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inbox, "STEP_S", 0.0)
        assert _ended_well(functions.on_messages({"Records": [message]}, None))
    assert _ended_well(functions.on_messages({"Records": [message]}, None))


def _lose_the_vectors(world: DynamoWorld, space: Space) -> None:
    memories = world.parts.memories.page(world.scope(space), after=None, limit=99)
    world.parts.index.repair([IndexEntry(space, kept.number, kept.revision, kept) for kept in memories])


def _ended_well(answer: Any) -> bool:
    return bool(answer == {"batchItemFailures": []})


def granted(function: Function) -> Asked:
    """What the role allows."""
    return {(grant.on, action) for grant in function.grants for action in grant.actions}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_role_allows_what_its_function_does_and_nothing_else(
    function: Function, recorded: dict[str, Asked]
) -> None:
    """A grant that is taken away fails here, and so does one that nobody uses."""
    by_lambda = {(grant.on, action) for grant in BY_LAMBDA.get(function.name, ()) for action in grant.actions}
    needed = recorded[function.name] | by_lambda | {SECRET} | ABOUT_ITSELF
    refused, unused = needed - granted(function), granted(function) - needed
    assert not refused, f"refused: {_told(refused)}; unused: {_told(unused)}"
    assert not unused, f"unused: {_told(unused)}"


def _told(asked: Asked) -> str:
    return "; ".join(f"{action} on {on}" for on, action in sorted(asked))
