"""What every index says of itself to an operator: whether it is complete, and which vectors it holds."""

import random

from chalicelib.domain.projection import EmbeddedText
from chalicelib.ports import SearchIndex
from tests.contracts.search.conftest import Put
from tests.contracts.search.memories import DIMENSIONS, LARGE, SMALL, entry, memory, random_unit


def test_an_index_that_was_never_built_is_not_complete(brand_new: SearchIndex) -> None:
    seen = brand_new.inspect()
    assert (seen.complete, seen.foreign, dict(seen.dimensions)) == (False, (), {})


def test_a_complete_index_says_how_long_its_vectors_are(index: SearchIndex, put: Put) -> None:
    assert (index.inspect().complete, dict(index.inspect().dimensions)) == (True, {})
    chance = random.Random(1)
    vectors = {model: EmbeddedText(random_unit(chance, size)) for model, size in DIMENSIONS.items()}
    put(entry(memory(1), **vectors))
    assert dict(index.inspect().dimensions) == {SMALL: 8, LARGE: 24}


def test_an_index_that_was_dropped_is_not_complete(index: SearchIndex, put: Put) -> None:
    put(entry(memory(1)))
    index.drop()
    assert not index.inspect().complete
