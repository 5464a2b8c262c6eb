"""What the engine is asked: always of one space, and exactly as the filter says."""

import inspect
import json
import re
from datetime import UTC, datetime

import pytest

from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import State
from chalicelib.domain.projection import IndexQuery
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.domain.vitality import Retention
from chalicelib.search import text
from chalicelib.search.opensearch import queries
from chalicelib.search.opensearch.layout import Names
from chalicelib.search.opensearch.legs import legs_of

SCOPE = Scope(
    actor=Actor(kind="person", id="ann"), space=Space.personal("ann"), rights=frozenset(Right), place="http"
)
OF_THE_SPACE = {"term": {"space": "account#ann"}}
ANY = MemoryFilter()


def _builders():
    return [
        function
        for name, function in vars(queries).items()
        if inspect.isfunction(function)
        and function.__module__ == queries.__name__
        and not name.startswith("_")
        and name != "order_of"
    ]


def test_every_query_takes_the_scope_first():
    assert len(_builders()) >= 7
    for builder in _builders():
        first = next(iter(inspect.signature(builder).parameters.values()))
        assert (first.name, first.default) == ("scope", inspect.Parameter.empty)


@pytest.mark.parametrize("nobody", [None, "", [], "account#ann", {}])
def test_without_a_scope_there_is_no_query(nobody):
    """CASES: memanto PR#1873: a missing tenant failed open."""
    for build in (
        lambda: queries.within(nobody),
        lambda: queries.header(nobody, "x-words"),
        lambda: queries.parameters(nobody),
        lambda: queries.by_words(nobody, "words", ["a"], ANY, 5, ()),
        lambda: queries.by_meaning(nobody, "meaning", "[1]", ANY, 5, ()),
        lambda: queries.counted(nobody),
        lambda: queries.held(nobody, after=0, limit=1),
        lambda: queries.with_vectors(nobody, "meaning", [1]),
        lambda: queries.listed(nobody, ANY, order=[], limit=1, after=None, stems=[]),
    ):
        with pytest.raises(AttributeError):
            build()


def _all_bodies():
    query = IndexQuery(text="a lantern", filter=ANY, depth=7, model="m-2-1", vector=bytes(8))
    for leg in legs_of(SCOPE, Names("p"), query, text, without=()):
        yield from map(json.loads, leg.bodies)
    yield queries.counted(SCOPE)
    yield queries.held(SCOPE, after=0, limit=5)
    yield json.loads(queries.with_vectors(SCOPE, "meaning", [1, 2]))
    yield queries.listed(SCOPE, ANY, order=[], limit=5, after=None, stems=[])


def test_the_condition_on_the_space_is_in_every_leg_and_every_list():
    """CASES: graphiti PR#752: the full-text path missed the tenant filter."""
    bodies = list(_all_bodies())
    assert len(bodies) == 8
    for body in bodies:
        assert re.search(
            r'{"term": {"space": "account#ann(#(context_)?meaning)?"}}', json.dumps(body["query"])
        )
        assert body["track_total_hits"] is False
        assert body.get("_source", False) is False


def test_it_is_inside_the_search_for_neighbours_not_after_it():
    body = json.loads(queries.by_meaning(SCOPE, "meaning", "[0.5,1]", ANY, 7, ()))
    near = body["query"]["knn"]["meaning"]
    assert {"term": {"space": "account#ann#meaning"}} in near["filter"]["bool"]["filter"]
    assert near["vector"] == [0.5, 1]
    assert near["k"] == body["size"] == 7


def test_every_query_goes_to_the_shard_of_its_space():
    assert json.loads(queries.header(SCOPE, "p-words")) == {
        "index": "p-words",
        "routing": "account#ann",
        "preference": "account#ann",
        "allow_partial_search_results": False,
    }
    assert queries.parameters(SCOPE)["allow_partial_search_results"] == "false"


def test_a_filter_becomes_conditions_one_for_one():
    wanted = MemoryFilter(
        states=frozenset({State.RETIRED, State.ACTIVE}),
        category_in=frozenset({"b", "a"}),
        category_not_in=frozenset({"c"}),
        kinds=frozenset({"user"}),
        importance_min=3,
        importance_max=9,
        subject="server",
        source="talk-1",
        exclude=frozenset({5, 4}),
    )
    assert queries.within(SCOPE, wanted, without={9, 8}) == {
        "bool": {
            "filter": [
                OF_THE_SPACE,
                {"term": {"tombstone": False}},
                {"terms": {"state": ["active", "retired"]}},
                {"terms": {"category": ["a", "b"]}},
                {"terms": {"kind": ["user"]}},
                {"range": {"importance": {"gte": 3, "lte": 9}}},
                {"term": {"subject": "server"}},
                {"term": {"source": "talk-1"}},
            ],
            "must_not": [
                {"terms": {"category": ["c"]}},
                {"terms": {"number": [4, 5]}},
                {"terms": {"number": [8, 9]}},
            ],
        }
    }


