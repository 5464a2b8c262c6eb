"""A model reaches only what may be given to it, whatever the door (SPEC M8, M14, M18)."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.drafts import Edit, Merge, Recall, SearchFilters
from chalicelib.domain.scope import Actor, Scope
from chalicelib.errors import ForbiddenError, NotFoundError
from tests.fakes.world import World


@pytest.fixture
def model(world: World) -> Scope:
    """Anna's space with one memory that may be recalled and one that may not, as her model sees it."""
    world.category(default=True)
    world.add("Marie is allergic to peanuts.")
    world.add("The passport of Marie is in the safe.", category=None)
    return world.scope().model_copy(update={"actor": Actor(kind="model", id="anna")})


def test_it_lists_maps_and_is_told_of_what_may_be_recalled_only(world: World, model: Scope) -> None:
    for filters in (SearchFilters(), SearchFilters(category="none"), SearchFilters(state="all")):
        listed = world.services.read.browse(model, filters)["items"]
        assert [memory["number"] for memory in listed] in ([1], [])
    assert [item["number"] for item in world.services.map.draw(model)["items"]] == [1]
    similar = world.add("The passport of Marie is in the safe!", model)["similar"]
    assert [one["memory"]["number"] for one in similar] == []
    assert world.services.read.get(model, 1)["memory"]["number"] == 1
    left_out = world.services.search.recall(model, Recall(query="the passport of Marie"))["left_out"]
    assert (left_out["uncategorised"], left_out["other_project"]) == (0, 0)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda w, s: w.services.read.get(s, 2),
        lambda w, s: w.services.read.history(s, 2),
        lambda w, s: w.services.revise.edit(s, 2, Edit(version=1, text="x"), w.request()),
        lambda w, s: w.services.revise.trash(s, 2, None, w.request()),
        lambda w, s: w.services.undo.undo(s, "2-1", w.request()),
        lambda w, s: w.services.merge.merge(
            s, Merge(numbers=(1, 2), versions={"1": 1, "2": 1}, text="x"), w.request()
        ),
    ],
)
def test_what_it_was_not_shown_does_not_exist_for_it(
    world: World, model: Scope, attempt: Callable[[World, Scope], Any]
) -> None:
    with pytest.raises(NotFoundError):
        attempt(world, model)
    assert world.services.read.get(world.scope(), 2)["memory"]["version"] == 1


def test_it_moves_to_the_trash_and_never_erases(world: World, model: Scope) -> None:
    with pytest.raises(ForbiddenError, match="only a person"):
        world.services.revise.erase(model, 1, None, world.request())
    assert world.services.revise.trash(model, 1, None, world.request())["memory"]["state"] == "trashed"


def test_in_a_community_it_reaches_every_fact(world: World) -> None:
    den = world.scope(world.add_community()).model_copy(update={"actor": Actor(kind="model", id="anna")})
    world.add("We play retro games.", den)
    assert len(world.services.read.browse(den, SearchFilters())["items"]) == 1
