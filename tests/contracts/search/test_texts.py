"""Texts of any shape are indexed, found and harm no other memory of their batch."""

import pytest

from chalicelib.domain.memory import CONTEXT_MAX_CHARS, TEXT_MAX_BYTES, Source
from chalicelib.domain.projection import EmbeddedText
from tests.contracts.search.memories import ALICE, SMALL, entry, memory, query, scope_of, unit

SCOPE = scope_of(ALICE)
SHAPES = {
    "emoji": "🎻🏔️👩‍👩‍👧‍👦 🇨🇿",
    "right to left": "הכינור נמצא בנמל עם פנס",
    "arabic": "الكمان في الميناء مع فانوس",
    "chinese": "小提琴在港口的灯笼旁边",
    "japanese": "バイオリンは港のランタンのそばにあります",
    "korean": "바이올린은 항구의 등불 옆에 있다",
    "thai": "ไวโอลินอยู่ใกล้โคมไฟที่ท่าเรือ",
    "combining marks": "z̷̢̛a̴l̶g̵o̷ " + "e\u0301" * 200,
    "control characters": "a\tb\nc\x01d\x7f\u202e\u200b\ufeff",
    "beyond the basic plane": "𝔳𝔦𝔬𝔩𝔦𝔫 𠜎𠜱𠝹 \U0010ffff",
    "one long word": "x" * 40_000,
    "one long word of wide letters": "щ" * 40_000,
    "only signs": "!!! ??? ~~~",
    "like a query": '{"match_all": {}} OR 1=1; DROP TABLE memory; -- \'"\\%_*',
    "the longest there is": ("violin harbour lantern " * (TEXT_MAX_BYTES // 23))[:TEXT_MAX_BYTES],
    "the longest of different words": " ".join(f"w{n}" for n in range(TEXT_MAX_BYTES // 7)),
    "the longest without spaces": "小提琴在港口" * (TEXT_MAX_BYTES // 18),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_any_text_is_taken_and_leaves_the_others_found(index, put, shape):
    text = SHAPES[shape]
    vector = EmbeddedText(unit([1] * 8))
    put(
        entry(memory(1, "a glacier")),
        entry(memory(2, text, context=text[-CONTEXT_MAX_CHARS:]), **{SMALL: vector}),
        entry(memory(3, "a glacier")),
    )
    answers = index.search(SCOPE, [query("glacier"), query(text), query(model=SMALL, vector=vector.text)])
    assert {hit.number for hit in answers[0]} == {1, 3}
    assert [hit.number for hit in answers[2]] == [2]
    assert [state.number for state in index.indexed(SCOPE, after=0, limit=9)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("shape", "asked"),
    [
        ("right to left", "כינור הכינור"),
        ("arabic", "الكمان"),
        ("chinese", "小提琴"),
        ("japanese", "ランタン"),
        ("korean", "항구"),
        ("thai", "โคมไฟ"),
        ("one long word", "x" * 40_000),
        ("one long word of wide letters", "щ" * 40_000),
        ("the longest there is", "violin"),
        ("the longest of different words", "w17000"),
        ("the longest without spaces", "港口"),
    ],
)
def test_it_is_found_by_its_own_words(index, put, shape, asked):
    put(entry(memory(1, SHAPES[shape])), entry(memory(2, "a glacier")))
    assert [hit.number for hit in index.search(SCOPE, [query(asked)])[0]] == [1]


def test_a_query_may_be_as_long_as_a_text(index, put):
    put(entry(memory(1, "a glacier")))
    long = SHAPES["the longest of different words"][:100_000] + " glacier"
    assert [hit.number for hit in index.search(SCOPE, [query(long)])[0]] == [1]


def test_names_of_any_shape_are_filtered_exactly(index, put):
    names = ["сервер", "Server", "server", " 🎻 ", "a\\b", "x" * 200, "null", "a*"]
    put(
        *(entry(memory(n, subject=name, source=Source(conversation=name))) for n, name in enumerate(names, 1))
    )
    for number, name in enumerate(names, 1):
        for condition in ({"subject": name}, {"source": name}):
            wanted = query().filter.model_copy(update=condition)
            assert [hit.number for hit in index.search(SCOPE, [query("lantern", filter=wanted)])[0]] == [
                number
            ]
