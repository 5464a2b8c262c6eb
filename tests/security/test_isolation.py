"""Nothing of one person reaches another (SPEC M6, M24; RELIABILITY S1; CASES "Wrong person, wrong room").

The attempts are a seeded slice; `python -m tests.security.isolation` is the full size. That they would find a leak is
shown by planting some.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.bootstrap import Parts
from chalicelib.domain.accounts import AccountCommit, EntityWrite
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.projection import ALL_LEGS, IndexQuery, Leg
from chalicelib.domain.scope import Right, Scope, Space
from chalicelib.domain.vitality import Retention
from chalicelib.services import cursors
from chalicelib.services.accounts.access import Access
from chalicelib.services.idempotency import Request
from tests.fakes.world import World
from tests.security.conditions import CONDITIONS, furnished
from tests.security.isolation import DOORS, TAGS, Attack, unseen
from tests.security.legs import foreign_hits
from tests.security.tenants import MARK, PEOPLE, Tenants

ATTEMPTS = 5_000


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.fixture
def tenants() -> Iterator[Tenants]:
    """An installation of people whose ids look alike."""
    made = Tenants()
    yield made
    made.close()


@pytest.fixture(scope="module")
def untouched() -> Iterator[Tenants]:
    """One for all tests that change nothing."""
    made = Tenants()
    yield made
    made.close()


@pytest.fixture(scope="module")
def just_written() -> Iterator[Tenants]:
    """One whose index has nothing yet, for all tests that change nothing."""
    made = Tenants(settled=False)
    yield made
    made.close()


def test_no_attempt_shows_or_changes_anything_of_another(tenants: Tenants) -> None:
    leaks = Attack(tenants, seed=1).run(ATTEMPTS)
    assert leaks.found == []
    assert leaks.statuses.total() >= ATTEMPTS - len(PEOPLE)
    assert list(unseen(leaks)) == []


@pytest.mark.parametrize("condition", sorted(CONDITIONS))
def test_nor_by_any_single_way_of_answering(condition: str) -> None:
    """CASES graphiti PR#752, PR#1670: one path missed the tenant filter. Each leg alone, indexed or just written, and
    each part that can be down: lists and searches come by another way then."""
    tenants = furnished(condition)
    try:
        leaks = Attack(tenants, seed=3).run(ATTEMPTS // 20)
        assert leaks.found == []
        assert leaks.seen["search_memories"] > 0
        assert leaks.seen["list_memories"] > 0
        assert leaks.foreign_cursors > 0
        assert leaks.replays > 0
    finally:
        tenants.close()


def test_the_attempts_go_through_every_door_to_memories() -> None:
    """A new door that nobody tries is a door that nobody guards."""
    bodies = {one.name for one in DOORS if one.tag in TAGS and one.body is not None}
    versioned = {"restore_memory", "erase_memory"}
    assert {name for name in bodies if not hasattr(Attack, f"_body_of_{name}")} == versioned


# ------------------------------------------------------------------ each leg by itself


@pytest.mark.parametrize("leg", sorted(ALL_LEGS))
def test_each_leg_of_the_index_finds_only_what_is_of_the_space(untouched: Tenants, leg: Leg) -> None:
    """CASES graphiti PR#752, PR#1670: one path missed the tenant filter."""
    assert foreign_hits(untouched, [leg]) == {}


@pytest.mark.parametrize("leg", sorted(ALL_LEGS))
def test_each_leg_passes_over_what_was_just_written_in_other_spaces(just_written: Tenants, leg: Leg) -> None:
    """Even when the entries of all spaces are handed to it: the index has none of them yet."""
    assert foreign_hits(just_written, [leg]) == {}


def test_lists_and_counts_of_the_index_are_of_the_space(untouched: Tenants) -> None:
    index, now = untouched.world.parts.index, untouched.world.now
    states = MemoryFilter().model_copy(update={"states": frozenset({"active", "retired", "trashed"})})
    for tenant in untouched.all:
        page = index.browse(
            tenant.scope, states, sort="newest", limit=500, now=now, retention=Retention(), text="lantern"
        )
        assert sorted(page.numbers) == tenant.numbers
        assert sum(index.counts(tenant.scope).values()) == len(tenant.numbers)
        found = index.indexed(tenant.scope, after=0, limit=500)
        assert [state.number for state in found] == tenant.numbers


