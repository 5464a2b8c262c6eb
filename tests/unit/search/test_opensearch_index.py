"""The port on an engine that misbehaves: never an empty result where there should be an error."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import State
from chalicelib.domain.projection import Hit, IndexEntry, IndexQuery, Said
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.domain.vitality import Retention
from chalicelib.errors import IndexMissingError, IndexUnavailableError
from chalicelib.search import text
from chalicelib.search.opensearch import hits
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.search.opensearch.mappings import FORMAT
from tests.fakes.opensearch_engine import FakeEngine, json_error

ANN = Space.personal("ann")
SCOPE = Scope(actor=Actor(kind="person", id="ann"), space=ANN, rights=frozenset(Right), place="http")
NOW = datetime(2026, 11, 30, tzinfo=UTC)
ABOUT = (200, {"version": {"distribution": "opensearch", "number": "3.6.0"}})
GENERATION = "g" + "0" * 16
OURS = {"mappings": {"_meta": {"palimpsest": FORMAT}}}
LAYOUT = (200, {f"pal-words-{GENERATION}": {"aliases": {"pal-words": {}}, **OURS}})
WHOLE: dict[str, object] = {"timed_out": False, "_shards": {"failed": 0}}
EMPTY = (200, {"status": 200, **WHOLE, "hits": {"hits": []}})
NO_INDEX = {"status": 404, "error": {"type": "index_not_found_exception", "reason": "no such index"}}


def _index(*answers):
    engine = FakeEngine(*answers)
    return engine, OpenSearchIndex(engine.client(), text, prefix="pal")


def _query(words="a violin", vector=None, legs=("words",)):
    return IndexQuery(words, MemoryFilter(), 10, "m-2-00000000" if vector else None, vector, frozenset(legs))


def _found(*numbers_and_scores):
    found = [
        {"_score": score, "fields": {"number": [number], "said": ['["talk",null,null,null,0]']}}
        for number, score in numbers_and_scores
    ]
    return {"status": 200, **WHOLE, "hits": {"hits": found}}


def _bundle(*parts):
    return 200, {"responses": list(parts)}


def _browse(index, **fields):
    asked = {"sort": "newest", "limit": 2, "now": NOW, "retention": Retention()} | fields
    return index.browse(SCOPE, MemoryFilter(), **asked)


def test_all_legs_of_all_queries_are_one_request():
    vector = bytes([0, 0, 128, 63] * 2)
    every = ("words", "context_words", "meaning", "context_meaning")
    standing = (200, {"pal-words-g0123456789abcdef": {"aliases": {"pal-words": {}}, **OURS}})
    engine, index = _index(_bundle(*[_found()] * 6), ABOUT, standing)
    assert index.search(SCOPE, [_query(vector=vector, legs=every), _query(legs=every)]) == [[], []]
    assert [url for _, url, _ in engine.asked][:2] == ["/_msearch", "/"]
    assert [line["index"] for line in engine.lines(0)[::2]] == [
        "pal-words", "pal-words", "pal-vectors-m-2-00000000", "pal-vectors-m-2-00000000", "pal-words", "pal-words",
    ]  # fmt: skip


def test_the_engines_version_is_asked_once():
    engine, index = _index(_bundle(_found((1, 2.0))), ABOUT, _bundle(_found((1, 2.0))))
    for _ in range(2):
        assert index.search(SCOPE, [_query()]) == [[Hit(1, Said("talk"), words=2.0)]]
    assert [url for _, url, _ in engine.asked] == ["/_msearch", "/", "/_msearch"]


@pytest.mark.parametrize(
    ("version", "factor"),
    [
        ({"distribution": "opensearch", "number": "3.0.0"}, 1),
        ({"distribution": "opensearch", "number": "10.1.0"}, 1),
        ({"distribution": "opensearch", "number": "2.19.3"}, 0.625),
        ({"number": "7.10.2"}, 0.625),
    ],
)
def test_scores_of_words_mean_the_same_on_every_version(version, factor):
    """OpenSearch 2 multiplies every score by k1 + 1."""
    assert hits.words_factor({"version": version}) == pytest.approx(factor)


@pytest.mark.parametrize("about", [{}, {"version": {}}, {"version": {"number": "x"}}, {"version": "3"}])
def test_an_engine_that_says_nothing_of_itself_is_asked_again(about):
    """A page of a proxy would else decide for good how all scores of words are read."""
    _, index = _index(_bundle(_found((1, 2.0))), (200, about), _bundle(_found((1, 2.0))), ABOUT)
    with pytest.raises(IndexUnavailableError):
        index.search(SCOPE, [_query()])
    assert index.search(SCOPE, [_query()]) == [[Hit(1, Said("talk"), words=2.0)]]


def test_scores_of_meaning_are_cosines_again():
    _, index = _index(_bundle(_found((1, 2.0), (2, 1.0), (3, 1.5), (4, 0.5), (5, 1 / 1.5))), ABOUT)
    found = index.search(SCOPE, [_query("", bytes([0, 0, 128, 63] * 2), ("meaning",))])[0]
    assert {hit.number: hit.meaning for hit in found} == pytest.approx({1: 1, 2: 0, 3: 0.5, 4: -1, 5: -0.5})


def test_the_parts_of_a_very_long_query_are_added_up_and_cut_to_depth():
    words = " ".join(f"word{n}" for n in range(1_000))
    parts = _found(*((n, 20.0 - n) for n in range(1, 10))), _found((9, 15.0), (50, 1.0), (51, 0.5))
    engine, index = _index(_bundle(*parts), ABOUT)
    found = index.search(SCOPE, [_query(words)])[0]
    assert len(engine.lines(0)) == 4
    assert len(found) == 10
    assert (found[0].number, found[0].words) == (9, 26.0)
    assert 51 not in {hit.number for hit in found}


@pytest.mark.parametrize(
    "part",
    [
        {"status": 500, "error": {"type": "search_phase_execution_exception", "reason": "secret"}},
        {"error": "something"},
        {"status": 200, **WHOLE, "timed_out": True, "hits": {"hits": []}},
        {"status": 200, **WHOLE, "_shards": {"failed": 1}, "hits": {"hits": []}},
    ],
    ids=["failed", "only an error", "timed out", "a part of the shards"],
)
def test_a_leg_that_failed_is_no_empty_result(part):
    """CASES: mem0 PR#6519."""
    _, index = _index(_bundle(_found((1, 1.0)), part), ABOUT, ABOUT)
    with pytest.raises(IndexUnavailableError) as raised:
        index.search(SCOPE, [_query(legs=("words", "context_words"))])
    assert "secret" not in str(raised.value)
    _, index = _index((200, part))
    for call in (lambda: _browse(index), lambda: index.counts(SCOPE)):
        with pytest.raises(IndexUnavailableError):
            call()


