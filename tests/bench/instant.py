"""The bundled embedding model's stand-in that takes no time: what is measured with it is the product's own cost.

It says that it is the bundled model, so that data filled with it can be searched with the real one, and the other
way round. A text's vector is the sum of its words' random directions: texts that share words are near. As with the
real model, any two texts have something in common, so that about as many pass the threshold of relevance.

`python -m tests.bench.instant` is `python -m infra.local` with it.
"""

import re
import sys
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.providers.bundled import DIMENSION, DUPLICATE, NAME, RELEVANCE

COMMON = 0.74
"""The cosine of texts that share no word: that of unrelated texts with the real model."""

_WORD = re.compile(r"\w+")


class InstantEmbedder:
    """`ports.Embedder`, in microseconds."""

    model = EmbeddingModel(
        provider="bundled", name=NAME, dimension=DIMENSION, relevance=RELEVANCE, duplicate=DUPLICATE
    )

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        return [self.query(text) for text in texts]

    def query(self, text: str) -> bytes:
        total = np.sum([_direction(word) for word in _WORD.findall(text.casefold()) or [text]], axis=0)
        own = total / (np.linalg.norm(total) or 1.0)
        unit: NDArray[np.float32] = np.sqrt(COMMON) * _common() + np.sqrt(1 - COMMON) * own
        return (unit / np.linalg.norm(unit)).astype("<f4").tobytes()


@lru_cache(maxsize=1)
def _common() -> NDArray[np.float32]:
    direction = _direction("")
    return direction / np.linalg.norm(direction)


@lru_cache(maxsize=1 << 15)
def _direction(word: str) -> NDArray[np.float32]:
    chance = np.random.default_rng(zlib.crc32(word.encode()))
    return chance.standard_normal(DIMENSION).astype(np.float32)


def main() -> int:
    """Serve, with this embedder in place of the bundled one."""
    from chalicelib import bootstrap
    from chalicelib.settings import Settings

    def instant(settings: Settings) -> InstantEmbedder:
        return InstantEmbedder()

    bootstrap._embedder = instant
    from infra.local.__main__ import main as serve

    return serve()


if __name__ == "__main__":
    sys.exit(main())
