"""What is known of embedding models without asking them: the length of their vectors, and the words they are trained
to see before a text."""

from dataclasses import dataclass
from typing import Literal

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.errors import EmbeddingDimensionError


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A family of models. `shorter`: other dimensions that it can be asked for; None = any below its own."""

    dimension: int
    shorter: tuple[int, ...] | None = ()
    query_prefix: str = ""
    passage_prefix: str = ""


KNOWN: dict[str, KnownModel] = {
    "text-embedding-3-small": KnownModel(1536, None),
    "text-embedding-3-large": KnownModel(3072, None),
    "text-embedding-ada-002": KnownModel(1536),
    "gemini-embedding-001": KnownModel(3072, None),
    "qwen3-embedding-0.6b": KnownModel(1024, None),
    "qwen3-embedding-4b": KnownModel(2560, None),
    "qwen3-embedding-8b": KnownModel(4096, None),
    "nomic-embed-text": KnownModel(768, None, "search_query: ", "search_document: "),
    "mxbai-embed-large": KnownModel(1024),
    "bge-m3": KnownModel(1024),
    "multilingual-e5-small": KnownModel(384, (), "query: ", "passage: "),
    "multilingual-e5-base": KnownModel(768, (), "query: ", "passage: "),
    "multilingual-e5-large": KnownModel(1024, (), "query: ", "passage: "),
    "titan-embed-text-v2": KnownModel(1024, (256, 512)),
    "cohere.embed-multilingual-v3": KnownModel(1024),
    "cohere.embed-english-v3": KnownModel(1024),
    "cohere.embed-v4": KnownModel(1536, (256, 512, 1024)),
}
"""By a part of the model's name that no other model's has."""


def known(name: str) -> KnownModel | None:
    """What is known of the model that a provider calls `name` (with a maker before it, or a tag after it)."""
    lower = name.lower()
    return next((model for part, model in KNOWN.items() if part in lower), None)


def described(
    provider: Literal["openai", "bedrock"],
    name: str,
    dimension: int | None = None,
    *,
    relevance: float | None = None,
    duplicate: float | None = None,
) -> EmbeddingModel:
    """The model `name` with vectors of `dimension` (None = its own); thresholds None = the general defaults (M23).

    Raises EmbeddingDimensionError when the model is not known and `dimension` is None, or when the model is known
    and has no such vectors.
    """
    model = known(name)
    if dimension is None and model is None:
        raise EmbeddingDimensionError(
            f"The length of {name}'s vectors is not known: set PALIMPSEST_EMBEDDING_DIMENSION to it."
        )
    if dimension is not None and model is not None and not _has(model, dimension):
        offered = ", ".join(str(one) for one in (*(model.shorter or ()), model.dimension))
        at_most = "at most " if model.shorter is None else ""
        raise EmbeddingDimensionError(
            f"{name} has no vectors of {dimension} numbers: PALIMPSEST_EMBEDDING_DIMENSION may be {at_most}{offered}."
        )
    thresholds = {"relevance": relevance, "duplicate": duplicate}
    return EmbeddingModel(
        provider=provider,
        name=name,
        dimension=dimension or (model.dimension if model else 0),
        **{which: value for which, value in thresholds.items() if value is not None},
    )


def _has(model: KnownModel, dimension: int) -> bool:
    if model.shorter is None:
        return dimension <= model.dimension
    return dimension in {model.dimension, *model.shorter}
