"""Entries that the index may not have yet are scored and merged alike for every adapter (M25)."""

import random
from dataclasses import replace

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Source, State
from chalicelib.domain.projection import ALL_LEGS, NOT_SAID, EmbeddedText, Hit, IndexEntry, Said
from chalicelib.search import text
from chalicelib.search.embedded import vectors
from chalicelib.search.fresh import FreshEntries, WordStatistics, plain_cosines, rarity, said_of
from tests.contracts.search import reference
from tests.contracts.search.memories import (
    ALICE,
    BOB,
    NOW,
    SMALL,
    entry,
    memory,
    query,
    random_filter,
    random_memory,
    random_text,
    random_unit,
    tombstone,
    unit,
)

ASKED = unit([1] + [0] * 7)


def _merged(asked, fresh, hits=(), statistics=None) -> dict[int, Hit]:
    asked = replace(asked, fresh=tuple(fresh))
    entries = FreshEntries([asked], ALICE, text)
    found = entries.merged(asked, entries.newest(asked), hits, statistics)
    assert len({hit.number for hit in found}) == len(found)
    return {hit.number: hit for hit in found}


def _newest(fresh, space):
    asked = query(fresh=tuple(fresh))
    return FreshEntries([asked], space, text).newest(asked)


def test_of_one_number_only_the_highest_revision_takes_part():
    entries = [entry(memory(1, revision=revision)) for revision in (2, 5, 3)] + [entry(memory(2))]
    assert {number: each.revision for number, each in _newest(entries, ALICE).items()} == {1: 5, 2: 1}


def test_entries_of_another_space_take_no_part():
    assert _newest([entry(memory(1, space=BOB, revision=9)), entry(memory(1))], ALICE)[1].revision == 1
    assert _newest([entry(memory(1))], BOB) == {}


def test_hits_that_nothing_replaces_stay_as_they_are():
    hits = [Hit(1, Said("talk"), words=2.0), Hit(2, NOT_SAID, None, 1.0, 0.5, 0.25)]
    assert _merged(query("lantern"), [], hits) == {hit.number: hit for hit in hits}


def test_a_fresh_entry_replaces_the_hit_of_its_number():
    hits = [Hit(1, words=2.0, meaning=0.9), Hit(2, words=1.0)]
    assert set(_merged(query("lantern"), [tombstone(1, 9)], hits)) == {2}
    assert set(_merged(query("lantern"), [entry(memory(1, "a kettle"))], hits)) == {2}
    assert _merged(query("kettle"), [entry(memory(1, "a kettle"))], hits)[1].meaning is None


@pytest.mark.parametrize("state", [State.RETIRED, State.TRASHED, State.ERASED])
def test_what_the_filter_does_not_want_is_not_found(state):
    assert _merged(query("lantern"), [entry(memory(1, state=state))]) == {}


def test_even_a_filter_that_wants_erased_ones_finds_none():
    asked = query("lantern", filter=MemoryFilter(states=frozenset(State)))
    assert _merged(asked, [entry(memory(1, state=State.ERASED)), tombstone(2, 1)]) == {}


@pytest.mark.parametrize("leg", ["words", "context_words"])
def test_with_statistics_the_score_is_that_of_the_whole_space(leg):
    """As if it had been indexed: BM25 over all documents, the fresh one among them."""
    rng = random.Random(11)
    documents = {number: random_text(rng) for number in range(1, 80)}
    stems = {number: text.stems(words) for number, words in documents.items()}
    asked = "violin harbour violin saddle zeppelin"
    statistics = WordStatistics(
        documents=len(stems),
        average_length=sum(map(len, stems.values())) / len(stems),
        frequencies={stem: sum(stem in of for of in stems.values()) for stem in text.stems(asked)},
    )
    given = {"words": statistics, "context_words": statistics}
    expected = reference.bm25(asked, documents)
    for number, words in documents.items():
        kept = memory(number, words) if leg == "words" else memory(number, "-", context=words)
        found = _merged(query(asked), [entry(kept)], statistics=given)
        assert getattr(found.get(number), leg, None) == pytest.approx(expected.get(number))


def test_in_an_empty_space_statistics_give_a_score_too():
    nothing = WordStatistics(0, 0.0, {})
    given = {"words": nothing, "context_words": nothing}
    assert _merged(query("lantern"), [entry(memory(1))], statistics=given)[1].words > 0


def test_without_statistics_the_score_is_the_share_of_the_stems_of_the_best():
    hits = [Hit(7, words=8.0, context_words=3.0), Hit(8, words=2.0)]
    fresh = [
        entry(memory(1, "violin tunnel", context="violin")),
        entry(memory(2, "violin tunnel harbour saddle")),
    ]
    found = _merged(query("violin tunnel harbour saddle"), fresh, hits)
    assert found[1].words == pytest.approx(4.0)
    assert found[1].context_words == pytest.approx(0.75)
    assert found[2].words == pytest.approx(8.0)
    assert found[2].context_words is None
    assert found[7] == hits[0]


def test_without_statistics_and_without_hits_there_is_a_score_too():
    assert _merged(query("violin tunnel"), [entry(memory(1, "violin"))])[1].words == pytest.approx(0.5)


def test_what_the_index_had_of_the_number_does_not_count_as_the_best():
    hits = [Hit(1, words=100.0), Hit(2, words=4.0)]
    assert _merged(query("violin"), [entry(memory(1, "violin"))], hits)[1].words == pytest.approx(4.0)


