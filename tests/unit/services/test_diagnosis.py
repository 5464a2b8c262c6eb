"""Each planted fault is found, said in one sentence, and has the command that mends it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.bootstrap import Parts, build
from chalicelib.domain.diagnosis import IndexSeen, TablesSeen
from chalicelib.domain.records import Commit, MemoryWrite
from chalicelib.errors import (
    EmbedderUnavailableError,
    EmbeddingDimensionError,
    IndexUnavailableError,
    StoreUnavailableError,
)
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.services.comparison import LATE, NEWEST, STATES, STRETCH, WHOLE
from chalicelib.services.diagnosis import FORGETFUL
from chalicelib.settings import Settings
from chalicelib.stores.dynamodb.inspection import DynamoStorage
from chalicelib.stores.dynamodb.tables import ACCOUNT, INBOX, MEMORY
from tests.contracts.stores.dynamodb_stores import moto_database
from tests.fakes.engines import DynamoWorld
from tests.fakes.opensearch_engine import FakeEngine
from tests.fakes.world import World

CLOUD = Settings(
    store="dynamodb", region="eu-central-1", search="opensearch", opensearch_url="https://search.example"
)


def look(world: World, settings: Settings | None = None, **parts: Any) -> dict[str, Any]:
    services = build(settings or Settings(), replace(world.parts, **parts), world.clock)
    return services.diagnosis.look()


def only(answer: dict[str, Any]) -> tuple[str, str, str, str]:
    [found] = answer["findings"]
    return found["severity"], found["part"], found["message"], found["fix"]


@pytest.fixture
def world() -> World:
    """One memory, in the table and in the index, for long enough."""
    made = World()
    made.category(default=True)
    made.add()
    made.settle()
    made.later(minutes=30)
    return made


@pytest.fixture
def cloud() -> Iterator[DynamoWorld]:
    """The same on DynamoDB; its clock is the emulator's."""
    with moto_database() as tables:
        made = DynamoWorld(tables)
        made.add()
        made.settle()
        made.later(minutes=30)
        yield made


class Told:
    """A part that answers, or fails, as it is told."""

    def __init__(self, part: object, **told: Any) -> None:
        self._part = part
        self._told = told

    def __getattr__(self, name: str) -> Any:
        if name not in self._told:
            return getattr(self._part, name)
        told = self._told[name]

        def answer(*_: object, **__: object) -> Any:
            if isinstance(told, Exception):
                raise told
            return told

        return answer


def test_where_nothing_is_wrong_nothing_is_found(world: World) -> None:
    answer = look(world)
    assert answer["findings"] == []
    assert answer["compared"] == {"spaces": 1, "memories": 1, "all": True}


def test_looking_changes_nothing(world: World) -> None:
    before = world.database_dump()
    look(world)
    assert world.database_dump() == before


def test_in_the_cloud_nothing_is_found_either(cloud: DynamoWorld) -> None:
    cloud.now = cloud.now
    seen = Told(cloud.parts.storage, look=replace(cloud.parts.storage.look(), clock=cloud.now))
    assert look(cloud, storage=seen)["findings"] == []


# ---------------------------------------------------------------------- table, stream, clock


@pytest.mark.parametrize("table", [INBOX, MEMORY, ACCOUNT])
def test_a_table_that_is_missing(cloud: DynamoWorld, table: Any) -> None:
    cloud.tables.connection.delete_table(cloud.tables.name(table))
    severity, part, message, fix = only(look(cloud, CLOUD, embedder=None, index=cloud.parts.index))
    assert (severity, part, fix) == ("fault", "table", "make deploy")
    assert f"moto-{table.name}" in message


