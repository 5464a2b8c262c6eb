"""What servers keep of one person's memories: every item of every table, every document of every index."""

import json
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.search.text import stems
from tests.fakes.engines import DynamoWorld, items
from tests.security.life import Life, Remains

_EQUAL = 1e-4
"""How far from the greatest possible score a vector may be that is the same but for its rounding."""
_MANY = 500


def look_at_tables(life: Life, remains: Remains) -> None:
    """Look at every byte of every item: keys, texts, images of changes, vectors, outcomes of requests."""
    assert isinstance(life.world, DynamoWorld)
    life.world.settle()
    for table, item in items(life.world.tables):
        content = b"\n".join(_bytes_of(item))
        remains.bytes += len(content)
        where = f"table {table}, item {item.get('sk', item['pk'])}"
        for encoding in ("utf-8", "utf-16-le"):
            life.judge(remains, where, content.decode(encoding, "replace"))
        life.judge_bytes(remains, where, content)


def _bytes_of(value: Any) -> Iterator[bytes]:
    """All that is said in an item, names of attributes too, each piece as bytes."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name).encode()
            yield from _bytes_of(inner)
    elif isinstance(value, list | tuple | set):
        for inner in value:
            yield from _bytes_of(inner)
    else:
        yield value if isinstance(value, bytes) else str(value).encode()


def look_at_index(life: Life, remains: Remains) -> None:
    """Look at every document of every index of this installation, at what it is found by, and at its vectors."""
    life.world.settle()
    index = life.world.parts.index
    assert isinstance(index, OpenSearchIndex)
    dump = IndexDump(index)
    for name in dump.names():
        content = json.dumps(list(dump.documents(name)), ensure_ascii=False).encode()
        remains.bytes += len(content)
        life.judge(remains, f"index {name}", content.decode())
        life.judge_bytes(remains, f"index {name}", content)
        found = dump.having_words(name, life.gone)
        remains.found += [f"{canary} is a word in {name}" for canary in found]
        left = dump.nearest(name, life.vectors)
        remains.found += [f"{left} of {len(life.vectors)} vectors in {name}"] if left else []
    alive = {canary for told in life.told.values() if not told.erased for canary in told.canaries}
    life.meet_alive(canary for name in dump.names() for canary in dump.having_words(name, alive))


class IndexDump:
    """All that an engine tells of its documents: it keeps no sources, so fields, words and vectors one by one."""

    def __init__(self, index: OpenSearchIndex) -> None:
        self._call = index._client.call
        self._pattern = index._names.patterns()

    def names(self) -> list[str]:
        """All indices, those that are being built or were forgotten too."""
        return sorted(self._call("GET", f"/{self._pattern}"))

    def documents(self, name: str) -> Iterator[dict[str, Any]]:
        """Every document with every field that the engine can give."""
        told = [field for field, kind in self._fields(name).items() if kind not in {"text", "knn_vector"}]
        body = {"size": 10_000, "_source": True, "stored_fields": ["*"], "docvalue_fields": told}
        yield from self._call("POST", f"/{name}/_search", body)["hits"]["hits"]

    def having_words(self, name: str, canaries: Iterable[str]) -> list[str]:
        """Those of `canaries` that any document is found by, in any field of words or names."""
        fields = [field for field, kind in self._fields(name).items() if kind in {"text", "keyword"}]
        searched = [field for field in fields if field not in {"said", "content_hash"}]
        wanted = sorted(canaries)
        found = []
        for start in range(0, len(wanted), _MANY):
            some = wanted[start : start + _MANY]
            lines = [self._line(name, searched, canary) for canary in some]
            if lines:
                answers = self._call("POST", "/_msearch", "".join(lines))["responses"]
                found += [
                    canary
                    for canary, answer in zip(some, answers, strict=True)
                    if answer["hits"]["total"]["value"]
                ]
        return found

    def _line(self, name: str, fields: list[str], canary: str) -> str:
        words = {canary, *stems(canary)}
        any_of = [{"terms": {field: sorted(words)}} for field in fields]
        query = {"query": {"bool": {"should": any_of}}, "size": 0, "track_total_hits": True}
        return f"{json.dumps({'index': name})}\n{json.dumps(query)}\n"

    def nearest(self, name: str, vectors: Iterable[bytes]) -> int:
        """How many of `vectors` are still the vector of a document."""
        fields = [field for field, kind in self._fields(name).items() if kind == "knn_vector"]
        asked = [(field, vector) for field in fields for vector in sorted(vectors)]
        if not asked:
            return 0
        lines = [
            f"{json.dumps({'index': name})}\n"
            + json.dumps({"query": {"knn": {field: {"vector": list(array("f", vector)), "k": 1}}}, "size": 1})
            + "\n"
            for field, vector in asked
        ]
        answers = self._call("POST", "/_msearch", "".join(lines))["responses"]
        best = [answer["hits"]["max_score"] or 0.0 for answer in answers]
        return len(
            {vector for (_, vector), score in zip(asked, best, strict=True) if score > 2.0 - _EQUAL}
        )  # an inner product of 1 scores 2

    def _fields(self, name: str) -> dict[str, str]:
        mapping = self._call("GET", f"/{name}/_mapping")[name]["mappings"]["properties"]
        return {field: of["type"] for field, of in mapping.items()}
