"""What the services may rely on, whatever makes the vectors."""

import math
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.ports import Embedder

HARD_TEXTS = {
    "emoji": "🎉🚀👩‍👩‍👧‍👦",
    "white space": " \n\t ",
    "one very long word": "ž" * 20_000,
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy. " * 300,
    "Russian": "Анна переехала в Брно и строит мосты. " * 300,
    "Chinese": "安娜去年春天搬到布尔诺，她正在建设河上的桥梁。" * 300,
    "digits": "8301927465" * 1_000,
    "combining marks": "a\u0301\u0302\u0303" * 2_000,
    "quotes and braces": '{"a": "\\"}\r\n' * 100,
    "nul": "before\x00after",
    "lone surrogate": "half \ud83d of an emoji",
    "empty": "",
}


def numbers(vector: bytes) -> list[float]:
    return list(struct.unpack(f"<{len(vector) // 4}f", vector))


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def assert_well_formed(vector: bytes, embedder: Embedder) -> None:
    assert len(vector) == 4 * embedder.model.dimension
    assert math.hypot(*numbers(vector)) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("text", HARD_TEXTS.values(), ids=HARD_TEXTS)
def test_any_text_that_can_be_stored_has_a_vector_of_unit_length(embedder: Embedder, text: str) -> None:
    (vector,) = embedder.passages([text])
    assert_well_formed(vector, embedder)
    assert_well_formed(embedder.query(text), embedder)


@pytest.mark.parametrize("count", [1, 2, 97, 300])
def test_vectors_come_in_the_order_of_their_texts(embedder: Embedder, count: int) -> None:
    texts = [f"fact {number}" for number in range(count)]
    vectors = embedder.passages(texts)
    assert len(vectors) == count
    for place in {0, 1, count // 2, count - 1} - {count}:
        assert vectors[place] == embedder.passages([texts[place]])[0]
    assert len(set(vectors)) == count


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    assert embedder.passages([]) == []


def test_the_same_text_has_the_same_vector_alone_and_among_others(embedder: Embedder) -> None:
    alone = embedder.passages(["Anna lives in Brno"])[0]
    among = embedder.passages(["Petr likes tea", "Anna lives in Brno", "x" * 3_000, "Anna lives in Brno"])
    assert among[1] == among[3] == alone
    assert embedder.query("where does Anna live?") == embedder.query("where does Anna live?")


def test_eight_threads_get_their_own_answers(embedder: Embedder) -> None:
    texts = [f"thread fact {number}" for number in range(48)]
    expected = embedder.passages(texts)
    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(lambda text: embedder.passages([text])[0], texts))
        queries = list(threads.map(embedder.query, texts))
    assert vectors == expected
    assert queries == [embedder.query(text) for text in texts]


def test_texts_that_say_the_same_are_nearer_than_others(embedder: Embedder) -> None:
    query = numbers(embedder.query("Anna bridge"))
    near, far = embedder.passages(["Anna builds a bridge", "pineapple juice recipes"])
    assert cosine(query, numbers(near)) > cosine(query, numbers(far))


def test_the_model_says_which_vectors_belong_together(embedder: Embedder) -> None:
    model = embedder.model
    assert f"-{model.dimension}-" in model.fingerprint
    assert -1 < model.relevance < model.duplicate < 1
