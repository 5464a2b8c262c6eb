"""The embedder of tests does what other tests rely on."""

import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.errors import EmbedderUnavailableError
from chalicelib.providers.scripted import Asked, ScriptedEmbedder


def cosine(embedder: ScriptedEmbedder, a: str, b: str) -> float:
    first, second = (struct.unpack("<256f", embedder.query(text)) for text in (a, b))
    return sum(x * y for x, y in zip(first, second, strict=True))


def test_texts_are_as_near_as_the_words_they_share() -> None:
    embedder = ScriptedEmbedder()
    same = cosine(embedder, "Anna bydlí v Brně", "anna BYDLI v brne")
    near = cosine(embedder, "Anna lives in Brno", "Anna works in Brno")
    far = cosine(embedder, "Anna lives in Brno", "pineapple juice")
    assert same == pytest.approx(1, abs=1e-5)
    assert far < 0.3 < near < same
    assert cosine(embedder, "connected", "connection") == pytest.approx(1, abs=1e-5)


def test_words_can_be_given_a_common_meaning() -> None:
    embedder = ScriptedEmbedder(meanings={"automobile": "car", "vehicle": "car"})
    assert cosine(embedder, "automobile", "vehicle") == pytest.approx(1, abs=1e-5)
    assert cosine(ScriptedEmbedder(), "automobile", "vehicle") < 0.5


def test_it_fails_as_often_as_it_is_told() -> None:
    embedder = ScriptedEmbedder()
    embedder.fail(EmbedderUnavailableError("down"), times=2)
    for _ in range(2):
        with pytest.raises(EmbedderUnavailableError):
            embedder.query("a")
    embedder.query("a")
    embedder.fail(EmbedderUnavailableError("down"))
    with pytest.raises(EmbedderUnavailableError):
        embedder.passages(["a"])
    embedder.fail(EmbedderUnavailableError("down"), times=0)
    embedder.passages(["a", "b"])
    assert embedder.asked == [Asked("query", ("a",))] * 3 + [
        Asked("passages", ("a",)),
        Asked("passages", ("a", "b")),
    ]


def test_it_is_as_slow_as_it_is_told() -> None:
    embedder, until = ScriptedEmbedder(), threading.Event()
    embedder.hold(until)
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(embedder.query, "a")
        assert not slow.done()
        until.set()
        assert len(slow.result(30)) == 4 * 256


def test_a_text_can_have_any_vector_even_a_wrong_one() -> None:
    embedder = ScriptedEmbedder()
    nan = struct.pack("<2f", float("nan"), 1)
    embedder.answer("a", nan)
    assert embedder.passages(["a"]) == [nan]
    assert len(embedder.passages(["b"])[0]) == 4 * 256
