"""What the engine is asked. Every query begins with the scope: `within` alone makes the condition on the space, and
nothing here can be built without it (CASES: graphiti PR#752, memanto PR#1873).
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from chalicelib.domain.filters import ASCENDING, MemoryFilter, Sort, milliseconds
from chalicelib.domain.projection import Leg
from chalicelib.domain.scope import Scope
from chalicelib.domain.vitality import Retention
from chalicelib.search.opensearch.documents import cut, place

CLAUSES_MAX = 900
"""Words in one query: engines refuse more than 1,024 conditions, those of the filter included."""
EXPLORED_MIN = 64
"""Vectors that the graph of each segment is searched for at least, however few are wanted."""

Query = dict[str, Any]

_BARE: Query = {"_source": False, "stored_fields": "_none_", "track_total_hits": False}
_FOUND: Query = {**_BARE, "docvalue_fields": ["number", "said"]}
_HASH: Query = {**_BARE, "docvalue_fields": ["content_hash"]}

_FIELDS: dict[Sort, str] = {
    "newest": "recorded_at",
    "oldest": "recorded_at",
    "updated": "updated_at",
    "importance": "importance",
    "used": "use_count",
}

_VITALITY = """
double days = Math.max(0.0, (params.now - doc['used_since'].value) / 86400000.0);
int importance = doc['importance'].size() == 0 ? 5 : (int) doc['importance'].value;
double uses = doc['use_count'].value;
double strength = 50.0 + 50.0 * uses / (uses + 5.0);
return Math.floor(strength * Math.pow(0.5, days / params.half_lives[importance - 1]) * 10000.0 + 0.5);
"""


def within(
    scope: Scope,
    wanted: MemoryFilter | None = None,
    *,
    without: Iterable[int] = (),
    leg: Leg | None = None,
    erased: bool = False,
) -> Query:
    """The condition that every query carries: of the scope's space (and of one leg, among vectors), as `wanted`, none
    of the numbers `without`, no tombstones unless `erased`."""
    must: list[Query] = [{"term": {"space": place(scope.space, leg)}}]
    must_not: list[Query] = []
    if not erased:
        must.append({"term": {"tombstone": False}})
    if wanted is not None:
        must += _required(wanted)
        must_not += _refused(wanted)
    if numbers := sorted(without):
        must_not.append({"terms": {"number": numbers}})
    return {"bool": {"filter": must, "must_not": must_not}}


def header(scope: Scope, alias: str) -> str:
    """Where a query goes: to the shard of the space, and always to the same copy of it, so that pages and scores do
    not waver. An answer of a part of the shards counts as none."""
    key = scope.space.key
    return _json({"index": alias, "routing": key, "preference": key, "allow_partial_search_results": False})


def parameters(scope: Scope) -> dict[str, str]:
    """The same as `header`, for a query that goes alone."""
    key = scope.space.key
    return {"routing": key, "preference": key, "allow_partial_search_results": "false"}


def by_words(
    scope: Scope, leg: Leg, stems: Sequence[str], wanted: MemoryFilter, depth: int, without: Iterable[int]
) -> list[str]:
    """The best `depth` by BM25 of one field. Several queries when there are more words than one may have: their
    scores are to be added. A word that is asked twice counts twice."""
    times = Counter(cut(stems))
    terms = [{"term": {leg: {"value": stem, "boost": count}}} for stem, count in times.items()]
    condition = within(scope, wanted, without=without)
    parts = (terms[start : start + CLAUSES_MAX] for start in range(0, len(terms), CLAUSES_MAX))
    return [
        _json(
            {
                "query": {"bool": {"must": {"bool": {"should": part}}, "filter": condition}},
                "size": depth,
                **_FOUND,
            }
        )
        for part in parts
    ]


def by_meaning(
    scope: Scope, leg: Leg, vector: str, wanted: MemoryFilter, depth: int, without: Iterable[int]
) -> str:
    """The nearest `depth` to a vector (as JSON) in one field. The condition is inside: of those that match, exactly
    `depth`. It need not leave out tombstones, which have no vector."""
    near = {
        "k": depth,
        "filter": within(scope, wanted, without=without, leg=leg, erased=True),
        "method_parameters": {"ef_search": max(EXPLORED_MIN, depth)},
    }
    outer = {"size": depth, **_FOUND}
    return f'{{"query":{{"knn":{{"{leg}":{{"vector":{vector},{_json(near)[1:]}}}}},{_json(outer)[1:]}'


def listed(
    scope: Scope,
    wanted: MemoryFilter,
    *,
    order: list[Query],
    limit: int,
    after: tuple[int, int] | None,
    stems: Sequence[str],
) -> Query:
    """A part of the list, beyond the row with the sort value and the number of `after`. Of a text with more words
    than a query may have, the first are looked at."""
    words = [{"term": {"words": stem}} for stem in dict.fromkeys(cut(stems))][:CLAUSES_MAX]
    body = {
        "query": {"bool": {"filter": [within(scope, wanted), *words]}},
        "sort": order,
        "size": limit,
        **_BARE,
    }
    return body if after is None else {**body, "search_after": list(after)}


def order_of(sort: Sort, now: datetime, retention: Retention) -> list[Query]:
    """What `domain.filters.order` says: the sort value, then the number."""
    direction = "asc" if sort in ASCENDING else "desc"
    number = {"number": "asc" if sort == "oldest" else "desc"}
    if sort != "vitality":
        return [{_FIELDS[sort]: {"order": direction, "missing": 0}}, number]
    script = {
        "lang": "painless",
        "source": _VITALITY,
        "params": {"now": milliseconds(now), "half_lives": [float(days) for days in retention.half_lives]},
    }
    return [{"_script": {"type": "number", "order": direction, "script": script}}, number]


def counted(scope: Scope) -> Query:
    """How many there are in each state."""
    states = {"terms": {"field": "state", "size": 10}}
    return {"query": within(scope), "size": 0, "track_total_hits": False, "aggs": {"states": states}}


def held(scope: Scope, *, after: int, limit: int) -> Query:
    """Revision and content hash of all that the index holds of the space, tombstones too, by number."""
    return {
        "query": {"bool": {"filter": [within(scope, erased=True), {"range": {"number": {"gt": after}}}]}},
        "sort": [{"number": "asc"}],
        "size": limit,
        "version": True,
        **_HASH,
    }


def with_vectors(scope: Scope, leg: Leg, numbers: Sequence[int]) -> str:
    """Which of `numbers` have the vector of this leg, and of which revision."""
    among = {"terms": {"number": list(numbers)}}
    return _json(
        {
            "query": {"bool": {"filter": [within(scope, leg=leg), among]}},
            "size": len(numbers),
            "version": True,
            **_FOUND,
        }
    )


def _required(wanted: MemoryFilter) -> list[Query]:
    bounds = {"gte": wanted.importance_min, "lte": wanted.importance_max}
    given = {bound: value for bound, value in bounds.items() if value is not None}
    conditions = [
        _any_of("state", wanted.states),
        _any_of("category", wanted.category_in),
        _any_of("kind", wanted.kinds),
        {"range": {"importance": given}} if given else None,
        None if wanted.subject is None else {"term": {"subject": wanted.subject}},
        None if wanted.source is None else {"term": {"source": wanted.source}},
    ]
    return [condition for condition in conditions if condition]


def _refused(wanted: MemoryFilter) -> list[Query]:
    refused: list[Query] = []
    if wanted.category_not_in:
        refused.append({"terms": {"category": sorted(wanted.category_not_in)}})
    if wanted.exclude:
        refused.append({"terms": {"number": sorted(wanted.exclude)}})
    return refused


def _any_of(field: str, values: Collection[str] | None) -> Query | None:
    """Any of `values`; of none when they are empty, which is not the same as no condition."""
    return None if values is None else {"terms": {field: sorted(values)}}


def _json(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
