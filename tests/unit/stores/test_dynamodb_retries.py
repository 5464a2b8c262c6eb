"""What DynamoDB answers when it is busy, broken or silent, and what the caller of a store is told."""

from collections.abc import Callable, Iterator

import pytest
from botocore.exceptions import NoCredentialsError

from chalicelib.domain.records import Commit
from chalicelib.errors import AlreadyDoneError, ItemTooLargeError, StaleVersionError, StoreUnavailableError
from chalicelib.stores.dynamodb.retries import Retries
from tests.contracts.stores.given import ME, add, adding, current, editing, later, memory, once, vector
from tests.unit.stores.dynamodb_faults import (
    ATTEMPTS,
    BROKEN,
    IN_PROGRESS,
    THROTTLED,
    Dynamo,
    Fault,
    Faults,
    cancelled,
    opened,
    refusal,
    silence,
    unreached,
)

PASSING = {
    "throttled": THROTTLED,
    "throttled by rate": refusal("ThrottlingException"),
    "too many for the account": refusal("RequestLimitExceeded"),
    "broken": BROKEN,
    "a gateway's page": refusal("503", status=503),
    "no connection": unreached,
    "no answer": silence,
}


@pytest.fixture
def dynamo() -> Iterator[Dynamo]:
    with opened() as stores:
        yield stores


@pytest.fixture
def faults(dynamo: Dynamo) -> Faults:
    return dynamo.faults


@pytest.mark.parametrize("fault", PASSING.values(), ids=list(PASSING))
def test_a_read_that_failed_in_passing_is_read_again(dynamo: Dynamo, faults: Faults, fault: Fault) -> None:
    add(dynamo.memory, 1)
    faults.on("GetItem", fault).on("Query", fault).on("BatchGetItem", fault)
    assert current(dynamo.memory, 1).text == "fact 1"
    assert [m.number for m in dynamo.memory.page(ME, after=None, limit=5)] == [1]
    assert dynamo.memory.get_many(ME, [1]).keys() == {1}


@pytest.mark.parametrize(
    "fault",
    [
        *PASSING.values(),
        IN_PROGRESS,
        cancelled("ThrottlingError", "None"),
        cancelled("TransactionConflict", "ThrottlingError"),
    ],
)
def test_a_commit_that_failed_in_passing_is_sent_again_under_the_same_token(
    dynamo: Dynamo, faults: Faults, fault: Fault
) -> None:
    faults.on("TransactWriteItems", fault)
    add(dynamo.memory, 1)
    assert current(dynamo.memory, 1).text == "fact 1"
    first, second = faults.sent("TransactWriteItems")
    assert first["ClientRequestToken"] == second["ClientRequestToken"]


def test_different_commits_never_share_a_token(dynamo: Dynamo, faults: Faults) -> None:
    add(dynamo.memory, 1)
    add(dynamo.memory, 2)
    first, second = faults.sent("TransactWriteItems")
    assert first["ClientRequestToken"] != second["ClientRequestToken"]


def test_retries_end_and_say_that_nothing_was_written(dynamo: Dynamo, faults: Faults) -> None:
    faults.on("TransactWriteItems", *[THROTTLED] * 50)
    with pytest.raises(StoreUnavailableError, match="throttled") as refused:
        add(dynamo.memory, 1)
    assert refused.value.unknown is False
    assert len(faults.sent("TransactWriteItems")) == ATTEMPTS
    faults.before.clear()
    assert dynamo.memory.get(ME, 1) is None


def test_waits_grow_are_bounded_and_are_drawn_anew_each_time(dynamo: Dynamo, faults: Faults) -> None:
    """Full jitter: the wait is drawn between nothing and the bound, so that two who met do not meet again."""
    faults.on("GetItem", *[THROTTLED] * (ATTEMPTS - 1))
    dynamo.memory.get(ME, 1)
    assert faults.bounds == [0.025 * 2**n for n in range(ATTEMPTS - 1)]
    assert faults.waits == [bound / 2 for bound in faults.bounds]

    slept: list[float] = []
    patient = Retries(sleep=slept.append, jitter=lambda low, high: high)
    for attempt in range(1, 30):
        patient.wait(attempt)
    assert max(slept) == patient.longest_wait


def test_a_silent_database_is_asked_twice_and_not_until_the_caller_gives_up(
    dynamo: Dynamo, faults: Faults
) -> None:
    """Two time-outs of 3 s stay under the gateway's 29 s; eight do not."""
    faults.on("GetItem", *[silence] * 50)
    with pytest.raises(StoreUnavailableError, match="no answer") as refused:
        dynamo.memory.get(ME, 1)
    assert refused.value.unknown is False, "a read changes nothing"
    assert len(faults.sent("GetItem")) == 2


@pytest.mark.parametrize("fault", [silence, BROKEN, IN_PROGRESS])
def test_a_write_without_an_answer_may_have_happened_and_says_so(
    dynamo: Dynamo, faults: Faults, fault: Fault
) -> None:
    faults.on("TransactWriteItems", *[fault] * 50)
    with pytest.raises(StoreUnavailableError) as refused:
        add(dynamo.memory, 1)
    assert refused.value.unknown is True


def test_a_write_that_never_left_cannot_have_happened(dynamo: Dynamo, faults: Faults) -> None:
    faults.on("TransactWriteItems", *[unreached] * 50)
    with pytest.raises(StoreUnavailableError) as refused:
        add(dynamo.memory, 1)
    assert refused.value.unknown is False