def test_cosines_are_exact():
    rng = random.Random(4)
    first, second = random_unit(rng, 8), random_unit(rng, 8)
    found = _merged(
        query(model=SMALL, vector=ASKED), [entry(memory(1), **{SMALL: EmbeddedText(first, second)})]
    )
    assert found[1].meaning == pytest.approx(reference.cosine(ASKED, first))
    assert found[1].context_meaning == pytest.approx(reference.cosine(ASKED, second))


@pytest.mark.parametrize(
    "vectors",
    [{}, {"other": EmbeddedText(ASKED)}, {SMALL: EmbeddedText(ASKED[:-4])}],
    ids=["none yet", "of another model", "of another dimension"],
)
def test_without_a_vector_to_compare_there_is_no_meaning(vectors):
    found = _merged(query("lantern", model=SMALL, vector=ASKED), [entry(memory(1), **vectors)])
    assert found[1].meaning is None
    assert found[1].words is not None


def test_a_query_without_vector_or_model_compares_none():
    fresh = [entry(memory(1), **{SMALL: EmbeddedText(ASKED, ASKED)})]
    assert _merged(query("lantern", vector=ASKED), fresh)[1].meaning is None
    assert _merged(query("lantern", model=SMALL), fresh)[1].meaning is None


def test_cosines_made_with_numpy_are_the_same():
    rng = random.Random(6)
    kept = [random_unit(rng, 24) for _ in range(40)]
    asked = random_unit(rng, 24)
    expected = [reference.cosine(asked, vector) for vector in kept]
    assert plain_cosines(kept)(asked) == pytest.approx(expected)
    assert vectors.cosines(kept)(asked) == pytest.approx(expected, abs=1e-6)


def test_queries_of_one_search_have_entries_in_common_and_do_not_mix_them_up():
    """As when a batch is added: each new one is compared with what is fresh, and with those before it."""
    rng = random.Random(12)
    entries = [
        entry(
            random_memory(rng, number),
            **{SMALL: EmbeddedText(random_unit(rng, 8), random_unit(rng, 8) if number % 3 else None)},
        )
        for number in range(1, 60)
    ]
    entries += [tombstone(60, 1), replace(entries[4], revision=7), entry(memory(61, space=BOB))]
    queries = [
        query(
            random_text(rng, 1, 6),
            filter=random_filter(rng, 60),
            depth=rng.choice([3, 20, 90]),
            model=SMALL,
            vector=random_unit(rng, 8),
            legs=frozenset(rng.sample(sorted(ALL_LEGS), rng.randint(1, 4))),
            fresh=tuple(entries[: rng.randint(0, len(entries))]),
        )
        for _ in range(40)
    ]
    together = FreshEntries(queries, ALICE, text)
    for asked in queries:
        found = together.merged(asked, together.newest(asked), [])
        alone = FreshEntries([asked], ALICE, text)
        assert sorted(found) == sorted(alone.merged(asked, alone.newest(asked), []))
        wanted = {
            e.number for e in alone.newest(asked).values() if e.memory and asked.filter.matches(e.memory)
        }
        assert {hit.number for hit in found} <= wanted


def test_a_vector_of_zeros_is_like_nothing():
    found = _merged(query(model=SMALL, vector=ASKED), [entry(memory(1), **{SMALL: EmbeddedText(bytes(32))})])
    assert found[1].meaning == pytest.approx(0.0)


def test_only_the_legs_that_are_asked_score():
    fresh = [entry(memory(1, context="lantern"), **{SMALL: EmbeddedText(ASKED, ASKED)})]
    for leg in ("words", "context_words", "meaning", "context_meaning"):
        found = _merged(query("lantern", model=SMALL, vector=ASKED, legs=frozenset({leg})), fresh)[1]
        scored = {
            name for name in ("words", "context_words", "meaning", "context_meaning") if getattr(found, name)
        }
        assert scored == {leg}
    assert _merged(query("lantern", legs=frozenset()), fresh) == {}


def test_each_leg_keeps_its_best_and_of_equals_the_newer():
    hits = [Hit(number, words=float(number)) for number in (1, 2, 3)] + [Hit(4, context_words=1.0)]
    fresh = [entry(memory(number, "violin")) for number in (10, 11)]
    found = _merged(query("violin", depth=2), fresh, hits)
    assert set(found) == {4, 10, 11}
    assert set(_merged(query("violin", depth=1), fresh, hits)) == {4, 11}
    assert _merged(query("violin", depth=0), fresh, hits) == {}


def test_a_hit_cut_from_one_leg_keeps_the_score_of_the_other():
    hits = [Hit(1, words=1.0, meaning=0.9), Hit(2, words=2.0, meaning=0.8), Hit(3, words=3.0)]
    found = _merged(query("violin", depth=2), [entry(memory(9, "kettle"))], hits)
    assert found[1] == Hit(1, meaning=0.9)


def test_it_tells_where_it_was_said():
    source = Source(conversation="talk", position=3, author="Ann", said_at=NOW)
    assert said_of(memory(1, source=source, context="so?")) == Said("talk", 3, "Ann", NOW, has_context=True)
    assert said_of(memory(1, source=Source(conversation="talk"))) == Said("talk")
    assert said_of(memory(1, context="so?")) == Said(has_context=True)
    assert said_of(memory(1, context="")) == said_of(memory(1)) == NOT_SAID


def test_a_rarer_stem_weighs_more_and_every_stem_something():
    weights = [rarity(100, holders) for holders in (0, 1, 50, 99, 100, 120)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_a_foreign_entry_hides_nothing():
    hits = [Hit(1, words=1.0)]
    assert set(_merged(query("lantern"), [IndexEntry(BOB, 1, 9, None)], hits)) == {1}
