"""What was just written is found before the index has it (M25)."""

import random

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Source, State
from chalicelib.domain.projection import NOT_SAID, EmbeddedText, Said
from tests.contracts.search.memories import (
    ALICE,
    LARGE,
    NOW,
    SMALL,
    entry,
    memory,
    query,
    random_memory,
    random_unit,
    scope_of,
    tombstone,
    unit,
)

SCOPE = scope_of(ALICE)
NEAR = unit([1, 0.1] + [0] * 6)
ASKED = unit([1] + [0] * 7)


@pytest.fixture
def filled(put):
    rng = random.Random(14)
    put(
        *(
            entry(random_memory(rng, n), **{SMALL: EmbeddedText(random_unit(rng, 8), random_unit(rng, 8))})
            for n in range(1, 61)
        )
    )


def _new(**fields):
    kept = memory(900, fields.pop("text", "a xylophone"), context="our theremin", **fields)
    return entry(kept, **{SMALL: EmbeddedText(NEAR, NEAR)})


def _search(index, text="", **fields):
    return {hit.number: hit for hit in index.search(SCOPE, [query(text, **fields)])[0]}


@pytest.mark.parametrize(
    ("leg", "asked"),
    [
        ("words", {"text": "xylophone"}),
        ("context_words", {"text": "theremin"}),
        ("meaning", {"model": SMALL, "vector": ASKED}),
        ("context_meaning", {"model": SMALL, "vector": ASKED}),
    ],
)
def test_each_leg_finds_it_at_once_and_once(index, filled, leg, asked):
    hits = index.search(SCOPE, [query(**asked, legs=frozenset({leg}), fresh=(_new(),))])[0]
    assert [hit.number for hit in hits].count(900) == 1
    found = next(hit for hit in hits if hit.number == 900)
    assert getattr(found, leg) == max(getattr(hit, leg) for hit in hits)
    assert (
        sum(
            score is not None
            for score in (found.words, found.context_words, found.meaning, found.context_meaning)
        )
        == 1
    )


def test_it_is_found_in_a_space_that_has_nothing_else(index):
    hits = _search(index, "xylophone theremin", model=SMALL, vector=ASKED, fresh=(_new(),))
    assert set(hits) == {900}
    assert hits[900].words > 0
    assert hits[900].context_words > 0
    assert hits[900].meaning == pytest.approx(hits[900].context_meaning)


def test_its_cosine_is_exact(index, filled):
    found = _search(index, model=SMALL, vector=ASKED, fresh=(_new(),))[900]
    assert found.meaning == pytest.approx(1 / 1.01**0.5, abs=1e-3)


def test_a_memory_with_more_of_the_words_scores_higher(index, filled):
    some = entry(memory(900, "the violin and an old rusty bicycle"))
    all_of_it = entry(memory(901, "the violin in a tunnel near the volcano"))
    none = entry(memory(902, "nothing of it"))
    hits = _search(index, "violin tunnel volcano", fresh=(some, all_of_it, none))
    assert hits[901].words > hits[900].words > 0
    assert 902 not in hits


def test_a_fresh_one_that_the_index_has_too_keeps_its_score(engine, index, put, filled):
    written = entry(memory(900, "a violin in a long tunnel", context="glacier"))
    put(written)
    before = _search(index, "violin glacier")[900]
    after = _search(index, "violin glacier", fresh=(written,))[900]
    if engine.exact:
        assert after.words == pytest.approx(before.words)
        assert after.context_words == pytest.approx(before.context_words)
    else:
        assert after.words > 0
        assert after.context_words > 0


def test_it_tells_where_it_was_said(index, filled):
    spoken = Source(conversation="talk-1", position=4, author="Ann", said_at=NOW)
    found = _search(index, "xylophone", fresh=(_new(source=spoken),))[900]
    assert found.said == Said("talk-1", 4, "Ann", NOW, has_context=True)
    assert _search(index, "xylophone", fresh=(entry(memory(901, "xylophone")),))[901].said == NOT_SAID


def test_just_trashed_it_is_not_found_any_more(index, put):
    put(_new())
    trashed = _new(state=State.TRASHED, revision=2)
    asked = {"model": SMALL, "vector": ASKED, "fresh": (trashed,)}
    assert _search(index, "xylophone theremin", **asked) == {}
    in_trash = MemoryFilter(states=frozenset({State.TRASHED}))
    assert set(_search(index, "xylophone theremin", filter=in_trash, **asked)) == {900}


def test_just_erased_it_is_not_found_any_more(index, put):
    put(_new())
    assert _search(index, "xylophone theremin", model=SMALL, vector=ASKED, fresh=(tombstone(900, 2),)) == {}


def test_just_edited_it_is_found_by_its_new_words_only(index, put):
    put(_new())
    edited = _new(text="a mandolin", revision=2)
    assert set(_search(index, "mandolin", fresh=(edited,))) == {900}
    assert _search(index, "xylophone", fresh=(edited,)) == {}


def test_without_vectors_yet_it_is_found_by_words_alone(index, put):
    put(_new())
    edited = entry(memory(900, "a mandolin", revision=2))
    assert _search(index, model=SMALL, vector=ASKED, fresh=(edited,)) == {}
    found = _search(index, "mandolin", model=SMALL, vector=ASKED, fresh=(edited,))[900]
    assert found.meaning is None


def test_vectors_of_another_model_are_not_compared(index, put):
    other = entry(memory(900), **{LARGE: EmbeddedText(unit([1] * 24))})
    assert _search(index, model=SMALL, vector=ASKED, fresh=(other,)) == {}


def test_the_newest_of_several_fresh_ones_stands(index, put):
    put(_new())
    older, newer = _new(text="a mandolin", revision=2), _new(text="a trombone", revision=3)
    for fresh in ((older, newer), (newer, older)):
        assert _search(index, "mandolin", fresh=fresh) == {}
        assert set(_search(index, "trombone", fresh=fresh)) == {900}


def test_the_filter_holds_for_them_too(index, filled):
    fresh = (_new(category="cat-z", importance=9),)
    for wanted, expected in (
        (MemoryFilter(category_in=frozenset({"cat-z"})), True),
        (MemoryFilter(category_not_in=frozenset({"cat-z"})), False),
        (MemoryFilter(importance_max=8), False),
        (MemoryFilter(exclude=frozenset({900})), False),
    ):
        assert (900 in _search(index, "xylophone", filter=wanted, fresh=fresh)) is expected


def test_depth_holds_with_them_and_they_take_the_place_of_the_worst(index, filled):
    for leg in ("meaning", "context_meaning"):
        asked = {"model": SMALL, "vector": ASKED, "depth": 5, "legs": frozenset({leg})}
        before, after = _search(index, **asked), _search(index, **asked, fresh=(_new(),))
        assert len(before) == len(after) == 5
        assert set(after) - set(before) == {900}
        assert set(before) - set(after) == {min(before, key=lambda n: getattr(before[n], leg))}


def test_what_a_fresh_one_replaced_leaves_its_place_to_the_next(index, filled):
    legs = frozenset({"meaning"})
    asked = {"model": SMALL, "vector": ASKED, "legs": legs}
    ranked = sorted(_search(index, **asked).values(), key=lambda hit: -hit.meaning)
    erased = (tombstone(ranked[0].number, 2),)
    assert set(_search(index, **asked, depth=5, fresh=erased)) == {hit.number for hit in ranked[1:6]}


def test_fresh_entries_are_of_one_query_only(index, filled):
    first, second = index.search(SCOPE, [query("xylophone", fresh=(_new(),)), query("xylophone")])
    assert [hit.number for hit in first] == [900]
    assert second == []
