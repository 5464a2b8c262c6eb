"""Reading many, following the stream, and what the tables are made of."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.records import Commit, SpaceWrite
from chalicelib.domain.scope import Space
from chalicelib.errors import StoreUnavailableError
from chalicelib.stores.dynamodb import keys, tables
from chalicelib.stores.dynamodb.memories import DynamoMemoryStore
from tests.contracts.stores.given import (
    ME,
    MODEL,
    T0,
    add,
    adding,
    current,
    erasing,
    later,
    memory,
    scope_of,
    space_record,
    vector,
)
from tests.unit.stores.dynamodb_faults import ATTEMPTS, Dynamo, Faults, answer, opened, well


@pytest.fixture
def dynamo() -> Iterator[Dynamo]:
    with opened() as stores:
        yield stores


@pytest.fixture
def faults(dynamo: Dynamo) -> Faults:
    return dynamo.faults


def leave_some(parsed: dict[str, Any]) -> None:
    """An answer of more than 16 MB, or a throttled one: half of the items were not read."""
    for name, items in parsed["Responses"].items():
        half = len(items) // 2
        left = [{"pk": item["pk"], "sk": item["sk"]} for item in items[half:]]
        del items[half:]
        parsed["UnprocessedKeys"] = {name: {"Keys": left}}


def leave_all(request: dict[str, Any]) -> Any:
    """An answer that did nothing."""
    unread = {
        name: {"Keys": asked["Keys"]} for name, asked in request["RequestItems"].items() if "Keys" in asked
    }
    return answer({"Responses": {}, "UnprocessedKeys": unread})(request)


def delete_none(request: dict[str, Any]) -> Any:
    """As `leave_all`, for a batch of deletes."""
    return answer({"UnprocessedItems": request["RequestItems"]})(request)


def delete_some(request: dict[str, Any]) -> Any:
    """An answer that left one item undone, and did (here: had nothing to do with) the others."""
    return answer({"UnprocessedItems": {n: some[:1] for n, some in request["RequestItems"].items()}})(request)


def test_more_than_a_hundred_keys_are_read_in_parts(dynamo: Dynamo, faults: Faults) -> None:
    for number in (1, 100, 101, 250):
        add(dynamo.memory, number)
    faults.calls.clear()
    assert dynamo.memory.get_many(ME, range(1, 251)).keys() == {1, 100, 101, 250}
    asked = [len(request["RequestItems"]["faulty-memory"]["Keys"]) for request in faults.sent("BatchGetItem")]
    assert asked == [100, 100, 50]


def test_keys_left_unread_are_read_after_a_wait(dynamo: Dynamo, faults: Faults) -> None:
    dynamo.memory.commit(ME, adding(*(memory(n) for n in range(1, 41))))
    faults.on("BatchGetItem", leave_all)
    faults.after_doing("BatchGetItem", well, leave_some, leave_some)
    assert dynamo.memory.get_many(ME, range(1, 41)).keys() == set(range(1, 41))
    assert len(faults.waits) == 3


def test_keys_never_read_end_in_an_error_and_not_in_a_missing_memory(dynamo: Dynamo, faults: Faults) -> None:
    add(dynamo.memory, 1)
    faults.on("BatchGetItem", *[leave_all] * 50)
    with pytest.raises(StoreUnavailableError, match="unprocessed"):
        dynamo.memory.get_many(ME, [1])
    assert len(faults.sent("BatchGetItem")) == ATTEMPTS


def test_slow_progress_is_progress(dynamo: Dynamo, faults: Faults) -> None:
    """Each answer reads some: that may take more answers than there are attempts for one call."""
    dynamo.memory.commit(ME, adding(*(memory(n) for n in range(1, 41))))
    faults.after_doing("BatchGetItem", *[leave_some] * (ATTEMPTS + 1))
    assert len(dynamo.memory.get_many(ME, range(1, 41))) == 40


def test_items_left_undeleted_are_deleted_after_a_wait(dynamo: Dynamo, faults: Faults) -> None:
    add(dynamo.memory, 1)
    models = [f"m-{n}" for n in range(30)]
    dynamo.memory.put_vectors(ME, [vector(1, model=model) for model in models])
    faults.on("BatchWriteItem", delete_none)
    dynamo.memory.commit(ME, erasing(current(dynamo.memory, 1)))
    assert [v for model in models for v in dynamo.memory.vectors(ME, [1], model)] == []
    assert len(faults.waits) == 1
    sent = [len(request["RequestItems"]["faulty-memory"]) for request in faults.sent("BatchWriteItem")]
    assert sent == [25, 25, 5]


def test_an_item_left_undeleted_for_ever_leaves_the_mark(dynamo: Dynamo, faults: Faults) -> None:
    add(dynamo.memory, 1)
    dynamo.memory.put_vectors(ME, [vector(1)])
    faults.on("BatchWriteItem", *[delete_some] * 50)
    with pytest.raises(StoreUnavailableError):
        dynamo.memory.commit(ME, erasing(current(dynamo.memory, 1)))
    faults.before.clear()
    assert dynamo.memory.finish_strip(ME, 1) is True
    assert dynamo.memory.vectors(ME, [1], MODEL) == []


def test_all_reads_are_strongly_consistent(dynamo: Dynamo, faults: Faults) -> None:
    store = dynamo.memory
    add(store, 1)
    store.get(ME, 1)
    store.get_many(ME, [1])
    store.page(ME, after=None, limit=1)
    store.unprojected(ME, 1)
    store.changes(ME, after=None, limit=1)
    store.group(ME, "grp_1")
    store.categories(ME)
    list(store.spaces())
    dynamo.accounts.accounts(after=None, limit=1)
    dynamo.accounts.keys_of("acc_1")
    for name, request in faults.calls:
        if name == "BatchGetItem":
            assert all(asked["ConsistentRead"] for asked in request["RequestItems"].values())
        elif name in ("GetItem", "Query", "Scan"):
            assert request["ConsistentRead"] is True, name


def test_no_request_reads_a_partition_or_a_table_whole(dynamo: Dynamo, faults: Faults) -> None:
    """DESIGN: the partition of a space is never read whole on a request. Each query has a condition on its sort key,
    and the pass that asks for all spaces reads one item of each."""
    store = dynamo.memory
    for number in range(1, 31):
        add(store, number)
    faults.calls.clear()
    store.unprojected(ME, 3)
    store.jobs(ME, 3)
    store.page(ME, after=10, limit=3)
    store.history(ME, "1", after=None, limit=3)
    store.changes(ME, after=None, limit=3)
    for request in faults.sent("Query"):
        assert " AND " in request["KeyConditionExpression"]
        assert request["Limit"] <= 5
    assert list(store.spaces()) == [ME.space]
    assert [request["Limit"] for request in faults.sent("Scan")] == [1, 1]


def test_a_space_in_which_only_numbers_were_reserved_holds_nothing(dynamo: Dynamo) -> None:
    dynamo.memory.reserve(scope_of(Space.personal("acc_2")), 5)
    scope = scope_of(Space.personal("acc_3"))
    dynamo.memory.reserve(scope, 5)
    dynamo.memory.commit(scope, Commit(spaces=(SpaceWrite(record=space_record(scope), expected=None),)))
    assert list(dynamo.memory.spaces()) == [scope.space]


def test_what_was_written_is_named_for_as_long_as_the_index_may_take(dynamo: Dynamo) -> None:
    """SPEC M25. A recall is a write too; what is older is the index's own."""
    now = [T0]
    store = DynamoMemoryStore(dynamo.database, clock=lambda: now[0], unprojected_for=timedelta(seconds=30))
    add(store, 1)
    now[0] = later(20)
    add(store, 2)
    add(store, 3)
    now[0] = later(30)
    assert store.unprojected(ME, 10) == [3, 2, 1]
    now[0] = later(30.001)
    assert store.unprojected(ME, 10) == [3, 2]
    store.touch(ME, [1], later(1))
    assert store.unprojected(ME, 10) == [1, 3, 2]
    now[0] = later(900)
    assert store.unprojected(ME, 10) == []


