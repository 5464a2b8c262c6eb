"""Erasing takes several steps: what is seen when it is interrupted, and how it is finished (SPEC M13)."""

from collections.abc import Iterator

import pytest

from chalicelib.domain.memory import State
from chalicelib.domain.records import Commit
from chalicelib.errors import AlreadyDoneError, StaleVersionError, StoreUnavailableError
from chalicelib.ports import MemoryStore
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.dynamodb.keys import in_space, partition
from chalicelib.stores.dynamodb.tables import MEMORY, STRIP_PENDING
from tests.contracts.stores.given import (
    ME,
    MODEL,
    add,
    current,
    editing,
    erasing,
    later,
    once,
    vector,
)
from tests.unit.stores.dynamodb_faults import THROTTLED, Dynamo, Faults, opened, silence

EDITS = 60


@pytest.fixture
def dynamo() -> Iterator[Dynamo]:
    with opened() as stores:
        yield stores


@pytest.fixture
def faults(dynamo: Dynamo) -> Faults:
    return dynamo.faults


def lived(store: MemoryStore, edits: int = 3) -> None:
    """A memory with a history and vectors."""
    add(store, 1, text="planted")
    for turn in range(edits):
        store.commit(ME, editing(current(store, 1), text=f"planted {turn}"))
    store.put_vectors(ME, [vector(1), vector(1, role="context")])


def interrupted(dynamo: Dynamo) -> None:
    """Its erase, which got no further than the transaction."""
    dynamo.faults.on("UpdateItem", *[THROTTLED] * 50)
    with pytest.raises(StoreUnavailableError, match="not yet stripped") as refused:
        dynamo.memory.commit(
            ME, erasing(current(dynamo.memory, 1)).model_copy(update={"idempotency": once()})
        )
    assert refused.value.unknown is True, "the memory is erased; a repeat tells"
    dynamo.faults.before.clear()


def stored(dynamo: Dynamo) -> str:
    """All that the table holds, as text."""
    from pynamodb.expressions.operand import Path

    return str(list(dynamo.database.query(MEMORY, partition(ME), Path(["sk"]) > {"S": "!"})))


def images(store: MemoryStore) -> list[object]:
    """Every image of memory 1, by every way of reading."""
    changes = [
        *store.history(ME, "1", after=None, limit=99),
        *store.changes(ME, after=None, limit=99).items,
        *store.group(ME, "grp_1"),
        *store.group(ME, "grp_2"),
    ]
    one = store.change(ME, "1", 1)
    assert one is not None
    return [change.image for change in (*changes, one)]


def test_no_history_shows_an_image_while_the_stripping_is_not_finished(dynamo: Dynamo) -> None:
    lived(dynamo.memory)
    interrupted(dynamo)
    assert "planted" in stored(dynamo)
    assert current(dynamo.memory, 1).state is State.ERASED
    assert set(images(dynamo.memory)) == {None}


def test_a_later_pass_finishes_it_and_then_has_nothing_to_do(dynamo: Dynamo) -> None:
    lived(dynamo.memory)
    interrupted(dynamo)
    assert dynamo.memory.finish_strip(ME, 1) is True
    assert "planted" not in stored(dynamo)
    assert dynamo.memory.vectors(ME, [1], MODEL) == []
    assert dynamo.memory.finish_strip(ME, 1) is False


def test_the_repeat_of_the_request_finishes_it_too(dynamo: Dynamo) -> None:
    lived(dynamo.memory)
    erase = erasing(current(dynamo.memory, 1)).model_copy(update={"idempotency": once()})
    interrupted(dynamo)
    with pytest.raises(AlreadyDoneError):
        dynamo.memory.commit(ME, erase)
    assert "planted" not in stored(dynamo)


