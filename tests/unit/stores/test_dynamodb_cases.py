"""The kinds of faults that others met with DynamoDB and PynamoDB (CASES, "DynamoDB and PynamoDB"), one row a test."""

import itertools
import math
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.domain.accounts import AccountCommit, EntityWrite, Login
from chalicelib.domain.records import Commit, MemoryWrite
from chalicelib.domain.scope import Space
from chalicelib.errors import AlreadyDoneError, ItemTooLargeError, StaleVersionError, StoreUnavailableError
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.dynamodb.keys import in_space
from chalicelib.stores.dynamodb.tables import INBOX, VERSION
from chalicelib.stores.dynamodb.values import document
from tests.contracts.stores.given import (
    ME,
    MODEL,
    T0,
    add,
    adding,
    current,
    editing,
    erasing,
    later,
    memory,
    once,
    scope_of,
    vector,
)
from tests.unit.stores.dynamodb_faults import (
    CONFLICT,
    THROTTLED,
    Dynamo,
    Faults,
    answer,
    cancelled,
    opened,
    well,
)


@pytest.fixture
def dynamo() -> Iterator[Dynamo]:
    with opened() as stores:
        yield stores


@pytest.fixture
def faults(dynamo: Dynamo) -> Faults:
    return dynamo.faults


def actions(faults: Faults) -> list[tuple[str, dict[str, Any]]]:
    """All actions of all transactions sent, by kind."""
    return [
        pair
        for sent in faults.sent("TransactWriteItems")
        for item in sent["TransactItems"]
        for pair in item.items()
    ]


def test_pynamodb_1247_no_write_takes_a_version_back_to_one(dynamo: Dynamo, faults: Faults) -> None:
    """An update reset the version number to 1."""
    add(dynamo.memory, 1)
    for _ in range(3):
        dynamo.memory.touch(ME, [1], later(1))
        dynamo.memory.commit(ME, editing(current(dynamo.memory, 1), text="x"))
    dynamo.memory.touch(ME, [1], later(2))
    item = dynamo.database.get(in_space(ME, keys.memory(1)))
    assert item is not None
    assert item[VERSION] == {"N": "4"}
    assert current(dynamo.memory, 1).version == 4
    updates = [action for kind, action in actions(faults) if kind == "Update"]
    assert len(updates) == 3
    for action in updates:
        assert VERSION in action["ExpressionAttributeNames"].values()
        assert "ConditionExpression" in action, "no blind update of an item with a version"


def test_pynamodb_706_what_must_be_unique_is_guarded_by_a_condition_on_its_own_item(
    dynamo: Dynamo, faults: Faults
) -> None:
    """A transaction let a duplicate through on a "unique" item."""

    def login(account: str) -> AccountCommit:
        entity = Login(issuer="https://id", subject="s", account=account, created_at=T0)
        return AccountCommit(writes=(EntityWrite(entity=entity, expected=None),))

    dynamo.accounts.commit(login("acc_1"))
    with pytest.raises(StaleVersionError):
        dynamo.accounts.commit(login("acc_2"))
    found = dynamo.accounts.login("https://id", "s")
    assert found is not None
    assert found.account == "acc_1"

    dynamo.memory.commit(ME, adding(memory(1), idempotency=once()))
    with pytest.raises(AlreadyDoneError):
        dynamo.memory.commit(ME, adding(memory(2), idempotency=once()))
    assert all("ConditionExpression" in action for kind, action in actions(faults) if kind == "Put")


def test_pynamodb_1203_a_batch_is_never_used_to_write(dynamo: Dynamo, faults: Faults) -> None:
    """A batch write has no conditions, so a vector would come back to an erased memory."""
    add(dynamo.memory, 1)
    dynamo.memory.put_vectors(ME, [vector(1)])
    dynamo.memory.commit(ME, erasing(current(dynamo.memory, 1)))
    dynamo.memory.put_vectors(ME, [vector(1)])
    assert dynamo.memory.vectors(ME, [1], MODEL) == []
    batches = faults.sent("BatchWriteItem")
    assert batches, "the erase deletes vectors by a batch"
    for batch in batches:
        for requests in batch["RequestItems"].values():
            assert all(set(request) == {"DeleteRequest"} for request in requests)


