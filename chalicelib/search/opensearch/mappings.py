"""Settings and fields of the two kinds of index.

Mappings are strict: a field that is not here is refused, never guessed. The documents themselves are not kept
(`_source`): the table has them, an index is only ever rebuilt from it, and so the engine holds no text that a
person wrote, only stems. A refresh interval that is stated also keeps idle shards refreshing: by default an engine
stops that after 30 s without searches, and the next search would see an old state (CASES: OpenSearch#12123).
"""

from collections.abc import Mapping
from typing import Any

from chalicelib.search.fresh import K1, B

STEM_MAX_CHARS = 100
"""Longer stems are cut, in texts and in queries alike: the tokenizer would break them into pieces at 255."""
FORMAT = 1
"""Of fields and settings, kept with each index: one of another format, or of somebody else, is none of ours and is
replaced. To be raised with every change of this module that an index in use does not follow."""
EF_CONSTRUCTION = 100
LINKS = 16

_KEYWORD = {"type": "keyword"}
_LONG = {"type": "long"}
_FILTERED: dict[str, Any] = {
    "space": _KEYWORD,
    "number": _LONG,
    "tombstone": {"type": "boolean", "store": True},
    "state": _KEYWORD,
    "category": _KEYWORD,
    "kind": _KEYWORD,
    "importance": _LONG,
    "subject": _KEYWORD,
    "source": _KEYWORD,
    "said": {"type": "keyword", "index": False},
}
_SORTED: dict[str, Any] = {
    "recorded_at": _LONG,
    "updated_at": _LONG,
    "used_since": _LONG,
    "use_count": _LONG,
}
_STEMS = {"type": "text", "analyzer": "stems", "similarity": "stems", "index_options": "freqs"}


def words_index(shards: int, replicas: str) -> dict[str, Any]:
    """Body of an index of words. Rarity of a word is counted in each shard, over all spaces that share it."""
    settings = _settings(shards, replicas) | {
        "analysis": {"analyzer": {"stems": {"type": "custom", "tokenizer": "whitespace"}}},
        "similarity": {"stems": {"type": "BM25", "k1": K1, "b": B}},
    }
    fields = {
        **_FILTERED,
        **_SORTED,
        "content_hash": {"type": "keyword", "index": False},
        "words": _STEMS,
        "context_words": _STEMS,
    }
    return {"settings": settings, "mappings": _strict(fields)}


def vectors_index(shards: int, replicas: str, dimension: int) -> dict[str, Any]:
    """Body of an index of vectors. The engine `lucene` is always stated: the others need native libraries."""
    settings = _settings(shards, replicas) | {"knn": True}
    vector = {
        "type": "knn_vector",
        "dimension": dimension,
        "method": {
            "name": "hnsw",
            "engine": "lucene",
            "space_type": "innerproduct",
            "parameters": {"m": LINKS, "ef_construction": EF_CONSTRUCTION},
        },
    }
    return {
        "settings": settings,
        "mappings": _strict({**_FILTERED, "meaning": vector, "context_meaning": vector}),
    }


def _settings(shards: int, replicas: str) -> dict[str, Any]:
    return {
        "number_of_shards": shards,
        "auto_expand_replicas": replicas,
        "refresh_interval": "1s",
        "gc_deletes": "0s",  # only repair deletes, and it wants it forgotten
    }


def _strict(fields: dict[str, Any]) -> dict[str, Any]:
    kept = {"_meta": {"palimpsest": FORMAT}, "_source": {"enabled": False}}
    return {"dynamic": "strict", **kept, "properties": fields}


def is_ours(index: Mapping[str, Any]) -> bool:
    """Whether an index, as the engine describes it, was made by this module in this format."""
    return bool(index.get("mappings", {}).get("_meta", {}).get("palimpsest") == FORMAT)
