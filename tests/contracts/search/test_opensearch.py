"""What only the OpenSearch adapter can do wrong, on a real node."""

import random
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import State
from chalicelib.domain.projection import EmbeddedText, content_hash
from chalicelib.domain.scope import Space
from chalicelib.errors import IndexMissingError, IndexUnavailableError
from chalicelib.search import text
from chalicelib.search.opensearch.client import Client
from chalicelib.search.opensearch.index import OpenSearchIndex
from tests.contracts.search import reference
from tests.contracts.search.engine_opensearch import PATIENT, opened
from tests.contracts.search.memories import (
    ALICE,
    LARGE,
    SMALL,
    entry,
    memory,
    query,
    random_memory,
    random_unit,
    scope_of,
    tombstone,
    unit,
)

pytestmark = [pytest.mark.opensearch, pytest.mark.xdist_group("opensearch")]

SCOPE = scope_of(ALICE)
VECTOR = unit([1] + [0] * 7)
MEANING = frozenset({"meaning"})


@pytest.fixture
def client(opensearch_url: str) -> Iterator[Client]:
    client = Client(opensearch_url, patience=PATIENT)
    yield client
    client.close()


@pytest.fixture
def index(opensearch_url: str) -> Iterator[OpenSearchIndex]:
    """A complete index without entries."""
    with opened(opensearch_url) as index:
        index.rebuild_finish(index.rebuild_begin())
        yield index


@pytest.fixture
def again(opensearch_url: str) -> Iterator[Callable[[OpenSearchIndex], OpenSearchIndex]]:
    """The same index as another process sees it."""
    clients = []

    def opened_again(index: OpenSearchIndex) -> OpenSearchIndex:
        clients.append(Client(opensearch_url, patience=PATIENT))
        return OpenSearchIndex(clients[-1], text, prefix=index._names.prefix)

    yield opened_again
    for client in clients:
        client.close()


def _indices(client: Client, index: OpenSearchIndex) -> list[str]:
    return sorted(client.call("GET", f"/{index._names.prefix}*/_alias"))


def _put(index: OpenSearchIndex, *entries) -> None:
    assert index.apply(entries) == []
    index.refresh()


def _found(index: OpenSearchIndex, asked: str = "", **fields) -> set[int]:
    return {hit.number for hit in index.search(SCOPE, [query(asked, **fields)])[0]}


class Texts:
    """Vectors as embedders make them: of few directions, all of them somewhat alike."""

    def __init__(self, seed: int, dimension: int = 48) -> None:
        self._rng = np.random.default_rng(seed)
        self._directions = self._rng.normal(size=(12, dimension))
        self._middle = self._rng.normal(size=dimension) * 2

    def vectors(self, count: int) -> list[bytes]:
        meanings = self._rng.normal(size=(count, 12)) @ self._directions * 0.4
        return [unit(self._middle + meaning) for meaning in meanings]


class TestNearestNeighbours:
    MODEL = "scripted-many-48-00000000"

    def _recall(self, index, kept: dict[int, bytes], asked: list[bytes], depth: int) -> float:
        """Share of the truly nearest that are found; each answer has exactly `depth`."""
        numbers = np.array(list(kept))
        matrix = np.stack([np.frombuffer(vector, "<f4") for vector in kept.values()])
        found = 0
        for vector in asked:
            cosines = matrix @ np.frombuffer(vector, "<f4")
            nearest = set(numbers[np.argsort(-cosines)[:depth]].tolist())
            hits = _found(index, model=self.MODEL, vector=vector, depth=depth, legs=MEANING)
            assert len(hits) == depth
            found += len(hits & nearest)
        return found / depth / len(asked)

    @pytest.mark.slow
    def test_are_found_in_many_segments_after_deleting_and_writing_again(self, index):
        """CASES: k-NN#1003, #1081, OpenSearch#9633: results went missing as deleted ones piled up."""
        rng, texts = random.Random(1), Texts(1)
        kept: dict[int, bytes] = {}
        revisions: dict[int, int] = {}
        for step in range(24):
            numbers = [*range(step * 50 + 1, step * 50 + 51), *rng.sample(sorted(kept), min(60, len(kept)))]
            gone = rng.sample(sorted(kept.keys() - set(numbers)), min(15, len(kept.keys() - set(numbers))))
            fresh = dict(zip(numbers, texts.vectors(len(numbers)), strict=True))
            for number in (*numbers, *gone):
                revisions[number] = revisions.get(number, 0) + 1
            _put(
                index,
                *(
                    entry(
                        memory(number, revision=revisions[number]),
                        **{self.MODEL: EmbeddedText(vector, vector)},
                    )
                    for number, vector in fresh.items()
                ),
                *(tombstone(number, revisions[number]) for number in gone),
            )
            kept |= fresh
            for number in gone:
                del kept[number]
        assert len(kept) > 800
        recall = {depth: self._recall(index, kept, texts.vectors(25), depth) for depth in (10, 100)}
        print(f"recall against exact search after churn: {recall}")
        assert min(recall.values()) >= 0.995

    @pytest.mark.slow
    def test_of_a_small_space_are_exact_among_many_spaces(self, index):
        texts = Texts(2)
        spaces = [Space.personal(f"s{n}") for n in range(12)]
        own = dict(enumerate(texts.vectors(120), 1))
        for space in spaces:
            vectors = own if space == spaces[0] else dict(enumerate(texts.vectors(120), 1))
            assert not index.apply(
                [entry(memory(n, space=space), **{self.MODEL: EmbeddedText(v)}) for n, v in vectors.items()]
            )
        index.refresh()
        for asked in texts.vectors(20):
            exact = sorted(own, key=lambda number: -reference.cosine(asked, own[number]))[:20]
            hits = index.search(
                scope_of(spaces[0]), [query(model=self.MODEL, vector=asked, depth=20, legs=MEANING)]
            )[0]
            assert {hit.number for hit in hits} == set(exact)