# ------------------------------------------------------------------ identity at each boundary


def test_a_cursor_of_another_opens_none_of_their_list(tenants: Tenants) -> None:
    lists = ["memories?limit=2", "audit?limit=2", "memories/1/history?limit=1"]
    edit = {"version": 1, "importance": 9}
    assert tenants.ask("anna1", "PATCH", "/v1/spaces/personal/memories/1", edit).status == 200
    for listed in lists:
        theirs = tenants.ask("anna1", "GET", f"/v1/spaces/personal/{listed}").json["next"]
        assert theirs is not None
        path = f"/v1/spaces/personal/{listed}&cursor={theirs}"
        assert tenants.ask("anna1", "GET", path).status == 200
        assert tenants.ask("anna", "GET", path).fields == ["cursor"]


def test_the_idempotency_key_of_another_answers_nothing_of_theirs(tenants: Tenants) -> None:
    """Two people send the same request under the same key: each gets an own memory."""
    body, headers = {"text": "the very same words"}, {"Idempotency-Key": "same"}
    answers = [
        tenants.ask(person, "POST", "/v1/spaces/personal/memories", body, headers=headers)
        for person in ("anna", "anna1")
    ]
    assert [answer.status for answer in answers] == [201, 201]
    numbers = [answer.json["memory"]["number"] for answer in answers]
    assert numbers[0] != numbers[1]
    assert [answer.json["memory"]["recorded_by"]["id"] for answer in answers] == ["anna", "anna1"]


def test_what_is_said_just_before_is_never_taken_from_another(tenants: Tenants) -> None:
    """CASES hermes-agent#64340: the same conversation and place in two spaces."""
    body = {"text": "And then?", "source": {"conversation": "talk-shared", "position": 3}}
    for tenant in tenants.all:
        reader = tenant.readers[0]
        added = tenants.ask(reader, "POST", f"/v1/spaces/{tenant.space.name}/memories", body)
        assert set(MARK.findall(added.text)) <= {tenant.canary, tenant.label}
        assert tenant.canary in added.json["memory"]["context"]


def test_a_space_that_one_may_not_know_of_looks_like_one_that_is_not_there(tenants: Tenants) -> None:
    """And so does everything in it, whatever is asked of it."""
    real, unreal = "project:rocket", "project:nothing"
    for door in DOORS:
        if not door.path.startswith("/v1/spaces/{space}"):
            continue
        parts = {"number": 1, "category": "cat_x", "change": "1-1", "job": "job_x"}
        said = [
            tenants.ask(
                "anna", door.method, door.path.format(space=space, **parts), Attack(tenants, 1)._body(door)
            )
            for space in (real, unreal)
        ]
        assert said[0].text == said[1].text, door.name
        assert said[0].status in {404, 422}


def test_access_ends_with_membership_for_every_door(tenants: Tenants) -> None:
    path = "/v1/spaces/project:rocket1/memories"
    assert tenants.ask("anna", "GET", path).status == 200
    accounts = tenants.world.parts.accounts
    member = accounts.member("rocket1", "anna")
    assert member is not None
    leaves = EntityWrite(entity=member, expected=member.version, delete=True)
    accounts.commit(AccountCommit(writes=(leaves,)))
    for door in DOORS:
        if door.path.startswith("/v1/spaces/{space}"):
            parts = {"space": "project:rocket1", "number": 1, "category": "x", "change": "1-1", "job": "x"}
            asked = tenants.ask(
                "anna", door.method, door.path.format(**parts), Attack(tenants, 1)._body(door)
            )
            assert asked.status in {404, 422}, door.name


# ------------------------------------------------------------------ planted leaks


class Leaky:
    """A store some of whose methods forget the scope, and look everywhere."""

    def __init__(self, store: Any, methods: Sequence[str]) -> None:
        self._store = store
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        good = getattr(self._store, name)
        return self._forgetful(good) if name in self._methods else good

    def _forgetful(self, good: Callable[..., Any]) -> Callable[..., Any]:
        def everywhere(scope: Scope, *what: Any, **more: Any) -> Any:
            result = good(scope, *what, **more)
            for space in self._store.spaces():
                there = good(scope.model_construct(**{**vars(scope), "space": space}), *what, **more)
                if isinstance(there, list):
                    result = result + [one for one in there if one not in result]
                elif isinstance(there, dict):
                    result = {**there, **result}
                else:
                    result = result or there
            return result

        return everywhere


