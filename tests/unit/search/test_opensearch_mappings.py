"""Settings and fields of the indices: what an engine must never be left to guess."""

import re

import pytest

from chalicelib.search.opensearch import mappings

WORDS = mappings.words_index(2, "0-1")
VECTORS = mappings.vectors_index(2, "0-1", 384)
BOTH = pytest.mark.parametrize("body", [WORDS, VECTORS], ids=["words", "vectors"])


@BOTH
def test_a_field_that_is_not_known_is_refused(body):
    assert body["mappings"]["dynamic"] == "strict"


@BOTH
def test_field_names_are_plain(body):
    """CASES: k-NN#2809: signs in field names broke vector indices."""
    assert all(re.fullmatch(r"[a-z_]{1,40}", name) for name in body["mappings"]["properties"])


@BOTH
def test_the_text_of_documents_is_not_kept(body):
    assert body["mappings"]["_source"] == {"enabled": False}


@BOTH
def test_idle_shards_are_refreshed_too(body):
    """CASES: OpenSearch#12123: an interval that is not stated stops after 30 s without a search."""
    assert body["settings"]["refresh_interval"] == "1s"


@BOTH
def test_shards_and_replicas_are_as_set(body):
    assert body["settings"]["number_of_shards"] == 2
    assert body["settings"]["auto_expand_replicas"] == "0-1"


def test_vectors_state_engine_method_and_dimension():
    """The default engine needs native libraries, and ends a node that has none."""
    for field in ("meaning", "context_meaning"):
        vector = VECTORS["mappings"]["properties"][field]
        assert vector["dimension"] == 384
        assert vector["method"]["engine"] == "lucene"
        assert vector["method"]["name"] == "hnsw"
        assert vector["method"]["space_type"] == "innerproduct"


def test_words_are_scored_by_our_own_bm25():
    assert WORDS["settings"]["similarity"]["stems"] == {"type": "BM25", "k1": 0.6, "b": 0.2}
    for field in ("words", "context_words"):
        assert WORDS["mappings"]["properties"][field]["similarity"] == "stems"
        assert WORDS["mappings"]["properties"][field]["analyzer"] == "stems"


def test_both_kinds_filter_alike():
    filtered = {
        "space",
        "number",
        "tombstone",
        "state",
        "category",
        "kind",
        "importance",
        "subject",
        "source",
        "said",
    }
    for body in (WORDS, VECTORS):
        assert filtered <= set(body["mappings"]["properties"])
