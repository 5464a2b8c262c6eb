"""How one transaction is put together, and what its reasons mean when it is cancelled."""

from collections.abc import Iterator

import pytest
from pynamodb.expressions.operand import Path

from chalicelib.domain.accounts import AccountCommit, ApiKey, AuditEntry, EntityWrite, Member
from chalicelib.domain.memory import Source
from chalicelib.domain.records import CategoryWrite, Commit, MemoryWrite
from chalicelib.errors import AlreadyDoneError, ItemTooLargeError, StaleVersionError
from chalicelib.stores.dynamodb.keys import Key
from chalicelib.stores.dynamodb.tables import ACCOUNT, PK
from chalicelib.stores.dynamodb.transactions import Check, Delete, Put, Transaction, Update, Write
from chalicelib.stores.dynamodb.values import text, whole
from tests.contracts.stores.given import (
    ME,
    T0,
    add,
    adding,
    category,
    change,
    current,
    editing,
    erasing,
    later,
    memory,
    once,
)
from tests.unit.stores.dynamodb_faults import Dynamo, Faults, cancelled, opened, refusal

PRESENT = Path([PK]).exists()


@pytest.fixture
def dynamo() -> Iterator[Dynamo]:
    with opened() as stores:
        yield stores


@pytest.fixture
def faults(dynamo: Dynamo) -> Faults:
    return dynamo.faults


def at(name: str) -> Key:
    return Key(ACCOUNT, name, name)


def mixed() -> list[Write]:
    """One of each kind, in the order that PynamoDB does not keep."""
    return [
        Update(key=at("u"), sets={"x": text("1")}, condition=PRESENT, about="update"),
        Put(key=at("p"), item={}, condition=PRESENT, about="put"),
        Delete(key=at("d"), condition=PRESENT, about="delete"),
        Check(key=at("c"), condition=PRESENT, about="check"),
        Update(key=at("v"), adds={"n": whole(1)}, condition=PRESENT, about="update 2"),
        Put(key=at("q"), item={}, condition=PRESENT, about="put"),
    ]


def test_reasons_come_in_the_order_checks_deletes_puts_updates(dynamo: Dynamo, faults: Faults) -> None:
    """And not in the order in which we named the actions: the wrong person would be told of a conflict."""
    transaction = Transaction(mixed())
    assert transaction.about(range(6)) == ("check", "delete", "put", "update", "update 2")
    assert [transaction.about([place]) for place in range(6)] == [
        ("check",), ("delete",), ("put",), ("put",), ("update",), ("update 2",),
    ]  # fmt: skip
    faults.on("TransactWriteItems", refusal("ValidationException"))
    with pytest.raises(Exception, match="ValidationException"):
        dynamo.database.transact(transaction)
    (sent,) = faults.sent("TransactWriteItems")
    kinds = [next(iter(item)) for item in sent["TransactItems"]]
    assert kinds == ["ConditionCheck", "Delete", "Put", "Put", "Update", "Update"]


