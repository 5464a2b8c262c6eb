"""`ports.Embedder` over HTTP: any endpoint that speaks as OpenAI's `/embeddings` does (OpenAI, OpenRouter, Ollama,
vLLM, llama.cpp, text-embeddings-inference)."""

from collections.abc import Sequence
from functools import lru_cache

from pydantic import SecretStr

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.errors import EmbedderUnavailableError
from chalicelib.providers.batching import batches
from chalicelib.providers.cutting import cut, octets
from chalicelib.providers.http import JsonEndpoint
from chalicelib.providers.known_models import KnownModel, known
from chalicelib.providers.vectors import unit_vector

REQUEST_BYTES = 256 * 1024
"""Texts of one request; fewer tokens than the 300,000 that OpenAI takes."""
QUERIES_KEPT = 256


class OpenAiEmbedder:
    """One model behind one address. Safe to share between threads; connects at first use.

    `model` is of `known_models.described`; another dimension than its own is asked for with each request. `url` is
    the API's base (`https://api.openai.com/v1`). `batch` texts go in one request, of each at most `text_bytes` of
    UTF-8. `timeout` bounds one try in seconds; with all its `attempts` a request takes at most twice as long.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        url: str,
        *,
        key: SecretStr | None = None,
        timeout: float = 10.0,
        attempts: int = 3,
        batch: int = 64,
        text_bytes: int = 8_000,
    ) -> None:
        self._model = model
        self._known = known(model.name) or KnownModel(model.dimension)
        address = f"{url.rstrip('/').removesuffix('/embeddings')}/embeddings"
        self._endpoint = JsonEndpoint(address, key, timeout=timeout, attempts=attempts)
        self._batch = batch
        self._text_bytes = text_bytes
        self._asked = lru_cache(QUERIES_KEPT)(self._ask)

    @property
    def model(self) -> EmbeddingModel:
        """Which model it is."""
        return self._model

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        sized = [self._ready(self._known.passage_prefix, text) for text in texts]
        found: list[bytes] = []
        for batch in batches(sized, count=self._batch, weight=REQUEST_BYTES):
            found.extend(self._vectors([ready for ready, _ in batch]))
        return found

    def query(self, text: str) -> bytes:
        ready, _ = self._ready(self._known.query_prefix, text)
        return self._asked(ready)

    def _ask(self, ready: str) -> bytes:
        return self._vectors([ready])[0]

    def _ready(self, prefix: str, text: str) -> tuple[str, int]:
        ready = prefix + cut(text, self._text_bytes, octets)
        return ready, octets(ready)

    def _vectors(self, texts: list[str]) -> list[bytes]:
        body: dict[str, object] = {"model": self._model.name, "input": texts, "encoding_format": "float"}
        if self._model.dimension != self._known.dimension:
            body["dimensions"] = self._model.dimension
        rows = _in_order(self._endpoint.post(body), len(texts), self._endpoint.host)
        return [unit_vector(row, self._model.dimension) for row in rows]


def _in_order(answer: object, count: int, host: str) -> list[object]:
    """The answer's `embedding`s by their `index`. Raises EmbedderUnavailableError when not each text has one."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    found: dict[object, object] = {}
    for place, row in enumerate(rows if isinstance(rows, list) else []):
        if isinstance(row, dict):
            index = row.get("index", place)
            found[index if isinstance(index, int) else None] = row.get("embedding")
    if not isinstance(rows, list) or len(rows) != count or found.keys() != set(range(count)):
        raise EmbedderUnavailableError(
            f"The embedding endpoint {host} does not answer one vector for each of {count} texts: "
            "check PALIMPSEST_EMBEDDING_URL and PALIMPSEST_EMBEDDING_MODEL."
        )
    return [found[index] for index in range(count)]
