"""A model's dimension is known, stated, or asked of the operator in plain words; never guessed."""

from typing import Literal

import pytest

from chalicelib.errors import EmbeddingDimensionError
from chalicelib.providers.known_models import KNOWN, described, known


@pytest.mark.parametrize(
    ("name", "dimension"),
    [
        ("text-embedding-3-small", 1536),
        ("openai/text-embedding-3-large", 3072),
        ("nomic-embed-text:latest", 768),
        ("intfloat/multilingual-e5-large-instruct", 1024),
        ("Qwen/Qwen3-Embedding-0.6B", 1024),
        ("BAAI/bge-m3", 1024),
    ],
)
def test_the_usual_names_of_a_model_are_known(name: str, dimension: int) -> None:
    assert described("openai", name).dimension == dimension


def test_every_known_name_stands_for_one_model_only() -> None:
    for name in KNOWN:
        assert [part for part in KNOWN if part in name] == [name]


def test_an_unknown_model_needs_its_dimension() -> None:
    with pytest.raises(EmbeddingDimensionError, match=r"our-own-model.*set PALIMPSEST_EMBEDDING_DIMENSION"):
        described("openai", "our-own-model")
    assert described("openai", "our-own-model", 77).dimension == 77
    assert known("our-own-model") is None


@pytest.mark.parametrize(
    ("provider", "name", "dimension", "advice"),
    [
        ("bedrock", "amazon.titan-embed-text-v2:0", 300, "may be 256, 512, 1024"),
        ("bedrock", "eu.cohere.embed-v4:0", 3072, "may be 256, 512, 1024, 1536"),
        ("bedrock", "cohere.embed-multilingual-v3", 512, "may be 1024"),
        ("openai", "text-embedding-3-small", 3072, "may be at most 1536"),
        ("openai", "text-embedding-ada-002", 256, "may be 1536"),
    ],
)
def test_a_dimension_that_a_model_does_not_have_is_refused_with_those_that_it_has(
    provider: Literal["openai", "bedrock"], name: str, dimension: int, advice: str
) -> None:
    with pytest.raises(EmbeddingDimensionError, match=rf"{advice}\.$"):
        described(provider, name, dimension)


def test_an_operator_replaces_the_thresholds_one_by_one() -> None:
    general = described("openai", "bge-m3")
    changed = described("openai", "bge-m3", relevance=0.0)
    assert (changed.relevance, changed.duplicate) == (0.0, general.duplicate)
    assert changed.fingerprint == general.fingerprint
