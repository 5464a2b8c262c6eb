"""Whoever comes without an identity is refused at every boundary, and nothing is read or written for nobody (SPEC M24;
CASES: moorcheh-ai/memanto PR#1873, PR#1891; CortexReach/memory-lancedb-pro#10).

The calls are generated: every method of every port and every use case that takes a scope, a caller, a space or an owner
is called with none, in every form that "none" has. (The front and the keys: `tests/unit/web/test_doors.py`.)
"""

import inspect
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from datetime import timedelta
from typing import Any, NamedTuple, Protocol, get_type_hints

import pytest

from chalicelib import bootstrap, ports
from chalicelib.domain import drafts
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.projection import IndexQuery
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Right, Scope, Space
from chalicelib.domain.vitality import Retention
from chalicelib.errors import PalimpsestError
from chalicelib.search import text
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.search.opensearch.mappings import FORMAT
from chalicelib.services.idempotency import Request
from tests.contracts.stores import given
from tests.fakes.engines import world_on
from tests.fakes.opensearch_engine import FakeEngine
from tests.fakes.world import World

IDENTITIES = ("scope", "caller", "space", "owner")
NOBODY: dict[str, Any] = {
    "None": None,
    "empty text": "",
    "a name": "anna",
    "an empty list": [],
    "a list of names": ["anna"],
    "an empty object": {},
    "nothing at all": Scope.model_construct(),
    "a scope of no space": Scope.model_construct(
        actor=None, space=None, rights=frozenset(Right), place="http", project=None
    ),
    "a scope of an empty list": Scope.model_construct(
        actor=None, space=[], rights=frozenset(Right), place="http", project=None
    ),
}
"""What is no identity, whatever an integration hands on in its place."""
REFUSALS = (PalimpsestError, TypeError, AttributeError, ValueError, sqlite3.ProgrammingError)
"""What nobody is refused with; a part that is down refuses nobody."""


class Boundary(NamedTuple):
    """A method that is to be told for whom it works."""

    owner: str
    method: str

    def identity(self, of: type) -> str:
        """The name of its first parameter, which is the identity."""
        return list(inspect.signature(getattr(of, self.method)).parameters)[1]


def boundaries(owner: str, of: type) -> Iterator[Boundary]:
    """The methods of a port or a use case that take an identity."""
    for name, method in inspect.getmembers(of, inspect.isfunction):
        parameters = list(inspect.signature(method).parameters)
        if not name.startswith("_") and len(parameters) > 1 and parameters[1] in IDENTITIES:
            yield Boundary(owner, name)


PORTS = {
    name: port for name, port in vars(ports).items() if isinstance(port, type) and Protocol in port.__bases__
}
OF_PORTS = [boundary for name, port in PORTS.items() for boundary in boundaries(name, port)]
HINTS = get_type_hints(bootstrap.Services)
USE_CASES = {
    one.name: HINTS[one.name] for one in fields(bootstrap.Services) if inspect.isclass(HINTS[one.name])
}
OF_USE_CASES = [boundary for name, kind in USE_CASES.items() for boundary in boundaries(name, kind)]


def test_the_list_of_boundaries_is_long() -> None:
    """A change of names must not empty it."""
    assert {boundary.owner for boundary in OF_PORTS} == {"MemoryStore", "InboxStore", "SearchIndex"}
    assert len(OF_PORTS) >= 25
    assert len(OF_USE_CASES) > 50


# ------------------------------------------------------------------ what else they are told