class TestDimensions:
    """CASES: OpenMetadata#30880, langchainjs#7530: dimension mismatch, silently stale index, unclear error."""

    def test_a_vector_of_another_dimension_comes_back_and_the_words_stay(self, index):
        _put(index, entry(memory(1), **{SMALL: EmbeddedText(VECTOR)}))
        wrong = entry(memory(2, "a violin"), **{SMALL: EmbeddedText(unit([1] * 9))})
        assert index.apply([wrong]) == [wrong]
        index.refresh()
        assert _found(index, "violin") == {2}
        assert _found(index, model=SMALL, vector=VECTOR) == {1}

    def test_a_query_of_another_dimension_is_an_error_not_an_empty_result(self, index):
        _put(index, entry(memory(1), **{SMALL: EmbeddedText(VECTOR)}))
        with pytest.raises(IndexUnavailableError):
            _found(index, "lantern", model=SMALL, vector=unit([1] * 9))


class TestNothingIsGuessed:
    def test_a_write_never_makes_an_index(self, index, client):
        index.drop()
        with pytest.raises(IndexMissingError):
            index.apply([entry(memory(1), **{SMALL: EmbeddedText(VECTOR)})])
        assert _indices(client, index) == []

    def test_a_write_on_its_way_when_the_index_is_dropped_makes_none(self, index, client):
        """The aliases were looked up, then all went."""
        targets = index._targets([])
        index.drop()
        with pytest.raises(IndexMissingError):
            index._writer.write(targets, [entry(memory(1))])
        assert _indices(client, index) == []

    @pytest.mark.parametrize("field", ["unknown", "meaning@text", "words.more"])
    def test_an_unknown_field_is_refused(self, index, client, field):
        """CASES: k-NN#2809: field names with an at-sign broke indices; here there are none but our own."""
        _put(index, entry(memory(1), **{SMALL: EmbeddedText(VECTOR)}))
        for name in _indices(client, index):
            with pytest.raises(IndexUnavailableError, match=r"400 (strict_dynamic_)?mapp"):
                client.call("POST", f"/{name}/_doc", {field: "x"}, params={"routing": "x"})

    def test_the_index_keeps_no_text(self, index, client):
        _put(index, entry(memory(1, "a violin", context="a kettle", subject="server")))
        (hit,) = client.call("POST", f"/{index._names.words()}/_search", {})["hits"]["hits"]
        assert "_source" not in hit


