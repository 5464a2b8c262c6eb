"""Lists, history, audit: what people read is what is stored, at once."""

import random
from datetime import timedelta

import pytest

from chalicelib.domain.drafts import Edit, SearchFilters
from chalicelib.domain.filters import order, sort_value
from chalicelib.domain.vitality import Retention
from chalicelib.errors import ForbiddenError, InvalidError, NotFoundError
from chalicelib.services.memory import reading
from tests.fakes.world import World


def listed(
    world: World, *, limit: int = 200, cursor: str | None = None, **wanted: object
) -> dict[str, object]:
    sort, text = wanted.pop("sort", "newest"), wanted.pop("text", None)
    filters = SearchFilters.model_validate(wanted)
    return world.services.read.browse(
        world.scope(), filters, sort=sort, text=text, limit=limit, cursor=cursor
    )  # type: ignore[arg-type]


def numbers(world: World, **wanted: object) -> list[int]:
    return [memory["number"] for memory in listed(world, **wanted)["items"]]  # type: ignore[attr-defined]


def test_a_list_shows_what_was_just_written_before_the_index_has_it(world: World) -> None:
    """SPEC M25."""
    world.add("one")
    world.settle()
    world.add("two")
    assert numbers(world) == [2, 1]


def test_every_filter(world: World) -> None:
    world.category("Work")
    world.add("one", kind="feedback", importance=9, category="Work")
    world.add("two", importance=2, subject="Marie", source={"conversation": "c1"})
    for _ in range(2):
        assert numbers(world, category="Work") == [1]
        assert numbers(world, category="none") == [2]
        assert numbers(world, kind="feedback") == [1]
        assert numbers(world, importance_min=5) == [1]
        assert numbers(world, importance_max=5) == [2]
        assert numbers(world, subject="Marie") == [2]
        assert numbers(world, source="c1") == [2]
        assert numbers(world, text="two") == [2]
        assert numbers(world, text="two", state="trashed") == []
        world.settle()
    with pytest.raises(InvalidError, match="category"):
        numbers(world, category="Nowhere")


@pytest.mark.parametrize("sort", ["newest", "oldest", "updated", "importance", "vitality", "used"])
@pytest.mark.parametrize("settled", [0, 13, 25])
def test_pages_of_any_sort_have_no_gap_and_no_repeat(world: World, sort: str, settled: int) -> None:
    chance = random.Random(f"{sort}{settled}")
    for number in range(25):
        world.add(f"fact {number}", importance=chance.randint(1, 10))
        world.later(minutes=chance.choice([0, 3]))
        if number + 1 == settled:
            world.settle()
    for number in chance.sample(range(1, 26), 8):
        world.parts.memories.touch(world.scope(), [number], world.now)
    found: list[int] = []
    cursor = None
    while True:
        page = listed(world, sort=sort, limit=4, cursor=cursor)
        found += [memory["number"] for memory in page["items"]]  # type: ignore[attr-defined]
        cursor = page["next"]  # type: ignore[assignment]
        if cursor is None:
            break
        assert len(page["items"]) == 4  # type: ignore[arg-type]
    memories = world.parts.memories.page(world.scope(), after=None, limit=100)
    now, retention = world.now, Retention()
    wanted = sorted(memories, key=lambda m: order(sort_value(m, sort, now, retention), m.number, sort))  # type: ignore[arg-type]
    assert found == [memory.number for memory in wanted]


def test_a_cursor_of_another_list_opens_nothing(world: World) -> None:
    for number in range(4):
        world.add(f"fact {number}")
    cursor = listed(world, limit=2)["next"]
    pool = world.scope(world.add_project())
    world.add("theirs", pool)
    with pytest.raises(InvalidError, match="cursor"):
        listed(world, limit=2, cursor=cursor, sort="oldest")  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="cursor"):
        world.services.read.browse(pool, SearchFilters(), cursor=cursor)  # type: ignore[arg-type]
    for nonsense in ("x", "ÿ", "e30", "bnVsbA", "W10", "eyJvZiI6MX0"):
        with pytest.raises(InvalidError, match="cursor"):
            listed(world, cursor=nonsense)


def test_without_an_index_the_list_comes_from_the_table_and_says_so(world: World) -> None:
    for number in range(5):
        world.add(f"fact {number}")
    world.services.revise.trash(world.scope(), 4, None, world.request())
    world.parts.index.drop()
    first = listed(world, limit=3)
    assert [m["number"] for m in first["items"]] == [5, 3, 2]  # type: ignore[attr-defined]
    assert first["degraded"] == "index_missing"
    second = listed(world, limit=3, cursor=first["next"])  # type: ignore[arg-type]
    assert ([m["number"] for m in second["items"]], second["next"]) == ([1], None)  # type: ignore[attr-defined]
    assert [m["number"] for m in listed(world, text="fact 2")["items"]] == [3]  # type: ignore[attr-defined]