def test_a_table_that_has_no_stream(cloud: DynamoWorld) -> None:
    cloud.tables.connection.dispatch(
        "UpdateTable",
        {"TableName": cloud.tables.name(MEMORY), "StreamSpecification": {"StreamEnabled": False}},
    )
    seen = replace(DynamoStorage(cloud.tables).look(), clock=cloud.now)
    severity, part, message, fix = only(look(cloud, CLOUD, storage=Told(None, look=seen)))
    assert (severity, part, fix) == ("fault", "stream", "make deploy")
    assert "moto-memory has no stream" in message
    emulated = CLOUD.model_copy(update={"dynamodb_endpoint": "http://127.0.0.1:8000"})
    assert only(look(cloud, emulated, storage=Told(None, look=seen)))[3].startswith(
        "aws dynamodb update-table --endp"
    )


@pytest.mark.parametrize(
    ("part", "method", "message"),
    [
        ("storage", "look", "do not answer"),
        ("accounts", "installation", "cannot be read"),
        ("memories", "get", "cannot be read"),
        ("memories", "touch", "cannot be written"),
    ],
)
def test_a_table_that_does_not_answer_or_can_only_be_read(
    world: World, part: str, method: str, message: str
) -> None:
    broken = Told(getattr(world.parts, part), **{method: StoreUnavailableError("it is refused")})
    severity, found, told, fix = only(look(world, **{part: broken}))
    assert (severity, found, fix) == ("fault", "table", "make run")
    assert message in told


def test_a_full_disk(world: World) -> None:
    def full() -> None:
        raise StoreUnavailableError("the disk is full")

    diagnosis = replace(build(Settings(), world.parts, world.clock).diagnosis, writable=full)
    assert "the disk is full" in only(diagnosis.look())[2]


@pytest.mark.parametrize(
    ("behind", "severity", "message"),
    [
        (timedelta(seconds=90), "warning", "90 seconds behind DynamoDB's."),
        (timedelta(minutes=3), "warning", "3 minutes behind DynamoDB's."),
        (timedelta(hours=-5), "warning", "5 hours ahead of DynamoDB's."),
        (FORGETFUL + timedelta(days=1), "fault", "a repeated write may be done twice"),
    ],
)
def test_a_clock_that_goes_wrong(world: World, behind: timedelta, severity: str, message: str) -> None:
    seen = TablesSeen(clock=world.now + behind)
    told = only(look(world, storage=Told(None, look=seen)))
    assert told[:2] == (severity, "clock")
    assert message in told[2]
    assert told[3] == "sudo timedatectl set-ntp true"


def test_a_clock_that_is_right_is_no_finding(world: World) -> None:
    seen = TablesSeen(clock=world.now + timedelta(seconds=30))
    assert look(world, storage=Told(None, look=seen))["findings"] == []


# ---------------------------------------------------------------------- embedder, queue


def test_an_embedder_that_does_not_answer(world: World) -> None:
    world.break_embedder()
    settings = Settings(embedder="openai", embedding_model="m", embedding_url="https://models.example/v1")
    severity, part, message, fix = only(look(world, settings))
    assert (severity, part, fix) == ("fault", "embedder", "curl -sS -m 10 https://models.example/v1/models")
    assert "Recall goes by words" in message


def test_an_embedder_whose_vectors_are_not_as_long_as_its_settings_say(world: World) -> None:
    assert isinstance(world.embedder, ScriptedEmbedder)
    world.embedder.answer("diagnosis", bytes(4 * 7))
    severity, part, message, fix = only(look(world))
    assert (severity, part) == ("fault", "embedder")
    assert "vectors of 7 numbers, and its settings say 256" in message
    assert fix == "PALIMPSEST_EMBEDDING_DIMENSION=7 make run"


def test_an_embedder_that_refuses_its_own_vectors_says_how_long_they_are(world: World) -> None:
    world.embedder.fail(EmbeddingDimensionError("of 8 numbers", answered=8))  # type: ignore[union-attr]
    assert only(look(world))[1:] == ("embedder", "of 8 numbers.", "PALIMPSEST_EMBEDDING_DIMENSION=8 make run")


def test_without_an_embedder_it_is_not_missed(world: World) -> None:
    assert look(world, embedder=None)["findings"] == []


def test_a_queue_that_does_not_answer(world: World) -> None:
    broken = Told(world.parts.queue, depth=StoreUnavailableError("it is gone"))
    assert only(look(world, queue=broken))[:2] == ("fault", "queue")


