"""What the models of Bedrock are asked, and what their refusals mean."""

import io
import json
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError
from botocore.response import StreamingBody
from botocore.stub import Stubber

from chalicelib.errors import EmbedderUnavailableError
from chalicelib.providers.bedrock import BedrockEmbedder
from chalicelib.providers.known_models import described
from tests.contracts.embedders.endpoints import Endpoint, Reply, serving

TITAN = "amazon.titan-embed-text-v2:0"
COHERE_3 = "cohere.embed-multilingual-v3"
COHERE_4 = "eu.cohere.embed-v4:0"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving() as endpoint:
        endpoint.dimension = 1024
        yield endpoint


def embedder(
    model: str, endpoint: Endpoint | None = None, dimension: int | None = None, **how: Any
) -> BedrockEmbedder:
    known = described("bedrock", model, dimension)
    return BedrockEmbedder(known, "eu-central-1", endpoint=endpoint.url if endpoint else None, **how)


def answered(value: object) -> dict[str, Any]:
    raw = json.dumps(value).encode()
    return {"body": StreamingBody(io.BytesIO(raw), len(raw)), "contentType": "application/json"}


def test_titan_is_asked_for_one_text_at_a_time_in_the_stated_dimension() -> None:
    titan = embedder(TITAN, dimension=256)
    row = [0.5] * 256
    with Stubber(titan._client) as stubber:
        body = json.dumps({"inputText": "Anna", "dimensions": 256, "normalize": True}).encode()
        expected = {
            "modelId": TITAN,
            "body": body,
            "contentType": "application/json",
            "accept": "application/json",
        }
        stubber.add_response("invoke_model", answered({"embedding": row, "inputTextTokenCount": 1}), expected)
        (vector,) = titan.passages(["Anna"])
    assert struct.unpack("<256f", vector) == pytest.approx([1 / 16] * 256)


def test_cohere_tells_queries_from_passages(endpoint: Endpoint) -> None:
    third = embedder(COHERE_3, endpoint)
    third.passages(["Anna lives in Brno", "Petr"])
    third.query("where?")
    passages, query = (received.body for received in endpoint.received)
    assert passages == {
        "texts": ["Anna lives in Brno", "Petr"],
        "input_type": "search_document",
        "embedding_types": ["float"],
        "truncate": "END",
    }
    assert (query["input_type"], query["texts"]) == ("search_query", ["where?"])


def test_the_fourth_cohere_is_asked_through_its_profile_in_the_stated_dimension(endpoint: Endpoint) -> None:
    embedder(COHERE_4, endpoint, 512).passages(["Anna"])
    (received,) = endpoint.received
    assert received.path == "/model/eu.cohere.embed-v4%3A0/invoke"
    assert received.body["output_dimension"] == 512
    assert "truncate" not in received.body


@pytest.mark.parametrize(
    ("model", "text", "size"),
    [
        (COHERE_3, "e" * 5_000, 2_048),
        (COHERE_3, "👩" * 5_000, 1_024),
        (COHERE_4, "ž" * 50_000, 4_000),
    ],
)
def test_a_text_is_cut_to_what_the_model_takes(endpoint: Endpoint, model: str, text: str, size: int) -> None:
    endpoint.dimension = 1024 if model == COHERE_3 else 1536
    embedder(model, endpoint).passages([text])
    assert len(endpoint.received[0].body["texts"][0]) == size


def test_cohere_gets_at_most_96_texts_at_a_time(endpoint: Endpoint) -> None:
    assert len(embedder(COHERE_3, endpoint).passages([f"text {number}" for number in range(200)])) == 200
    assert sorted(len(received.body["texts"]) for received in endpoint.received) == [8, 96, 96]


