"""A model that is down or answers other vectors is told apart from ours, whatever makes them."""

import pytest

from chalicelib.errors import EmbedderUnavailableError, EmbeddingDimensionError
from tests.contracts.embedders.conftest import Subject
from tests.contracts.embedders.endpoints import KEY

SECRET_TEXT = "canary: the safe is behind the picture"


def test_a_model_that_is_down_is_unavailable_and_its_error_tells_no_text_and_no_key(
    breakable: Subject,
) -> None:
    assert breakable.fail is not None
    breakable.fail()
    for call in (
        lambda: breakable.embedder.passages([SECRET_TEXT]),
        lambda: breakable.embedder.query(SECRET_TEXT),
    ):
        with pytest.raises(EmbedderUnavailableError) as raised:
            call()
        assert SECRET_TEXT not in str(raised.value)
        assert KEY not in f"{raised.value!r} {raised.value.__cause__!r}"


def test_one_failing_request_fails_the_whole_call(breakable: Subject) -> None:
    assert breakable.fail is not None
    breakable.fail()
    with pytest.raises(EmbedderUnavailableError):
        breakable.embedder.passages([f"text {number}" for number in range(200)])


def test_vectors_of_another_length_are_refused(breakable: Subject) -> None:
    assert breakable.change_dimension is not None
    breakable.change_dimension()
    with pytest.raises(EmbeddingDimensionError):
        breakable.embedder.passages(["a"])
    with pytest.raises(EmbeddingDimensionError):
        breakable.embedder.query("a")


def test_a_query_that_failed_is_asked_again(breakable: Subject) -> None:
    assert breakable.fail is not None
    breakable.embedder.query("first")
    breakable.fail()
    with pytest.raises(EmbedderUnavailableError):
        breakable.embedder.query("second")
    with pytest.raises(EmbedderUnavailableError):
        breakable.embedder.query("second")
