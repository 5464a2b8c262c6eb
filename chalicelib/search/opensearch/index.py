"""The search index on OpenSearch: the port, put together."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from chalicelib.domain.diagnosis import IndexSeen
from chalicelib.domain.filters import MemoryFilter, Sort
from chalicelib.domain.memory import State
from chalicelib.domain.projection import Hit, IndexedState, IndexEntry, IndexPage, IndexQuery
from chalicelib.domain.scope import Scope
from chalicelib.domain.vitality import Retention
from chalicelib.errors import IndexMissingError
from chalicelib.ports import Analyzer
from chalicelib.search.fresh import FreshEntries
from chalicelib.search.opensearch import hits
from chalicelib.search.opensearch.bulk import Writer
from chalicelib.search.opensearch.client import Client
from chalicelib.search.opensearch.errors import parts
from chalicelib.search.opensearch.layout import Generation, Names
from chalicelib.search.opensearch.legs import MEANING, LegAsked, found_by, legs_of
from chalicelib.search.opensearch.queries import (
    counted,
    header,
    held,
    listed,
    order_of,
    parameters,
    with_vectors,
)
from chalicelib.search.opensearch.rebuild import Generations

STATES_MAX = 5_000
"""Of one request: engines give no more than 10,000 hits at a time."""


class OpenSearchIndex:
    """A `SearchIndex` on OpenSearch 2.19 or newer; the port says what each method promises.

    All its indices begin with `prefix`. A space lives whole in one of `shards`; rarity of a word is counted over all
    spaces of the shard, so raw scores of words differ somewhat from those of the embedded index, their order hardly.
    `replicas` is a range that the engine fits to the number of its nodes.
    """

    def __init__(
        self,
        client: Client,
        analyzer: Analyzer,
        *,
        prefix: str = "palimpsest",
        shards: int = 1,
        replicas: str = "0-1",
    ) -> None:
        self._client = client
        self._analyzer = analyzer
        self._names = Names(prefix)
        self._generations = Generations(client, self._names, shards=shards, replicas=replicas)
        self._writer = Writer(client, analyzer)
        self._words_factor: float | None = None

    def search(self, scope: Scope, queries: Sequence[IndexQuery]) -> list[list[Hit]]:
        """All legs of all queries go as one request."""
        fresh = FreshEntries(queries, scope.space, self._analyzer)
        newest = [fresh.newest(query) for query in queries]
        asked = [
            legs_of(scope, self._names, query, self._analyzer, without=new)
            for query, new in zip(queries, newest, strict=True)
        ]
        answers = self._bundle([line for of_query in asked for leg in of_query for line in leg.lines])
        found = [
            self._hits(of_query, query.depth, answers) for of_query, query in zip(asked, queries, strict=True)
        ]
        if any(asked) and not any(found):
            self._be_there()
        return [
            fresh.merged(query, new, of_index) if new else of_index
            for query, new, of_index in zip(queries, newest, found, strict=True)
        ]

    def browse(
        self,
        scope: Scope,
        wanted: MemoryFilter,
        *,
        sort: Sort,
        limit: int,
        after: tuple[int, int] | None = None,
        text: str | None = None,
        now: datetime,
        retention: Retention,
    ) -> IndexPage:
        """One row more than `limit` is asked for, to know whether more follow."""
        order, stems = order_of(sort, now, retention), self._analyzer.stems(text or "")
        body = listed(scope, wanted, order=order, limit=limit + 1, after=after, stems=stems)
        page = hits.places(self._ask(scope, body, hits.PLACES_ONLY))
        if not page and after is None:
            self._be_there()
        return IndexPage(tuple(page[:limit]), len(page) > limit)

    def counts(self, scope: Scope) -> Mapping[State, int]:
        """Every state that can be shown is named, with 0 when there is none."""
        by_state = hits.counts(self._ask(scope, counted(scope), hits.COUNTS_ONLY))
        return {state: by_state.get(state.value, 0) for state in State if state is not State.ERASED}

    def indexed(self, scope: Scope, *, after: int, limit: int) -> list[IndexedState]:
        """All that was applied, refreshed or not. A model counts when it has the vectors of the same revision."""
        models = self._generations.refreshed().vector_indices
        states: list[IndexedState] = []
        while len(states) < limit:
            size = min(STATES_MAX, limit - len(states))
            last = states[-1].number if states else after
            page = hits.found(self._ask(scope, held(scope, after=last, limit=size), hits.STATES_ONLY))
            if page:
                states += hits.states(page, self._embedded(scope, sorted(models), page))
            if len(page) < size:
                break
        return states

    def apply(self, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        """While a rebuild runs, to both generations; one that ends meanwhile gives the entries back."""
        return self._writer.write(self._targets(entries), entries)

    def repair(self, entries: Sequence[IndexEntry]) -> None:
        """To both generations, too."""
        self._writer.overwrite(self._targets(entries), entries)

    def ready(self) -> bool:
        """Whether the alias of the words is there."""
        return self._generations.layout().live is not None

    def inspect(self) -> IndexSeen:
        """One request for what stands, and two for each model."""
        return self._generations.seen()

    def rebuild_begin(self) -> str:
        """The name is that of the new generation."""
        return self._generations.begin()

    def rebuild_apply(self, name: str, entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        """Raises IndexMissingError when another rebuild was begun since."""
        targets = self._generations.with_models([self._generations.begun(name)], entries)
        return self._writer.write(targets, entries)

    def rebuild_finish(self, name: str) -> None:
        """Raises IndexMissingError when another rebuild was begun since."""
        self._generations.finish(name)

    def drop(self) -> None:
        """Whatever else the engine holds is left alone."""
        self._generations.drop()

    def refresh(self) -> None:
        """Make all that was applied visible to searches now, not within the second."""
        self._generations.refreshed()

    def _targets(self, entries: Sequence[IndexEntry]) -> Sequence[Generation]:
        targets = self._generations.layout().targets
        if not targets:
            raise IndexMissingError("there is no search index: it was never built, or was dropped")
        return self._generations.with_models(targets, entries)

    def _hits(self, asked: Sequence[LegAsked], depth: int, answers: Iterator[Any]) -> list[Hit]:
        findings = found_by(asked, answers, depth, self._factor() if asked else 1.0)
        return findings.hits() if findings is not None else []

    def _be_there(self) -> None:
        """Nothing was found: tell an index that has nothing from another one under our alias's name, or none.
        Raises IndexMissingError."""
        if not self.ready():
            raise IndexMissingError("there is no search index: it was never built, or was dropped")

    def _embedded(
        self, scope: Scope, models: Sequence[str], page: Sequence[Mapping[str, Any]]
    ) -> dict[tuple[int, int], frozenset[str]]:
        """Which models have vectors of each (number, revision)."""
        numbers = [int(hit["sort"][0]) for hit in page]
        lines = [
            line
            for model in models
            for leg in MEANING
            for line in (header(scope, self._names.vectors(model)), with_vectors(scope, leg, numbers))
        ]
        found = map(hits.found, self._bundle(lines))
        return hits.models_by_state((model, next(found), next(found)) for model in models)

    def _bundle(self, lines: Sequence[str]) -> Iterator[Any]:
        """The answers to several queries, sent together; nothing is sent when there are none."""
        if not lines:
            return iter(())
        body = "".join(f"{line}\n" for line in lines)
        answer = self._client.call(
            "POST", "/_msearch", body, params=hits.SCORES_ONLY, waiting=True, again=hits.any_refused
        )
        return iter(parts(answer, "responses", len(lines) // 2))

    def _ask(self, scope: Scope, body: Mapping[str, Any], only: Mapping[str, str]) -> Any:
        path, params = f"/{self._names.words()}/_search", {**parameters(scope), **only}
        return self._client.call("POST", path, body, params=params, waiting=True)

    def _factor(self) -> float:
        """Asked of the engine once, for its version does not change under a client that matters."""
        if self._words_factor is None:
            self._words_factor = hits.words_factor(self._client.call("GET", "/", waiting=True))
        return self._words_factor