@pytest.mark.parametrize(
    ("reasons", "targets"),
    [
        # Sent: puts (memory 2, change 2-1, change 1-2, category), then updates (memory 1).
        (("ConditionalCheckFailed", "None", "None", "None", "None"), ("2",)),
        (("None", "None", "None", "ConditionalCheckFailed", "None"), ("cat_1",)),
        (("None", "None", "None", "None", "ConditionalCheckFailed"), ("1",)),
        (("None", "None", "ConditionalCheckFailed", "None", "ConditionalCheckFailed"), ("1",)),
        (("ConditionalCheckFailed", "None", "None", "TransactionConflict", "None"), ("2",)),
    ],
)
def test_a_stale_version_names_whom_it_is_about(
    dynamo: Dynamo, faults: Faults, reasons: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    seen = add(dynamo.memory, 1)
    edit = editing(seen, text="x")
    new = memory(2)
    faults.on("TransactWriteItems", cancelled(*reasons))
    with pytest.raises(StaleVersionError) as refused:
        dynamo.memory.commit(
            ME,
            Commit(
                memories=(*edit.memories, MemoryWrite(memory=new, expected=None)),
                changes=(change(new), *edit.changes),
                categories=(CategoryWrite(category=category("cat_1", "Work"), expected=None),),
            ),
        )
    assert refused.value.targets == targets


def test_a_record_that_the_reasons_do_not_name_is_looked_for(dynamo: Dynamo, faults: Faults) -> None:
    """DynamoDB does not promise to name all conditions that fail; a repeat must hear "done", not "stale"."""
    seen = add(dynamo.memory, 1)
    edit = editing(seen, text="x").model_copy(update={"idempotency": once()})
    dynamo.memory.commit(ME, edit)
    faults.on("TransactWriteItems", cancelled("None", "None", "ConditionalCheckFailed"))
    with pytest.raises(AlreadyDoneError):
        dynamo.memory.commit(ME, edit)


def test_a_record_that_the_reasons_name_and_that_vanished_meanwhile_is_done_all_the_same(
    dynamo: Dynamo, faults: Faults
) -> None:
    add(dynamo.memory, 1)
    faults.on("TransactWriteItems", cancelled("ConditionalCheckFailed", "None"))
    with pytest.raises(AlreadyDoneError):
        dynamo.memory.commit(
            ME, editing(memory(1), text="x").model_copy(update={"idempotency": once(), "changes": ()})
        )


def test_one_place_said_by_two_new_memories_is_written_once(dynamo: Dynamo, faults: Faults) -> None:
    """A transaction may name an item only once."""
    source = Source(conversation="c", position=4)
    dynamo.memory.commit(ME, adding(memory(1, source=source), memory(2, source=source)))
    (sent,) = faults.sent("TransactWriteItems")
    assert len(sent["TransactItems"]) == 5
    assert dynamo.memory.at_position(ME, [("c", 4)]) == {("c", 4): 2}


def test_what_is_found_from_both_sides_is_written_on_both_in_one_transaction(
    dynamo: Dynamo, faults: Faults
) -> None:
    """A global index would find it a moment later; the port promises it at once."""
    member = Member(project="prj_1", account="acc_1", added_at=T0)
    dynamo.accounts.commit(AccountCommit(writes=(EntityWrite(entity=member, expected=None),)))
    dynamo.accounts.commit(
        AccountCommit(writes=(EntityWrite(entity=member.model_copy(update={"version": 2}), expected=1),))
    )
    dynamo.accounts.commit(AccountCommit(writes=(EntityWrite(entity=member, expected=2, delete=True),)))
    sizes = [len(sent["TransactItems"]) for sent in faults.sent("TransactWriteItems")]
    assert sizes == [2, 1, 2]
    assert dynamo.accounts.memberships("acc_1") == []


def test_a_hundred_actions_count_what_leads_back_to_accounts(dynamo: Dynamo, faults: Faults) -> None:
    def members(count: int) -> AccountCommit:
        entities = [Member(project="prj_1", account=f"acc_{n}", added_at=T0) for n in range(count)]
        return AccountCommit(writes=tuple(EntityWrite(entity=e, expected=None) for e in entities))

    with pytest.raises(ItemTooLargeError):
        dynamo.accounts.commit(members(51))
    assert faults.calls == []
    dynamo.accounts.commit(members(50))
    assert len(dynamo.accounts.members("prj_1")) == 50


def test_each_write_has_the_size_of_what_dynamodb_keeps() -> None:
    large = text("x" * 409_000)
    with pytest.raises(ItemTooLargeError, match="400 KB"):
        Transaction([Put(key=at("p"), item={"body": large})]).refuse_too_large()
    with pytest.raises(ItemTooLargeError, match="400 KB"):
        Transaction([Update(key=at("u"), sets={"body": large})]).refuse_too_large()
    with pytest.raises(ItemTooLargeError, match="4 MB"):
        Transaction(
            Put(key=at(f"p{n}"), item={"data": {"B": bytes(390_000)}}) for n in range(11)
        ).refuse_too_large()
    with pytest.raises(ItemTooLargeError, match="100 actions"):
        Transaction(Delete(key=at(f"d{n}")) for n in range(101)).refuse_too_large()
    Transaction(mixed()).refuse_too_large()


def test_a_key_that_is_renamed_while_it_is_used_keeps_when_it_was_used(dynamo: Dynamo) -> None:
    key = ApiKey(
        id="key_1", account="acc_1", name="k", secret_hash="h", scopes=frozenset({"read"}), created_at=T0
    )
    dynamo.accounts.commit(AccountCommit(writes=(EntityWrite(entity=key, expected=None),)))
    dynamo.accounts.touch_key("key_1", later(5))
    renamed = key.model_copy(update={"name": "renamed", "version": 2})
    dynamo.accounts.commit(AccountCommit(writes=(EntityWrite(entity=renamed, expected=1),)))
    found = dynamo.accounts.key("key_1")
    assert found is not None
    assert (found.name, found.last_used_at) == ("renamed", later(5))


@pytest.mark.parametrize("odd", ["", "a#b", "a/b", "x" * 129, "\ud800", "ž", " "])
def test_what_can_be_no_id_is_nowhere_and_breaks_no_look_up(dynamo: Dynamo, faults: Faults, odd: str) -> None:
    """Ids come from URLs; DynamoDB would answer an empty or endless key with an error of its own."""
    accounts, store = dynamo.accounts, dynamo.memory
    assert accounts.account(odd) is None
    assert accounts.key(odd) is None
    assert accounts.keys_of(odd) == []
    assert accounts.project(odd) is None
    assert accounts.member("prj_1", odd) is None
    assert accounts.member(odd, "acc_1") is None
    assert accounts.members(odd) == []
    assert accounts.memberships(odd) == []
    assert accounts.community("discord", odd) is None
    assert accounts.team(odd, "1") == []
    assert accounts.team_member("discord", "1", odd) is None
    assert accounts.teams_of(odd) == []
    accounts.touch_key(odd, later(1))
    assert store.job(ME, odd) is None
    assert store.group(ME, odd) == []
    assert store.history(ME, odd, after=None, limit=5) == []
    assert store.change(ME, odd, 1) is None
    assert faults.calls == []


@pytest.mark.parametrize("odd", ["", "x" * 501, "\ud800", "ž", "\n"])
def test_a_cursor_that_is_none_of_ours_leads_to_an_empty_page(dynamo: Dynamo, odd: str) -> None:
    add(dynamo.memory, 1)
    entry = AuditEntry(id="aud_1", at=T0, by="acc_1", op="add", target="acc_2")
    dynamo.accounts.commit(AccountCommit(audit=(entry,)))
    assert dynamo.memory.changes(ME, after=odd, limit=5).items == []
    assert dynamo.accounts.accounts(after=odd, limit=5).items == []
    assert dynamo.accounts.audit(after=odd, limit=5).items == []


@pytest.mark.parametrize("limit", [0, 1])
def test_a_page_of_nothing_is_empty(dynamo: Dynamo, limit: int) -> None:
    for number in (1, 2):
        add(dynamo.memory, number)
    assert len(dynamo.memory.page(ME, after=None, limit=limit)) == limit
    assert len(dynamo.memory.changes(ME, after=None, limit=limit).items) == limit
    assert len(dynamo.memory.history(ME, "1", after=None, limit=limit)) == limit
    assert dynamo.memory.page(ME, after=1, limit=5, newest_first=True) == []
    assert dynamo.memory.history(ME, "1", after=0, limit=5) == []
    assert dynamo.memory.history(ME, "1", after=10**30, limit=5) != []


def test_a_recall_of_an_erased_memory_writes_nothing(dynamo: Dynamo) -> None:
    add(dynamo.memory, 1)
    dynamo.memory.commit(ME, erasing(current(dynamo.memory, 1)))
    before = current(dynamo.memory, 1)
    dynamo.memory.touch(ME, [1, 1], later(5))
    assert current(dynamo.memory, 1) == before
