"""What an operator counts is counted: through the use cases and doors that do it."""

import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.drafts import Recall, Search
from chalicelib.jobs import schedules
from chalicelib.jobs.schedules import reconcile
from chalicelib.jobs.stream import project_changes
from chalicelib.services.memory.project import Reconciler
from chalicelib.stores.dynamodb import keys
from tests.fakes.client import Client
from tests.fakes.world import World

PERSONAL = "/v1/spaces/personal"


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    made.category(default=True)
    yield made
    made.database.close()


def counted(stream: io.StringIO) -> Counter[str]:
    """Metrics by name, or `name.dimension`, added up."""
    found: Counter[str] = Counter()
    for line in stream.getvalue().splitlines():
        said: dict[str, Any] = json.loads(line)
        if "_aws" not in said:  # a line of the log
            continue
        (directive,) = said["_aws"]["CloudWatchMetrics"]
        (metric,) = directive["Metrics"]
        values = ".".join(str(said[name]) for name in directive["Dimensions"][0])
        found[f"{metric['Name']}.{values}" if values else metric["Name"]] += said[metric["Name"]]
    return found


def test_what_is_added_searched_and_recalled(world: World, stream: io.StringIO) -> None:
    world.add("Marie plays the cello.")
    world.add_facts(3)
    world.services.search.search(world.scope(), Search(query="cello"), by_model=False)
    world.services.search.recall(world.scope(), Recall(query="cello"))
    said = counted(stream)
    assert (said["added"], said["searched"], said["recalled"]) == (4, 1, 1)
    assert not [name for name in said if name.startswith(("degraded", "failures", "conflicts"))]


def test_what_was_answered_without_a_part(world: World, stream: io.StringIO) -> None:
    world.add("Marie plays the cello.")
    world.settle()
    world.break_embedder()
    world.services.search.search(world.scope(), Search(query="cello"), by_model=False)
    world.services.search.recall(world.scope(), Recall(query="cello"))
    assert counted(stream)["degraded.embedder_unavailable"] == 2


def test_what_was_refused_as_a_conflict_or_failed(world: World, stream: io.StringIO) -> None:
    client = Client(world)
    client.post(f"{PERSONAL}/memories", {"text": "The kettle is red."})
    stale = {"version": 7, "text": "The kettle is blue."}
    assert client.patch(f"{PERSONAL}/memories/1", stale).status == 409
    world.database.close()
    assert client.get(f"{PERSONAL}/memories/1").status == 503
    said = counted(stream)
    assert (said["conflicts"], said["failures.table"]) == (1, 1)


def test_how_far_the_index_is_behind(world: World, stream: io.StringIO) -> None:
    Client(world)
    world.add("Marie plays the cello.")
    written_at = world.now.timestamp()
    world.later(seconds=3)
    record = {
        "dynamodb": {
            "SequenceNumber": "1",
            "ApproximateCreationDateTime": written_at,
            "Keys": {"pk": {"S": world.scope().space.key}, "sk": {"S": keys.memory(1)}},
        }
    }
    assert project_changes({"Records": [record]}, None) == {"batchItemFailures": []}
    said = counted(stream)
    assert (said["projected"], said["projection_lag"]) == (1, 3000.0)


def test_a_step_of_background_work_that_fails(world: World, stream: io.StringIO) -> None:
    Client(world)
    world.add("Marie plays the cello.")
    world.parts.index.drop()
    record = {
        "dynamodb": {
            "SequenceNumber": "1",
            "Keys": {"pk": {"S": world.scope().space.key}, "sk": {"S": keys.memory(1)}},
        }
    }
    answer = project_changes({"Records": [record, {"dynamodb": {"SequenceNumber": "2"}}]}, None)
    assert len(answer["batchItemFailures"]) == 1
    said = counted(stream)
    assert (said["projection_failed"], said["failures.stream"]) == (1, 1)
    assert "projection_lag" not in said


def test_what_was_repaired_in_the_index(world: World, stream: io.StringIO) -> None:
    Client(world)
    world.add_facts(5)
    world.settle()
    _lose_vectors(world, 2, 4)
    reconcile({"whole": True}, None)
    assert counted(stream)["reconciled"] == 2
    reconcile({"whole": True}, None)
    assert counted(stream)["reconciled"] == 2


def test_what_was_repaired_after_a_sample_is_counted_once(
    world: World, stream: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample sees two of five; then all is compared, and the other three are."""
    Client(world)
    world.add_facts(5)
    world.settle()
    _lose_vectors(world, 1, 2, 3, 4, 5)
    monkeypatch.setattr(schedules, "SAMPLE", 2)
    monkeypatch.setattr(Reconciler, "_somewhere", lambda *_: 3)
    reconcile({}, None)
    assert counted(stream)["reconciled"] == 5
    reconcile({}, None)
    assert counted(stream)["reconciled"] == 5


def _lose_vectors(world: World, *numbers: int) -> None:
    memories = list(world.parts.memories.get_many(world.scope(), numbers).values())
    entries, _ = world.services.projector.entries(world.scope(), memories)
    world.parts.index.repair([replace(entry, vectors={}) for entry in entries])