class TestModelsThatCome:
    def test_an_older_revision_with_the_first_vectors_of_a_model_changes_nothing(self, index):
        """The model's index is made by this very write, and so cannot know of the newer revision."""
        _put(index, entry(memory(1, "a violin", revision=5)), tombstone(2, 5))
        assert not index.apply(
            [
                entry(memory(1, "a kettle", revision=4), **{SMALL: EmbeddedText(VECTOR, VECTOR)}),
                entry(memory(2, "a kettle", revision=4), **{SMALL: EmbeddedText(VECTOR, VECTOR)}),
                entry(memory(3, "a kettle", revision=4), **{SMALL: EmbeddedText(VECTOR, VECTOR)}),
            ]
        )
        index.refresh()
        assert _found(index, model=SMALL, vector=VECTOR) == {3}
        assert [(s.revision, s.models) for s in index.indexed(SCOPE, after=0, limit=9)] == [
            (5, frozenset()), (5, frozenset()), (4, frozenset({SMALL})),
        ]  # fmt: skip

    def test_what_was_erased_a_moment_ago_is_not_raised_by_the_first_vectors_of_a_model(self, index):
        """Without a refresh in between."""
        assert not index.apply([tombstone(1, 3), entry(memory(2, revision=3))])
        assert not index.apply(
            [entry(memory(n, revision=3), **{SMALL: EmbeddedText(VECTOR, VECTOR)}) for n in (1, 2)]
        )
        index.refresh()
        assert _found(index, model=SMALL, vector=VECTOR) == {2}

    def test_two_processes_add_the_same_model_at_once(self, index, again):
        """Neither fails, and both write to one index."""
        other = again(index)
        stale = index._generations.layout().targets
        assert not other.apply([entry(memory(1), **{SMALL: EmbeddedText(VECTOR)})])
        entries = [entry(memory(2), **{SMALL: EmbeddedText(VECTOR)})]
        assert not index._writer.write(index._generations.with_models(stale, entries), entries)
        index.refresh()
        assert _found(index, model=SMALL, vector=VECTOR) == {1, 2}

    def test_a_model_of_which_nothing_is_left_goes_with_the_next_rebuild_but_one(self, index, client):
        _put(index, entry(memory(1), **{SMALL: EmbeddedText(VECTOR)}))
        for expected in (2, 1):
            name = index.rebuild_begin()
            assert not index.rebuild_apply(name, [entry(memory(1, revision=9))])
            index.rebuild_finish(name)
            assert len(_indices(client, index)) == expected


class TestRebuild:
    def test_another_process_writes_to_what_is_being_built_and_sees_what_is_in_use(self, index, again):
        worker = again(index)
        _put(index, entry(memory(1, "a violin")))
        name = index.rebuild_begin()
        assert worker.apply([entry(memory(2, "a violin"), **{SMALL: EmbeddedText(VECTOR)})]) == []
        index.refresh()
        assert _found(worker, "violin") == {1, 2}
        index.rebuild_finish(name)
        assert _found(worker, "violin") == {2}
        assert _found(worker, model=SMALL, vector=VECTOR) == {2}

    def test_what_a_crash_left_is_dropped_by_the_next(self, index, again, client):
        _put(index, entry(memory(1), **{SMALL: EmbeddedText(VECTOR)}))
        before = _indices(client, index)
        crashed = index.rebuild_begin()
        index.rebuild_apply(crashed, [entry(memory(1), **{LARGE: EmbeddedText(unit([1] * 24))})])
        client.call("PUT", f"/{index._names.vectors(LARGE)}-g{'0' * 16}", {})
        assert len(_indices(client, index)) == len(before) + 4
        later = again(index)
        name = later.rebuild_begin()
        assert len(_indices(client, index)) == len(before) + 2
        assert later.apply([entry(memory(2))]) == []
        later.rebuild_finish(name)
        assert len(_indices(client, index)) == 2
        assert not set(before) & set(_indices(client, index))

    def test_a_model_keeps_its_dimension_and_refuses_late_vectors_from_the_beginning(self, index):
        """Its index is there before the first memory of it is read, so an edit meanwhile leaves its mark."""
        _put(index, entry(memory(1), **{SMALL: EmbeddedText(VECTOR)}))
        name = index.rebuild_begin()
        assert not index.apply([entry(memory(1, "a violin", revision=2))])
        assert not index.rebuild_apply(name, [entry(memory(1), **{SMALL: EmbeddedText(VECTOR)})])
        index.rebuild_finish(name)
        assert _found(index, model=SMALL, vector=VECTOR) == set()
        assert _found(index, "violin") == {1}

    def test_an_index_of_another_installation_is_left_alone(self, opensearch_url, client):
        with opened(opensearch_url) as one:
            prefix = one._names.prefix
            other = OpenSearchIndex(client, text, prefix=f"{prefix}-two")
            for index in (one, other):
                index.rebuild_finish(index.rebuild_begin())
                _put(index, entry(memory(1), **{SMALL: EmbeddedText(VECTOR)}))
            one.rebuild_finish(one.rebuild_begin())
            one.drop()
            assert other.ready() is True
            assert _found(other, "lantern", model=SMALL, vector=VECTOR) == {1}
            other.drop()
            assert _indices(client, one) == []


def test_writes_are_seen_within_seconds_although_nobody_searches_or_refreshes(index, client):
    """CASES: OpenSearch#12123, #4139: an idle shard stopped refreshing. Asked without searching: by its segments."""
    assert index.apply([entry(memory(1))]) == []
    end = time.monotonic() + 60
    while True:
        stats = client.call("GET", f"/{index._names.words()}/_stats/docs,refresh")
        if stats["_all"]["primaries"]["docs"]["count"] == 1:
            break
        assert time.monotonic() < end
        time.sleep(0.1)
    (settings,) = client.call("GET", f"/{index._names.words()}/_settings").values()
    assert settings["settings"]["index"]["refresh_interval"] == "1s"