def short(parsed: dict[str, Any]) -> None:
    """An answer that ends after its first item, as one of 1 MB does."""
    first = parsed["Items"][0]
    parsed.update(
        Items=[first],
        Count=1,
        LastEvaluatedKey={name: first[name] for name in ("pk", "sk", "when") if name in first},
    )


@pytest.mark.parametrize("limit", [1, 3, 5])
def test_pynamodb_137_pages_are_filled_however_short_the_answers_are(
    dynamo: Dynamo, faults: Faults, limit: int
) -> None:
    """Limit against page confusion; a wrong last key."""
    for number in range(1, 6):
        add(dynamo.memory, number, updated_at=later(number))
    wanted = ["5-1", "4-1", "3-1", "2-1", "1-1"]
    faults.after_doing("Query", short, short)
    assert [m.number for m in dynamo.memory.page(ME, after=None, limit=limit)] == [1, 2, 3, 4, 5][:limit]
    faults.after.clear()
    faults.after_doing("Query", short, short)
    page = dynamo.memory.changes(ME, after=None, limit=limit)
    assert [c.id for c in page.items] == wanted[:limit]
    assert (page.next is None) is (limit == 5)


def test_aws_sdk_java_339_an_answer_without_any_match_is_not_the_end(dynamo: Dynamo, faults: Faults) -> None:
    """The limit is applied before the filter: an answer may be empty and yet have a successor."""
    add(dynamo.memory, 1)
    dynamo.memory.commit(ME, editing(current(dynamo.memory, 1), text="x"))
    nothing = {
        "Items": [],
        "Count": 0,
        "ScannedCount": 9,
        "LastEvaluatedKey": {"pk": {"S": ME.space.key}, "sk": {"S": "change#m#0000000000000001#"}},
    }
    faults.on("Query", answer(nothing))
    dynamo.memory.commit(ME, erasing(current(dynamo.memory, 1)))
    raw = dynamo.database.get_many([in_space(ME, keys.change("1", version)) for version in (1, 2, 3)])
    assert len(raw) == 3
    assert not any("image" in item for item in raw)


def test_pynamodb_259_an_expired_record_that_is_still_there_counts_as_gone(dynamo: Dynamo) -> None:
    """DynamoDB returns expired items for up to 48 hours."""
    dynamo.memory.commit(ME, Commit(idempotency=once(expires_at=later(10.5))))
    raw = dynamo.database.get(keys.Key(INBOX, keys.idempotency("acc_1", "key-1")))
    assert raw is not None
    assert raw["expires"] == {"N": str(int(later(10).timestamp()))}, "seconds, for DynamoDB's own deletion"
    assert dynamo.inbox.outcome("acc_1", "key-1", later(10.499)) is not None
    assert dynamo.inbox.outcome("acc_1", "key-1", later(10.5)) is None
    dynamo.memory.commit(ME, adding(memory(1), idempotency=once(at=later(10.5), expires_at=later(99))))
    assert current(dynamo.memory, 1).text == "fact 1"


def test_floci_127_what_is_sent_has_placeholders_and_the_emulator_resolves_them(
    dynamo: Dynamo, faults: Faults
) -> None:
    """An emulator did not: queries returned nothing. (All of tests/contracts/stores runs on both of ours.)"""
    add(dynamo.memory, 1)
    assert [m.number for m in dynamo.memory.page(ME, after=None, limit=1)] == [1]
    (query,) = faults.sent("Query")
    assert query["KeyConditionExpression"] == "(#0 = :0 AND #1 BETWEEN :1 AND :2)"
    assert query["ExpressionAttributeNames"] == {"#0": "pk", "#1": "sk"}


