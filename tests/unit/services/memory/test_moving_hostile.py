"""Taking in what somebody made up, or what others write beside at the same moment: all of it, or nothing at all."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.domain.scope import Space
from chalicelib.domain.vitality import Retention, eligible_at
from chalicelib.services.memory import bundles
from tests.contracts.stores import given as stored
from tests.fakes.client import Reply
from tests.fakes.moving import MEMORIES, SPACE, Installation, Record, bring, export, send, told
from tests.fakes.world import World

FAR = "9999-12-31T00:00:00Z"


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.fixture
def there() -> Iterator[Installation]:
    """Where things are brought, with a category of its own, as each has at first."""
    world = World(admin=True)
    world.category(default=True)
    yield Installation(world)
    world.database.close()


def source(*texts: str, category: str | None = None) -> Installation:
    made = Installation(World(admin=True))
    if category:
        made.post(f"{SPACE}/categories", {"name": category, "default": True})
    for text in texts:
        made.post(MEMORIES, {"text": text})
    return made


def state(client: Installation) -> list[Any]:
    """All that a refused page must leave alone."""
    store, scope = client.world.parts.memories, client.world.scope()
    acts = client.get(f"{SPACE}/audit?limit=200").json["items"]
    return [told(export(client)), store.space(scope), store.last_number(scope), acts]


def message(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.json["error"]["message"]


def of_category(items: list[Record], *names: str) -> list[Record]:
    """The records of these categories, in this order; an export has them in the order of their ids."""
    by_name = {item["name"]: item["id"] for item in items if item["record"] == "category"}
    return [one for name in names for one in items if by_name[name] in (one.get("id"), one.get("category"))]


def copied(records: list[Record]) -> list[Record]:
    return list(json.loads(json.dumps(records)))


# ------------------------------------------------------------------ what would break a space for good


def both(field: str, value: Any) -> Callable[[Record, list[Record]], Any]:
    """The field of the memory and of its change's image."""
    return lambda _, items: (items[-2]["image"].update({field: value}), items[-1].update({field: value}))


def renumber(number: int) -> Callable[[Record, list[Record]], Any]:
    return lambda _, items: (
        both("number", number)(_, items),
        items[-2].update(number=number),
    )


BREAKING: dict[str, tuple[str, Callable[[Record, list[Record]], Any]]] = {
    "recorded in 9999": ("items.2.image.recorded_at", both("recorded_at", FAR)),
    "updated in 9999": ("items.3.updated_at", lambda _, items: items[-1].update(updated_at=FAR)),
    "used in 9999": ("items.3.last_used_at", lambda _, items: items[-1].update(last_used_at=FAR)),
    "reviewed in 9999": ("items.3.reviewed_at", lambda _, items: items[-1].update(reviewed_at=FAR)),
    "changed in 9999": ("items.2.at", lambda _, items: items[-2].update(at=FAR)),
    "a category of 9999": ("items.1.created_at", lambda _, items: items[1].update(created_at=FAR)),
    "a category changed in 9999": (
        "items.0.image.updated_at", lambda _, items: items[0]["image"].update(updated_at=FAR),
    ),
    "a space of 9999": ("space.created_at", lambda whole, _: whole.update(created_at=FAR)),
    "a cleanup in 9999": ("space.trashed_at.0", lambda whole, _: whole.update(trashed_at=[FAR])),
    "a number above the last one": ("items.2.number", renumber(2)),
    "numbers without room for more": (
        "space.last_number", lambda whole, _: whole.update(last_number=10**12 + 1),
    ),
    "a default that never comes": (
        "space.default_category", lambda whole, _: whole.update(default_category="cat_nope"),
    ),
    "an import of its own": ("items.2.memory_change.op", lambda _, items: items[-2].update(op="import")),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKING)
def test_what_would_break_the_space_is_refused_by_record_and_field(there: Installation, name: str) -> None:
    whole, *items = export(source("tea", category="Work"))
    field, spoil = BREAKING[name]
    spoil(whole, items)
    before = state(there)
    reply = send(there, whole, items)
    assert (reply.status, reply.fields) == (422, [field]), reply.text
    assert state(there) == before