def arguments(boundary: Boundary, method: Callable[..., Any], world: World) -> dict[str, Any]:
    """Everything but the identity that a method needs, by the names of its parameters."""
    own = by_draft(method) | {
        "number": 1, "numbers": [1], "count": 1, "after": None, "limit": 10, "places": [("talk", 1)], "at": world.now,
        "target": "1", "version": 1, "group": "grp_1", "model": "m", "job": "job_1", "now": world.now, "key": "k",
        "wanted": MemoryFilter(), "sort": "newest", "retention": Retention(), "change_id": "1-1", "category": None,
        "queries": [IndexQuery(text="tea", filter=MemoryFilter(), depth=5)], "vectors": [given.vector(1)],
        "commit": Commit(idempotency=given.once()), "memories": [given.memory(1)], "request": world.request("once"),
        "filters": drafts.SearchFilters(), "by_model": False, "ending": drafts.Ending(), "job_id": "job_1",
        "more_time": lambda: True, "drafts": [drafts.NewMemory(text="tea")], "project": "rocket", "cursor": None,
        "account": "anna", "platform": "discord", "community": "1001", "name": "personal", "right": Right.READ,
        "idle": timedelta(0), "last": 1,
    }  # fmt: skip
    if boundary.owner == "categories":
        own["category"] = "cat_1"
    if boundary.method in {"changes", "audit"}:
        own["after"] = None
    if boundary.method == "indexed":
        own["after"] = 0
    if boundary.owner == "keys":
        own["key"] = "key_1"
    wanted = list(inspect.signature(method).parameters.values())[2:]
    missing = [one.name for one in wanted if one.name not in own and one.default is one.empty]
    assert missing == [], f"{boundary}: what is {missing}?"
    return {one.name: own[one.name] for one in wanted if one.name in own and one.default is one.empty}


DRAFTS: Mapping[str, dict[str, Any]] = {
    "NewMemory": {"text": "tea"}, "Edit": {"version": 1, "text": "tea"}, "Search": {"query": "tea"},
    "Recall": {"query": "tea"}, "Merge": {"numbers": (1, 2), "versions": {"1": 1, "2": 1}, "text": "tea"},
    "Bulk": {"op": "delete", "numbers": (1,)}, "NewJob": {"kind": "reindex"}, "NewCategory": {"name": "Work"},
    "CategoryEdit": {"version": 1, "name": "Work"}, "NewAccount": {"name": "Berta"}, "AccountEdit": {"name": "B"},
    "NewKey": {"name": "phone", "scopes": ["read"]}, "NewProject": {"name": "rocket"}, "ProjectEdit": {"name": "r"},
    "NewMember": {"account": "anna"}, "NewCommunity": {"platform": "discord", "id": "7", "name": "Den"},
    "CommunityEdit": {"name": "Den"}, "NewTeamMember": {"account": "anna"}, "TeamMemberEdit": {"configure": True},
    "InstallationEdit": {"recall": {"memories": 5}}, "PersonalSettingsEdit": {"maintenance": True},
    "Arrivals": {
        "space": {
            "record": "space", "format": 1, "export": "exp_1", "as_of": "2026-05-04T08:00:00Z", "kind": "personal",
            "id": "anna", "created_at": "2026-05-03T08:00:00Z", "last_number": 3,
        },
        "items": (),
    },
}  # fmt: skip


def by_draft(method: Callable[..., Any]) -> dict[str, Any]:
    """The draft that a use case takes, if any."""
    hints = get_type_hints(inspect.unwrap(method))
    kind = hints.get("draft")
    if kind is None:
        return {}
    assert kind.__name__ in DRAFTS, f"what does a {kind.__name__} say?"
    return {"draft": kind(**DRAFTS[kind.__name__])}


# ------------------------------------------------------------------ refused