def test_what_was_written_before_the_time_out_is_told_by_the_idempotency_record(
    dynamo: Dynamo, faults: Faults
) -> None:
    """moto does not know tokens, so here the second attempt meets the first: the caller must not be told "stale"."""
    faults.after_doing("TransactWriteItems", silence)
    with pytest.raises(AlreadyDoneError):
        dynamo.memory.commit(ME, adding(memory(1), idempotency=once()))
    assert current(dynamo.memory, 1).text == "fact 1"
    assert dynamo.inbox.outcome("acc_1", "key-1", later(1)) == once()


def test_without_a_record_a_failed_condition_after_a_time_out_is_unknown_and_not_stale(
    dynamo: Dynamo, faults: Faults
) -> None:
    faults.after_doing("TransactWriteItems", silence)
    with pytest.raises(StoreUnavailableError) as refused:
        add(dynamo.memory, 1)
    assert refused.value.unknown is True


def test_after_a_time_out_a_stale_version_without_a_record_of_ours_is_stale(
    dynamo: Dynamo, faults: Faults
) -> None:
    seen = add(dynamo.memory, 1)
    dynamo.memory.commit(ME, editing(seen, text="first"))
    faults.on("TransactWriteItems", silence)
    with pytest.raises(StaleVersionError):
        dynamo.memory.commit(ME, editing(seen, text="late").model_copy(update={"idempotency": once()}))


def test_a_recall_that_may_have_been_counted_is_not_counted_twice(dynamo: Dynamo, faults: Faults) -> None:
    add(dynamo.memory, 1)
    faults.after_doing("UpdateItem", silence)
    with pytest.raises(StoreUnavailableError) as refused:
        dynamo.memory.touch(ME, [1], later(1))
    assert refused.value.unknown is True
    assert current(dynamo.memory, 1).use_count == 1


def test_a_number_reserved_without_an_answer_is_never_given_again(dynamo: Dynamo, faults: Faults) -> None:
    """SPEC M3: gaps are allowed, reuse is not."""
    faults.after_doing("UpdateItem", silence)
    assert dynamo.memory.reserve(ME, 2) == 3
    assert dynamo.memory.reserve(ME, 1) == 5


def test_a_table_that_is_not_there_is_unavailable_and_names_the_reason(
    dynamo: Dynamo, faults: Faults
) -> None:
    """CASES: Synapse PR#107: a store that refuses every write must not look healthy."""
    faults.on("TransactWriteItems", refusal("ResourceNotFoundException"))
    with pytest.raises(StoreUnavailableError, match="ResourceNotFoundException"):
        add(dynamo.memory, 1)
    assert len(faults.sent("TransactWriteItems")) == 1


def test_a_role_without_permission_is_told_at_once(dynamo: Dynamo, faults: Faults) -> None:
    faults.on("GetItem", refusal("AccessDeniedException"))
    with pytest.raises(StoreUnavailableError, match="AccessDeniedException"):
        dynamo.memory.get(ME, 1)
    assert faults.waits == []


@pytest.mark.parametrize(
    "fault",
    [
        refusal("ValidationException", "Item size has exceeded the maximum allowed size"),
        refusal("ItemCollectionSizeLimitExceededException"),
        cancelled("None", "ItemCollectionSizeLimitExceeded"),
    ],
)
def test_what_the_database_finds_too_large_is_too_large(dynamo: Dynamo, faults: Faults, fault: Fault) -> None:
    faults.on("TransactWriteItems", fault)
    with pytest.raises(ItemTooLargeError):
        add(dynamo.memory, 1)


def test_missing_credentials_are_a_reason_and_not_a_crash(dynamo: Dynamo, faults: Faults) -> None:
    def none(_: object) -> None:
        raise NoCredentialsError

    faults.on("GetItem", none)
    with pytest.raises(StoreUnavailableError, match="NoCredentialsError"):
        dynamo.memory.get(ME, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.get(ME, 1),
        lambda s: s.get_many(ME, [1]),
        lambda s: s.reserve(ME, 1),
        lambda s: s.commit(ME, adding(memory(2))),
        lambda s: s.page(ME, after=None, limit=1),
        lambda s: s.unprojected(ME, 1),
        lambda s: s.at_position(ME, [("c", 1)]),
        lambda s: s.context_of(ME, 1),
        lambda s: s.touch(ME, [1], later(1)),
        lambda s: s.history(ME, "1", after=None, limit=1),
        lambda s: s.change(ME, "1", 1),
        lambda s: s.changes(ME, after=None, limit=1),
        lambda s: s.group(ME, "grp_1"),
        lambda s: s.categories(ME),
        lambda s: s.space(ME),
        lambda s: s.vectors(ME, [1], "m"),
        lambda s: s.put_vectors(ME, [vector(1)]),
        lambda s: s.job(ME, "job_1"),
        lambda s: s.jobs(ME, 1),
        lambda s: list(s.spaces()),
        lambda s: s.finish_strip(ME, 1),
    ],
)
def test_every_call_to_a_database_that_is_gone_ends_in_the_stores_own_error(
    dynamo: Dynamo, faults: Faults, call: Callable[..., object]
) -> None:
    for operation in ("GetItem", "BatchGetItem", "Query", "Scan", "UpdateItem", "TransactWriteItems"):
        faults.on(operation, *[unreached] * 9)
    with pytest.raises(StoreUnavailableError):
        call(dynamo.memory)


def test_vectors_that_could_not_be_kept_do_not_undo_an_add_that_was_done(
    dynamo: Dynamo, faults: Faults, caplog: pytest.LogCaptureFixture
) -> None:
    """They are kept with, but are not part of, the promise; the projector embeds again what is missing."""
    add(dynamo.memory, 1)
    faults.on("TransactWriteItems", *[THROTTLED] * 50)
    dynamo.memory.commit(ME, Commit(vectors=(vector(1),)))
    assert "1 vectors were not kept: throttled" in caplog.text