def test_a_record_of_the_stream_tells_which_memory_or_job_it_is_about() -> None:
    guild = Space.community("discord", "7")
    assert keys.written("account#acc_1", keys.memory(12)) == ("memory", Space.personal("acc_1"), "12")
    assert keys.written(guild.key, keys.job("job_1")) == ("job", guild, "job_1")
    for other in (
        keys.change("12", 1),
        keys.category("cat_1"),
        keys.SPACE,
        keys.COUNTER,
        keys.vector(12, "m", "text"),
    ):
        assert keys.written("account#acc_1", other) is None


def test_a_change_of_nothing_has_no_place() -> None:
    with pytest.raises(ValueError, match="number or a category"):
        keys.change("a#b", 1)


def test_the_tables_are_what_the_stores_need() -> None:
    assert [table.name for table in tables.DEFINITIONS] == ["memory", "account", "inbox"]
    assert tables.MEMORY.stream == "KEYS_ONLY", "the projector reads again; no text travels in the stream"
    assert tables.INBOX.expires == "expires"
    assert tables.INBOX.keys() == [{"AttributeName": "pk", "KeyType": "HASH"}]
    assert {index["IndexName"] for index in tables.MEMORY.indexes()} == {"by_time", "by_link"}
    assert [a["AttributeName"] for a in tables.MEMORY.attributes()] == ["pk", "sk", "when", "link"]


def test_time_outs_leave_time_for_an_answer_within_the_gateways_29_seconds(dynamo: Dynamo) -> None:
    """PynamoDB's own are 15 and 30 s; botocore's retries would multiply ours."""
    config = dynamo.database.connection.client.meta.config  # type: ignore[attr-defined]
    assert (config.connect_timeout, config.read_timeout) == (1.0, 3.0)
    assert config.retries["total_max_attempts"] == 1


@pytest.mark.parametrize("module", ["chalicelib.ports", "chalicelib.stores.dynamodb.tables"])
def test_aws_libraries_are_imported_by_the_adapter_alone(module: str) -> None:
    """Importing the app must not pay for them; the CDK reads the tables without them."""
    code = f"import sys, {module}; print([m for m in ('boto3', 'botocore', 'pynamodb') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