@pytest.fixture(scope="module", params=["sqlite", "moto"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Anna, an admin, with a memory of her own."""
    with world_on(request.param, admin=True) as made:
        made.add_project("rocket")
        made.add("green tea", source={"conversation": "talk", "position": 1})
        made.settle()
        yield made


def port_of(world: World, boundary: Boundary) -> Any:
    """The adapter that implements the port of a boundary."""
    return {
        "MemoryStore": world.parts.memories,
        "InboxStore": world.parts.inbox,
        "SearchIndex": world.parts.index,
    }[boundary.owner]


def kept(world: World) -> str:
    """All that is kept of memories, and whether a request counts as done."""
    store, scope = world.parts.memories, world.scope()
    done = [
        world.parts.inbox.outcome(owner, key, world.now)
        for owner, key in (("anna", "once"), ("acc_1", "key-1"))
    ]
    page = store.page(scope, after=None, limit=100)
    return repr(
        (page, done, store.changes(scope, after=None, limit=100), store.jobs(scope, 9), list(store.spaces()))
    )


def refuse_all(call: Callable[..., Any], identity: str, more: dict[str, Any], harmless: Any = ()) -> None:
    """Call without an identity, and with everything that is none. `harmless`: answers that say nothing."""
    with pytest.raises(TypeError):
        call(**more)
    for said, nobody in NOBODY.items():
        try:
            answer = call(**{identity: nobody, **more})
        except REFUSALS:
            continue
        assert answer in harmless, f"{said} was answered {answer!r}"


@pytest.mark.parametrize("boundary", OF_PORTS, ids=".".join)
def test_no_store_and_no_index_does_anything_for_nobody(world: World, boundary: Boundary) -> None:
    adapter = port_of(world, boundary)
    call = getattr(adapter, boundary.method)
    more = arguments(boundary, getattr(PORTS[boundary.owner], boundary.method), world)
    before = kept(world)
    refuse_all(call, boundary.identity(PORTS[boundary.owner]), more, harmless=(None, False))
    assert kept(world) == before


@pytest.mark.parametrize("boundary", [one for one in OF_PORTS if one.owner == "SearchIndex"], ids=".".join)
def test_opensearch_is_asked_nothing_for_nobody(world: World, boundary: Boundary) -> None:
    ours = {"aliases": {"palimpsest-words": {}}, "mappings": {"_meta": {"palimpsest": FORMAT}}}
    engine = FakeEngine((200, {"palimpsest-words-g0123456789abcdef": ours}))
    index = OpenSearchIndex(engine.client(), text)
    more = arguments(boundary, getattr(PORTS[boundary.owner], boundary.method), world)
    refuse_all(getattr(index, boundary.method), "scope", more)
    assert [path for _, path, _ in engine.asked if "_search" in path] == []


@pytest.mark.parametrize("boundary", OF_USE_CASES, ids=".".join)
def test_no_use_case_works_for_nobody(world: World, boundary: Boundary) -> None:
    call = getattr(getattr(world.services, boundary.owner), boundary.method)
    kind = USE_CASES[boundary.owner]
    more = arguments(boundary, getattr(kind, boundary.method), world)
    before = kept(world)
    refuse_all(call, boundary.identity(kind), more)
    assert kept(world) == before


@pytest.mark.parametrize("boundary", OF_PORTS + OF_USE_CASES, ids=".".join)
def test_with_an_identity_the_same_call_is_understood(boundary: Boundary) -> None:
    """Else all of the above would prove nothing: the calls would fail for another reason."""
    with world_on("sqlite", admin=True) as world:
        world.add_project("rocket")
        world.add("green tea")
        if boundary.owner in PORTS:
            adapter, kind = port_of(world, boundary), PORTS[boundary.owner]
        else:
            adapter, kind = getattr(world.services, boundary.owner), USE_CASES[boundary.owner]
        more = arguments(boundary, getattr(kind, boundary.method), world)
        identity = boundary.identity(kind)
        somebody = {"scope": world.scope(), "space": Space.personal("anna"), "owner": "anna"}
        call = getattr(adapter, boundary.method)
        with suppress(PalimpsestError):  # understood, and refused for what it asked
            call(**{identity: somebody.get(identity) or caller_of(world), **more})


def caller_of(world: World) -> Any:
    """Anna, with a key."""
    anna = world.parts.accounts.account("anna")
    assert anna is not None
    key = world.services.founding.new_key(anna, "key", world.now).plain
    return world.services.sign_in.authenticate(f"Bearer {key}", world.now)


def test_a_request_of_nobody_cannot_be_made(world: World) -> None:
    """CASES Shapes docs: a missing author fell to the key's owner."""
    with pytest.raises(ValueError, match="owner"):
        Request(key="k", hash="h", now=world.now)  # type: ignore[call-arg]
    for nobody in (None, [], {}, ["anna"]):
        with pytest.raises(ValueError, match="owner"):
            Request(owner=nobody, key="k", hash="h", now=world.now)  # type: ignore[arg-type]


def test_a_use_case_that_falls_back_to_somebody_is_found_out(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As integrations do that call everybody `main`."""
    read = world.services.read.get

    def falling_back(scope: Any, number: int) -> Any:
        return read(scope or world.scope(), number)

    with pytest.raises(AssertionError, match="was answered"):
        refuse_all(falling_back, "scope", {"number": 1})
