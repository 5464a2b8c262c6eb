"""Writing in bundles: what is done, what comes back to be written again, what is a fault."""

from array import array
from datetime import UTC, datetime

import pytest

from chalicelib.domain.memory import Memory
from chalicelib.domain.projection import EmbeddedText, IndexEntry
from chalicelib.domain.scope import Actor, Space
from chalicelib.errors import IndexMissingError, IndexUnavailableError
from chalicelib.search import text
from chalicelib.search.opensearch import bulk
from chalicelib.search.opensearch.bulk import Writer
from chalicelib.search.opensearch.layout import Generation, Names
from tests.fakes.opensearch_engine import FakeEngine

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANN = Space.personal("ann")
MODEL = "m-2-00000000"
LEGS = ("meaning", "context_meaning")
NAMES = Names("pal")
WORDS = Generation(NAMES, "g" + "0" * 16, "", "pal-words-0", {})
LIVE = Generation(NAMES, "g" + "0" * 16, "", "pal-words-0", {MODEL: "pal-vectors-0"})
BUILDING = Generation(NAMES, "g" + "1" * 16, "-building", "pal-words-1", {MODEL: "pal-vectors-1"})
DONE, CONFLICT = (201, None), (409, "version_conflict_engine_exception")
MISSING = (404, "index_not_found_exception")


def _entry(number=7, revision=3, words="a violin", *, embedded=False):
    memory = Memory(
        space=ANN.key, number=number, text=words, kind="user", version=1, revision=revision,
        recorded_at=NOW, updated_at=NOW, recorded_by=Actor(kind="person", id="ann"),
    )  # fmt: skip
    vectors = {MODEL: EmbeddedText(array("f", (1, 0)).tobytes())} if embedded else {}
    return IndexEntry(ANN, number, revision, memory, vectors)


def _answer(*results):
    items = [
        {"index": {"status": status} | ({"error": {"type": kind, "reason": "secret"}} if kind else {})}
        for status, kind in results
    ]
    return 200, {"items": items}


def _writer(*answers):
    engine = FakeEngine(*answers)
    return engine, Writer(engine.client(), text, pause=engine.pauses.append)


def test_an_entry_is_written_to_words_and_vectors_of_both_generations_with_its_version():
    engine, writer = _writer(_answer(*[DONE] * 6))
    assert writer.write([LIVE, BUILDING], [_entry(embedded=True)]) == []
    headers = [line["index"] for line in engine.lines()[::2]]
    assert [(header["_index"], header["_id"], header["version"]) for header in headers] == [
        (f"{kind}{suffix}", f"account#ann#7{leg}", version)
        for suffix in ("", "-building")
        for kind, leg, version in (
            ("pal-words", "", 3),
            (f"pal-vectors-{MODEL}", "#meaning", 10),
            (f"pal-vectors-{MODEL}", "#context_meaning", 9),
        )
    ]
    assert all(header["routing"] == "account#ann" for header in headers)
    assert all(header["version_type"] == "external" for header in headers)


def test_a_model_is_written_only_where_it_has_an_index():
    engine, writer = _writer(_answer(*[DONE] * 4))
    writer.write([WORDS, LIVE], [_entry(embedded=True)])
    assert [line["index"]["_id"] for line in engine.lines()[::2]] == [
        "account#ann#7", "account#ann#7", "account#ann#7#meaning", "account#ann#7#context_meaning",
    ]  # fmt: skip


def test_no_index_can_be_made_by_writing():
    engine, writer = _writer(_answer(DONE, DONE, DONE))
    writer.write([LIVE], [_entry()])
    assert all(line["index"]["require_alias"] is True for line in engine.lines()[::2])


def test_without_a_vector_the_models_index_gets_a_tombstone():
    engine, writer = _writer(_answer(DONE, DONE, DONE))
    writer.write([LIVE], [_entry()])
    for leg, (header, document) in zip(LEGS, (engine.lines()[2:4], engine.lines()[4:6]), strict=True):
        assert header["index"]["version"] == 9
        assert document == {"space": f"account#ann#{leg}", "number": 7, "tombstone": True}


def test_a_version_that_is_there_already_is_done():
    _, writer = _writer(_answer(CONFLICT, CONFLICT, CONFLICT))
    assert writer.write([LIVE], [_entry()]) == []


@pytest.mark.parametrize(
    "refusal",
    [
        (429, "es_rejected_execution_exception"),
        (429, "circuit_breaking_exception"),
        (503, "unavailable_shards_exception"),
        (400, "mapper_parsing_exception"),
        (403, "cluster_block_exception"),
        (500, "any_exception"),
    ],
)
def test_of_a_partial_bundle_what_was_refused_comes_back(refusal, caplog):
    entries = [_entry(1), _entry(2), _entry(3)]
    _, writer = _writer(_answer(DONE, DONE, DONE, refusal, DONE, DONE, refusal, refusal, refusal))
    assert writer.write([LIVE], entries) == entries[1:]
    assert "2 of 3" in caplog.text
    assert refusal[1] in caplog.text
    assert "secret" not in caplog.text


def test_an_entry_of_which_only_the_vectors_were_refused_comes_back():
    entries = [_entry(1), _entry(2, embedded=True)]
    _, writer = _writer(_answer(DONE, DONE, DONE, DONE, (400, "mapper_parsing_exception"), DONE))
    assert writer.write([LIVE], entries) == entries[1:]


def test_words_that_are_gone_are_a_missing_index():
    _, writer = _writer(_answer(MISSING, MISSING, MISSING))
    with pytest.raises(IndexMissingError):
        writer.write([LIVE], [_entry()])