@pytest.mark.parametrize("status", [429, 503])
def test_a_leg_that_was_refused_for_a_moment_is_asked_again(status):
    """A rebuild deletes the old index while searches are on their way to it."""
    refused = {"status": status, "error": {"type": "search_phase_execution_exception"}}
    engine, index = _index(_bundle(refused), _bundle(_found((1, 1.0))), ABOUT)
    assert [hit.number for hit in index.search(SCOPE, [_query()])[0]] == [1]
    assert len(engine.pauses) == 1
    _, index = _index(_bundle(refused), _bundle(refused), _bundle(refused), ABOUT)
    with pytest.raises(IndexUnavailableError):
        index.search(SCOPE, [_query()])


@pytest.mark.parametrize("answer", [(200, {}), (200, {"responses": []}), (200, {"message": "hello"})])
def test_an_answer_that_is_none_is_unavailability(answer):
    _, index = _index(answer)
    with pytest.raises(IndexUnavailableError):
        index.search(SCOPE, [_query()])


def test_words_without_an_index_are_a_missing_index():
    _, index = _index(_bundle(NO_INDEX), ABOUT)
    with pytest.raises(IndexMissingError):
        index.search(SCOPE, [_query()])
    _, index = _index(json_error(404, "index_not_found_exception"))
    for call in (lambda: _browse(index), lambda: index.counts(SCOPE)):
        with pytest.raises(IndexMissingError):
            call()


def test_a_model_without_an_index_leaves_the_words():
    vector = bytes([0, 0, 128, 63] * 2)
    _, index = _index(_bundle(_found((1, 1.0)), NO_INDEX), ABOUT)
    assert [
        hit.number for hit in index.search(SCOPE, [_query(vector=vector, legs=("words", "meaning"))])[0]
    ] == [1]