def test_a_closed_index_is_down_and_not_missing(index, client):
    """A missing one is built anew, and then there are two when the closed one opens again."""
    _put(index, entry(memory(1, "a violin")))
    for name in _indices(client, index):
        client.call("POST", f"/{name}/_close")
    assert index.ready()
    with pytest.raises(IndexUnavailableError):
        index.search(SCOPE, [query("violin")])
    for name in _indices(client, index):
        client.call("POST", f"/{name}/_open")


def test_scores_of_words_are_those_of_the_formula(index):
    """Lengths below 40 stems are kept as they are; longer ones are rounded by an eighth at most."""
    rng = random.Random(9)
    made = {number: random_memory(rng, number) for number in range(1, 101)}
    _put(index, *map(entry, made.values()))
    every = MemoryFilter(states=frozenset(set(State) - {State.ERASED}))
    hits = index.search(SCOPE, [query("lantern harbour окно", filter=every, depth=200)])[0]
    found = {hit.number: hit.words for hit in hits if hit.words is not None}
    assert found == pytest.approx(
        reference.bm25("lantern harbour окно", {n: m.words for n, m in made.items()}), rel=1e-5
    )


def test_several_shards_answer_as_one(client):
    """A space lives in one of them, whole."""
    index = OpenSearchIndex(client, text, prefix="testshards", shards=3)
    index.drop()
    try:
        index.rebuild_finish(index.rebuild_begin())
        spaces = [Space.personal(f"s{n}") for n in range(9)]
        entries = [
            entry(memory(n, space=space), **{SMALL: EmbeddedText(random_unit(random.Random(n), 8))})
            for space in spaces
            for n in range(1, 8)
        ]
        _put(index, *entries, tombstone(8, 1))
        index.repair(entries[:1])
        index.refresh()
        for space in spaces:
            scope = scope_of(space)
            hits = index.search(scope, [query("lantern", model=SMALL, vector=VECTOR)])[0]
            assert {hit.number for hit in hits if hit.words and hit.meaning is not None} == set(range(1, 8))
            assert index.counts(scope)[State.ACTIVE] == 7
            assert {state.models for state in index.indexed(scope, after=0, limit=7)} == {frozenset({SMALL})}
    finally:
        index.drop()


class TestRepair:
    def test_the_table_wins_over_any_revision_in_words_and_vectors(self, index):
        other = unit([0, 1] + [0] * 6)
        _put(
            index,
            entry(memory(1, "a violin", revision=9), **{SMALL: EmbeddedText(VECTOR, VECTOR)}),
            entry(memory(2, "a violin", revision=3), **{SMALL: EmbeddedText(VECTOR, VECTOR)}),
            tombstone(3, 9),
        )
        right = [
            entry(memory(1, "a kettle", revision=4), **{SMALL: EmbeddedText(other)}),
            entry(memory(2, "a kettle", revision=3)),
            entry(memory(3, "a kettle", revision=2), **{SMALL: EmbeddedText(other, other)}),
            entry(memory(4, "a kettle", revision=1)),
        ]
        index.repair(right)
        index.refresh()
        assert _found(index, "violin") == set()
        assert _found(index, "kettle") == {1, 2, 3, 4}
        hits = index.search(SCOPE, [query(model=SMALL, vector=other)])[0]
        assert {hit.number: (hit.meaning, hit.context_meaning) for hit in hits} == {
            1: (pytest.approx(1, abs=1e-3), None),
            3: (pytest.approx(1, abs=1e-3), pytest.approx(1, abs=1e-3)),
        }
        assert [(s.number, s.revision, s.content_hash) for s in index.indexed(SCOPE, after=0, limit=9)] == [
            (kept.number, kept.revision, content_hash(kept.memory)) for kept in right
        ]
        _put(index, entry(memory(1, "a saddle", revision=5)))
        assert _found(index, "saddle") == {1}

    def test_while_a_rebuild_runs_both_are_repaired(self, index):
        _put(index, entry(memory(1, "a violin", revision=9)))
        name = index.rebuild_begin()
        index.rebuild_apply(name, [entry(memory(1, "a violin", revision=9))])
        index.repair([entry(memory(1, "a kettle", revision=2))])
        index.refresh()
        assert _found(index, "kettle") == {1}
        index.rebuild_finish(name)
        assert _found(index, "kettle") == {1}

    def test_without_an_index_there_is_nothing_to_repair(self, index):
        index.drop()
        with pytest.raises(IndexMissingError):
            index.repair([entry(memory(1))])
