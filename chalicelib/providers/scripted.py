"""`ports.Embedder` for tests: vectors from words alone, the same on every machine, with failures on demand."""

import math
import re
import struct
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from threading import Event, Lock
from typing import Literal, NamedTuple

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.errors import EmbeddingError

STEM = 5
"""Letters of a word that count, so that its inflections are alike."""
PLACES = 8
"""Numbers of a vector that one word moves."""


class Asked(NamedTuple):
    """One call of the embedder."""

    kind: Literal["passages", "query"]
    texts: tuple[str, ...]


class ScriptedEmbedder:
    """Texts that share words are near, others at right angles. `meanings` maps a word to what it means, so that
    texts without a common word can be alike. `asked` lists the calls, the failed ones too. Safe to share between threads.
    """

    def __init__(
        self,
        *,
        name: str = "stems",
        dimension: int = 256,
        relevance: float = 0.2,
        duplicate: float = 0.9,
        meanings: Mapping[str, str] | None = None,
    ) -> None:
        self._model = EmbeddingModel(
            provider="scripted", name=name, dimension=dimension, relevance=relevance, duplicate=duplicate
        )
        self._meanings = {_stem(word): _stem(meaning) for word, meaning in (meanings or {}).items()}
        self._lock = Lock()
        self._failure: EmbeddingError | None = None
        self._failures_left: float = 0
        self._until: Event | None = None
        self._vectors: dict[str, bytes] = {}
        self.asked: list[Asked] = []

    @property
    def model(self) -> EmbeddingModel:
        """Which model it is."""
        return self._model

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        self._note("passages", texts)
        return [self._vector(text) for text in texts]

    def query(self, text: str) -> bytes:
        self._note("query", [text])
        return self._vector(text)

    def fail(self, error: EmbeddingError, times: float = math.inf) -> None:
        """Let the next `times` calls raise `error`; 0 lets it work again."""
        with self._lock:
            self._failure, self._failures_left = error, times

    def hold(self, until: Event) -> None:
        """Let calls wait (half a minute at most) until `until` is set: a slow embedder that a test controls."""
        self._until = until

    def answer(self, text: str, vector: bytes) -> None:
        """Let `text` have exactly this vector, right or wrong (of another dimension, with NaN)."""
        self._vectors[text] = vector

    def _note(self, kind: Literal["passages", "query"], texts: Sequence[str]) -> None:
        with self._lock:
            self.asked.append(Asked(kind, tuple(texts)))
            if self._failure is not None and self._failures_left > 0:
                self._failures_left -= 1
                raise self._failure
        if self._until is not None:
            self._until.wait(30)

    def _vector(self, text: str) -> bytes:
        if text in self._vectors:
            return self._vectors[text]
        numbers = [0.0] * self._model.dimension
        for word in re.findall(r"\w+", text) or [text]:
            _move(numbers, self._meanings.get(_stem(word), _stem(word)))
        length = math.hypot(*numbers)
        return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def _stem(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))[:STEM]


def _move(numbers: list[float], stem: str) -> None:
    """Add the direction of one stem."""
    digest = sha256(stem.encode("utf-8", "replace")).digest()
    for first, second in zip(digest[: 2 * PLACES : 2], digest[1 : 2 * PLACES : 2], strict=True):
        place = (first * 256 + second) % len(numbers)
        numbers[place] += 1.0 if first % 2 else -1.0
