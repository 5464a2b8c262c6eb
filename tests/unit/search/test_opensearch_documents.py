"""What is kept of a memory: stems and conditions, never its text."""

import json
import math
from array import array
from datetime import UTC, datetime

import pytest

from chalicelib.domain.embedding import EmbeddingModel
from chalicelib.domain.memory import Memory, Source, State
from chalicelib.domain.projection import NOT_SAID, EmbeddedText, IndexEntry, Said, content_hash
from chalicelib.domain.scope import Actor, Space
from chalicelib.search import text
from chalicelib.search.opensearch import documents

MODEL = EmbeddingModel(provider="scripted", name="m", dimension=2).fingerprint
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANN = Space.personal("ann")
LEGS = ("meaning", "context_meaning")


def _entry(space=ANN, vectors=None, **fields):
    given = {"text": "Two violins!", "kind": "user", "version": 1, "revision": 3, "number": 7} | fields
    made = Memory(
        space=space.key, recorded_at=NOW, updated_at=NOW, recorded_by=Actor(kind="person", id="ann"), **given
    )
    return IndexEntry(space, made.number, made.revision, made, vectors or {})


def _vector(*values):
    return array("f", values).tobytes()


def _words(entry):
    return json.loads(documents.words_document(entry, text))


def test_words_are_kept_as_stems_with_what_lists_need():
    source = Source(conversation="talk", position=4, author="Ann", said_at=NOW)
    kept = _entry(
        key="pet", context="Where?", importance=4, category="c", subject="s", source=source, use_count=2
    )
    assert _words(kept) == {
        "space": "account#ann",
        "number": 7,
        "tombstone": False,
        "state": "active",
        "category": "c",
        "kind": "user",
        "importance": 4,
        "subject": "s",
        "source": "talk",
        "said": '["talk",4,"Ann",1796040000000,1]',
        "recorded_at": 1796040000000,
        "updated_at": 1796040000000,
        "used_since": 1796040000000,
        "use_count": 2,
        "content_hash": content_hash(kept.memory),
        "words": " ".join(text.stems("Ann: pet: Two violins!")),
    }


def test_what_a_memory_does_not_have_is_not_written():
    assert not {"category", "importance", "subject", "source", "said", "context_words"} & set(
        _words(_entry())
    )


@pytest.mark.parametrize("erased", [True, False])
def test_of_an_erased_memory_only_its_number_is_kept(erased):
    gone = _entry(state=State.ERASED) if erased else IndexEntry(ANN, 7, 3, None)
    mark = {"space": "account#ann", "number": 7, "tombstone": True}
    assert _words(gone) == mark
    assert json.loads(documents.vector_document(gone, MODEL, "meaning")) == {
        **mark,
        "space": "account#ann#meaning",
    }


def test_a_vector_that_is_not_there_is_a_tombstone():
    other = _entry(vectors={"other-2-00000000": EmbeddedText(_vector(1, 0))})
    text_only = _entry(vectors={MODEL: EmbeddedText(_vector(1, 0))})
    for kept, leg in ((other, "meaning"), (other, "context_meaning"), (text_only, "context_meaning")):
        assert json.loads(documents.vector_document(kept, MODEL, leg)) == {
            "space": f"account#ann#{leg}",
            "number": 7,
            "tombstone": True,
        }


def test_vectors_are_kept_apart_with_what_searches_filter_by():
    kept = _entry(vectors={MODEL: EmbeddedText(_vector(0.6, 0.8), _vector(1, 0))}, importance=4)
    of_text, of_context = (json.loads(documents.vector_document(kept, MODEL, leg)) for leg in LEGS)
    assert of_text.pop("meaning") == pytest.approx([0.6, 0.8], abs=1e-7)
    assert of_context.pop("context_meaning") == [1, 0]
    assert (of_text.pop("space"), of_context.pop("space")) == tuple(f"account#ann#{leg}" for leg in LEGS)
    assert of_text == of_context
    assert (of_text["importance"], of_text["state"], of_text["tombstone"]) == (4, "active", False)
    assert "words" not in of_text


def test_a_vector_of_another_length_is_brought_to_unit_length():
    assert json.loads(documents.vector_json(_vector(30, 40))) == pytest.approx([0.6, 0.8])
    assert json.loads(documents.vector_json(_vector(0, 0))) == [0, 0]
    assert json.loads(documents.vector_json(_vector(1e-9, -1))) == pytest.approx([0, -1], abs=1e-7)


def test_a_vector_loses_nothing_that_float32_has():
    values = [math.sin(n) for n in range(384)]
    length = math.hypot(*values)
    unit = array("f", (value / length for value in values))
    again = array("f", json.loads(documents.vector_json(unit.tobytes())))
    assert max(abs(a - b) for a, b in zip(unit, again, strict=True)) <= 1e-8


def test_a_vector_is_read_alike_on_a_machine_of_the_other_byte_order(monkeypatch):
    monkeypatch.setattr(
        documents.sys, "byteorder", "big" if documents.sys.byteorder == "little" else "little"
    )
    swapped = array("f", (0.6, 0.8))
    swapped.byteswap()
    assert json.loads(documents.vector_json(swapped.tobytes())) == pytest.approx([0.6, 0.8], abs=1e-7)


def test_a_vector_may_only_come_within_a_revision_and_never_go():
    """Absent is lower than there, erased is highest, and the next revision is above all."""
    absent, there = _entry(), _entry(vectors={MODEL: EmbeddedText(_vector(1, 0))})
    erased, later = IndexEntry(ANN, 7, 3, None), _entry(revision=4)
    versions = [documents.vector_version(entry, MODEL, "meaning") for entry in (absent, there, erased, later)]
    assert versions == sorted(set(versions))
    assert [documents.vector_revision(version) for version in versions] == [3, 3, 3, 4]
    assert [documents.absent_version(3), documents.erased_version(3)] == [versions[0], versions[2]]
    assert documents.vector_version(there, MODEL, "context_meaning") == versions[0]


@pytest.mark.parametrize(
    ("source", "context", "said"),
    [
        (None, None, NOT_SAID),
        (None, "x", Said(has_context=True)),
        (
            Source(conversation='a"b', position=0, said_at=NOW),
            "x",
            Said('a"b', 0, None, NOW, has_context=True),
        ),
        (Source(conversation="a", author="Ann"), None, Said("a", None, "Ann")),
    ],
)
def test_what_was_said_comes_back(source, context, said):
    kept = _words(_entry(source=source, context=context))
    assert documents.said_of({"fields": {"said": [kept["said"]]} if "said" in kept else {}}) == said


def test_ids_never_meet():
    """CASES: mem0 PR#6892: a key collided when an id held the delimiter."""
    longest = Space.community("p" * 128, "c" * 128)
    spaces = [ANN, Space.pool("ann"), Space.community("ann", "1"), Space.personal("ann-1"), longest]
    entries = [_entry(space, number=number) for space in spaces for number in (1, 11, 10**15)]
    ids = {documents.words_id(entry) for entry in entries}
    ids |= {documents.vector_id(entry, leg) for entry in entries for leg in LEGS}
    assert len(ids) == 45
    assert max(len(identity.encode()) for identity in ids) <= 512


def test_stems_are_cut_to_what_the_tokenizer_keeps_whole():
    assert documents.cut(["x" * 40_000, "щ" * 100, "a"]) == ["x" * 100, "щ" * 100, "a"]
    assert all(len(stem.encode("utf-16-le")) <= 510 for stem in documents.cut(["𝔳" * 40_000]))
