"""What an embedding model is to us: a name for its vectors, their dimension, and the thresholds measured for it."""

import hashlib
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]


class EmbeddingModel(BaseModel):
    """Provider, model and dimension; vectors of different fingerprints are never compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: Literal["bundled", "openai", "bedrock", "scripted"]
    name: str
    dimension: Annotated[int, Field(ge=1, le=16_000)]
    relevance: Cosine = 0.2
    """A query and a text closer than this are related (M23): this model's measured default."""
    duplicate: Cosine = 0.9
    """Two texts closer than this say much the same (M12): this model's measured default."""

    @property
    def fingerprint(self) -> str:
        """A short name, safe in index names and keys: lower case letters, digits and dashes, at most 60."""
        return _fingerprint(self.provider, self.name, self.dimension)


@lru_cache(maxsize=64)
def _fingerprint(provider: str, name: str, dimension: int) -> str:
    """Asked for with each memory, and always that of the same one or two models."""
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in f"{provider}-{name}".lower())
    digest = hashlib.sha256(f"{provider}\n{name}\n{dimension}".encode()).hexdigest()[:8]
    return f"{slug[:40].strip('-')}-{dimension}-{digest}"


def text_hash(text: str) -> str:
    """Hash by which unchanged text is known again."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