# ---------------------------------------------------------------------- index


@pytest.mark.parametrize(("settings", "fix"), [(Settings(), "make run"), (CLOUD, "palimpsest index rebuild")])
def test_an_index_that_is_missing(world: World, settings: Settings, fix: str) -> None:
    world.parts.index.drop()
    severity, part, message, told = only(look(world, settings))
    assert (severity, part, told) == ("fault", "index", fix)
    assert "There is no complete index" in message


def test_an_index_of_another_format() -> None:
    from chalicelib.search import text
    from chalicelib.search.opensearch.index import OpenSearchIndex

    name = "palimpsest-words-g0123456789abcdef"
    engine = FakeEngine(
        (200, {name: {"aliases": {"palimpsest-words": {}}, "mappings": {"_meta": {"palimpsest": 0}}}})
    )
    world = World()
    index = OpenSearchIndex(engine.client(), text)
    severity, part, message, fix = only(look(world, CLOUD, index=index))
    assert (severity, part, fix) == ("fault", "index", "palimpsest index rebuild")
    assert f"{name} is of another format" in message


@pytest.mark.parametrize(
    ("url", "fix"),
    [
        ("http://127.0.0.1:9200", "make opensearch"),
        ("https://search.example", "curl -sS -m 10 https://search.example"),
    ],
)
@pytest.mark.parametrize("method", ["inspect", "counts"])
def test_an_index_that_does_not_answer(world: World, url: str, fix: str, method: str) -> None:
    broken = Told(world.parts.index, **{method: IndexUnavailableError("ConnectionError")})
    settings = Settings(search="opensearch", opensearch_url=url)
    severity, part, message, told = only(look(world, settings, index=broken))
    assert (severity, part, told) == ("fault", "index", fix)
    assert "does not answer: ConnectionError" in message


def test_an_index_of_another_model_than_the_one_in_use(world: World) -> None:
    world.change_embedder(ScriptedEmbedder(name="other", dimension=32))
    first, second = look(world)["findings"]
    assert (first["severity"], first["part"], first["fix"]) == ("fault", "index", "palimpsest reindex --all")
    assert "(256 numbers)" in first["message"]
    assert "(32 numbers)" in first["message"]
    assert (second["severity"], second["fix"]) == ("warning", "palimpsest reindex --all")
    assert "1 space has no complete vectors" in second["message"]
    world.reindex()
    assert look(world)["findings"] == []


def test_an_index_that_takes_vectors_of_another_dimension(world: World) -> None:
    with world.database.write() as connection:
        connection.execute("UPDATE search_model SET dimension = 8")
    severity, part, message, _ = only(look(world))
    assert (severity, part) == ("fault", "index")
    assert "takes vectors of 8 numbers, and the embedder makes 256" in message


# ---------------------------------------------------------------------- between table and index


def test_a_new_memory_that_the_index_did_not_get(world: World) -> None:
    world.add("Marie eats fish.")
    assert look(world)["findings"] == []
    world.later(seconds=LATE.total_seconds() + 1)
    severity, part, message, fix = only(look(world))
    assert (severity, part, fix) == ("fault", "stream", "make run")
    assert message == "1 written memory is not in the index; the oldest was written here 5 minutes ago."
    world.settle()
    assert look(world)["findings"] == []


def test_a_change_and_an_erase_that_the_index_did_not_get(world: World) -> None:
    from chalicelib.domain.drafts import Edit

    world.add("Marie eats fish.")
    world.settle()
    world.services.revise.edit(world.scope(), 1, Edit(version=1, text="Marie eats meat."), world.request())
    world.services.revise.erase(world.scope(), 2, None, world.request())
    world.later(hours=3)
    assert (
        "2 written memories are not in the index; the oldest was written here 3 hours" in only(look(world))[2]
    )
    assert only(look(world, CLOUD))[3] == "palimpsest index rebuild"


