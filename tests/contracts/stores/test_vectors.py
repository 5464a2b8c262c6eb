"""Kept vectors: so that unchanged text is embedded once, and erased text never again."""

from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Space
from chalicelib.ports import MemoryStore
from tests.contracts.stores.given import (
    ME,
    MODEL,
    add,
    adding,
    current,
    editing,
    erasing,
    memory,
    scope_of,
    vector,
)


def test_vectors_are_kept_by_number_role_and_model(store: MemoryStore) -> None:
    add(store, 1)
    add(store, 2)
    kept = [
        vector(1),
        vector(1, role="context", data=b"\x00" * 16),
        vector(2),
        vector(1, model="other-4-ffff"),
    ]
    store.put_vectors(ME, kept)

    def key(one: object) -> str:
        return str(one)

    assert sorted(store.vectors(ME, [1, 2, 3], MODEL), key=key) == sorted(kept[:3], key=key)
    assert store.vectors(ME, [1], "other-4-ffff") == [kept[3]]
    assert store.vectors(ME, [2], "other-4-ffff") == []
    assert store.vectors(ME, [], MODEL) == []
    store.put_vectors(ME, [])


def test_a_newer_vector_takes_the_place_of_the_older(store: MemoryStore) -> None:
    add(store, 1)
    store.put_vectors(ME, [vector(1)])
    newer = vector(1, text_hash="t2", data=b"\xff" * 16)
    store.put_vectors(ME, [newer])
    assert store.vectors(ME, [1], MODEL) == [newer]


def test_vectors_that_come_with_a_commit_are_kept(store: MemoryStore) -> None:
    store.commit(ME, adding(memory(1), vectors=(vector(1), vector(1, role="context"))))
    assert {v.role for v in store.vectors(ME, [1], MODEL)} == {"text", "context"}


def test_a_vector_that_arrives_after_the_erase_does_not_come_back(store: MemoryStore) -> None:
    add(store, 1)
    add(store, 2)
    store.commit(ME, erasing(current(store, 1)))
    store.put_vectors(ME, [vector(1), vector(2)])
    assert [v.number for v in store.vectors(ME, [1, 2], MODEL)] == [2]
    store.commit(ME, Commit(vectors=(vector(1, role="context"),)))
    assert store.vectors(ME, [1], MODEL) == []


def test_many_large_vectors_are_kept_at_once(store: MemoryStore) -> None:
    store.commit(ME, adding(*(memory(n) for n in range(1, 41))))
    data = bytes(1024 * 4)
    store.put_vectors(
        ME, [vector(n, role=role, data=data) for n in range(1, 41) for role in ("text", "context")]
    )
    found = store.vectors(ME, range(1, 41), MODEL)
    assert len(found) == 80
    assert {v.data for v in found} == {data}


def test_a_vector_of_another_space_is_not_given(store: MemoryStore) -> None:
    elsewhere = scope_of(Space.personal("acc_10"))
    add(store, 1, scope=elsewhere)
    store.put_vectors(elsewhere, [vector(1)])
    assert store.vectors(ME, [1], MODEL) == []


def test_the_context_vectors_that_a_commit_strips_are_gone_and_the_others_stay(store: MemoryStore) -> None:
    add(store, 1)
    add(store, 2)
    roles = [
        vector(n, role=role, model=model)
        for n in (1, 2)
        for role in ("text", "context")
        for model in (MODEL, "b-4")
    ]
    store.put_vectors(ME, roles)
    store.commit(ME, editing(current(store, 1), importance=3).model_copy(update={"strip_context": (1,)}))
    left = {(v.number, v.role, v.model) for model in (MODEL, "b-4") for v in store.vectors(ME, [1, 2], model)}
    assert left == {(1, "text", MODEL), (1, "text", "b-4")} | {
        (2, role, model) for role in ("text", "context") for model in (MODEL, "b-4")
    }