def test_a_rebuild_that_ended_meanwhile_gives_the_entries_back():
    """The new index may be in use by now without them."""
    _, writer = _writer(_answer(*[DONE] * 3, *[MISSING] * 3))
    entries = [_entry()]
    assert writer.write([LIVE, BUILDING], entries) == entries


@pytest.mark.parametrize(
    "answer",
    [(200, {}), (200, {"items": []}), (200, {"items": {}}), (200, {"message": "hello"}), (500, "<html>")],
)
def test_an_answer_that_is_none_is_unavailability(answer):
    _, writer = _writer(answer)
    with pytest.raises(IndexUnavailableError):
        writer.write([LIVE], [_entry()])


def test_nothing_to_write_is_nothing_to_send():
    engine, writer = _writer(_answer())
    assert writer.write([LIVE], []) == []
    writer.overwrite([LIVE], [])
    assert engine.asked == []


def test_a_large_bundle_goes_in_parts_and_what_comes_back_is_told_right(monkeypatch):
    """Small engines refuse more than 10 MB; an entry that is larger than a part goes alone."""
    monkeypatch.setattr(bulk, "REQUEST_BYTES", 1_500)

    def all_but_the_third(body):
        headers = [line for line in body.split(b"\n") if line.startswith(b'{"index"')]
        return _answer(*((500, "x") if b'#3"' in header else DONE for header in headers))

    engine, writer = _writer(all_but_the_third)
    long = _entry(2, words=" ".join(f"w{n}" for n in range(900)))
    entries = [_entry(1), long, _entry(3), _entry(4), _entry(5), _entry(6)]
    assert writer.write([WORDS], entries) == [entries[2]]
    sizes = [len(body) for _, _, body in engine.asked]
    assert sum(size > 1_500 for size in sizes) == 1
    assert 4 <= len(sizes) < 6
    assert sum(len(engine.lines(call)) for call in range(len(sizes))) == 12


class TestVectorsOfAnotherRevisionThanTheWords:
    """A model's index may be newer than an edit, and so lack the tombstone that would refuse an older vector."""

    @pytest.mark.parametrize(
        ("words", "version"),
        [
            ({"_version": 5, "found": True}, 15),
            ({"_version": 5, "found": True, "fields": {"tombstone": [True]}}, 17),
            ({"_version": 3, "found": True, "fields": {"tombstone": [True]}}, 11),
        ],
        ids=["edited", "edited and erased", "erased"],
    )
    def test_are_covered_by_a_tombstone(self, words, version):
        engine, writer = _writer(_answer(CONFLICT, DONE, CONFLICT), (200, {"docs": [words]}), _answer(DONE))
        assert writer.write([LIVE], [_entry(revision=3, embedded=True)]) == []
        assert engine.asked[1][1] == "/_mget"
        assert engine.lines(1)[0] == {
            "docs": [{"_index": "pal-words", "_id": "account#ann#7", "routing": "account#ann"}]
        }
        header, document = engine.lines(2)
        assert header["index"]["_id"] == "account#ann#7#meaning"
        assert header["index"]["version"] == version
        assert document == {"space": "account#ann#meaning", "number": 7, "tombstone": True}

    @pytest.mark.parametrize(
        "words", [{"_version": 3, "found": True, "fields": {"tombstone": [False]}}, {"found": False}, {}]
    )
    def test_stay_when_the_words_are_of_the_same_revision(self, words):
        engine, writer = _writer(_answer(CONFLICT, DONE, DONE), (200, {"docs": [words, words]}))
        writer.write([LIVE], [_entry(revision=3, embedded=True)])
        assert len(engine.asked) == 2

    def test_a_tombstone_that_cannot_be_written_is_told(self):
        answers = (_answer(CONFLICT, DONE, CONFLICT), (200, {"docs": [{"_version": 5}]}))
        _, writer = _writer(*answers, _answer((503, "x")))
        with pytest.raises(IndexUnavailableError):
            writer.write([LIVE], [_entry(embedded=True)])
        _, writer = _writer(*answers, _answer(CONFLICT))
        assert writer.write([LIVE], [_entry(embedded=True)]) == []


class TestWritingOver:
    def test_an_equal_version_is_written_over_at_once(self):
        engine, writer = _writer(_answer(DONE))
        writer.overwrite([WORDS], [_entry()])
        assert [line["index"]["version_type"] for line in engine.lines()[::2]] == ["external_gte"]
        assert len(engine.asked) == 1

    def test_a_higher_version_is_deleted_and_written_once_it_is_forgotten(self):
        engine, writer = _writer(
            _answer(CONFLICT, DONE), _answer(DONE), _answer(CONFLICT), (200, {"_shards": {}}), _answer(DONE)
        )
        writer.overwrite([WORDS], [_entry(1), _entry(2)])
        assert engine.lines(1)[0]["delete"]["_id"] == "account#ann#1"
        assert engine.asked[3][1] == "/pal-words/_refresh"
        assert len(engine.lines(4)) == 2
        assert engine.pauses == [bulk.FORGETTING_S]

    def test_what_is_never_forgotten_is_told(self):
        engine, writer = _writer(_answer(CONFLICT))
        engine.answers = [_answer(CONFLICT), _answer(DONE)] + [
            _answer(CONFLICT),
            (200, {}),
        ] * bulk.FORGETTING_TRIES
        with pytest.raises(IndexUnavailableError, match="forgotten"):
            writer.overwrite([WORDS], [_entry()])

    def test_any_other_refusal_is_told(self):
        for refusal, error in ((MISSING, IndexMissingError), ((429, "x"), IndexUnavailableError)):
            _, writer = _writer(_answer(refusal))
            with pytest.raises(error):
                writer.overwrite([WORDS], [_entry()])