def test_vectors_alone_tell_a_new_model_from_a_lost_index():
    """CASES: mem0 PR#6519: a lost index must not look like one without vectors."""
    query = _query("", bytes([0, 0, 128, 63] * 2), ("meaning",))
    _, index = _index(_bundle(NO_INDEX), ABOUT, LAYOUT)
    assert index.search(SCOPE, [query]) == [[]]
    _, index = _index(_bundle(NO_INDEX), ABOUT, (200, {}))
    with pytest.raises(IndexMissingError):
        index.search(SCOPE, [query])


def test_a_query_of_nothing_asks_nothing():
    engine, index = _index(EMPTY)
    assert index.search(SCOPE, [_query("the of and"), _query("?!")]) == [[], []]
    assert index.search(SCOPE, []) == []
    assert engine.asked == []


@pytest.mark.parametrize("down", [TimeoutError, None])
def test_an_engine_that_is_down_is_unavailable_in_every_call(down):
    """CASES: mem0 PR#6519."""
    from opensearchpy import exceptions as library

    failure = (
        library.ConnectionTimeout("TIMEOUT", "", None) if down else library.ConnectionError("N/A", "", None)
    )
    _, index = _index(failure)
    entry = IndexEntry(ANN, 1, 1, None)
    for call in (
        lambda: index.search(SCOPE, [_query()]),
        lambda: _browse(index),
        lambda: index.counts(SCOPE),
        lambda: index.indexed(SCOPE, after=0, limit=1),
        lambda: index.apply([entry]),
        lambda: index.repair([entry]),
        index.ready,
        index.rebuild_begin,
        lambda: index.rebuild_apply(GENERATION, [entry]),
        lambda: index.rebuild_finish(GENERATION),
        index.drop,
    ):
        with pytest.raises(IndexUnavailableError):
            call()


def test_counts_name_every_state_that_can_be_shown():
    buckets = [{"key": "active", "doc_count": 3}]
    _, index = _index((200, {**WHOLE, "aggregations": {"states": {"buckets": buckets}}}))
    assert index.counts(SCOPE) == {State.ACTIVE: 3, State.RETIRED: 0, State.TRASHED: 0}


def test_what_is_held_of_a_large_space_is_asked_for_in_pages(monkeypatch):
    monkeypatch.setattr("chalicelib.search.opensearch.index.STATES_MAX", 2)

    def page(*numbers):
        return 200, {**WHOLE, "hits": {"hits": [{"sort": [n], "_version": 1} for n in numbers]}}

    engine, index = _index(LAYOUT, (200, {}), page(1, 2), page(3, 4), page(5))
    states = index.indexed(SCOPE, after=0, limit=5)
    assert [state.number for state in states] == [1, 2, 3, 4, 5]
    sizes = [
        (line["size"], line["query"]["bool"]["filter"][1]) for line in (engine.lines(n)[0] for n in (2, 3, 4))
    ]
    assert sizes == [(2, {"range": {"number": {"gt": after}}}) for after in (0, 2)] + [
        (1, {"range": {"number": {"gt": 4}}})
    ]


def test_a_model_that_another_process_adds_at_the_same_time_is_no_fault():
    there = json_error(400, "resource_already_exists_exception")
    done = {"index": {"status": 201}}
    engine, index = _index(LAYOUT, there, (200, {"items": [done, done, done]}))
    from chalicelib.domain.memory import Memory
    from chalicelib.domain.projection import EmbeddedText

    memory = Memory(
        space=ANN.key, number=1, text="a violin", kind="user", version=1, revision=1, recorded_at=NOW,
        updated_at=NOW, recorded_by=Actor(kind="person", id="ann"),
    )  # fmt: skip
    entry = IndexEntry(ANN, 1, 1, memory, {"m-2-00000000": EmbeddedText(bytes([0, 0, 128, 63] * 2))})
    assert index.apply([entry]) == []
    assert engine.asked[1][:2] == ("PUT", f"/pal-vectors-m-2-00000000-{GENERATION}")
    (made,) = engine.lines(1)
    assert made["aliases"] == {"pal-vectors-m-2-00000000": {"is_write_index": True}}


def test_an_installation_needs_a_plain_prefix():
    with pytest.raises(ValueError, match="prefix"):
        OpenSearchIndex(FakeEngine(EMPTY).client(), text, prefix="*")