def test_an_empty_set_is_a_condition_that_nothing_meets():
    for field, name in (("states", "state"), ("category_in", "category"), ("kinds", "kind")):
        built = queries.within(SCOPE, MemoryFilter(**{field: frozenset()}))
        assert {"terms": {name: []}} in built["bool"]["filter"]


def test_no_condition_is_no_condition():
    plain = queries.within(SCOPE, MemoryFilter(category_not_in=frozenset()))
    assert plain["bool"]["filter"][2:] == [{"terms": {"state": ["active"]}}]
    assert plain["bool"]["must_not"] == []
    assert queries.within(SCOPE, erased=True) == {"bool": {"filter": [OF_THE_SPACE], "must_not": []}}
    one_bound = queries.within(SCOPE, MemoryFilter(importance_max=2))
    assert {"range": {"importance": {"lte": 2}}} in one_bound["bool"]["filter"]


def test_a_word_that_is_asked_twice_counts_twice():
    (body,) = map(json.loads, queries.by_words(SCOPE, "words", ["a", "b", "a"], ANY, 5, ()))
    assert body["query"]["bool"]["must"]["bool"]["should"] == [
        {"term": {"words": {"value": "a", "boost": 2}}},
        {"term": {"words": {"value": "b", "boost": 1}}},
    ]


def test_a_query_of_very_many_words_is_sent_in_parts():
    """Engines refuse more than 1,024 conditions."""
    stems = [f"w{n}" for n in range(2 * queries.CLAUSES_MAX + 1)] * 2
    parts = [json.loads(part) for part in queries.by_words(SCOPE, "words", stems, ANY, 5, ())]
    sent = [part["query"]["bool"]["must"]["bool"]["should"] for part in parts]
    assert [len(should) for should in sent] == [queries.CLAUSES_MAX, queries.CLAUSES_MAX, 1]
    assert len({json.dumps(term) for should in sent for term in should}) == len(stems) // 2
    listed = queries.listed(SCOPE, ANY, order=[], limit=5, after=None, stems=stems)
    assert len(listed["query"]["bool"]["filter"]) == queries.CLAUSES_MAX + 1


def test_a_stem_of_any_length_is_cut_as_it_was_when_indexed():
    (body,) = map(json.loads, queries.by_words(SCOPE, "words", ["щ" * 40_000], ANY, 5, ()))
    (term,) = body["query"]["bool"]["must"]["bool"]["should"]
    assert term["term"]["words"]["value"] == "щ" * 100


def test_what_a_filter_says_cannot_become_part_of_the_query():
    nasty = '","number":{"gt":0}},"x":{"y":"'
    body = json.loads(queries.by_meaning(SCOPE, "meaning", "[1]", MemoryFilter(subject=nasty), 5, ()))
    assert {"term": {"subject": nasty}} in body["query"]["knn"]["meaning"]["filter"]["bool"]["filter"]


def test_a_list_goes_on_beyond_a_row():
    body = queries.listed(SCOPE, ANY, order=[{"number": "asc"}], limit=5, after=(7, 3), stems=["a", "a", "b"])
    assert body["search_after"] == [7, 3]
    assert body["query"]["bool"]["filter"][1:] == [{"term": {"words": "a"}}, {"term": {"words": "b"}}]


@pytest.mark.parametrize(
    ("sort", "field", "direction", "numbers"),
    [
        ("newest", "recorded_at", "desc", "desc"),
        ("oldest", "recorded_at", "asc", "asc"),
        ("updated", "updated_at", "desc", "desc"),
        ("importance", "importance", "desc", "desc"),
        ("used", "use_count", "desc", "desc"),
    ],
)
def test_a_list_is_sorted_by_its_field_then_by_number(sort, field, direction, numbers):
    assert queries.order_of(sort, datetime(2026, 1, 1, tzinfo=UTC), Retention()) == [
        {field: {"order": direction, "missing": 0}},
        {"number": numbers},
    ]


def test_vitality_is_computed_by_a_script_with_its_settings_as_parameters():
    """The script's text never changes, so the engine compiles it once."""
    first, _ = queries.order_of("vitality", datetime(1970, 1, 2, tzinfo=UTC), Retention())
    other, _ = queries.order_of("vitality", datetime(1970, 1, 3, tzinfo=UTC), Retention(half_lives=(1,) * 10))
    script = first["_script"]["script"]
    assert script["params"] == {"now": 86_400_000, "half_lives": [1, 3, 7, 14, 21, 30, 45, 60, 90, 180]}
    assert script["source"] == other["_script"]["script"]["source"]
    assert first["_script"]["order"] == "asc"
