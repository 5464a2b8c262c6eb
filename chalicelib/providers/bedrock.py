"""`ports.Embedder` on Amazon Bedrock: Titan Text Embeddings V2, and Cohere Embed v3 and v4."""

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.errors import EmbedderUnavailableError
from chalicelib.providers.batching import batches
from chalicelib.providers.cutting import cut, octets, utf16_units
from chalicelib.providers.vectors import unit_vector

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime import BedrockRuntimeClient

CONNECT_TIMEOUT_S = 3.0
AT_ONCE = 8
"""Requests under way at the same time for one call of `passages`."""
TEXT_BYTES = 8_000
REQUEST_BYTES = 256 * 1024
QUERIES_KEPT = 256

Kind = Literal["search_document", "search_query"]


class Family(Protocol):
    """How one maker's models are asked."""

    @property
    def texts(self) -> int:
        """Texts in one request."""
        ...

    def ready(self, text: str) -> str:
        """As much of the text as the model takes."""
        ...

    def body(self, texts: list[str], kind: Kind, dimension: int) -> Mapping[str, object]:
        """The request."""
        ...

    def rows(self, answer: Mapping[str, object]) -> object:
        """The list of vectors in the answer, if it is what it should be."""
        ...


@dataclass(frozen=True)
class Titan:
    """Amazon Titan Text Embeddings V2: one text a request; does not tell queries from passages."""

    texts: int = 1

    def ready(self, text: str) -> str:
        return cut(text, TEXT_BYTES, octets)

    def body(self, texts: list[str], kind: Kind, dimension: int) -> Mapping[str, object]:  # noqa: ARG002
        return {"inputText": texts[0], "dimensions": dimension, "normalize": True}

    def rows(self, answer: Mapping[str, object]) -> object:
        return [answer.get("embedding")]


@dataclass(frozen=True)
class Cohere:
    """Cohere Embed: up to 96 texts a request. v3 refuses a text of more than 2,048 characters, whatever `truncate`
    says, and cuts at 512 tokens if told to; v4 has a dimension to choose."""

    version: Literal[3, 4]
    texts: int = 96

    def ready(self, text: str) -> str:
        return cut(text, 2_048, utf16_units) if self.version == 3 else cut(text, TEXT_BYTES, octets)

    def body(self, texts: list[str], kind: Kind, dimension: int) -> Mapping[str, object]:
        own = {"truncate": "END"} if self.version == 3 else {"output_dimension": dimension}
        return {"texts": texts, "input_type": kind, "embedding_types": ["float"], **own}

    def rows(self, answer: Mapping[str, object]) -> object:
        found = answer.get("embeddings")
        return found.get("float") if isinstance(found, dict) else found


FAMILIES: dict[str, Family] = {
    "titan-embed-text-v2": Titan(),
    "cohere.embed-multilingual-v3": Cohere(3),
    "cohere.embed-english-v3": Cohere(3),
    "cohere.embed-v4": Cohere(4),
}
"""By a part of the model's id: a region may stand before it (`eu.cohere.embed-v4:0`, an inference profile)."""


class BedrockEmbedder:
    """One model of Bedrock in one region. Safe to share between threads; connects at first use.

    `model` is of `known_models.described`. `timeout` bounds one try in seconds. `endpoint` is another address than
    AWS's (a private endpoint, an emulator). Raises EmbedderUnavailableError at once for a model not of FAMILIES.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        region: str,
        *,
        timeout: float = 10.0,
        attempts: int = 3,
        endpoint: str | None = None,
    ) -> None:
        family = next((family for part, family in FAMILIES.items() if part in model.name), None)
        if family is None:
            raise EmbedderUnavailableError(
                f"{model.name} is not an embedding model of Bedrock that Palimpsest knows: "
                f"PALIMPSEST_EMBEDDING_MODEL may be one of {', '.join(FAMILIES)}."
            )
        self._model = model
        self._family = family
        self._region = region
        self._endpoint = endpoint
        self._timeout = timeout
        self._attempts = attempts
        self._connecting = Lock()
        self._asked = lru_cache(QUERIES_KEPT)(self._ask)

    @property
    def model(self) -> EmbeddingModel:
        """Which model it is."""
        return self._model

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        ready = [(text, octets(text)) for text in map(self._family.ready, texts)]
        batched = batches(ready, count=self._family.texts, weight=REQUEST_BYTES)
        parts = [[text for text, _ in batch] for batch in batched]
        if len(parts) < 2:
            return [vector for part in parts for vector in self._vectors(part)]
        with ThreadPoolExecutor(min(AT_ONCE, len(parts))) as threads:
            return [vector for part in threads.map(self._vectors, parts) for vector in part]

    def query(self, text: str) -> bytes:
        return self._asked(self._family.ready(text))

    def _ask(self, ready: str) -> bytes:
        return self._vectors([ready], "search_query")[0]

    def _vectors(self, texts: list[str], kind: Kind = "search_document") -> list[bytes]:
        answer = self._invoke(self._family.body(texts, kind, self._model.dimension))
        rows = self._family.rows(answer) if isinstance(answer, dict) else None
        if not isinstance(rows, list) or len(rows) != len(texts):
            raise EmbedderUnavailableError(
                f"{self._model.name} on Bedrock does not answer one vector for each of {len(texts)} texts."
            )
        return [unit_vector(row, self._model.dimension) for row in rows]

    def _invoke(self, body: Mapping[str, object]) -> object:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            with self._connecting:
                client = self._client
            answer = client.invoke_model(
                modelId=self._model.name,
                body=json.dumps(body, ensure_ascii=False).encode(),
                contentType="application/json",
                accept="application/json",
            )
            return json.loads(answer["body"].read())
        except ClientError as error:
            raise self._refused(
                error.response.get("Error", {}).get("Code", "")
            ) from None  # may quote the text
        except BotoCoreError as error:
            raise EmbedderUnavailableError(
                f"{self._model.name} on Bedrock cannot be reached ({type(error).__name__})."
            ) from error
        except ValueError as error:
            raise EmbedderUnavailableError(
                f"{self._model.name} on Bedrock answers something that is not JSON."
            ) from error

    def _refused(self, code: str) -> EmbedderUnavailableError:
        advice = {
            "AccessDeniedException": ": the role may not use it, or the account has no access to this model",
            "ResourceNotFoundException": ": there is no such model in this region",
            "ThrottlingException": ": the account's quota for it is used up",
            "ValidationException": ": some models are only reached through an inference profile (eu., us., global.)",
        }
        return EmbedderUnavailableError(
            f"{self._model.name} on Bedrock refuses the request ({code or 'no reason given'}){advice.get(code, '')}."
        )

    @cached_property
    def _client(self) -> "BedrockRuntimeClient":
        import boto3
        from botocore.config import Config

        return boto3.client(
            "bedrock-runtime",
            region_name=self._region,
            endpoint_url=self._endpoint,
            config=Config(
                connect_timeout=min(CONNECT_TIMEOUT_S, self._timeout),
                read_timeout=self._timeout,
                retries={"total_max_attempts": self._attempts, "mode": "standard"},
                max_pool_connections=AT_ONCE,
            ),
        )