def test_in_the_cloud_a_memory_that_the_index_did_not_get(cloud: DynamoWorld) -> None:
    cloud.add("Marie eats fish.")
    cloud.later(days=1)
    seen = Told(cloud.parts.storage, look=replace(cloud.parts.storage.look(), clock=cloud.now))
    assert only(look(cloud, CLOUD, storage=seen))[1] == "stream"


def test_many_numbers_far_from_each_other_are_compared(world: World) -> None:
    world.add_facts(300)
    for number in (3, 250):
        world.services.revise.trash(world.scope(), number, None, world.request())
    world.later(hours=1)
    assert "2 written memories" in only(look(world))[2]


def _take_from_index(world: World, statement: str) -> None:
    with world.database.write() as connection:
        connection.execute(statement)


@pytest.mark.parametrize("settings", [Settings(), CLOUD])
def test_old_memories_that_the_index_has_lost(world: World, settings: Settings) -> None:
    world.add_facts(NEWEST + 20)
    world.settle()
    world.later(days=200)
    _take_from_index(world, "DELETE FROM search_entry WHERE number <= 20")
    severity, part, message, fix = only(look(world, settings))
    assert (severity, part, fix) == ("fault", "index", "palimpsest index rebuild")
    assert message.startswith("20 memories are not in the index as in the table, and nothing is on its way")
    world.services.rebuild.rebuild()
    assert look(world)["findings"] == []


def test_one_memory_that_the_index_holds_otherwise(world: World) -> None:
    _take_from_index(world, "UPDATE search_entry SET content_hash = 'x'")
    assert only(look(world))[2].startswith("1 memory is not in the index as in the table")


def test_vectors_that_are_gone(world: World) -> None:
    world.add_facts(3)
    world.settle()
    _take_from_index(world, "DELETE FROM search_vector WHERE number > 1")
    severity, part, message, fix = only(look(world))
    assert (severity, part, fix) == ("fault", "index", "palimpsest index rebuild")
    assert message.startswith("3 memories have no vectors of the model in use")
    _take_from_index(world, "DELETE FROM search_vector")
    assert "4 memories have no vectors" in only(look(world))[2]
    _take_from_index(world, "DELETE FROM search_entry WHERE number > 1")
    assert "1 memory has no vectors" in look(world)["findings"][-1]["message"]
    world.services.rebuild.rebuild()
    assert look(world)["findings"] == []


@pytest.mark.parametrize("count", [STATES - 1, STATES, STATES + 1])
def test_the_last_of_a_page_of_the_index_is_compared(world: World, count: int) -> None:
    world.add_facts(count - 1)
    world.settle()
    assert look(world) == {
        **look(world),
        "findings": [],
        "compared": {"spaces": 1, "memories": count, "all": True},
    }
    _take_from_index(world, f"DELETE FROM search_entry WHERE number = {count}")
    assert "1 memory is not in the index" in only(look(world))[2]


def test_memories_that_only_the_index_still_has(world: World) -> None:
    world.add_facts(2)
    world.settle()
    for number, told in ((2, "holds 1 memory that"), (3, "holds 2 memories that")):
        with world.database.write() as connection:
            connection.execute("DELETE FROM memory WHERE number = ?", (number,))
        assert told in only(look(world))[2]


def test_of_a_large_space_a_part_is_compared_and_it_says_so(world: World) -> None:
    world.add_facts(2 * WHOLE)
    world.settle()
    answer = look(world)
    assert answer["findings"] == []
    compared = answer["compared"]
    assert (compared["spaces"], compared["all"]) == (1, False)
    assert NEWEST + STRETCH / 2 < compared["memories"] <= WHOLE
    _take_from_index(world, f"DELETE FROM search_entry WHERE number < {2 * WHOLE - NEWEST}")
    assert "nothing is on its way" in only(look(world))[2]


