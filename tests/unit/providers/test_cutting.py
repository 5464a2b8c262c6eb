"""A long text is cut so that the model can take it, between words where there are any."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.providers.cutting import cut, octets, utf16_units

ANY_TEXT = st.text(st.characters(), max_size=300)


@given(ANY_TEXT, st.integers(4, 100), st.sampled_from([len, octets, utf16_units]))
def test_no_text_is_larger_than_asked_for(text: str, limit: int, size: Callable[[str], int]) -> None:
    found = cut(text, limit, size)
    assert 1 <= size(found) <= limit
    found.encode("utf-8")
    assert "\x00" not in found


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=50))
def test_a_short_text_stays_as_it_is(text: str) -> None:
    assert cut(text, 500, octets) == text


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Anna lives in Brno", 12, "Anna lives"),
        ("příliš žluťoučký kůň", 18, "příliš"),
        ("安娜去年春天搬到布尔诺", 10, "安娜去"),
        ("x" * 100, 10, "x" * 10),
        ("a " + "x" * 100, 60, "a " + "x" * 58),
        ("", 10, " "),
        ("a\x00b", 10, "a b"),
        ("half \ud83d", 10, "half ?"),
    ],
)
def test_words_stay_whole_unless_they_are_very_long(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit, octets) == expected


def test_a_huge_text_costs_no_more_than_its_beginning() -> None:
    looked_at: list[int] = []

    def tokens(text: str) -> int:
        looked_at.append(len(text))
        return len(text)

    assert len(cut("word " * 200_000, 256, tokens, characters=2_000)) <= 256
    assert max(looked_at) <= 2_000
    assert len(looked_at) < 5


def test_one_character_is_given_even_if_it_is_too_large() -> None:
    assert cut("👩👩", 1, octets) == "👩"


def test_a_character_counts_as_services_count_it() -> None:
    assert (utf16_units("a👩"), octets("a👩")) == (3, 5)