@pytest.mark.parametrize("last", [10**12, 2])
def test_the_most_that_is_taken_in_leaves_room_for_what_is_told(there: Installation, last: int) -> None:
    whole, *items = export(source("tea"))
    whole["last_number"] = last
    renumber(last)(whole, items)
    assert send(there, whole, items).status == 200
    assert there.post(MEMORIES, {"text": "milk"}).json["memory"]["number"] == last + 1
    assert export(there)[0]["last_number"] == last + 1
    assert there.post(f"{MEMORIES}/{last}/erase").status == 200


def test_a_space_whose_moments_are_all_made_up_still_answers(there: Installation) -> None:
    """An export that says it is of the year 9999 is believed: then all of it is."""
    whole, *items = export(source("tea", "milk"))
    whole.update(as_of=FAR, trashed_at=[FAR] * 1_000)
    for item in items:
        moments = {"recorded_at": FAR, "updated_at": FAR}
        item.get("image", item).update(moments)
        item.update({"at": FAR} if "image" in item else {"last_used_at": FAR})
    assert send(there, whole, items).status == 200
    there.world.settle()
    for path in (MEMORIES, f"{MEMORIES}?sort=vitality", f"{MEMORIES}/1", f"{SPACE}/audit"):
        assert there.get(path).status == 200
    for path in ("search", "recall"):
        assert there.post(f"{SPACE}/{path}", {"query": "tea"}).status == 200
    assert there.get(f"{MEMORIES}/1").json["memory"]["eligible_at"] == "9999-12-31T23:59:59.999Z"
    assert there.world.services.retain.clean(Space.personal("anna")) is not None
    space = there.world.parts.memories.space(there.world.scope())
    assert space is not None
    assert space.trashed_at == ()  # else no cleanup ever again


def test_what_would_fade_after_the_last_day_fades_on_it() -> None:
    late = stored.memory(1, recorded_at=datetime(9999, 12, 30, tzinfo=UTC))
    assert eligible_at(late, Retention()) == datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)


def test_a_use_that_lies_ahead_since_the_clock_was_put_back_is_told_as_of_now(there: Installation) -> None:
    here = source("tea", category="Drinks")
    here.world.settle()
    here.world.later(days=400)
    here.post(f"{SPACE}/recall", {"query": "tea"})
    here.world.later(days=-399)
    records = export(here)
    assert records[-1]["last_used_at"] == records[0]["as_of"]
    bring(there, records)


# ------------------------------------------------------------------ a refused page


def test_a_refused_first_page_leaves_the_space_as_it_was(there: Installation) -> None:
    whole, *items = export(source("tea", "milk", category="GENERAL"))
    whole["last_number"] = 5_000
    before = state(there)
    assert send(there, whole, [*items[:-1], {**items[-1], "text": "beer"}]).status == 422
    assert send(there, whole, items[:2] + items[3:]).status == 409  # a memory without its history
    assert state(there) == before
    added = there.post(MEMORIES, {"text": "mine"}).json
    assert (added["memory"]["number"], added["memory"]["category"]) == (1, "General")
    assert added["recallable"] is True


def test_what_a_page_tells_twice_and_differently_is_refused_before_anything_is_written(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "ACTIONS", 8)
    whole, *items = export(source("tea", "milk", "snow"))
    other = json.loads(json.dumps(items[:2]).replace("tea", "beer"))
    second = copied([other[0]])[0]
    second.update(version=2, op="edit")
    second["image"]["version"] = 2
    before = state(there)
    for twice in (other, [other[0], second], other[:1]):
        reply = send(there, whole, items + twice)
        assert message(reply) == (409, "#1 is something else here; nothing was changed")
    assert state(there) == before


def test_a_memory_may_be_told_before_its_history_goes_on_behind_others(there: Installation) -> None:
    here = source("tea", "milk")
    here.patch(f"{MEMORIES}/1", {"version": 1, "text": "beer"})
    whole, first, second, memory, *others = export(here)
    assert send(there, whole, [first, second, *others, memory]).status == 200
    assert there.get(f"{MEMORIES}/1").json["memory"]["text"] == "beer"
    wrong = {**memory, "text": "wine"}
    assert send(Installation(World(admin=True)), whole, [first, second, *others, wrong]).status == 409


