"""The map, and daily cleanup."""

import pytest

from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Space
from chalicelib.domain.vitality import Retention
from chalicelib.errors import ForbiddenError, StaleVersionError
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.services.memory import map as map_module
from tests.fakes.world import World

ANNA = Space.personal("anna")


def trashed(world: World) -> list[int]:
    memories = world.parts.memories.page(world.scope(), after=None, limit=500)
    return [memory.number for memory in memories if memory.state == "trashed"]


def test_near_ones_on_the_map_are_alike(world: World) -> None:
    """SPEC M17."""
    world.category("Music")
    for text in ("Tom plays the cello", "Tom plays the cello loudly", "Tom plays the cello badly"):
        world.add(text, category="Music")
    for text in ("The garden needs water", "The garden needs water daily"):
        world.add(text)
    answer = world.services.map.draw(world.scope())
    assert answer["matched_by"] == "meaning"
    places = {item["number"]: (item["x"], item["y"]) for item in answer["items"]}
    assert {item["category"] for item in answer["items"]} == {"Music", None}

    def distance(a: int, b: int) -> float:
        return float(((places[a][0] - places[b][0]) ** 2 + (places[a][1] - places[b][1]) ** 2) ** 0.5)

    assert max(distance(1, 2), distance(2, 3), distance(4, 5)) < min(distance(1, 4), distance(3, 5))
    assert all(-1 <= value <= 1 for place in places.values() for value in place)


def test_the_map_shows_active_memories_only_and_says_when_there_are_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_facts(6)
    world.services.revise.trash(world.scope(), 6, None, world.request())
    answer = world.services.map.draw(world.scope())
    assert ([item["number"] for item in answer["items"]], answer["more"]) == ([5, 4, 3, 2, 1], False)
    monkeypatch.setattr(map_module, "POINTS_MAX", 3)
    answer = world.services.map.draw(world.scope())
    assert ([item["number"] for item in answer["items"]], answer["more"]) == ([5, 4, 3], True)


def test_the_map_goes_by_words_where_there_are_no_vectors(world: World) -> None:
    den = world.scope(world.add_community())
    world.add("We play retro games.", den)
    world.add("👍", den)
    answer = world.services.map.draw(den)
    assert (answer["matched_by"], answer["degraded"], len(answer["items"])) == ("words", None, 2)
    world.add("tea")
    world.change_embedder(ScriptedEmbedder(name="newer"))
    assert world.services.map.draw(world.scope())["degraded"] == "reindex_needed"


def test_a_memory_without_a_vector_yet_and_an_empty_space_have_a_map_too(world: World) -> None:
    assert world.services.map.draw(world.scope())["items"] == []
    world.break_embedder()
    world.add("tea")
    assert world.services.map.draw(world.scope())["items"] == [
        {"number": 1, "x": 0.0, "y": 0.0, "category": None}
    ]
    with pytest.raises(ForbiddenError):
        world.services.map.draw(world.scope(rights=frozenset()))


def test_cleanup_trashes_faded_memories_lowest_first_and_few_a_day(world: World) -> None:
    """SPEC M28."""
    for importance in (1, 1, 2, 2, 3, 3, 10):
        world.add(f"fact of importance {importance}", importance=importance)
    world.settle()
    assert world.services.retain.clean(ANNA) == []
    world.later(days=40)
    assert world.services.retain.clean(ANNA) == [2, 1, 4, 3, 6]
    world.settle()
    assert world.services.retain.clean(ANNA) == []
    world.later(hours=23)
    assert world.services.retain.clean(ANNA) == []
    world.later(hours=2)
    assert world.services.retain.clean(ANNA) == [5]
    assert trashed(world) == [1, 2, 3, 4, 5, 6]
    [act, _] = world.services.read.history(world.scope(), 5)["items"]
    assert (act["op"], act["by"]) == ("trash", {"kind": "pass", "id": "retention", "turn": None})
    world.services.undo.undo(world.scope(), act["id"], world.request())
    assert 5 not in trashed(world)


def test_the_grace_period_protects_what_fades_fast(world: World) -> None:
    world.add(importance=1)
    world.settle()
    world.later(days=13)
    assert world.services.read.get(world.scope(), 1)["memory"]["vitality"] < 1
    assert world.services.retain.clean(ANNA) == []
    world.later(days=2)
    assert world.services.retain.clean(ANNA) == [1]


def test_many_young_faded_ones_do_not_hide_an_older_one(world: World) -> None:
    world.add("old", importance=4)
    world.later(days=40)
    world.add_facts(250, importance=1)
    world.later(days=12)
    assert world.services.retain.clean(ANNA) == [1]


def test_the_master_switch_stops_it_and_settings_hold_from_the_next_cleanup(world: World) -> None:
    """SPEC M29."""
    for _ in range(3):
        world.add(importance=1)
    world.settle()
    world.later(days=30)
    world.set_retention(Retention(automatic=False))
    assert world.services.retain.clean(ANNA) == []
    world.set_retention(Retention(daily_limit=2))
    assert world.services.retain.clean(ANNA) == [3, 2]
    world.set_retention(Retention(daily_limit=1))
    assert world.services.retain.clean(ANNA) == []


def test_a_larger_limit_takes_several_transactions(world: World) -> None:
    world.add_facts(45, importance=1)
    world.later(days=30)
    world.set_retention(Retention(daily_limit=40))
    assert len(world.services.retain.clean(ANNA)) == 40


def test_a_memory_that_was_used_meanwhile_is_computed_again_from_the_table(world: World) -> None:
    world.add(importance=1)
    world.settle()
    world.later(days=30)
    world.parts.memories.touch(world.scope(), [1], world.now)  # the index does not know of it yet
    assert world.services.retain.clean(ANNA) == []


def test_a_race_with_a_persons_change_leaves_the_rest_for_the_next_pass(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add(importance=1)
    world.settle()
    world.later(days=30)

    def busy(*_: object) -> None:
        raise StaleVersionError(("1",))

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    assert world.services.retain.clean(ANNA) == []


def test_an_index_that_has_what_the_table_has_not_is_no_reason_to_stop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add(importance=1)
    world.settle()
    world.later(days=30)

    def nothing(*_: object) -> dict[int, Memory]:
        return {}

    monkeypatch.setattr(type(world.parts.memories), "get_many", nothing)
    assert world.services.retain.clean(ANNA) == []


def test_a_community_never_forgets(world: World) -> None:
    """SPEC M31."""
    den = world.add_community()
    world.add("fact", world.scope(den), importance=1)
    world.settle()
    world.later(days=900)
    assert world.services.retain.clean(den) == []
    assert world.services.retain.clean(Space.personal("nobody")) == []
