"""Vectors of a provider are taken as they are meant, or not at all."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.errors import EmbedderUnavailableError, EmbeddingDimensionError
from chalicelib.providers.vectors import unit_vector

REAL = st.floats(-1e30, 1e30, allow_nan=False)


@given(st.lists(REAL, min_size=1, max_size=50).filter(lambda row: math.hypot(*row) > 1e-30))
def test_a_vector_keeps_its_direction_and_gets_unit_length(row: list[float]) -> None:
    numbers = struct.unpack(f"<{len(row)}f", unit_vector(row, len(row)))
    assert math.hypot(*numbers) == pytest.approx(1, abs=1e-3)
    length = math.hypot(*row)
    assert numbers == pytest.approx([number / length for number in row], abs=1e-6)


NO_VECTORS: list[object] = [
    None,
    "AACAPw==",
    {},
    [],
    ["a", 1.0],
    [None, 1.0],
    [True, False],
    [math.nan, 1.0],
    [math.inf, 1.0],
    [0.0, 0],
    [10**400, 1],
    [1.7e308, 1.7e308],
]


@pytest.mark.parametrize("answer", NO_VECTORS, ids=lambda answer: repr(answer)[:20])
def test_what_is_not_a_vector_is_not_taken_for_one(answer: object) -> None:
    with pytest.raises(EmbedderUnavailableError):
        unit_vector(answer, 2)


def test_another_length_is_told_with_what_to_set() -> None:
    with pytest.raises(
        EmbeddingDimensionError, match="vectors of 3 numbers, not 2: set PALIMPSEST_EMBEDDING_DIMENSION"
    ):
        unit_vector([1.0, 2.0, 3.0], 2)