def test_without_an_index_a_page_reads_on_until_enough_rows_match(world: World) -> None:
    """CASES pynamodb#137: the limit was applied before the filter."""
    world.add("the one", importance=9)
    world.add_facts(450, importance=1)
    world.parts.index.drop()
    assert numbers(world, importance_min=9, limit=1) == [1]


def test_an_index_that_is_far_behind_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FRESH_MAX", 3)
    for number in range(3):
        world.add(f"fact {number}")
    assert listed(world)["degraded"] == "index_behind"
    world.settle()
    assert listed(world)["degraded"] is None


def test_a_row_that_the_table_does_not_confirm_is_not_shown(world: World) -> None:
    world.add("one")
    world.add("two")
    world.settle()
    world.services.revise.trash(world.scope(), 2, None, world.request())
    world.outbox.done([record.seq for record in world.outbox.pending(10)])  # the index never learns of it
    assert numbers(world) == [1]
    world.services.revise.erase(world.scope(), 1, None, world.request())
    world.outbox.done([record.seq for record in world.outbox.pending(10)])
    assert numbers(world) == []


def test_a_memorys_detail_shows_vitality_and_when_it_becomes_eligible(world: World) -> None:
    """SPEC M26, M27, M30: level 10, never recalled, after about 418 days."""
    world.add(importance=10)
    memory = world.services.read.get(world.scope(), 1)["memory"]
    assert memory["vitality"] == 50.0
    assert memory["eligible_at"] == "2027-06-26T07:43:45.731Z"
    world.later(days=180)
    assert world.services.read.get(world.scope(), 1)["memory"]["vitality"] == 25.0
    world.set_retention(Retention(half_lives=(365,) * 10))
    assert world.services.read.get(world.scope(), 1)["memory"]["vitality"] > 35


def test_history_has_every_change_with_before_and_after(world: World) -> None:
    world.add("I like tea.")
    for version in range(1, 6):
        world.later(minutes=1)
        world.services.revise.edit(
            world.scope(), 1, Edit(version=version, text=f"v{version}"), world.request()
        )
    found = []
    cursor = None
    while True:
        page = world.services.read.history(world.scope(), 1, limit=2, cursor=cursor)
        found += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert [one["id"] for one in found] == [f"1-{version}" for version in range(6, 0, -1)]
    assert [(one["before"] or {}).get("text") for one in found] == [
        "v4",
        "v3",
        "v2",
        "v1",
        "I like tea.",
        None,
    ]
    assert [one["after"]["text"] for one in found] == ["v5", "v4", "v3", "v2", "v1", "I like tea."]
    with pytest.raises(NotFoundError):
        world.services.read.history(world.scope(), 2)


def test_the_audit_tells_who_did_what_and_no_text(world: World) -> None:
    world.category("Work")
    world.add("I like tea.")
    world.later(seconds=1)
    world.services.revise.trash(world.scope(), 1, None, world.request())
    first = world.services.read.audit(world.scope(), limit=2)
    second = world.services.read.audit(world.scope(), limit=2, cursor=first["next"])
    acts = first["items"] + second["items"]
    assert (acts[0]["op"], acts[0]["number"]) == ("trash", 1)
    assert {act["op"] for act in acts} == {"trash", "add"}
    assert len([act for act in acts if "category" in act]) == 1
    assert "tea" not in repr(acts)


def test_reading_needs_the_right_to(world: World) -> None:
    blind = world.scope(rights=frozenset())
    world.add()
    for read in (
        lambda: world.services.read.get(blind, 1),
        lambda: world.services.read.history(blind, 1),
        lambda: world.services.read.audit(blind),
        lambda: world.services.read.browse(blind, SearchFilters()),
    ):
        with pytest.raises(ForbiddenError):
            read()


def test_times_in_a_cursor_keep_its_pages_together(world: World) -> None:
    """Vitality changes while one reads; the second page goes on as of the first."""
    for number in range(1, 7):
        world.add(f"fact {number}", importance=number)
    world.settle()
    first = listed(world, sort="vitality", limit=3)
    world.now += timedelta(days=40)
    second = listed(world, sort="vitality", limit=3, cursor=first["next"])  # type: ignore[arg-type]
    shown = [m["number"] for m in first["items"] + second["items"]]  # type: ignore[operator]
    assert sorted(shown) == [1, 2, 3, 4, 5, 6]


def test_without_an_index_a_page_that_finds_too_little_says_where_to_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add("the one", importance=9)
    world.add_facts(230, importance=1)
    world.parts.index.drop()
    monkeypatch.setattr(reading, "_MOST_PAGES", 1)
    first = listed(world, importance_min=9, limit=2)
    assert first["items"] == []
    second = listed(world, importance_min=9, limit=2, cursor=first["next"])  # type: ignore[arg-type]
    assert ([m["number"] for m in second["items"]], second["next"]) == ([1], None)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["🎂", "!!!", "and the"])
def test_a_list_by_words_needs_a_word(world: World, text: str) -> None:
    world.add("tea")
    with pytest.raises(InvalidError, match="q: holds no word"):
        listed(world, text=text)