def test_pynamodb_1264_a_conflict_is_tried_again_after_a_drawn_wait(dynamo: Dynamo, faults: Faults) -> None:
    """Transaction conflicts are not retried by PynamoDB, nor by botocore."""
    faults.on(
        "TransactWriteItems",
        cancelled("TransactionConflict", "None"),
        cancelled("None", "TransactionConflict"),
    )
    add(dynamo.memory, 1)
    assert current(dynamo.memory, 1).text == "fact 1"
    assert len(faults.waits) == 2


def test_pynamodb_1264_a_conflict_without_end_is_not_taken_for_a_stale_version(
    dynamo: Dynamo, faults: Faults
) -> None:
    faults.on("TransactWriteItems", *[cancelled("TransactionConflict", "None")] * 50)
    with pytest.raises(StoreUnavailableError, match="another transaction") as refused:
        add(dynamo.memory, 1)
    assert refused.value.unknown is False
    assert len(faults.sent("TransactWriteItems")) == 5


def test_pynamodb_1264_a_failed_condition_is_told_at_once_even_beside_a_conflict(
    dynamo: Dynamo, faults: Faults
) -> None:
    faults.on("TransactWriteItems", cancelled("ConditionalCheckFailed", "TransactionConflict"))
    with pytest.raises(StaleVersionError) as refused:
        add(dynamo.memory, 1)
    assert refused.value.targets == ("1",)
    assert faults.waits == []


@pytest.mark.parametrize("confidence", [0.1 + 0.2, 1e-300, 5e-324, 1.0])
def test_boto3_369_no_float_is_ever_sent_as_a_number(
    dynamo: Dynamo, faults: Faults, confidence: float
) -> None:
    """Float to Decimal errors: scores."""
    add(dynamo.memory, 1, confidence=confidence, context_from=7)
    dynamo.memory.touch(ME, [1], later(0.123))
    assert current(dynamo.memory, 1).confidence == confidence
    recorded = dynamo.memory.change(ME, "1", 1)
    assert recorded is not None
    assert recorded.image is not None
    assert recorded.image["confidence"] == confidence
    numbers = [value for _, request in faults.calls for value in numbers_in(request)]
    assert numbers
    assert all(number.isdigit() for number in numbers)


def numbers_in(value: object) -> Iterator[str]:
    """Every value that is sent as a number."""
    if isinstance(value, dict):
        if set(value) == {"N"}:
            yield value["N"]
        for inner in value.values():
            yield from numbers_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers_in(inner)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_boto3_369_what_is_no_number_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        document({"confidence": number})


def test_chainlit_1776_nothing_at_all_is_sent_of_a_commit_with_an_item_too_large(
    dynamo: Dynamo, faults: Faults
) -> None:
    """An item was over 400 KB; its vectors were already written when it failed."""
    large = adding(memory(1), memory(2, text="x" * 410_000), vectors=(vector(1), vector(2)))
    with pytest.raises(ItemTooLargeError):
        dynamo.memory.commit(ME, large)
    assert faults.calls == []


def test_chainlit_1776_what_json_makes_longer_is_measured_as_it_is_sent(
    dynamo: Dynamo, faults: Faults
) -> None:
    """A text is kept beside the JSON: 250,000 quotes fit. Other fields are in it, and grow: that is refused too."""
    add(dynamo.memory, 1, text='"' * 250_000)
    assert current(dynamo.memory, 1).text == '"' * 250_000
    faults.calls.clear()
    grown = memory(2, text="x" * 395_000, reason="\x01" * 1000, context="\x02" * 2000)
    with pytest.raises(ItemTooLargeError):
        dynamo.memory.commit(ME, Commit(memories=(MemoryWrite(memory=grown, expected=None),)))
    assert faults.calls == []


