"""The legs of words rank as BM25 with k1 .6 and b .2 does."""

import random

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import State
from chalicelib.ports import SearchIndex
from tests.contracts.search import reference
from tests.contracts.search.engines import Engine
from tests.contracts.search.memories import (
    ALICE,
    LIVE,
    VOCABULARY,
    entry,
    memory,
    query,
    random_memory,
    scope_of,
    tombstone,
)

CLEAR = 0.12
"""Engines round the lengths of texts; a smaller difference than this share is no clear one."""
ANY_STATE = MemoryFilter(states=LIVE)


@pytest.fixture(scope="module")
def memories(engine: Engine, shared_index: SearchIndex):
    rng = random.Random(7)
    made = [random_memory(rng, number) for number in range(1, 301)]
    assert list(shared_index.apply([entry(memory) for memory in made])) == []
    engine.settle(shared_index)
    return {memory.number: memory for memory in made}


def _queries() -> list[str]:
    rng = random.Random(8)
    return [" ".join(rng.sample(VOCABULARY, rng.randint(1, 6))) for _ in range(40)]


@pytest.mark.parametrize("leg", ["words", "context_words"])
def test_scores_rank_as_the_reference(engine, shared_index, memories, leg):
    documents = {n: m.words if leg == "words" else m.context for n, m in memories.items()}
    queries = _queries()
    asked = [query(text, filter=ANY_STATE, depth=1000, legs=frozenset({leg})) for text in queries]
    for text, hits in zip(queries, shared_index.search(scope_of(ALICE), asked), strict=True):
        expected = reference.bm25(text, documents)
        found = {hit.number: getattr(hit, leg) for hit in hits}
        assert set(found) == set(expected)
        ranked = sorted(found, key=found.__getitem__, reverse=True)
        assert reference.disorders(ranked, expected, CLEAR) == []
        if engine.exact:
            assert found == pytest.approx(expected, rel=1e-4)


def test_depth_gives_the_best_of_each_leg_and_no_more(shared_index, memories):
    words = reference.bm25("lantern harbour", {n: m.words for n, m in memories.items()})
    context = reference.bm25("lantern harbour", {n: m.context for n, m in memories.items()})
    for depth in (1, 7, 20):
        hits = shared_index.search(
            scope_of(ALICE), [query("lantern harbour", filter=ANY_STATE, depth=depth)]
        )[0]
        for leg, expected in (("words", words), ("context_words", context)):
            found = [hit.number for hit in hits if getattr(hit, leg) is not None]
            assert len(found) == min(depth, len(expected))
            left = max(score for number, score in expected.items() if number not in found)
            assert min(expected[number] for number in found) >= left * (1 - CLEAR)


def test_a_leg_that_is_not_asked_gives_no_score(shared_index, memories):
    hits = shared_index.search(scope_of(ALICE), [query("lantern", legs=frozenset({"words"}))])[0]
    assert hits
    assert all(hit.words is not None and hit.context_words is None for hit in hits)
    hits = shared_index.search(scope_of(ALICE), [query("lantern", legs=frozenset({"context_words"}))])[0]
    assert hits
    assert all(hit.words is None and hit.context_words is not None for hit in hits)
    assert shared_index.search(scope_of(ALICE), [query("lantern", legs=frozenset())]) == [[]]


def test_both_scores_of_a_memory_come_in_one_hit(index, put):
    put(entry(memory(1, "a lantern", context="what about the lantern?")))
    (hit,) = index.search(scope_of(ALICE), [query("lantern")])[0]
    assert hit.words is not None
    assert hit.context_words is not None


@pytest.mark.parametrize("nothing", ["", "   ", "the of and", '!!! ??? "~*+-()', "unheardofword"])
def test_a_query_without_any_known_word_finds_nothing(shared_index, memories, nothing):
    assert shared_index.search(scope_of(ALICE), [query(nothing)]) == [[]]


@pytest.mark.parametrize(
    "text", ["lantern:harbour", 'lantern AND "harbour', "lantern~2 (harbour", "-lantern +harbour*"]
)
def test_signs_that_are_operators_elsewhere_are_only_text(shared_index, memories, text):
    plain, signed = shared_index.search(scope_of(ALICE), [query("lantern harbour"), query(text)])
    assert {hit.number for hit in plain} <= {hit.number for hit in signed}


def test_answers_come_in_the_order_of_the_queries(shared_index, memories):
    texts = ["violin", "nothingofthekind", "glacier pepper", "violin"]
    together = shared_index.search(scope_of(ALICE), [query(text) for text in texts])
    alone = [shared_index.search(scope_of(ALICE), [query(text)])[0] for text in texts]
    assert [_by_number(hits) for hits in together] == [_by_number(hits) for hits in alone]
    assert shared_index.search(scope_of(ALICE), []) == []


def _by_number(hits):
    return {hit.number: (pytest.approx(hit.words), pytest.approx(hit.context_words)) for hit in hits}


def test_an_inflected_word_is_found_by_another_form(index, put):
    put(entry(memory(1, "Two violins are hanging on the wall")), entry(memory(2, "Пишу в тетрадях")))
    assert [hit.number for hit in index.search(scope_of(ALICE), [query("violin")])[0]] == [1]
    assert [hit.number for hit in index.search(scope_of(ALICE), [query("тетрадь")])[0]] == [2]


def test_the_key_of_a_fact_is_searched_with_its_text(index, put):
    put(entry(memory(1, "It is Rex", key="dog name")))
    assert [hit.number for hit in index.search(scope_of(ALICE), [query("dog")])[0]] == [1]


def test_an_edited_text_is_found_by_its_new_words_only(index, put):
    put(entry(memory(1, "a violin")), entry(memory(2, "a kettle", context="violin")))
    put(entry(memory(1, "a glacier", revision=2)), entry(memory(2, "a kettle", context="pepper", revision=2)))
    violin, glacier, pepper = index.search(
        scope_of(ALICE), [query(w) for w in ("violin", "glacier", "pepper")]
    )
    assert violin == []
    assert [hit.number for hit in glacier] == [1]
    assert [hit.number for hit in pepper] == [2]


def test_an_erased_memory_is_found_by_nothing(index, put):
    put(entry(memory(1, "a violin", context="violin")))
    put(tombstone(1, 2))
    assert index.search(scope_of(ALICE), [query("violin", filter=ANY_STATE)]) == [[]]


def test_a_change_of_state_alone_holds_at_once(index, put):
    put(entry(memory(1, "a violin")))
    put(entry(memory(1, "a violin", revision=2, state=State.TRASHED)))
    active, trashed = index.search(
        scope_of(ALICE),
        [query("violin"), query("violin", filter=MemoryFilter(states=frozenset({State.TRASHED})))],
    )
    assert active == []
    assert [hit.number for hit in trashed] == [1]
