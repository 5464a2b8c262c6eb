"""The index under proof: how one is made, what becomes of it when its process ends, what it really keeps."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import State
from chalicelib.domain.projection import IndexEntry, IndexQuery
from chalicelib.domain.scope import Scope
from chalicelib.search import text
from chalicelib.search.embedded import generations, tables
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.search.embedded.record import record
from chalicelib.search.opensearch.client import Client, Patience
from chalicelib.search.opensearch.documents import vector_id, vector_version, words_document, words_id
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.services.memory.project import NEVER_USED
from chalicelib.sqlite_file import Database
from tests import shared_services

PATIENT = Patience(connect_s=5, read_s=60, work_s=120)
ROWS = 10_000
ALL_STATES = frozenset(State) - {State.ERASED}
_FIELDS = (
    "number", "state", "category", "kind", "importance", "subject", "source", "recorded_at", "updated_at", "used_since",
    "use_count", "content_hash", "space",
)  # fmt: skip
"""Of a document that can be read back; the others are only searched."""


class Engine(Protocol):
    """One kind of index."""

    name: str

    def make(self, database: Database) -> Any:
        """An index that is not built yet."""
        ...

    def restarted(self, index: Any, database: Database) -> Any:
        """The index as a new process finds it."""
        ...

    def inside(self, index: Any, scope: Scope, entries: Sequence[IndexEntry]) -> Iterator[str]:
        """What the index keeps of this space that is not as `entries` say, looked at beneath the port."""
        ...

    def forget(self, index: Any, scope: Scope, numbers: Sequence[int]) -> None:
        """Take entries out of the index beneath the port, tombstones too."""
        ...

    def end(self, index: Any) -> None:
        """Leave nothing behind."""
        ...


class Embedded:
    """The index in the data file."""

    name = "embedded"

    def make(self, database: Database) -> EmbeddedIndex:
        return EmbeddedIndex(database, text)

    def restarted(self, index: Any, database: Database) -> EmbeddedIndex:
        return EmbeddedIndex(database, text)

    def inside(self, index: Any, scope: Scope, entries: Sequence[IndexEntry]) -> Iterator[str]:
        """Every column and vector on disk; and that a process that has lived long answers as a new one does."""
        database: Database = index._database
        with database.read() as connection:
            live = generations.current(connection).in_use
            models = tables.models(connection)
            for entry in entries:
                wanted = record(entry, text)
                assert wanted is not None
                place = (live, scope.space.key, entry.number)
                if tables.kept(connection, *place) != wanted.row:
                    yield f"#{entry.number}: a column differs"
                vectors = tables.kept_vectors(connection, *place, models)
                mine = {key: data for key, data in vectors.items() if key in wanted.vectors}
                if mine != wanted.vectors or (not entry.vectors and entry.memory is None and vectors):
                    yield f"#{entry.number}: its vectors differ: {sorted(vectors)}, not {sorted(wanted.vectors)}"
            known = {row[0] for row in connection.execute("SELECT DISTINCT space FROM search_entry")}
        yield from (f"a space that nobody has: {key}" for key in known if "#" not in key)
        queries = _queries(entries)
        if queries and _found(index, scope, queries) != _found(EmbeddedIndex(database, text), scope, queries):
            yield "what is in memory answers otherwise than what is on disk"

    def forget(self, index: Any, scope: Scope, numbers: Sequence[int]) -> None:
        with index._database.write() as connection:
            for table in ("search_entry", "search_vector"):
                connection.executemany(
                    f"DELETE FROM {table} WHERE space = ? AND number = ?",
                    [(scope.space.key, number) for number in numbers],
                )

    def end(self, index: Any) -> None:
        return


def _queries(entries: Sequence[IndexEntry]) -> list[IndexQuery]:
    everything = MemoryFilter(states=ALL_STATES)
    living = [entry for entry in entries if entry.memory is not None][:: max(1, len(entries) // 4)]
    queries = []
    for entry in living:
        assert entry.memory is not None
        model = next(iter(entry.vectors), None)
        vector = entry.vectors[model].text if model else None
        queries.append(IndexQuery(entry.memory.text, everything, depth=10_000, model=model, vector=vector))
    return queries


def _found(index: EmbeddedIndex, scope: Scope, queries: Sequence[IndexQuery]) -> list[set[tuple[Any, ...]]]:
    def rounded(score: float | None) -> float | None:
        return None if score is None else round(score, 3)

    return [
        {(h.number, *map(rounded, (h.words, h.context_words, h.meaning, h.context_meaning))) for h in answer}
        for answer in index.search(scope, queries)
    ]


class OpenSearch:
    """The index on a real node."""

    name = "opensearch"

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = Client(url, patience=PATIENT)

    def make(self, database: Database) -> OpenSearchIndex:
        return OpenSearchIndex(self.client, text, prefix=f"prove{secrets.token_hex(6)}")

    def restarted(self, index: Any, database: Database) -> OpenSearchIndex:
        return OpenSearchIndex(self.client, text, prefix=index._names.prefix)

    def inside(self, index: Any, scope: Scope, entries: Sequence[IndexEntry]) -> Iterator[str]:
        """Every document of the space, by its id, version and fields."""
        index.refresh()
        words = {words_id(entry): (entry.revision, words_document(entry, text)) for entry in entries}
        found = self._documents(index._names.words(), scope.space.key)
        yield from _unlike(words, found)
        for leg in ("meaning", "context_meaning"):
            wanted: dict[str, int] = {}
            for entry in entries:
                for model in entry.vectors:
                    wanted[vector_id(entry, leg)] = vector_version(entry, model, leg)
            aliases = {model for entry in entries for model in entry.vectors}
            kept: dict[str, int] = {}
            for model in aliases:
                documents = self._documents(index._names.vectors(model), f"{scope.space.key}#{leg}")
                kept |= {one: version for one, (version, _) in documents.items()}
            yield from (f"{one}: vector at {kept.get(one)}, not {at}" for one, at in wanted.items()
                        if kept.get(one) != at)  # fmt: skip

    def _documents(self, alias: str, place: str) -> dict[str, tuple[int, dict[str, Any]]]:
        found: dict[str, tuple[int, dict[str, Any]]] = {}
        after = 0
        while True:
            asked = {
                "query": {"bool": {"filter": [{"term": {"space": place}}, {"range": {"number": {"gt": after}}}]}},
                "sort": [{"number": "asc"}],
                "size": ROWS,
                "version": True,
                "docvalue_fields": list(_FIELDS),
            }  # fmt: skip
            page = self.client.call("POST", f"/{alias}/_search", asked)["hits"]["hits"]
            for hit in page:
                found[hit["_id"]] = (hit["_version"], hit.get("fields", {}))
            if len(page) < ROWS:
                return found
            after = page[-1]["sort"][0]

    def forget(self, index: Any, scope: Scope, numbers: Sequence[int]) -> None:
        names = index._names
        for alias in (names.words(), f"{names.prefix}-vectors-*"):
            among = {"bool": {"filter": [{"terms": {"number": list(numbers)}},
                                         {"prefix": {"space": scope.space.key}}]}}  # fmt: skip
            params = {"refresh": "true", "conflicts": "proceed"}
            index.refresh()
            self.client.call("POST", f"/{alias}/_delete_by_query", {"query": among}, params=params)

    def end(self, index: Any) -> None:
        index.drop()


def _unlike(
    wanted: Mapping[str, tuple[int, str]], found: Mapping[str, tuple[int, dict[str, Any]]]
) -> Iterator[str]:
    strangers = {one for one, (version, _) in found.items() if version != NEVER_USED} - wanted.keys()
    yield from (f"{one}: a document that nobody wrote" for one in sorted(strangers))
    for one, (version, document) in wanted.items():
        if one not in found or found[one][0] != version:
            yield f"{one}: version {found.get(one, (None,))[0]}, not {version}"
            continue
        fields = {name: value for name, value in json.loads(document).items() if name in _FIELDS}
        kept = {name: values[0] for name, values in found[one][1].items()}
        if fields != kept:
            yield f"{one}: fields differ"


@contextmanager
def engine_of(name: str) -> Iterator[Engine]:
    """The engine of this name; OpenSearch is a node of its own that runs inside the block."""
    if name == "embedded":
        yield Embedded()
        return
    folder = shared_services.begin_run()
    try:
        yield OpenSearch(shared_services.opensearch(folder, required=True))
    finally:
        shared_services.end_run(folder)
