"""API keys: a mistyped one is told apart without a look at the store, and no secret is kept or shown by accident."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.api_keys import SCANNER_PATTERN, hash_secret, mint, parse, secret_fits
from chalicelib.domain.ids import is_id
from chalicelib.domain.secrets import looks_like_secret

BASE62 = string.digits + string.ascii_letters
SAMPLE = "plm_01jd5x8h2v9cqnm3k7rwtz4gsy_AnExampleThatOpensNothing01234567_22BrJg"
"""Fixed, so that keys which people hold stay readable: the form never changes."""


def test_a_minted_key_is_read_back_as_its_own_id_and_secret() -> None:
    minted = mint()
    parsed = parse(minted.plain)
    assert parsed is not None
    assert parsed.id == minted.id
    assert is_id(minted.id)
    assert secret_fits(parsed.secret, minted.secret_hash)


def test_the_secret_has_at_least_192_bits() -> None:
    parsed = parse(mint().plain)
    assert parsed is not None
    assert 62 ** len(parsed.secret) >= 2**192


def test_a_key_that_somebody_holds_already_stays_readable() -> None:
    parsed = parse(SAMPLE)
    assert parsed is not None
    assert (parsed.id, parsed.secret) == (
        "key_01jd5x8h2v9cqnm3k7rwtz4gsy",
        "AnExampleThatOpensNothing01234567",
    )


def test_two_keys_share_neither_id_nor_secret() -> None:
    keys = [mint() for _ in range(200)]
    assert len({key.id for key in keys}) == len({key.secret_hash for key in keys}) == 200


def test_another_secret_does_not_fit() -> None:
    assert not secret_fits("another", mint().secret_hash)
    assert not secret_fits("", mint().secret_hash)


def test_scanners_of_leaked_secrets_and_our_own_warning_recognise_a_key() -> None:
    text = f"my key is {mint().plain}, keep it"
    assert re.search(SCANNER_PATTERN, text)
    assert looks_like_secret(text)


def test_a_key_does_not_show_itself_when_it_is_printed() -> None:
    minted = mint()
    parsed = parse(minted.plain)
    assert parsed is not None
    assert parsed.secret not in repr(minted) + repr(parsed)
    assert hash_secret(parsed.secret) == minted.secret_hash


@given(position=st.integers(0, len(SAMPLE) - 1), other=st.sampled_from(BASE62))
def test_every_single_mistyped_character_is_noticed(position: int, other: str) -> None:
    plain = SAMPLE
    mistyped = plain[:position] + other + plain[position + 1 :]
    assert (parse(mistyped) is None) == (mistyped != plain)


@given(position=st.integers(0, len(SAMPLE) - 2))
def test_every_exchange_of_two_neighbours_is_noticed(position: int) -> None:
    plain = SAMPLE
    swapped = plain[:position] + plain[position + 1] + plain[position] + plain[position + 2 :]
    assert (parse(swapped) is None) == (swapped != plain)


@given(length=st.integers(0, len(SAMPLE) - 1))
def test_a_key_that_was_pasted_in_part_is_noticed(length: int) -> None:
    assert parse(SAMPLE[:length]) is None


@given(st.text())
def test_any_other_text_is_no_key(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        0,
        [],
        {},
        b"plm_",
        SAMPLE.encode(),
        [SAMPLE],
        "",
        "plm_",
        "plm___",
        SAMPLE + "\n",
        " " + SAMPLE,
        SAMPLE.upper(),
        SAMPLE.replace("plm", "plx"),
        SAMPLE.replace("_", "-"),
    ],
)
def test_what_has_another_form_is_no_key(text: object) -> None:
    assert parse(text) is None
