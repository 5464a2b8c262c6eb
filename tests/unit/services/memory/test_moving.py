"""Moving a space: what goes out comes in, whole, once, whatever happens on the way."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.domain.category import CATEGORIES_MAX
from chalicelib.domain.change import Change
from chalicelib.domain.drafts import Edit
from chalicelib.domain.moving import memory_record
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Right, Scope, Space
from chalicelib.errors import StaleVersionError, StoreUnavailableError
from chalicelib.services.cursors import Place, write_cursor
from chalicelib.services.memory import bundles
from chalicelib.services.memory import export as export_module
from tests.contracts.stores import given as stored
from tests.fakes.client import Reply
from tests.fakes.moving import MEMORIES, SPACE, Installation, Life, Record, bring, export, send, told
from tests.fakes.world import World


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


def another() -> Installation:
    """Another installation, as each is at first; and the id of its category."""
    world = World(admin=True)
    world.category(default=True)
    return Installation(world)


def own(client: Installation) -> str:
    """The category that was there at first."""
    return str(client.get(f"{SPACE}/categories").json["items"][0]["id"])


@pytest.fixture
def there() -> Iterator[Installation]:
    """Where things are brought: another installation, with a category of its own, as each has at first."""
    made = another()
    yield made
    made.world.database.close()


def lived(seed: int = 1, steps: int = 60) -> Life:
    life = Life(World(admin=True), seed)
    life.live(steps)
    return life


def arrived(client: Installation, own: str) -> list[Record]:
    """What is there beside the category that was there before."""
    return [one for one in export(client) if own not in (one.get("id"), one.get("category"))]


def code(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.json["error"]["message"]


# ------------------------------------------------------------------ whole


@pytest.mark.parametrize("seed", range(100, 112))
def test_whatever_was_lived_comes_over_whole(seed: int) -> None:
    chance = random.Random(seed)
    out, back = chance.choice((1, 2, 7, 200)), chance.choice((1, 3, 40, 500))
    life = lived(seed, 40)
    records = export(life.client, out)
    world = World(admin=True)
    world.now = life.world.now
    client = Installation(world)
    bring(client, records, back)
    assert told(export(client)) == told(records)
    assert told(export(life.client)) == told(records)
    assert not [word for word in life.erased if word in json.dumps(records)]
    assert not [word for word in life.erased if word in "".join(world.database_dump())]


def test_what_was_brought_can_be_read_searched_undone_and_goes_on(there: Installation) -> None:
    here = Installation(World(admin=True))
    for text in ("Anna likes tea.", "Anna likes green tea.", "Snow is white."):
        here.post(MEMORIES, {"text": text, "importance": 7})
    here.patch(f"{MEMORIES}/3", {"version": 1, "text": "Snow is cold."})
    versions = {"1": 1, "2": 1}
    here.post(f"{MEMORIES}/merge", {"numbers": [1, 2], "versions": versions, "text": "Anna drinks tea."})
    here.world.parts.memories.reserve(here.world.scope(), 3)
    history = [here.get(f"{MEMORIES}/{number}/history").json for number in range(1, 5)]
    bring(there, export(here))
    assert [there.get(f"{MEMORIES}/{number}/history").json for number in range(1, 5)] == history
    there.world.settle()
    assert there.world.find("cold snow")[0] == 3
    assert there.post(f"{SPACE}/search", {"query": "tea"}).json["degraded"] is None
    assert there.post(f"{SPACE}/changes/4-1/undo").status == 200
    states = [there.get(f"{MEMORIES}/{number}").json["memory"]["state"] for number in (1, 2, 4)]
    assert states == ["active", "active", "trashed"]
    assert there.post(f"{SPACE}/changes/3-2/undo").json["memories"][0]["text"] == "Snow is white."
    assert there.post(MEMORIES, {"text": "Grass is green."}).json["memory"]["number"] == 8


def test_a_context_that_was_brought_is_searched_and_none_is_missed_where_one_is_awaited(
    there: Installation,
) -> None:
    """The record says that there are contexts from the page on that brings the first; and goes on saying so where
    somebody is about to store one."""
    life = lived(1, 0)
    post = life.client.post
    for position, said in enumerate(["Which instrument does Tom play?", "The cello, since school."]):
        post(MEMORIES, {"text": said, "source": {"conversation": "c", "position": position}})
    plain, spoken = another(), there
    records = export(life.client)
    whole, *items = records
    second = [one for one in items if one.get("number") == 2]
    first = [one for one in items if one not in second]
    assert send(spoken, whole, first).status == 200
    assert not with_context(spoken)
    assert send(spoken, whole, second).status == 200
    assert with_context(spoken)
    spoken.world.settle()
    [tom] = [
        one
        for one in spoken.post(f"{SPACE}/search", {"query": "Tom instrument", "explain": True}).json["items"]
        if one["memory"]["number"] == 2
    ]
    assert tom["legs"]["context_words"] > 0

    here = plain.world.services.remember.spaces.look(plain.world.scope(), Right.WRITE)
    plain.world.services.remember.spaces.expect_contexts(
        here, plain.world.services.remember.embedding.first_record(here.scope.space, plain.world.now)
    )
    assert send(plain, whole, first).status == 200
    assert with_context(plain)


def with_context(client: Installation) -> bool:
    record = client.world.parts.memories.space(client.world.scope())
    assert record is not None
    return record.with_context


def test_its_vectors_are_made_where_it_comes_to(there: Installation) -> None:
    life = lived()
    bring(there, export(life.client))
    there.world.settle()
    scope, model = there.world.scope(), there.world.embedder.model.fingerprint  # type: ignore[union-attr]
    active = [one["number"] for one in there.get(f"{MEMORIES}?limit=200").json["items"]]
    kept = {one.number for one in there.world.parts.memories.vectors(scope, active, model)}
    assert kept == set(active)
    found = there.world.services.reconciler.compare(scope.space)
    assert (found.count, found.checked > 5) == (0, True)


def test_what_its_owner_did_is_its_new_owners(there: Installation) -> None:
    world = there.world
    world.add_account("berta")
    berta = world.parts.accounts.account("berta")
    assert berta is not None
    key = world.services.founding.new_key(berta, "key", world.now).plain
    records = export(lived().client)
    reply = there.ask("POST", f"{SPACE}/import", {"space": records[0], "items": records[1:]}, key=key)
    assert reply.status == 200
    acts = there.get(f"{SPACE}/audit?limit=200", key=key).json["items"]
    assert {act["by"]["id"] for act in acts} == {"berta"}
    memories = there.get(f"{MEMORIES}?state=all", key=key).json["items"]
    assert {memory["recorded_by"]["id"] for memory in memories} == {"berta"}
    assert there.get(f"{MEMORIES}?state=all").json["items"] == []


def test_a_pool_goes_into_another_pool_and_its_own_categories_with_it() -> None:
    here, there = Installation(World(admin=True)), Installation(World(admin=True))
    source, target = here.world.add_project("rocket"), there.world.add_project("garden")
    path, other = f"/v1/spaces/{source.name}", f"/v1/spaces/{target.name}"
    here.post(f"{path}/categories", {"name": "Own", "project": "rocket"})
    here.post(f"{path}/memories", {"text": "tea", "category": "Own"})
    records = export(here, space=path)
    bring(there, records, space=other)
    [category] = there.get(f"{other}/categories").json["items"]
    assert category["project"] == "garden"
    assert there.get(f"{other}/memories/1").json["memory"]["recorded_by"]["id"] == "anna"
    assert there.get(f"{other}/memories/1").json["recallable"] is True


def test_a_community_goes_into_a_community() -> None:
    here, there = Installation(World(admin=True)), Installation(World(admin=True))
    path = f"/v1/spaces/{here.world.add_community('7').name}"
    other = f"/v1/spaces/{there.world.add_community('8').name}"
    here.post(f"{path}/memories", {"text": "tea"})
    bring(there, export(here, space=path), space=other)
    assert there.get(f"{other}/memories/1").json["memory"]["text"] == "tea"


def test_an_empty_space_is_a_record_and_can_be_brought(there: Installation) -> None:
    records = export(Installation(World(admin=True)))
    assert [record["record"] for record in records] == ["space"]
    assert records[0]["last_number"] == 0
    assert bring(there, records)["written"] == {"categories": 0, "memories": 0, "changes": 0}
    assert there.post(MEMORIES, {"text": "tea"}).json["memory"]["number"] == 1


def test_a_category_that_had_the_name_gives_way_and_the_default_is_the_one_that_came(
    there: Installation,
) -> None:
    [own] = there.get(f"{SPACE}/categories").json["items"]
    there.post(f"{SPACE}/categories", {"name": "Mine"})
    here = Installation(World(admin=True))
    here.post(f"{SPACE}/categories", {"name": "GENERAL", "default": True})
    here.post(MEMORIES, {"text": "tea"})
    bring(there, export(here))
    listed = there.get(f"{SPACE}/categories").json["items"]
    assert [(one["name"], one["default"]) for one in listed] == [("GENERAL", True), ("Mine", False)]
    acts = [act for act in there.get(f"{SPACE}/audit").json["items"] if act.get("category") == own["id"]]
    assert [act["op"] for act in acts] == ["delete", "add"]
    assert there.post(MEMORIES, {"text": "milk"}).json["memory"]["category"] == "GENERAL"


# ------------------------------------------------------------------ interrupted, and again


class EndedError(BaseException):
    """The process is no more."""


@contextmanager
def ending_after(world: World, commits: int) -> Iterator[None]:
    """The store takes so many commits, and then there is nobody any more."""
    store = world.parts.memories
    commit, left = store.commit, commits

    def ending(scope: Scope, what: Commit) -> None:
        nonlocal left
        if left == 0:
            raise EndedError
        left -= 1
        commit(scope, what)

    store.commit = ending  # type: ignore[method-assign]
    try:
        yield
    except EndedError:
        pass
    finally:
        store.commit = commit  # type: ignore[method-assign]


@pytest.mark.parametrize("page", [1, 4, 500])
def test_an_import_that_ended_anywhere_and_is_repeated_ends_the_same(
    page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "ACTIONS", 12)
    life = lived(3, 30)
    records = export(life.client, 9)
    for commits in range(0, 40, 5):
        client = another()
        client.world.now = life.world.now
        first = own(client)
        with ending_after(client.world, commits):
            bring(client, records, page)
        assert_history_is_whole(client)
        for _ in range(2):
            counts = bring(client, records, page)
        assert set(counts["written"].values()) == {0}
        assert told(arrived(client, first)) == told(records)
        assert client.post(MEMORIES, {"text": "x"}).json["memory"]["number"] == records[0]["last_number"] + 1


def assert_history_is_whole(client: Installation) -> None:
    """Whoever reads in between finds each memory with every version of its history."""
    for memory in client.get(f"{MEMORIES}?state=all&limit=200").json["items"]:
        history = client.get(f"{MEMORIES}/{memory['number']}/history?limit=200").json["items"]
        assert [one["version"] for one in history] == list(range(memory["version"], 0, -1))
        assert history[0]["after"]["text"] == memory["text"]


def test_a_lost_answer_is_given_again_under_its_key(there: Installation) -> None:
    whole, *items = export(lived().client)
    body = {"space": whole, "items": items}
    first, second = (there.post(f"{SPACE}/import", body, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.status, first.json) == (200, second.json)
    assert first.json["written"]["memories"] > 5


def test_repeating_it_takes_nothing_back_that_was_done_since(there: Installation) -> None:
    here = Installation(World(admin=True))
    for text in ("tea", "milk", "zebra"):
        here.post(MEMORIES, {"text": text})
    here.post(f"{SPACE}/categories", {"name": "Work"})
    records = export(here)
    bring(there, records)
    there.world.settle()
    there.patch(f"{MEMORIES}/1", {"version": 1, "text": "black tea"})
    there.post(f"{SPACE}/recall", {"query": "milk"})
    assert there.post(f"{MEMORIES}/3/erase").status == 200
    [work] = [one for one in there.get(f"{SPACE}/categories").json["items"] if one["name"] == "Work"]
    there.patch(f"{SPACE}/categories/{work['id']}", {"version": 1, "name": "Job"})
    there.post(MEMORIES, {"text": "new"})
    before = told(export(there))
    assert set(bring(there, records, 2)["written"].values()) == {0}
    assert told(export(there)) == before
    assert "zebra" not in "".join(there.world.database_dump())


def test_an_import_goes_on_although_something_was_added_or_changed_meanwhile(there: Installation) -> None:
    first = own(there)
    records = export(lived(5).client)
    whole, *items = records
    assert send(there, whole, items[:40]).status == 200
    mine = there.post(MEMORIES, {"text": "mine"}).json["memory"]["number"]
    assert mine == whole["last_number"] + 1
    bring(there, records)
    assert there.get(f"{MEMORIES}/{mine}").json["memory"]["text"] == "mine"
    there_now = [one for one in arrived(there, first) if one.get("number") != mine]
    assert told(there_now)[1:] == told(records)[1:]


def test_two_imports_of_the_same_at_once_end_as_one(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one is always a step ahead."""
    first = own(there)
    life = lived(4, 40)
    there.world.now = life.world.now
    records = export(life.client)
    store, overtaken = there.world.parts.memories, [False]
    commit = store.commit

    def overtake(scope: Scope, what: Commit) -> None:
        if not overtaken[0]:
            overtaken[0] = True
            try:
                bring(there, records)
            finally:
                overtaken[0] = bool(what.memories)
        commit(scope, what)

    monkeypatch.setattr(store, "commit", overtake)
    bring(there, records)
    monkeypatch.setattr(store, "commit", commit)
    assert told(arrived(there, first)) == told(records)