def test_what_was_told_alive_and_is_told_again_as_erased_loses_its_text(there: Installation) -> None:
    """Erased between two pages, of which the later one tells it again."""
    here = source("zebra", "milk")
    alive = export(here)
    here.post(f"{MEMORIES}/1/erase")
    gone = export(here)
    assert send(there, alive[0], alive[1:]).status == 200
    assert send(there, alive[0], gone[1:4]).status == 200
    assert there.get(f"{MEMORIES}/1").status == 404
    assert "zebra" not in "".join(there.world.database_dump())


# ------------------------------------------------------------------ beside others


def interrupting(
    client: Installation, monkeypatch: pytest.MonkeyPatch, name: str, other: Callable[[], Any], when: int = 1
) -> None:
    """Let `other` be done just before the store's method `name` is called for the `when`th time."""
    method, calls = getattr(client.world.parts.memories, name), [0]

    def called(*of: Any, **how: Any) -> Any:
        calls[0] += 1
        if calls[0] == when:
            other()
        return method(*of, **how)

    monkeypatch.setattr(client.world.parts.memories, name, called)


def test_a_memory_that_is_added_while_an_import_begins_is_the_only_one(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, *items = export(source("tea", "milk", "snow", category="GENERAL"))
    interrupting(there, monkeypatch, "pass_numbers", lambda: there.post(MEMORIES, {"text": "mine"}))
    reply = send(there, whole, items)
    assert message(reply) == (409, "this space holds memories that this export did not bring")
    listed = there.get(MEMORIES).json["items"]
    assert [(one["text"], one["category"]) for one in listed] == [("mine", "General")]
    space = there.world.parts.memories.space(there.world.scope())
    assert space is not None
    assert space.imported is None


@pytest.mark.parametrize("when", [1, 2, 3])
def test_two_exports_at_once_never_mix(
    there: Installation, monkeypatch: pytest.MonkeyPatch, when: int
) -> None:
    monkeypatch.setattr(bundles, "ACTIONS", 8)
    one = export(source("tea 1", "tea 2", "tea 3"))
    here = source(*[f"beer {number}" for number in range(1, 7)], category="Bar")
    for number in range(1, 4):
        here.post(f"{MEMORIES}/{number}/erase")
    whole, *items = export(here)
    other = [item for item in items if item.get("number", 9) > 3]
    replies: list[Reply] = []
    interrupting(there, monkeypatch, "commit", lambda: replies.append(send(there, whole, other)), when)
    replies.append(send(there, one[0], one[1:]))
    assert sorted(reply.status for reply in replies) == [200, 409]
    texts = {memory["text"][:3] for memory in there.get(MEMORIES).json["items"]}
    assert len(texts) == 1
    bring(there, one if "tea" in texts else [whole, *other])
    assert {memory["text"][:3] for memory in there.get(MEMORIES).json["items"]} == texts


def test_two_pages_at_once_that_contradict_one_another_never_mix(
    there: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, *items = export(source("tea"))
    other = json.loads(json.dumps(items).replace("tea", "beer"))
    interrupting(there, monkeypatch, "commit", lambda: send(there, whole, other[:1]))
    assert message(send(there, whole, items)) == (409, "#1 is something else here; nothing was changed")
    assert send(there, whole, other).status == 200
    assert [one["text"] for one in there.get(MEMORIES).json["items"]] == ["beer"]


def test_a_space_that_took_in_no_memory_yet_takes_in_no_other_export(there: Installation) -> None:
    whole, *items = export(source("tea", category="Work"))
    assert send(there, whole, items[:2]).status == 200
    other = export(source("beer"))
    assert message(send(there, other[0], other[1:])) == (409, "this space takes in another export already")
    assert send(there, whole, items).status == 200


def test_the_default_is_the_one_of_the_place_until_its_category_comes(there: Installation) -> None:
    here = Installation(World(admin=True))
    for name in ("Garden", "Work"):
        here.post(f"{SPACE}/categories", {"name": name, "default": name == "Work"})
    whole, *items = export(here)
    items = of_category(items, "Garden", "Work")
    assert send(there, whole, items[:2]).status == 200
    assert there.post(MEMORIES, {"text": "tea"}).json["memory"]["category"] == "General"
    assert send(there, whole, items[2:]).status == 200
    assert there.post(MEMORIES, {"text": "tea"}).json["memory"]["category"] == "Work"
    [garden] = [one for one in there.get(f"{SPACE}/categories").json["items"] if one["name"] == "Garden"]
    there.patch(f"{SPACE}/categories/{garden['id']}", {"version": garden["version"], "default": True})
    assert send(there, whole, items).status == 200
    assert there.post(MEMORIES, {"text": "tea"}).json["memory"]["category"] == "Garden"


# ------------------------------------------------------------------ categories of people


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_category_with_memories_in_it_does_not_give_way(
    there: Installation, monkeypatch: pytest.MonkeyPatch, meanwhile: bool
) -> None:
    monkeypatch.setattr(bundles, "ACTIONS", 6)
    here = source(category="First")
    for name in ("Second", "Work"):
        here.post(f"{SPACE}/categories", {"name": name})
    whole, *items = export(here)
    items = of_category(items, "First", "Second", "Work")
    assert send(there, whole, items[:2]).status == 200
    mine = there.post(f"{SPACE}/categories", {"name": "WORK"}).json["category"]
    there.post(MEMORIES, {"text": "else", "category": "General"})
    body = {"text": "mine", "category": "WORK"}
    if not meanwhile:
        there.post(MEMORIES, body)
    before = state(there)
    if meanwhile:
        interrupting(there, monkeypatch, "last_number", lambda: there.post(MEMORIES, body))
    reply = send(there, whole, items[2:])
    assert (reply.status, reply.json["error"]["details"]["category"]) == (409, mine["id"])
    assert meanwhile or state(there) == before
    assert "give it another name" in reply.json["error"]["message"]
    [memory] = there.get(f"{MEMORIES}?category=WORK").json["items"]
    assert there.get(f"{MEMORIES}/{memory['number']}").json["recallable"] is True
    there.patch(f"{SPACE}/categories/{mine['id']}", {"version": 1, "name": "My work"})
    assert send(there, whole, items[2:]).status == 200
    there.patch(f"{SPACE}/categories/{items[5]['id']}", {"version": 1, "name": "Job"})
    assert there.post(f"{SPACE}/categories", {"name": "Work"}).status == 201
    there.post(MEMORIES, {"text": "later", "category": "Work"})
    assert send(there, whole, items[2:]).status == 200  # what is there already takes no name


# ------------------------------------------------------------------ what is told


def test_the_audit_tells_who_began_to_take_in_which_export(there: Installation) -> None:
    records = export(source("tea"))
    records[1]["by"] = {"kind": "person", "id": "bob", "turn": None}
    bring(there, records)
    bring(there, records)
    acts = there.get(f"{SPACE}/audit").json["items"]
    [act] = [act for act in acts if act["op"] == "import"]
    assert (act["by"]["id"], act["by"]["kind"], act.get("number"), act.get("category")) == (
        "anna", "person", None, None,
    )  # fmt: skip
    whole = records[0]
    assert act["imported"] == {"export": whole["export"], "as_of": whole["as_of"], "last_number": 1}
    assert all("imported" not in one for one in acts if one is not act)
    assert there.post(f"{SPACE}/changes/{act['id']}/undo").status == 409
    assert [one["record"] for one in export(there) if one.get("category") == "space"] == []


def test_a_text_is_not_told_as_context_once_its_memory_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own records have left with an earlier page; it is erased while the page with the context is made."""
    here = Installation(World(admin=True))
    for position, text in enumerate(("zebra", "milk"), start=1):
        here.post(MEMORIES, {"text": text, "source": {"conversation": "c", "position": position}})
    page = here.get(f"{SPACE}/export?limit=3").json
    assert "zebra" in json.dumps(page)
    interrupting(here, monkeypatch, "get_many", lambda: here.post(f"{MEMORIES}/1/erase"))
    reply = here.get(f"{SPACE}/export?limit=3&cursor={page['next']}")
    assert [one["record"] for one in reply.json["items"]] == ["memory_change", "memory"]
    assert "zebra" not in reply.text


def test_a_context_that_was_made_up_ends_no_export(there: Installation) -> None:
    """It names a memory that was erased before, so nothing ever takes it away."""
    here = source("tea", "milk")
    here.post(f"{MEMORIES}/1/erase")
    whole, *items = export(here)
    for image in (items[-1], items[-2]["image"]):
        image["context_from"] = 1
    items[-1]["context"] = "made up"
    assert send(there, whole, items).status == 200
    assert export(there)[-1]["context"] is None