@pytest.mark.parametrize("step", range(1, 6))
def test_it_is_finished_wherever_it_was_interrupted(dynamo: Dynamo, faults: Faults, step: int) -> None:
    """Two changes are stripped, then the vectors go, then the mark: a time-out at each step, done and not done."""
    lived(dynamo.memory, edits=1)
    dynamo.memory.commit(ME, Commit())
    interrupted(dynamo)
    operation = "BatchWriteItem" if step == 3 else "UpdateItem"
    calls = {1: 0, 2: 1, 3: 0, 4: 2, 5: 1}[step]
    fail = faults.after_doing if step == 5 else faults.on
    fail(operation, *[lambda _: None] * calls, *[silence] * 9)
    with pytest.raises(StoreUnavailableError):
        dynamo.memory.finish_strip(ME, 1)
    faults.before.clear()
    faults.after.clear()
    assert set(images(dynamo.memory)) == {None}
    assert dynamo.memory.finish_strip(ME, 1) is True
    assert "planted" not in stored(dynamo)
    assert dynamo.memory.vectors(ME, [1], MODEL) == []


def test_what_is_not_erased_is_never_stripped(dynamo: Dynamo) -> None:
    """The pass that follows the stream may be told of any memory."""
    lived(dynamo.memory)
    assert dynamo.memory.finish_strip(ME, 1) is False
    assert dynamo.memory.finish_strip(ME, 99) is False
    assert None not in images(dynamo.memory)
    assert len(dynamo.memory.vectors(ME, [1], MODEL)) == 2


def test_the_mark_is_gone_when_all_is_done(dynamo: Dynamo) -> None:
    lived(dynamo.memory)
    dynamo.memory.commit(ME, erasing(current(dynamo.memory, 1)))
    item = dynamo.database.get(in_space(ME, keys.memory(1)))
    assert item is not None
    assert STRIP_PENDING not in item
    assert "planted" not in stored(dynamo)


def test_a_memory_that_lives_on_loses_its_past_and_keeps_its_future(dynamo: Dynamo) -> None:
    """SPEC C5: a summary is retired with its text erased."""
    lived(dynamo.memory)
    emptied = editing(current(dynamo.memory, 1), text="(removed)", group="grp_purge")
    dynamo.memory.commit(ME, emptied.model_copy(update={"strip": (1,)}))
    assert "planted" not in stored(dynamo)
    assert current(dynamo.memory, 1).text == "(removed)"
    dynamo.memory.commit(ME, editing(current(dynamo.memory, 1), text="new", group="grp_new"))
    (newest,) = dynamo.memory.group(ME, "grp_new")
    assert newest.image is not None
    assert newest.image["text"] == "new"


def test_a_past_may_be_stripped_without_a_write_of_the_memory(dynamo: Dynamo) -> None:
    lived(dynamo.memory)
    before = current(dynamo.memory, 1)
    dynamo.memory.commit(ME, Commit(strip=(1,)))
    assert set(images(dynamo.memory)) == {None}
    assert current(dynamo.memory, 1) == before
    with pytest.raises(StaleVersionError) as refused:
        dynamo.memory.commit(ME, Commit(strip=(99,)))
    assert refused.value.targets == ("99",)


def test_a_vector_cannot_slip_in_beside_an_erase(dynamo: Dynamo, faults: Faults) -> None:
    """It is written by a transaction that checks the mark, not before or after a look at it."""
    add(dynamo.memory, 1)
    add(dynamo.memory, 2)
    add(dynamo.memory, 3)
    dynamo.memory.commit(ME, erasing(current(dynamo.memory, 2)))
    faults.calls.clear()
    dynamo.memory.put_vectors(ME, [vector(n) for n in (1, 2, 3, 4)] + [vector(1, text_hash="t2")])
    found = {v.number: v.text_hash for v in dynamo.memory.vectors(ME, [1, 2, 3, 4], MODEL)}
    assert found == {1: "t2", 3: "t1"}
    assert [name for name, _ in faults.calls] == ["TransactWriteItems", "TransactWriteItems", "BatchGetItem"]


def test_an_erased_number_with_a_vector_in_its_own_commit_keeps_none(dynamo: Dynamo) -> None:
    add(dynamo.memory, 1)
    erase = erasing(current(dynamo.memory, 1), at=later(9))
    dynamo.memory.commit(ME, erase.model_copy(update={"vectors": (vector(1),)}))
    assert dynamo.memory.vectors(ME, [1], MODEL) == []
