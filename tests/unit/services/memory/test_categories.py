"""Categories: what makes a memory recallable."""

import pytest

from chalicelib.domain.category import CATEGORIES_MAX
from chalicelib.domain.drafts import CategoryEdit, NewCategory
from chalicelib.domain.scope import Right
from chalicelib.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError, StaleVersionError
from tests.fakes.world import World


def test_a_category_is_made_listed_and_shown(world: World) -> None:
    made = world.category("Work", description="Projects, people, deadlines.")
    world.category("Home", default=True)
    listed = world.services.categories.listed(world.scope())
    assert [(one["name"], one["default"]) for one in listed] == [("Home", True), ("Work", False)]
    assert world.services.categories.get(world.scope(), made["id"])["category"]["description"].startswith(
        "Projects"
    )
    with pytest.raises(NotFoundError):
        world.services.categories.get(world.scope(), "cat_nowhere")


def test_a_name_is_taken_whatever_its_case(world: World) -> None:
    made = world.category("Work")
    world.category("Home")
    with pytest.raises(InvalidError, match="already"):
        world.category("  WORK")
    with pytest.raises(InvalidError, match="already"):
        edit(world, made["id"], name="home")
    assert edit(world, made["id"], name="WORK")["name"] == "WORK"


def test_none_is_no_name(world: World) -> None:
    with pytest.raises(InvalidError, match="uncategorised"):
        world.category("None")


def test_the_default_moves_and_goes(world: World) -> None:
    first, second = world.category("A", default=True), world.category("B", default=True)
    assert [one["default"] for one in world.services.categories.listed(world.scope())] == [False, True]
    assert edit(world, first["id"], default=True)["default"] is True
    assert edit(world, second["id"], version=1, default=False)["default"] is False
    assert edit(world, first["id"], version=2, default=False)["default"] is False
    assert [one["default"] for one in world.services.categories.listed(world.scope())] == [False, False]


def test_a_stale_version_is_refused_with_the_current_state(world: World) -> None:
    made = world.category("Work")
    edit(world, made["id"], name="Job")
    with pytest.raises(ConflictError) as caught:
        edit(world, made["id"], version=1, name="Toil")
    assert caught.value.details["current"]["name"] == "Job"
    with pytest.raises(ConflictError):
        world.services.categories.delete(world.scope(), made["id"], 1, world.request())


def test_deleting_a_category_leaves_its_memories_uncategorised(world: World) -> None:
    """SPEC M9."""
    made = world.category("Work", default=True)
    world.add()
    deleted = world.services.categories.delete(world.scope(), made["id"], 1, world.request("d"))
    assert world.services.categories.delete(world.scope(), made["id"], 1, world.request("d")) == deleted
    shown = world.services.read.get(world.scope(), 1)
    assert (shown["memory"]["category"], shown["recallable"]) == (None, False)
    assert world.services.categories.listed(world.scope()) == []
    with pytest.raises(NotFoundError):
        world.services.categories.delete(world.scope(), made["id"], None, world.request())


def test_a_binding_needs_a_project_of_ones_own(world: World) -> None:
    pool = world.scope(world.add_project("rocket"))
    world.add_project("theirs", "boris")
    assert world.category("R", project="rocket")["project"] == "rocket"
    for scope, project in [
        (world.scope(), "theirs"),
        (world.scope(), "nowhere"),
        (pool, "theirs"),
        (world.scope(world.add_community()), "rocket"),
    ]:
        with pytest.raises(InvalidError, match="project"):
            world.category("X", scope, project=project)
    assert world.category("P", pool, project="rocket")["project"] == "rocket"


def test_a_pools_categories_are_changed_by_an_admin_only(world: World) -> None:
    """SPEC M6."""
    pool = world.add_project()
    member = world.scope(pool, rights=frozenset({Right.READ, Right.WRITE}))
    outside = world.scope(pool, rights=frozenset({Right.CONFIGURE}))
    with pytest.raises(ForbiddenError):
        world.category("Work", member)
    world.category("Work", outside)
    assert [one["name"] for one in world.services.categories.listed(member)] == ["Work"]
    assert [one["name"] for one in world.services.categories.listed(outside)] == ["Work"]
    with pytest.raises(ForbiddenError):
        world.services.categories.listed(world.scope(pool, rights=frozenset({Right.WRITE})))


def test_a_space_has_at_most_so_many(world: World) -> None:
    for number in range(CATEGORIES_MAX):
        world.category(f"C{number}")
    with pytest.raises(ConflictError, match="at most"):
        world.category("one more")


def test_a_repeated_creation_is_one(world: World) -> None:
    draft = NewCategory(name="Work")
    first = world.services.categories.create(world.scope(), draft, world.request("c"))
    assert world.services.categories.create(world.scope(), draft, world.request("c")) == first


def test_a_repeat_whose_record_is_gone_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = NewCategory(name="Work")
    world.services.categories.create(world.scope(), draft, world.request("c"))
    monkeypatch.setattr(type(world.parts.memories), "change", lambda *_: None)
    with pytest.raises(NotFoundError, match="gone"):
        world.services.categories.create(world.scope(), draft, world.request("c"))


def test_a_race_is_tried_again_and_then_given_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = type(world.parts.memories).commit
    left = [1]

    def busy(store: object, scope: object, unit: object) -> None:
        if left[0]:
            left[0] -= 1
            raise StaleVersionError(("space",))
        commit(store, scope, unit)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    assert world.category("Work")["name"] == "Work"
    left[0] = 99
    with pytest.raises(ConflictError, match="by others"):
        world.category("Home")


def edit(world: World, category: str, version: int | None = None, **fields: object) -> dict[str, object]:
    if version is None:
        version = world.services.categories.get(world.scope(), category)["category"]["version"]
    draft = CategoryEdit.model_validate({"version": version, **fields})
    return world.services.categories.edit(world.scope(), category, draft, world.request())["category"]