def test_the_same_query_is_asked_once(endpoint: Endpoint) -> None:
    titan = embedder(TITAN, endpoint)
    assert titan.query("where?") == titan.query("where?")
    assert len(endpoint.received) == 1


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("ThrottlingException", "quota"),
        ("AccessDeniedException", "no access to this model"),
        ("ResourceNotFoundException", "no such model in this region"),
        ("ValidationException", "inference profile"),
        ("ModelErrorException", "refuses the request"),
    ],
)
def test_a_refusal_is_told_with_what_to_do_and_without_the_text(code: str, advice: str) -> None:
    titan = embedder(TITAN)
    with Stubber(titan._client) as stubber:
        stubber.add_client_error("invoke_model", code, "your text 'canary' is wrong", 400)
        with pytest.raises(EmbedderUnavailableError, match=f"{code}.*{advice}|{advice}.*{code}") as raised:
            titan.passages(["canary"])
    assert "canary" not in f"{raised.value!r} {raised.value.__cause__!r}"


def test_throttling_is_tried_again_within_bounds(endpoint: Endpoint) -> None:
    throttled = Reply(429, b'{"message": "slow down"}', {"x-amzn-ErrorType": "ThrottlingException"})
    endpoint.replies.append(throttled)
    assert len(embedder(TITAN, endpoint, attempts=2).passages(["a"])) == 1
    assert len(endpoint.received) == 2
    endpoint.always = throttled
    with pytest.raises(EmbedderUnavailableError, match="ThrottlingException"):
        embedder(TITAN, endpoint, attempts=1).passages(["a"])
    assert len(endpoint.received) == 3


def test_one_of_many_requests_that_fails_fails_the_call(endpoint: Endpoint) -> None:
    endpoint.replies.append(Reply(400, b"{}", {"x-amzn-ErrorType": "ValidationException"}))
    with pytest.raises(EmbedderUnavailableError, match="ValidationException"):
        embedder(TITAN, endpoint).passages([f"text {number}" for number in range(20)])


def test_silence_ends_a_try_after_its_time(endpoint: Endpoint) -> None:
    endpoint.always = Reply(hold=threading.Event())
    with pytest.raises(EmbedderUnavailableError, match="cannot be reached"):
        embedder(TITAN, endpoint, timeout=0.1, attempts=1).passages(["a"])


def test_an_endpoint_where_nobody_listens_is_unavailable() -> None:
    known = described("bedrock", TITAN)
    with pytest.raises(EmbedderUnavailableError, match="EndpointConnectionError"):
        BedrockEmbedder(known, "eu-central-1", attempts=1, endpoint="http://127.0.0.1:1").query("a")


def test_a_machine_without_an_aws_account_is_told_so(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    titan = embedder(TITAN, endpoint)

    def no_credentials(**_: Any) -> None:
        raise NoCredentialsError

    monkeypatch.setattr(titan._client, "invoke_model", no_credentials)
    with pytest.raises(EmbedderUnavailableError, match="NoCredentialsError"):
        titan.passages(["a"])


ROW = [1.0] * 1024
NONSENSE: dict[str, tuple[str, object]] = {
    "a list": (TITAN, [ROW]),
    "no vector": (TITAN, {}),
    "too few": (COHERE_3, {"embeddings": [ROW]}),
    "another kind": (COHERE_3, {"embeddings": {"int8": [ROW, ROW]}}),
    "nothing": (COHERE_3, {}),
}


@pytest.mark.parametrize(("model", "answer"), NONSENSE.values(), ids=NONSENSE)
def test_an_answer_that_is_not_one_vector_for_each_text_is_refused(
    endpoint: Endpoint, model: str, answer: object
) -> None:
    endpoint.always = Reply(body=json.dumps(answer).encode())
    with pytest.raises(EmbedderUnavailableError):
        embedder(model, endpoint).passages(["a", "b"])


def test_an_answer_that_is_not_json_is_refused(endpoint: Endpoint) -> None:
    endpoint.always = Reply(body=b"<html></html>")
    with pytest.raises(EmbedderUnavailableError, match="not JSON"):
        embedder(TITAN, endpoint).passages(["a"])


def test_a_model_that_is_not_known_is_refused_at_once() -> None:
    with pytest.raises(EmbedderUnavailableError, match="may be one of titan-embed-text-v2"):
        embedder("amazon.titan-embed-image-v1", dimension=1024)