@pytest.mark.parametrize("kind", ["laptop", "cloud"])
def test_after_an_import_nothing_is_late(world: World, cloud: DynamoWorld, kind: str) -> None:
    """What comes from elsewhere has its old times."""
    source = world
    target = cloud if kind == "cloud" else World()
    source.later(days=-200)
    source.add_facts(5)
    scope, other = source.scope(), target.scope()
    memories = source.parts.memories.page(scope, after=None, limit=9)
    changes = source.parts.memories.changes(scope, after=None, limit=90).items
    space = target.scope().space
    writes = tuple(
        MemoryWrite(
            memory=one.model_copy(update={"number": one.number + 100, "space": space.key}), expected=None
        )
        for one in memories
    )
    target.parts.memories.pass_numbers(other, 120)
    target.parts.memories.commit(
        other,
        Commit(
            memories=writes,
            changes=tuple(
                one.model_copy(update={"target": str(int(one.target) + 100)})
                for one in changes
                if one.target.isdecimal()
            ),
        ),
    )
    seen = Told(target.parts.storage, look=TablesSeen(clock=target.now))
    assert look(target, storage=seen)["findings"] == []
    target.later(minutes=6)
    message = only(look(target, storage=Told(None, look=TablesSeen(clock=target.now))))[2]
    assert "not in the index; the oldest was written here 6 minutes ago" in message


def test_what_is_written_while_it_looks_is_no_finding(world: World) -> None:
    """Between the reads of the table and of the index a projector goes on."""

    class Busy(Told):
        def indexed(self, *arguments: Any, **named: Any) -> Any:
            world.settle()
            return world.parts.index.indexed(*arguments, **named)

    def edited(numbers: list[int]) -> None:
        from chalicelib.domain.drafts import Edit

        version = world.parts.memories.get_many(world.scope(), numbers)[1].version
        world.services.revise.edit(
            world.scope(), 1, Edit(version=version, text=f"fact {version}"), world.request()
        )

    class Edited(Told):
        def get_many(self, scope: Any, numbers: Any) -> Any:
            before = world.parts.memories.get_many(scope, numbers)
            if 1 in numbers and not done:
                done.append(1)
                edited([1])
            return before

    done: list[int] = []
    assert look(world, memories=Edited(world.parts.memories), index=Busy(world.parts.index))["findings"] == []
    assert done


def test_a_recall_that_the_index_has_not_counted_yet_is_no_finding(world: World) -> None:
    world.parts.memories.touch(world.scope(), [1], world.now)
    world.later(hours=1)
    assert look(world)["findings"] == []


@pytest.mark.parametrize(
    ("part", "method", "error", "found"),
    [
        ("memories", "spaces", StoreUnavailableError("gone"), "table"),
        ("index", "indexed", IndexUnavailableError("gone"), "index"),
    ],
)
def test_what_fails_while_comparing_is_told(
    world: World, part: str, method: str, error: Exception, found: str
) -> None:
    answer = look(world, **{part: Told(getattr(world.parts, part), **{method: error})})
    assert only(answer)[1] == found
    assert answer["compared"]["all"] is False


def test_it_says_when_there_was_no_time_for_all_spaces(world: World) -> None:
    times = iter([0.0, 1e6])
    services = build(Settings(), world.parts, world.clock)
    answer = replace(services.diagnosis, monotonic=lambda: next(times)).look()
    assert answer["compared"] == {"spaces": 0, "memories": 0, "all": False}


def test_every_part_is_asked_whatever_failed_before(world: World) -> None:
    world.break_embedder()
    broken = replace(
        world.parts,
        storage=Told(None, look=StoreUnavailableError("gone")),
        index=Told(world.parts.index, inspect=IndexUnavailableError("gone")),
        queue=Told(world.parts.queue, depth=StoreUnavailableError("gone")),
    )
    parts: Parts = broken
    answer = build(Settings(), parts, world.clock).diagnosis.look()
    assert [one["part"] for one in answer["findings"]] == ["table", "embedder", "queue", "index"]


def test_no_text_of_a_memory_is_said(world: World) -> None:
    world.add("a secret of Marie")
    world.later(hours=1)
    world.embedder.fail(EmbedderUnavailableError("it is down"))  # type: ignore[union-attr]
    assert "secret of Marie" not in repr(look(world))
    assert IndexSeen(complete=True).foreign == ()