def test_others_who_never_end_are_told_of(there: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, *items = export(lived().client)

    def always(*_: Any) -> None:
        raise StaleVersionError(("space",))

    commit = there.world.parts.memories.commit
    monkeypatch.setattr(there.world.parts.memories, "commit", always)
    assert code(send(there, whole, [])) == (409, "this space is being changed by others; try again")
    monkeypatch.setattr(there.world.parts.memories, "commit", commit)
    assert send(there, whole, []).status == 200
    monkeypatch.setattr(there.world.parts.memories, "commit", always)
    assert code(send(there, whole, items)) == (409, "this space is being changed by others; try again")


# ------------------------------------------------------------------ what is refused


def test_a_space_that_holds_something_else_takes_in_nothing(there: Installation) -> None:
    there.post(MEMORIES, {"text": "mine"})
    before = told(export(there))
    whole, *items = export(lived().client)
    assert code(send(there, whole, items)) == (
        409,
        "this space holds memories that this export did not bring",
    )
    bring_first = World(admin=True)
    other = Installation(bring_first)
    bring(other, export(lived(2).client))
    assert send(other, whole, items).status == 409
    assert told(export(there)) == before


def test_another_content_under_a_number_is_a_conflict_that_names_it_and_changes_nothing(
    there: Installation,
) -> None:
    here = Installation(World(admin=True))
    for text in ("tea", "milk", "snow"):
        here.post(MEMORIES, {"text": text})
    whole, *items = export(here)
    assert send(there, whole, items[:4]).status == 200
    before = told(export(there))
    forged = json.loads(json.dumps(items).replace("milk", "beer"))
    reply = send(there, whole, forged)
    assert code(reply) == (409, "#2 is something else here; nothing was changed")
    assert reply.json["error"]["details"]["number"] == 2
    assert send(there, whole, [forged[3]]).status == 409
    assert told(export(there)) == before
    assert send(there, whole, items).status == 200


def test_a_category_that_is_something_else_is_a_conflict_that_names_it(there: Installation) -> None:
    here = Installation(World(admin=True))
    here.post(f"{SPACE}/categories", {"name": "Work"})
    whole, *items = export(here)
    send(there, whole, items)
    reply = send(there, whole, json.loads(json.dumps(items).replace("Work", "Play")))
    assert code(reply)[1].endswith("is something else here; nothing was changed")
    assert reply.json["error"]["details"]["category"] == items[1]["id"]


def test_a_history_that_differs_before_its_memory_came_is_a_conflict(there: Installation) -> None:
    here = Installation(World(admin=True))
    here.post(MEMORIES, {"text": "tea"})
    whole, *items = export(here)
    assert send(there, whole, items[:1]).status == 200
    forged = json.loads(json.dumps(items).replace("tea", "beer"))
    assert code(send(there, whole, forged)) == (409, "#1 is something else here; nothing was changed")
    assert code(send(there, whole, forged[1:])) == (409, "#1 is something else here; nothing was changed")
    assert send(there, whole, items[1:]).status == 200


def test_pages_out_of_order_are_refused(there: Installation) -> None:
    here = Installation(World(admin=True))
    here.post(MEMORIES, {"text": "tea"})
    here.patch(f"{MEMORIES}/1", {"version": 1, "text": "milk"})
    whole, first, second, memory = export(here)
    for page, before in (([second, memory], 1), ([memory], 2), ([second], 1)):
        reply = send(there, whole, page)
        assert code(reply) == (409, f"#1 comes before its change {before}: send the pages in their order")
    for page in ([first], [second], [memory]):
        assert send(there, whole, page).status == 200


WRONG: dict[str, tuple[str, Callable[[Record, list[Record]], Any]]] = {
    "a blank text": ("items.1.memory.text", lambda _, items: items[1].update(text=" ")),
    "too long a text": ("items.1.memory.text", lambda _, items: items[1].update(text="é" * 125_001)),
    "NUL": ("items.0.memory_change.image.text", lambda _, items: items[0]["image"].update(text="a\x00")),
    "a context too long": ("items.1.memory.context", lambda _, items: items[1].update(context="x" * 2_001)),
    "an importance": ("items.1.memory.importance", lambda _, items: items[1].update(importance=11)),
    "a state": ("items.1.memory.state", lambda _, items: items[1].update(state="gone")),
    "a number": ("items.1.memory.number", lambda _, items: items[1].update(number=0)),
    "a field that is none": ("items.1.memory.space", lambda _, items: items[1].update(space="account#anna")),
    "an unknown category": (
        "items.0.category", lambda _, items: (items.pop(0), items[0].update(category="cat_x")),
    ),
    "an unknown category before": (
        "items.0.image.category",
        lambda _, items: (items[0]["image"].update(category="cat_x"), items[1].update(category="cat_x")),
    ),
    "another than its change": ("items.1", lambda _, items: items[1].update(text="beer")),
    "an erased one that is not": ("items.1", lambda _, items: items[0].update(image=None)),
    "a version too many": ("items.1", lambda _, items: items[1].update(version=2)),
    "an image of another": ("items.0.memory_change.image", lambda _, items: items[0]["image"].update(number=2)),
    "an image of an erased one": (
        "items.0.memory_change.image",
        lambda _, items: items[0]["image"].update(state="erased", text="(erased)", importance=None, category=None),
    ),
    "a context of another's": (
        "items.0.memory_change.image", lambda _, items: items[0]["image"].update(context="x", context_from=1),
    ),
    "an erased one that speaks": ("items.1.memory.state", lambda _, items: items[1].update(state="erased")),
    "a record that is none": ("items.1", lambda _, items: items[1].update(record="account")),
    "another format": ("space.format", lambda whole, _: whole.update(format=2)),
    "another kind of space": ("space.kind", lambda whole, _: whole.update(kind="project")),
    "changes with a gap": (
        "items.1.version",
        lambda _, items: items.insert(
            1, {**items[0], "version": 3, "image": {**items[0]["image"], "version": 3}}
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_could_not_be_added_is_not_taken_in(there: Installation, name: str) -> None:
    here = Installation(World(admin=True))
    here.post(MEMORIES, {"text": "tea"})
    whole, *items = export(here)
    field, spoil = WRONG[name]
    spoil(whole, items)
    before = told(export(there)), there.world.parts.memories.space(there.world.scope())
    reply = send(there, whole, items)
    assert (reply.status, reply.fields) == (422, [field]), reply.text
    assert (told(export(there)), there.world.parts.memories.space(there.world.scope())) == before


OF_CATEGORIES: dict[str, tuple[str, str, Record]] = {
    "the name `none`": ("personal", "name", {"name": "None"}),
    "a project of a community": ("community:discord:1001", "project", {"project": "rocket"}),
    "another project of a pool": ("project:rocket", "project", {"project": "garden"}),
}


@pytest.mark.parametrize("name", OF_CATEGORIES)
def test_a_category_that_could_not_be_made_is_not_taken_in(there: Installation, name: str) -> None:
    space, field, spoilt = OF_CATEGORIES[name]
    here = Installation(World(admin=True))
    for client in (here, there):
        client.world.add_project("rocket")
        client.world.add_community("1001")
    here.post(f"/v1/spaces/{space}/categories", {"name": "Work"})
    whole, change, category = export(here, space=f"/v1/spaces/{space}")
    reply = send(there, whole, [{**category, **spoilt}], f"/v1/spaces/{space}")
    assert reply.fields == [f"items.0.{field}"]
    changed = {**change, "image": {**change["image"], **spoilt}}
    reply = send(there, whole, [changed], f"/v1/spaces/{space}")
    assert reply.fields == [f"items.0.image.{field}"]
    of_another = {**change, "image": {**change["image"], "version": 2}}
    assert send(there, whole, [of_another], f"/v1/spaces/{space}").fields == ["items.0.category_change.image"]


def test_categories_have_names_of_their_own_and_there_is_room_for_them(there: Installation) -> None:
    here = Installation(World(admin=True))
    for name in ("Work", "Play"):
        here.post(f"{SPACE}/categories", {"name": name})
    whole, *items = export(here)
    twice = json.loads(json.dumps(items).replace("Play", "WORK"))
    assert send(there, whole, twice).fields == ["items.3.name"]
    for number in range(CATEGORIES_MAX - 2):
        there.post(f"{SPACE}/categories", {"name": f"shelf {number}"})
    assert code(send(there, whole, items)) == (409, "at most 200 categories in a space")
    there.delete(f"{SPACE}/categories/{there.get(f'{SPACE}/categories').json['items'][0]['id']}")
    assert send(there, whole, items).status == 200


# ------------------------------------------------------------------ who may


def test_a_model_moves_nothing_and_neither_does_who_may_not_order_a_space(there: Installation) -> None:
    world = there.world
    records = export(lived().client)
    body = {"space": records[0], "items": []}
    model = there.post("/v1/keys", {"name": "m", "acts_as": "model"}).json["key"]["key"]
    for method, path, what in (("GET", "export", None), ("POST", "import", body)):
        assert there.ask(method, f"{SPACE}/{path}", what, key=model).status == 403
    world.add_account("berta")
    berta = world.parts.accounts.account("berta")
    assert berta is not None
    key = world.services.founding.new_key(berta, "key", world.now).plain
    pool = f"/v1/spaces/{world.add_project('rocket', 'anna', 'berta').name}"
    community = f"/v1/spaces/{world.add_community('1001', configure=False).name}"
    alone = f"/v1/spaces/{world.add_project('garden', 'berta').name}"
    assert there.get(f"{pool}/export").status == 200
    assert there.get(f"{pool}/export", key=key).status == 403
    assert there.get(f"{community}/export").status == 403
    assert there.get(f"{community}/export", key=key).status == 404
    assert there.get(f"{alone}/export").status == 403
    body["space"] = {**records[0], "kind": "project"}
    assert there.post(f"{pool}/import", body, key=key).status == 403
    assert there.post(f"{alone}/import", body).status == 403
    plain_key = there.post("/v1/keys", {"name": "p", "scopes": ["read", "write"]}).json["key"]["key"]
    assert there.post(f"{pool}/import", body, key=plain_key).status == 403
    assert there.post(f"{pool}/import", body).status == 200


def test_a_cursor_that_was_made_up_opens_nothing(there: Installation) -> None:
    query = {"export": Space.personal("anna").key}
    now = there.world.now
    for place in (
        Place(by="number", number=1, now=now),
        Place(by="text", text="exp_1", now=now),
        Place(by="text", text=f"exp_{'0' * 26} m x 1 -1", now=now),
        Place(by="text", text=f"exp_{'0' * 26} m 1 1 -1"),
        Place(by="text", text=f"exp_{'0' * 26} m 1 1 -1", now=now.replace(year=1)),
    ):
        reply = there.get(f"{SPACE}/export?cursor={write_cursor(query, place)}")
        assert reply.fields == ["cursor"]


# ------------------------------------------------------------------ what is done meanwhile


def pages(client: Installation, limit: int, between: Callable[[int], object]) -> list[Record]:
    """An export, between whose pages something is done."""
    found: list[Record] = []
    following, page = "", 0
    while True:
        reply = client.get(f"{SPACE}/export?limit={limit}{following}")
        assert reply.status == 200, reply.text
        found += reply.json["items"]
        if reply.json["next"] is None:
            return found
        following, page = f"&cursor={reply.json['next']}", page + 1
        between(page)


@pytest.mark.parametrize("seed", range(1, 9))
def test_an_export_shows_one_moment_whatever_is_done_meanwhile(seed: int, there: Installation) -> None:
    first = own(there)
    life = lived(seed, 40)
    life.world.later(seconds=1)
    as_it_was = told(export(life.client))
    erased = set(life.erased)
    records = pages(life.client, 5, lambda page: (life.world.later(seconds=1), life.live(2)))
    new = life.erased - erased
    mine = told(records)
    if not new:
        assert [_lasting(one) for one in mine] == [_lasting(one) for one in as_it_was]
    there.world.now = life.world.now
    bring(there, records)
    assert told(arrived(there, first))[1:] == mine[1:]


def _lasting(told_of: str) -> Any:
    """Without what recalls count, which have no history."""
    values = json.loads(told_of)
    return {name: values[name] for name in values if name not in ("revision", "use_count", "last_used_at")}


def test_a_merge_that_was_written_during_the_export_is_in_it_whole(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came before the export began, and its commit took longer."""
    world = World(admin=True)
    here = Installation(world)
    for number in range(1, 9):
        here.post(MEMORIES, {"text": f"fact {number}"})
    monkeypatch.setattr(export_module, "STEP", 1)
    came = world.now
    world.later(seconds=5)

    def late(page: int) -> None:
        if page == 4:
            now, world.now = world.now, came
            body = {"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": "fact 12"}
            assert here.post(f"{MEMORIES}/merge", body).status == 201
            world.now = now

    records = pages(here, 4, late)
    first = [one["state"] for one in records if one["record"] == "memory" and one["number"] < 3]
    assert first == ["active", "active", "retired", "retired"]
    bring(there, records, 3)
    assert there.post(MEMORIES, {"text": "x"}).json["memory"]["number"] == 10
    states = [there.get(f"{MEMORIES}/{number}").json["memory"]["state"] for number in (1, 2, 9)]
    assert states == ["retired", "retired", "active"]
    assert there.post(f"{SPACE}/changes/9-1/undo").status == 200
    states = [there.get(f"{MEMORIES}/{number}").json["memory"]["state"] for number in (1, 2, 9)]
    assert states == ["active", "active", "trashed"]


@pytest.mark.parametrize("edited", [False, True], ids=["as it was", "edited since the export began"])
def test_what_is_erased_while_its_page_is_read_is_not_in_it(
    edited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Installation(World(admin=True))
    for text in ("tea", "zebra", "snow"):
        here.post(MEMORIES, {"text": text})
    here.patch(f"{MEMORIES}/2", {"version": 1, "text": "zebras"})
    store = here.world.parts.memories
    read, armed = store.history, [not edited]

    def erasing(scope: Scope, target: str, **more: Any) -> list[Change]:
        if target == ("2" if edited else "3") and armed[0]:
            armed[0] = False
            assert here.post(f"{MEMORIES}/2/erase").status == 200
        return read(scope, target, **more)

    monkeypatch.setattr(store, "history", erasing)
    here.world.later(seconds=1)

    def edit(page: int) -> None:
        here.world.later(seconds=1)
        if edited and page == 1:
            here.patch(f"{MEMORIES}/2", {"version": 2, "text": "two zebras"})
            armed[0] = True

    records = pages(here, 3 if edited else 200, edit)
    assert "zebra" not in json.dumps(records)
    assert [one["state"] for one in records if one["record"] == "memory"] == ["active", "erased", "active"]


def test_a_context_of_a_memory_that_is_told_later_is_left_out() -> None:
    """That one may be erased by then, and its text must be nowhere."""
    said = {"context": "tea", "text": "milk"}
    assert memory_record(stored.memory(5, **said, context_from=4))["context"] == "tea"
    assert memory_record(stored.memory(5, **said, context_from=6))["context"] is None
    assert memory_record(stored.memory(5, **said))["context"] == "tea"


def test_what_is_erased_between_its_own_changes_comes_over_as_erased(there: Installation) -> None:
    """Some of its texts have left with an earlier page: they do not stay where they come to."""
    here = Installation(World(admin=True))
    here.post(MEMORIES, {"text": "zebra 1"})
    for version in range(1, 6):
        here.patch(f"{MEMORIES}/1", {"version": version, "text": f"zebra {version + 1}"})
    here.world.later(seconds=1)
    records = pages(here, 3, lambda page: here.post(f"{MEMORIES}/1/erase"))
    assert "zebra 2" in json.dumps(records)
    for page in (2, 500):
        client = Installation(World(admin=True))
        bring(client, records, page)
        assert "zebra" not in "".join(client.world.database_dump())
        assert set(bring(client, records, page)["written"].values()) == {0}
        assert client.get(f"{MEMORIES}/1").status == 404


def test_erases_without_end_end_the_export(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Installation(World(admin=True))
    here.post(MEMORIES, {"text": "tea"})
    monkeypatch.setattr(export_module.Export, "_erased", lambda *_: {1})
    assert code(here.get(f"{SPACE}/export")) == (409, "memories are being erased all the time; try again")


def test_a_clock_that_was_put_back_hides_nothing(there: Installation) -> None:
    world = World(admin=True)
    here = Installation(world)
    world.later(days=400)
    here.post(MEMORIES, {"text": "tea"})
    world.later(days=-400)
    bring(there, export(here))
    assert there.get(f"{MEMORIES}/1").json["memory"]["text"] == "tea"


def test_what_was_made_later_is_not_in_it_nor_what_a_category_became(there: Installation) -> None:
    world = World(admin=True)
    here = Installation(world)
    category = here.post(f"{SPACE}/categories", {"name": "Work"}).json["category"]["id"]
    here.post(MEMORIES, {"text": "tea"})

    def later(page: int) -> None:
        world.later(seconds=1)
        version = here.get(f"{SPACE}/categories/{category}").json["category"]["version"]
        here.patch(f"{SPACE}/categories/{category}", {"version": version, "name": f"Work {page}"})
        here.post(f"{SPACE}/categories", {"name": f"Late {page}"})
        here.post(MEMORIES, {"text": f"late {page}", "category": f"Late {page}"})

    bring(there, pages(here, 1, later))
    assert [one["name"] for one in there.get(f"{SPACE}/categories").json["items"]] == ["General", "Work"]
    assert [one["number"] for one in there.get(f"{MEMORIES}?state=all").json["items"]] == [1]


# ------------------------------------------------------------------ sizes


def test_a_page_is_bounded_by_its_bytes(there: Installation) -> None:
    here = Installation(World(admin=True, embedder=None))
    for number in range(12):
        here.post(MEMORIES, {"text": f"{number} " + "é" * 120_000})
    sizes = []
    following = ""
    while True:
        reply = here.get(f"{SPACE}/export?limit=200{following}")
        sizes.append(len(reply.text.encode()))
        if reply.json["next"] is None:
            break
        following = f"&cursor={reply.json['next']}"
    assert max(sizes) < 2_000_000
    assert sum(sizes) > 5_000_000
    bring(there, export(here), 5)
    assert there.get(f"{MEMORIES}/12").json["memory"]["text"].startswith("11 é")


def test_a_history_longer_than_a_transaction_comes_over(there: Installation) -> None:
    first = own(there)
    world = World(admin=True, embedder=None)
    here = Installation(world)
    here.post(MEMORIES, {"text": "version 1"})
    for version in range(1, 130):
        world.services.revise.edit(
            world.scope(), 1, Edit(version=version, text=f"version {version + 1}"), world.request()
        )
    records = export(here, 50)
    bring(there, records)
    assert told(arrived(there, first))[1:] == told(records)[1:]


def test_a_table_that_is_down_is_told_and_the_next_try_goes_on(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = own(there)
    records = export(lived().client)
    store = there.world.parts.memories
    commit, left = store.commit, [3]

    def failing(scope: Scope, what: Commit) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise StoreUnavailableError("scripted", unknown=True)
        commit(scope, what)

    monkeypatch.setattr(store, "commit", failing)
    monkeypatch.setattr(bundles, "ACTIONS", 10)
    assert send(there, records[0], records[1:]).status == 503
    bring(there, records)
    assert told(arrived(there, first))[1:] == told(records)[1:]
