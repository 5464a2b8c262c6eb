"""The legs of meaning give the exact cosine, of each model apart."""

import random

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.projection import EmbeddedText
from chalicelib.ports import SearchIndex
from tests.contracts.search import reference
from tests.contracts.search.engines import Engine
from tests.contracts.search.memories import (
    ALICE,
    DIMENSIONS,
    LARGE,
    SMALL,
    entry,
    memory,
    query,
    random_unit,
    scope_of,
    tombstone,
    unit,
)

LEGS = {"meaning": "text", "context_meaning": "context"}
SMALL_ONLY, BOTH = range(1, 101), range(101, 201)


@pytest.fixture(scope="module")
def vectors(engine: Engine, shared_index: SearchIndex) -> dict[int, dict[str, EmbeddedText]]:
    """By number: the first hundred have vectors of one model, the second of both; every third has no context."""
    rng = random.Random(31)
    made = {
        number: {
            model: EmbeddedText(
                random_unit(rng, DIMENSIONS[model]),
                random_unit(rng, DIMENSIONS[model]) if number % 3 else None,
            )
            for model in ((SMALL,) if number in SMALL_ONLY else (SMALL, LARGE))
        }
        for number in (*SMALL_ONLY, *BOTH)
    }
    entries = [entry(memory(number), **of_models) for number, of_models in made.items()]
    assert list(shared_index.apply([*entries, entry(memory(201))])) == []
    engine.settle(shared_index)
    return made


def _expected(vectors, model: str, role: str, asked: bytes) -> dict[int, float]:
    return {
        number: reference.cosine(asked, kept)
        for number, of_models in vectors.items()
        if model in of_models and (kept := getattr(of_models[model], role)) is not None
    }


@pytest.mark.parametrize("leg", LEGS)
@pytest.mark.parametrize("model", [SMALL, LARGE])
def test_scores_are_the_cosines_of_the_models_own_vectors(shared_index, vectors, leg, model):
    rng = random.Random(f"{leg} {model}")
    asked = [random_unit(rng, DIMENSIONS[model]) for _ in range(8)]
    queries = [query(depth=500, model=model, vector=vector, legs=frozenset({leg})) for vector in asked]
    for vector, hits in zip(asked, shared_index.search(scope_of(ALICE), queries), strict=True):
        found = {hit.number: getattr(hit, leg) for hit in hits}
        assert found == pytest.approx(_expected(vectors, model, LEGS[leg], vector), abs=1e-3)


@pytest.mark.parametrize("depth", [1, 10, 50])
def test_depth_gives_exactly_the_nearest(shared_index, vectors, depth):
    asked = random_unit(random.Random(depth), 8)
    hits = shared_index.search(scope_of(ALICE), [query(depth=depth, model=SMALL, vector=asked)])[0]
    for leg, role in LEGS.items():
        expected = _expected(vectors, SMALL, role, asked)
        found = {hit.number for hit in hits if getattr(hit, leg) is not None}
        assert found == set(sorted(expected, key=expected.__getitem__, reverse=True)[:depth])


def test_depth_counts_only_what_the_filter_lets_through(shared_index, vectors):
    asked = random_unit(random.Random(3), 8)
    nearest = _expected(vectors, SMALL, "text", asked)
    best = sorted(nearest, key=nearest.__getitem__, reverse=True)
    wanted = MemoryFilter(exclude=frozenset(best[:30]))
    hits = shared_index.search(
        scope_of(ALICE),
        [query(depth=10, model=SMALL, vector=asked, filter=wanted, legs=frozenset({"meaning"}))],
    )[0]
    assert {hit.number for hit in hits} == set(best[30:40])


def test_legs_that_are_not_asked_give_no_score(shared_index, vectors):
    asked = random_unit(random.Random(5), 8)
    for leg, other in (("meaning", "context_meaning"), ("context_meaning", "meaning")):
        hits = shared_index.search(
            scope_of(ALICE), [query("lantern", model=SMALL, vector=asked, legs=frozenset({leg}))]
        )[0]
        assert hits
        assert all(getattr(hit, leg) is not None for hit in hits)
        assert all(getattr(hit, other) is None and hit.words is None for hit in hits)


def test_words_and_meaning_answer_together(shared_index, vectors):
    asked = random_unit(random.Random(6), 8)
    hits = shared_index.search(scope_of(ALICE), [query("lantern", model=SMALL, vector=asked, depth=500)])[0]
    assert {hit.number for hit in hits} == {*SMALL_ONLY, *BOTH, 201}
    assert all(hit.words is not None for hit in hits)
    assert all((hit.meaning is not None) == (hit.number != 201) for hit in hits)