def test_chainlit_1776_vectors_that_do_not_fit_into_the_transaction_follow_it(
    dynamo: Dynamo, faults: Faults
) -> None:
    vectors = [vector(n, role=role) for n in range(1, 41) for role in ("text", "context")]
    dynamo.memory.commit(ME, adding(*(memory(n) for n in range(1, 41)), vectors=tuple(vectors)))
    first, *others = faults.sent("TransactWriteItems")
    assert len(first["TransactItems"]) == 100
    assert others
    assert all(len(sent["TransactItems"]) <= 100 for sent in others)
    assert len(dynamo.memory.vectors(ME, range(1, 41), MODEL)) == 80


def test_brighter_2810_one_big_guild_under_throttling_loses_and_doubles_nothing(
    dynamo: Dynamo, faults: Faults
) -> None:
    """A hot partition: DynamoDB throttles all who write to one space. They wait, each for another time."""
    guild = scope_of(Space.community("discord", "1"))
    chance = random.Random(7)
    for operation, kinds in {"UpdateItem": [THROTTLED, CONFLICT], "TransactWriteItems": [THROTTLED]}.items():
        faults.on(operation, *(chance.choice([*kinds, well]) for _ in range(60)))

    def work(_: int) -> list[int]:
        numbers = [patiently(lambda: dynamo.memory.reserve(guild, 1)) for _ in range(5)]
        for number in numbers:
            patiently(lambda number=number: add(dynamo.memory, number, scope=guild))
        return numbers

    with ThreadPoolExecutor(8) as pool:
        taken = list(itertools.chain.from_iterable(pool.map(work, range(8))))
    assert len(set(taken)) == 40
    assert [m.number for m in dynamo.memory.page(guild, after=None, limit=99)] == sorted(taken)
    assert len(dynamo.memory.changes(guild, after=None, limit=99).items) == 40


def patiently(write: Callable[[], Any]) -> Any:
    """As a caller does who is told "try again", and that nothing was written."""
    while True:
        try:
            return write()
        except StoreUnavailableError as error:
            if error.unknown:
                raise


def test_xoto3_13_a_plain_update_waits_for_a_transaction_that_holds_its_item(
    dynamo: Dynamo, faults: Faults
) -> None:
    """Plain updates fail while a transaction holds the item."""
    add(dynamo.memory, 1)
    faults.on("UpdateItem", CONFLICT, CONFLICT)
    dynamo.memory.touch(ME, [1], later(1))
    assert current(dynamo.memory, 1).use_count == 1
    faults.on("UpdateItem", CONFLICT)
    assert dynamo.memory.reserve(ME, 1) == 1
    assert len(faults.waits) == 3


def test_nothing_of_a_memory_reaches_a_log_however_much_is_logged(
    dynamo: Dynamo, caplog: pytest.LogCaptureFixture
) -> None:
    """CASES: graphiti PR#1237. PynamoDB and botocore log whole requests at DEBUG."""
    caplog.set_level("DEBUG")
    add(dynamo.memory, 1, text="planted marker")
    dynamo.memory.commit(ME, editing(current(dynamo.memory, 1), text="planted marker too"))
    with pytest.raises(StaleVersionError) as refused:
        add(dynamo.memory, 1, text="planted marker")
    assert "planted" not in caplog.text
    assert "planted" not in str(refused.value)


def test_ids_and_texts_in_keys_are_escaped_by_nobody_and_collide_with_nothing() -> None:
    """CASES: mem0 PR#6892."""
    assert keys.changes_of("1#2") is None
    assert keys.changes_of("") is None
    assert keys.changes_of("012") is None, "12 has one name"
    assert keys.changes_of("9" * 40) is None
    assert keys.changes_of("²") is None
    assert keys.digest("a", "b") != keys.digest("ab")
    assert keys.digest('a", "b') != keys.digest("a", "b")
    assert keys.digest("\ud800"), "not even a broken text breaks a look-up"
