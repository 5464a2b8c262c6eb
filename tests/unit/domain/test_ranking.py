"""The order of search results: each signal by itself, and what none of them may do (SPEC M23, M24)."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain import ranking
from chalicelib.domain.projection import Hit, Said
from chalicelib.domain.query_facts import Day, QueryFacts, query_facts
from chalicelib.domain.ranking import DECIMALS, RankingWeights, rank

NO_FACTS = QueryFacts()
OFF = dict.fromkeys(RankingWeights.model_fields, 0.0)


def found(number: int, **fields: Any) -> Hit:
    """A hit by its number, raw scores, and what is known of its source."""
    said = {name: fields.pop(name) for name in Said._fields if name in fields}
    return Hit(number, Said(**said), **fields)


def order(candidates: list[Hit], **given: object) -> list[int]:
    return [place.number for place in rank(candidates, **given)]  # type: ignore[arg-type]


def test_words_are_a_part_of_the_best_match() -> None:
    assert ranking.words([found(1, words=4.0), found(2, words=1.0), found(3)]) == [1.0, 0.25, 0.0]


def test_words_that_nobody_has_are_nothing() -> None:
    assert ranking.words([found(1), found(2)]) == [0.0, 0.0]


def test_meaning_spreads_cosines_so_that_the_least_found_counts_half() -> None:
    values = ranking.meaning([found(1, meaning=0.9), found(2, meaning=0.8), found(3, meaning=0.85)])
    assert values == pytest.approx([1.0, 0.5, 0.75])


def test_what_the_meaning_leg_did_not_find_counts_as_its_least() -> None:
    values = ranking.meaning([found(1, meaning=0.9), found(2, meaning=0.8), found(3)])
    assert values == pytest.approx([1.0, 0.5, 0.5])


def test_few_close_candidates_are_not_torn_apart_when_the_model_is_known() -> None:
    close = [found(1, meaning=0.83), found(2, meaning=0.82)]
    assert ranking.meaning(close)[1] == pytest.approx(0.5)
    assert ranking.meaning(close, unrelated=0.77)[1] == pytest.approx(5 / 6)


def test_equal_cosines_are_equally_good_and_none_is_nothing() -> None:
    assert ranking.meaning([found(1, meaning=0.8)]) == [1.0]
    assert ranking.meaning([found(1), found(2)]) == [0.0, 0.0]


def test_context_words_are_those_said_just_before_and_without_context_ones_own() -> None:
    candidates = [
        found(1, context_words=2.0, has_context=True),
        found(2, words=1.0, has_context=True),
        found(3, words=1.0),
    ]
    assert ranking.context_words(candidates, [0.0, 0.7, 0.7]) == [1.0, 0.0, 0.7]


def test_context_meaning_is_that_of_context_and_text_and_without_context_ones_own() -> None:
    candidates = [
        found(1, context_meaning=0.9, has_context=True),
        found(2, context_meaning=0.8, has_context=True),
        found(3, meaning=0.8),
    ]
    assert ranking.context_meaning(candidates, [0.1, 0.2, 0.3]) == pytest.approx([1.0, 0.5, 0.3])


def test_a_conversation_lends_its_best_relevance_to_all_in_it() -> None:
    candidates = [
        found(1, conversation="a"),
        found(2, conversation="a"),
        found(3, conversation="b"),
        found(4),
    ]
    assert ranking.conversation(candidates, [0.9, 0.1, 0.0, 0.4]) == [0.9, 0.9, 0.0, 0.4]


def test_an_author_named_in_the_query_counts() -> None:
    candidates = [found(1, author="Caroline Smith"), found(2, author="Melanie"), found(3)]
    assert ranking.author(candidates, query_facts("What did Caroline do?")) == [1.0, 0.0, 0.0]


def test_the_day_named_in_the_query_counts_not_its_month() -> None:
    said = [datetime(2023, 5, 8, tzinfo=UTC), datetime(2023, 5, 9, tzinfo=UTC), None]
    candidates = [found(number, said_at=at) for number, at in enumerate(said)]
    assert ranking.day(candidates, QueryFacts(days=(Day(2023, 5, 8),))) == [1.0, 0.0, 0.0]
    assert ranking.day(candidates, NO_FACTS) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("signal", "better"),
    [
        ("words", found(1, words=9.0, meaning=0.8)),
        ("meaning", found(1, words=3.0, meaning=0.9)),
        ("context_words", found(1, words=3.0, meaning=0.8, context_words=5.0, has_context=True)),
        ("context_meaning", found(1, words=3.0, meaning=0.8, context_meaning=0.9, has_context=True)),
        ("conversation", found(1, words=3.0, meaning=0.8, conversation="best")),
        ("author", found(1, words=3.0, meaning=0.8, author="Sam")),
        ("day", found(1, words=3.0, meaning=0.8, said_at=datetime(2023, 5, 8, tzinfo=UTC))),
    ],
)
def test_every_signal_lifts_and_is_told_and_can_be_switched_off(signal: str, better: Hit) -> None:
    facts = query_facts("What did Sam say on 8 May 2023?")
    rest = [
        found(2, words=3.0, meaning=0.8, context_meaning=0.7, has_context=True),
        found(3, words=6.0, meaning=0.85, conversation="best", context_words=1.0, has_context=True),
    ]
    with_signal = {place.number: place for place in rank([better, *rest], facts)}
    weights = RankingWeights().model_copy(update={signal: 0.0})
    without = {place.number: place for place in rank([better, *rest], facts, weights)}
    assert with_signal[1].why[signal] > with_signal[2].why.get(signal, 0.0)
    assert signal not in without[1].why


def test_words_alone_rank_when_there_are_no_vectors() -> None:
    assert order([found(1, words=1.0), found(2, words=3.0), found(3, words=2.0)]) == [2, 3, 1]


def test_meaning_alone_ranks_when_no_word_matches() -> None:
    assert order([found(1, meaning=0.7), found(2, meaning=0.9), found(3, meaning=0.8)]) == [
        2,
        3,
        1,
    ]


def test_equal_candidates_come_newer_first() -> None:
    assert order([found(7, words=1.0), found(9, words=1.0), found(8, words=1.0)]) == [9, 8, 7]


def test_no_candidates_no_places() -> None:
    assert rank([]) == []


def test_with_every_weight_off_all_are_equal() -> None:
    places = rank([found(1, words=1.0), found(2, words=2.0)], weights=RankingWeights(**OFF))
    assert [(place.number, place.score, place.why) for place in places] == [(2, 0.0, {}), (1, 0.0, {})]


def test_hits_of_no_leg_are_ordered_by_number_only() -> None:
    assert [(place.number, place.score) for place in rank([found(1), found(2)])] == [
        (2, 0.0),
        (1, 0.0),
    ]


def test_a_best_match_without_a_source_is_not_overtaken_by_an_irrelevant_one_with_every_boost() -> None:
    facts = query_facts("What did Sam say on 8 May 2023?")
    best = found(1, words=8.0, meaning=0.88)
    irrelevant = found(
        2, words=0.5, meaning=0.76, context_meaning=0.76, context_words=0.5, has_context=True, conversation="c",
        author="Sam", said_at=datetime(2023, 5, 8, tzinfo=UTC),
    )  # fmt: skip
    assert order([best, irrelevant, found(3, meaning=0.75)], facts=facts)[0] == 1


def test_a_best_match_without_a_source_is_not_overtaken_by_a_neighbour_of_the_second_best() -> None:
    best = found(1, words=8.0, meaning=0.88)
    second = found(
        2,
        words=7.0,
        meaning=0.87,
        context_words=0.1,
        context_meaning=0.86,
        has_context=True,
        conversation="c",
    )
    neighbour = found(
        3, meaning=0.78, context_words=7.0, context_meaning=0.87, has_context=True, conversation="c"
    )
    assert order([best, second, neighbour]) == [1, 2, 3]


cosines = st.floats(-1, 1, allow_nan=False)
scores = st.floats(0.001, 50, allow_nan=False)
nothing = st.none()
bare = st.builds(
    found,
    number=st.integers(1, 999),
    words=nothing | scores,
    meaning=nothing | cosines,
    context_words=nothing,
    context_meaning=nothing,
    has_context=st.just(False),
    conversation=nothing,
    author=nothing,
    said_at=nothing,
)
sourced = st.builds(
    found,
    number=st.integers(1000, 1999),
    words=st.none() | scores,
    meaning=st.none() | cosines,
    context_words=st.none() | scores,
    context_meaning=st.none() | cosines,
    has_context=st.booleans(),
    conversation=st.none() | st.sampled_from("abc"),
    author=st.none() | st.sampled_from(["Sam", "Eva"]),
    said_at=st.none() | st.just(datetime(2023, 5, 8, tzinfo=UTC)),
)


@given(
    st.lists(sourced, max_size=12, unique_by=lambda c: c.number), st.sampled_from(["", "Sam on 8 May", "Eva"])
)
def test_shares_add_up_to_a_score_between_0_and_1(candidates: list[Hit], query: str) -> None:
    for place in rank(candidates, query_facts(query), unrelated=0.7):
        assert sum(place.why.values()) == pytest.approx(place.score)
        assert -1e-9 <= place.score <= 1 + 1e-9
        assert all(share >= -1e-9 for share in place.why.values())


@given(
    st.lists(bare, min_size=2, max_size=8, unique_by=lambda c: c.number),
    st.lists(sourced, max_size=8, unique_by=lambda c: c.number),
    st.sampled_from(["", "Sam on 8 May"]),
)
def test_memories_without_a_source_keep_their_order_whatever_boosts_others_have(
    without: list[Hit], others: list[Hit], query: str
) -> None:
    facts = query_facts(query)
    mixed = [number for number in order([*without, *others], facts=facts) if number < 1000]
    bare_others = [found(c.number, words=c.words, meaning=c.meaning) for c in others]
    plain = [number for number in order([*without, *bare_others], facts=NO_FACTS) if number < 1000]
    places = {place.number: place.score for place in rank([*without, *bare_others])}
    # Boosts of others make all scores smaller, at most by half: what was shown apart may be shown as equal.
    near = 3 * 10**-DECIMALS
    ties = {(a, b) for a in places for b in places if abs(places[a] - places[b]) < near}
    assert all(a == b or (a, b) in ties for a, b in zip(mixed, plain, strict=True))


def test_the_order_does_not_depend_on_the_order_of_the_hits() -> None:
    candidates = [
        found(n, words=float(n % 7) or None, meaning=0.7 + (n * 37 % 100) / 1000) for n in range(1, 60)
    ]
    assert order(candidates) == order(candidates[::-1])


def test_400_candidates_are_ranked_within_the_budget_of_a_search() -> None:
    candidates = [
        Hit(n, Said(str(n % 20), n, ("Sam", "Eva")[n % 2], datetime(2023, 5, 1 + n % 28, tzinfo=UTC), True),
            float(n % 40) or None, float(n % 31) or None, 0.7 + n / 4000, 0.7 + n / 5000)
        for n in range(400)
    ]  # fmt: skip
    facts = query_facts("What did Sam say on 8 May 2023?")
    best = min(_seconds(lambda: rank(candidates, facts)) for _ in range(20))
    assert best < 0.01  # 1.5 ms on a quiet machine; tests run on busy ones


def _seconds(work: object) -> float:
    began = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - began


def test_what_is_shown_as_equal_is_ordered_by_number_whatever_the_last_digits_say() -> None:
    """The same vector compared in the index and as it was just written differs in its last digits."""
    for noise in (-1e-8, 0.0, 1e-8):
        candidates = [found(1, meaning=0.9), found(2, meaning=0.8 + noise), found(3, meaning=0.8)]
        assert order([*candidates, found(4, meaning=0.7)]) == [1, 3, 2, 4]
