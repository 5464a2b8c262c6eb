"""A hit tells where its memory was said, whichever leg found it: sources rank memories on every adapter alike."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.memory import Source
from chalicelib.domain.projection import NOT_SAID, EmbeddedText, Said
from tests.contracts.search.memories import ALICE, NOW, SMALL, entry, memory, query, scope_of, unit

SCOPE = scope_of(ALICE)
VECTOR = unit([1] * 8)
LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
SOURCES = {
    "none": (None, None, NOT_SAID),
    "only a context": (None, "the lantern?", NOT_SAID._replace(has_context=True)),
    "only a conversation": (Source(conversation="talk-1"), None, Said("talk-1")),
    "the first place": (Source(conversation="talk-1", position=0), None, Said("talk-1", 0)),
    "all of it": (
        Source(
            conversation="Разговор №1",
            position=10**12,
            author="Анна 🎻",
            said_at=NOW.replace(microsecond=123_000),
        ),
        "the lantern?",
        Said("Разговор №1", 10**12, "Анна 🎻", NOW.replace(microsecond=123_000), has_context=True),
    ),
    "before 1970": (Source(conversation="talk-1", said_at=LONG_AGO), None, Said("talk-1", said_at=LONG_AGO)),
    "an empty context": (None, "", NOT_SAID),
}


@pytest.mark.parametrize("shape", SOURCES)
def test_a_hit_of_any_leg_tells_where_it_was_said(index, put, shape):
    source, context, said = SOURCES[shape]
    put(entry(memory(1, source=source, context=context), **{SMALL: EmbeddedText(VECTOR, VECTOR)}))
    for leg in ("words", "meaning", "context_meaning"):
        asked = query("lantern", model=SMALL, vector=VECTOR, legs=frozenset({leg}))
        assert [(hit.number, hit.said) for hit in index.search(SCOPE, [asked])[0]] == [(1, said)]


def test_an_edited_source_is_told_as_it_is_now(index, put):
    put(entry(memory(1, source=Source(conversation="talk-1", author="Ann"))))
    put(entry(memory(1, revision=2, source=Source(conversation="talk-2", author="Eve"))))
    (hit,) = index.search(SCOPE, [query("lantern")])[0]
    assert hit.said == Said("talk-2", None, "Eve")
    put(entry(memory(1, revision=3)))
    (hit,) = index.search(SCOPE, [query("lantern")])[0]
    assert hit.said == NOT_SAID