def attack_on(planted: Callable[[Parts], Parts], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the attempts find when all is well until the tenants have settled, and `planted` from then on."""
    tenants = Tenants()
    try:
        services = bootstrap.build(
            tenants.world.services.settings, planted(tenants.world.parts), tenants.world.clock
        )
        bootstrap.use(services)
        return Attack(tenants, seed=2).run(ATTEMPTS).found
    finally:
        tenants.close()


@pytest.mark.parametrize(
    "methods",
    [
        ["get"],
        ["get_many"],
        ["page"],
        ["history"],
        ["categories"],
        ["at_position", "get_many"],
    ],
    ids="+".join,
)
def test_a_store_that_forgets_the_scope_is_found_out(
    monkeypatch: pytest.MonkeyPatch, methods: list[str]
) -> None:
    def plant(parts: Parts) -> Parts:
        return replace(parts, memories=Leaky(parts.memories, methods))

    assert attack_on(plant, monkeypatch) != []


@pytest.mark.parametrize("leg", sorted(ALL_LEGS))
def test_a_leg_that_forgets_the_scope_is_found_out_though_the_table_is_asked_again(
    untouched: Tenants, monkeypatch: pytest.MonkeyPatch, leg: Leg
) -> None:
    """And no other leg is blamed."""
    index = untouched.world.parts.index
    search = index.search

    def everywhere(scope: Scope, queries: Sequence[IndexQuery]) -> Any:
        if queries[0].legs != {leg}:
            return search(scope, queries)
        found = [search(tenant.scope, queries) for tenant in untouched.all]
        return [[hit for answer in found for hit in answer[place]] for place in range(len(queries))]

    monkeypatch.setattr(index, "search", everywhere)
    found = foreign_hits(untouched)
    assert len(found) == len(untouched.all)
    assert all(place.endswith(f" by {leg}") for place in found)


def test_fresh_entries_that_forget_the_scope_are_found_out(
    just_written: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that takes whatever it is handed for its own."""
    index = just_written.world.parts.index
    search = index.search

    def believing(scope: Scope, queries: Sequence[IndexQuery]) -> Any:
        mine = [
            replace(query, fresh=tuple(replace(entry, space=scope.space) for entry in query.fresh))
            for query in queries
        ]
        return search(scope, mine)

    monkeypatch.setattr(index, "search", believing)
    assert foreign_hits(just_written, ["words"]) != {}


def test_cursors_that_are_not_bound_to_their_list_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though what such a cursor opens need not hold a word of another."""
    monkeypatch.setattr(cursors, "_fingerprint", lambda _of: "any list")
    found = attack_on(lambda parts: parts, monkeypatch)
    assert any("opened by a cursor of" in one for one in found)


def test_idempotency_records_that_forget_their_owner_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def plant(parts: Parts) -> Parts:
        outcome = parts.inbox.outcome

        def anybodys(owner: str, key: str, now: Any) -> Any:
            found = (outcome(person, key, now) for person in (owner, *PEOPLE))
            return next((record for record in found if record is not None), None)

        monkeypatch.setattr(parts.inbox, "outcome", anybodys)
        return parts

    assert any("the answer of another" in one for one in attack_on(plant, monkeypatch))


def test_access_that_lets_everybody_in_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Access, "_allowed", lambda *_: frozenset(Right))
    assert attack_on(lambda parts: parts, monkeypatch) != []


def test_a_write_into_the_space_of_another_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when no answer shows it."""

    def plant(parts: Parts) -> Parts:
        store = parts.memories
        touch = store.touch

        def anywhere(scope: Scope, numbers: Sequence[int], at: Any) -> None:
            touch(scope.model_construct(**{**vars(scope), "space": Space.personal("ann")}), numbers, at)

        monkeypatch.setattr(store, "touch", anywhere)
        return parts

    assert any("changed what is stored" in one for one in attack_on(plant, monkeypatch))


def test_nobody_owns_a_request_of_nobody() -> None:
    """CASES Shapes docs: a missing author fell to the key's owner."""
    world = World()
    with pytest.raises(ValueError, match="owner"):
        Request(key="k", hash="h", now=world.now)  # type: ignore[call-arg]
    world.database.close()