def test_a_model_without_vectors_here_leaves_the_words(shared_index, vectors):
    unknown = query("lantern", model="scripted-other-8-11111111", vector=random_unit(random.Random(9), 8))
    hits = shared_index.search(scope_of(ALICE), [unknown])[0]
    assert hits
    assert all(hit.meaning is None and hit.context_meaning is None for hit in hits)


def test_queries_of_several_models_are_answered_together(shared_index, vectors):
    rng = random.Random(12)
    small, large = random_unit(rng, 8), random_unit(rng, 24)
    asked = [
        query(model=SMALL, vector=small, depth=3, legs=frozenset({"meaning"})),
        query("lantern", depth=3, legs=frozenset({"words"})),
        query(model=LARGE, vector=large, depth=3, legs=frozenset({"meaning"})),
        query(model=SMALL, vector=large[:32], depth=3, legs=frozenset({"meaning"})),
    ]
    answers = shared_index.search(scope_of(ALICE), asked)
    assert [len(hits) for hits in answers] == [3, 3, 3, 3]
    assert {hit.number for hit in answers[2]} <= set(BOTH)
    assert answers[2] != answers[0]


def test_many_queries_at_once_are_answered_as_each_alone(shared_index, vectors):
    """Adding a batch asks for the similar ones of all its memories together (M12)."""
    rng = random.Random(13)
    asked = [
        query(
            model=SMALL,
            vector=random_unit(rng, 8),
            depth=rng.randint(1, 9),
            filter=MemoryFilter(exclude=frozenset({n})),
        )
        for n in range(1, 41)
    ]
    together = shared_index.search(scope_of(ALICE), asked)
    for each, hits in zip(asked, together, strict=True):
        (alone,) = shared_index.search(scope_of(ALICE), [each])
        assert _scores(hits) == _scores(alone)


def _scores(hits):
    return {hit.number: (pytest.approx(hit.meaning), pytest.approx(hit.context_meaning)) for hit in hits}


def test_opposite_and_equal_vectors_score_minus_one_and_one(index, put):
    near, far = unit([1, 2, 3, 0, 0, 0, 0, 0]), unit([-1, -2, -3, 0, 0, 0, 0, 0])
    put(entry(memory(1), **{SMALL: EmbeddedText(near)}), entry(memory(2), **{SMALL: EmbeddedText(far)}))
    hits = index.search(scope_of(ALICE), [query(model=SMALL, vector=near)])[0]
    assert {hit.number: hit.meaning for hit in hits} == {
        1: pytest.approx(1, abs=1e-3),
        2: pytest.approx(-1, abs=1e-3),
    }


def test_a_new_vector_takes_the_place_of_the_old(index, put):
    old, new = unit([1] + [0] * 7), unit([0, 1] + [0] * 6)
    put(entry(memory(1), **{SMALL: EmbeddedText(old, old)}))
    put(entry(memory(1, revision=2), **{SMALL: EmbeddedText(new)}))
    (hit,) = index.search(scope_of(ALICE), [query(model=SMALL, vector=old)])[0]
    assert hit.meaning == pytest.approx(0, abs=1e-3)
    assert hit.context_meaning is None


def test_an_entry_without_vectors_is_not_found_by_its_former_meaning(index, put):
    """Its text changed and is not embedded yet: the old vector would lie."""
    vector = unit([1] + [0] * 7)
    put(entry(memory(1), **{SMALL: EmbeddedText(vector, vector)}))
    put(entry(memory(1, "a glacier", revision=2)))
    assert index.search(scope_of(ALICE), [query(model=SMALL, vector=vector)]) == [[]]
    assert [hit.number for hit in index.search(scope_of(ALICE), [query("glacier")])[0]] == [1]


def test_vectors_of_a_second_model_come_beside_the_first(index, put):
    small, large = unit([1] + [0] * 7), unit([1] + [0] * 23)
    put(entry(memory(1), **{SMALL: EmbeddedText(small)}))
    put(entry(memory(1, revision=2), **{SMALL: EmbeddedText(small), LARGE: EmbeddedText(large)}))
    by_small, by_large = index.search(
        scope_of(ALICE), [query(model=SMALL, vector=small), query(model=LARGE, vector=large)]
    )
    assert [hit.number for hit in by_small] == [hit.number for hit in by_large] == [1]
    (state,) = index.indexed(scope_of(ALICE), after=0, limit=10)
    assert state.models == {SMALL, LARGE}


def test_an_erased_memory_has_no_vectors_left(index, put):
    vector = unit([1] + [0] * 7)
    put(entry(memory(1), **{SMALL: EmbeddedText(vector, vector)}))
    put(tombstone(1, 2))
    assert index.search(scope_of(ALICE), [query(model=SMALL, vector=vector)]) == [[]]
    (state,) = index.indexed(scope_of(ALICE), after=0, limit=10)
    assert state.models == frozenset()
