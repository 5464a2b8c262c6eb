"""What OpenAI-compatible endpoints are asked, and how their answers are read."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.errors import EmbedderUnavailableError
from chalicelib.providers import openai_compatible
from chalicelib.providers.known_models import described
from chalicelib.providers.openai_compatible import OpenAiEmbedder
from tests.contracts.embedders.endpoints import Endpoint, Reply, serving

SMALL = described("openai", "our-own-model", 4)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as endpoint:
        endpoint.dimension = 4
        yield endpoint


def embedder(endpoint: Endpoint, model: EmbeddingModel = SMALL, **how: Any) -> OpenAiEmbedder:
    return OpenAiEmbedder(model, f"{endpoint.url}/v1", **how)


def test_a_request_names_the_model_and_asks_for_plain_numbers(endpoint: Endpoint) -> None:
    embedder(endpoint).passages(["a", "b"])
    (received,) = endpoint.received
    assert received.path == "/v1/embeddings"
    assert received.body == {"model": "our-own-model", "input": ["a", "b"], "encoding_format": "float"}


def test_a_dimension_is_asked_for_only_where_it_is_not_the_models_own(endpoint: Endpoint) -> None:
    endpoint.dimension = 1536
    embedder(endpoint, described("openai", "text-embedding-3-small", 1536)).passages(["a"])
    embedder(endpoint, described("openai", "text-embedding-3-small", 512)).passages(["a"])
    assert [received.body.get("dimensions") for received in endpoint.received] == [None, 512]


@pytest.mark.parametrize("address", ["", "/", "/embeddings", "/embeddings/"])
def test_the_address_may_be_the_base_or_the_whole(endpoint: Endpoint, address: str) -> None:
    OpenAiEmbedder(SMALL, f"{endpoint.url}/v1{address}").passages(["a"])
    assert endpoint.received[0].path == "/v1/embeddings"


def test_models_that_are_trained_on_prefixes_get_them(endpoint: Endpoint) -> None:
    endpoint.dimension = 384
    e5 = embedder(endpoint, described("openai", "intfloat/multilingual-e5-small"))
    e5.passages(["Anna lives in Brno"])
    e5.query("where?")
    asked = [received.body["input"] for received in endpoint.received]
    assert asked == [["passage: Anna lives in Brno"], ["query: where?"]]


def test_requests_are_bounded_in_texts_and_in_bytes(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_compatible, "REQUEST_BYTES", 500)
    bounded = embedder(endpoint, batch=3, text_bytes=300)
    assert len(bounded.passages(["a"] * 7 + ["long " * 1_000, "long " * 1_000, "b"])) == 10
    sizes = [[len(text) for text in received.body["input"]] for received in endpoint.received]
    assert sizes == [[1, 1, 1], [1, 1, 1], [1, 299], [299, 1]]


def test_the_same_query_is_asked_once(endpoint: Endpoint) -> None:
    asked = embedder(endpoint)
    assert asked.query("where?") == asked.query("where?")
    assert len(endpoint.received) == 1
    asked.query("who?")
    assert len(endpoint.received) == 2


ROW = [1.0, 2.0, 3.0, 4.0]
NONSENSE: dict[str, object] = {
    "nothing": {},
    "a list": [ROW, ROW],
    "an error with status 200": {"error": {"message": "no such model"}},
    "data that is no list": {"data": {"embedding": ROW}},
    "too few": {"data": [{"index": 0, "embedding": ROW}]},
    "too many": {"data": [{"index": i, "embedding": ROW} for i in range(3)]},
    "one twice": {"data": [{"index": 0, "embedding": ROW}, {"index": 0, "embedding": ROW}]},
    "another's": {"data": [{"index": 0, "embedding": ROW}, {"index": 7, "embedding": ROW}]},
    "an index that is none": {"data": [{"index": [], "embedding": ROW}, {"index": 1, "embedding": ROW}]},
    "rows that are none": {"data": ["a", "b"]},
    "no vectors": {"data": [{"index": 0}, {"index": 1}]},
    "base64": {"data": [{"index": i, "embedding": "AACAPwAAgD8AAIA/AACAPw=="} for i in range(2)]},
    "not a number": {"data": [{"index": i, "embedding": [float("nan"), 1, 1, 1]} for i in range(2)]},
    "zero": {"data": [{"index": i, "embedding": [0, 0, 0, 0]} for i in range(2)]},
}


@pytest.mark.parametrize("answer", NONSENSE.values(), ids=NONSENSE)
def test_an_answer_that_is_not_one_vector_for_each_text_is_refused(
    endpoint: Endpoint, answer: object
) -> None:
    endpoint.always = Reply(body=json.dumps(answer).encode())
    with pytest.raises(EmbedderUnavailableError):
        embedder(endpoint).passages(["a", "b"])


def test_servers_that_leave_the_index_out_answer_in_order(endpoint: Endpoint) -> None:
    rows = [{"embedding": [1, 0, 0, 0]}, {"embedding": [0, 2, 0, 0]}]
    endpoint.always = Reply(body=json.dumps({"data": rows}).encode())
    first, second = embedder(endpoint).passages(["a", "b"])
    assert memoryview(first).cast("f").tolist() == [1, 0, 0, 0]
    assert memoryview(second).cast("f").tolist() == [0, 1, 0, 0]
