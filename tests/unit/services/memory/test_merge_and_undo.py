"""Merging memories, and taking changes back."""

import pytest

from chalicelib.domain.drafts import CategoryEdit, Edit, Ending, Merge, SearchFilters
from chalicelib.domain.memory import TEXT_MAX_BYTES
from chalicelib.domain.scope import Right
from chalicelib.errors import ConflictError, ForbiddenError, NotFoundError, StaleVersionError, TooLargeError
from chalicelib.services.memory import undo as undo_module
from tests.fakes.world import World


def merge(
    world: World,
    *numbers: int,
    text: str = "Anna drinks green tea.",
    under: str | None = None,
    **fields: object,
):  # type: ignore[no-untyped-def]
    versions = {str(number): 1 for number in numbers}
    draft = Merge.model_validate({"numbers": numbers, "versions": versions, "text": text, **fields})
    return world.services.merge.merge(world.scope(), draft, world.request(under))


def undo(world: World, change: str, key: str | None = None) -> dict[str, object]:
    return world.services.undo.undo(world.scope(), change, world.request(key))


def active(world: World) -> list[int]:
    return [m["number"] for m in world.services.read.browse(world.scope(), SearchFilters())["items"]]


def test_merging_makes_one_new_memory_and_retires_the_old(world: World) -> None:
    world.category()
    world.add("Anna likes tea.", importance=3)
    world.add("Anna likes green tea.", importance=8, category="General")
    answer = merge(world, 1, 2)
    memory = answer["memory"]
    assert (memory["number"], memory["derived_from"], memory["importance"]) == (3, [1, 2], 8)
    assert memory["category"] == "General"
    assert answer["recallable"] is True
    assert {(m["state"], m["replaced_by"], m["reason"]) for m in answer["merged"]} == {
        ("retired", 3, "merged")
    }
    assert active(world) == [3]


def test_a_merged_memory_is_found_and_the_old_ones_are_not(world: World) -> None:
    """CASES second-brain-cloudflare#135."""
    world.add("Anna likes oolong.")
    world.add("Anna likes sencha.")
    world.settle()
    merge(world, 1, 2, text="Anna likes oolong and sencha.")
    for _ in range(2):
        assert world.find("sencha") == [3]
        world.settle()


def test_a_merged_memory_takes_no_deleted_category_where_there_is_another(world: World) -> None:
    """Else it would not be recalled, though one of the old ones was (SPEC M9)."""
    gone = world.category("Gone")["id"]
    world.category("Home")
    world.add("Anna likes tea.", category="Gone")
    world.add("Anna likes green tea.", category="Home")
    world.services.categories.delete(world.scope(), gone, None, world.request())
    answer = merge(world, 1, 2)
    assert (answer["memory"]["category"], answer["recallable"]) == ("Home", True)


def test_a_merge_of_what_a_deleted_category_held_is_back_in_it_when_the_deletion_is_undone(
    world: World,
) -> None:
    gone = world.category("Gone")["id"]
    for text in ("Anna likes tea.", "Anna likes green tea."):
        world.add(text, category="Gone")
    world.services.categories.delete(world.scope(), gone, None, world.request())
    assert merge(world, 1, 2)["memory"]["category"] is None
    undo(world, f"{gone}-2")
    assert world.services.read.get(world.scope(), 3)["memory"]["category"] == "Gone"


def test_what_a_merge_says_wins(world: World) -> None:
    world.category()
    den = world.add("one", key="a")["memory"]
    world.add("two")
    said = {
        "importance": 2,
        "kind": "feedback",
        "category": "General",
        "key": "b",
        "confidence": 0.5,
        "subject": "x",
    }
    memory = merge(world, den["number"], 2, **said)["memory"]
    assert {name: memory[name] for name in said} == said


def test_a_merge_of_the_uncategorised_is_not_recalled_and_secrets_warn(world: World) -> None:
    world.add("one")
    world.add("two")
    answer = merge(world, 1, 2, text="password: hunter2-hunter2")
    assert answer["why_not_recallable"] == "it has no category"
    assert answer["warning"] == "secret"


def test_in_a_community_a_merge_of_the_unscored_is_unscored(world: World) -> None:
    den = world.scope(world.add_community())
    world.add("one", den)
    world.add("two", den)
    draft = Merge.model_validate({"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": "both"})
    assert world.services.merge.merge(den, draft, world.request())["memory"]["importance"] is None


def test_a_merge_with_a_stale_version_changes_nothing(world: World) -> None:
    world.add("one")
    world.add("two")
    world.services.revise.edit(world.scope(), 2, Edit(version=1, text="two, changed"), world.request())
    with pytest.raises(ConflictError, match="#2 is at version 2") as caught:
        merge(world, 1, 2)
    assert [memory["number"] for memory in caught.value.details["current"]] == [2]
    assert sorted(active(world)) == [1, 2]


def test_only_what_is_there_and_active_is_merged(world: World) -> None:
    """CASES mem0#3931: an id that does not exist crashed the update."""
    world.add("one")
    with pytest.raises(NotFoundError, match="#9"):
        merge(world, 1, 9)
    world.add("two")
    world.services.revise.trash(world.scope(), 2, None, world.request())
    draft = Merge.model_validate({"numbers": [1, 2], "versions": {"1": 1, "2": 2}, "text": "both"})
    with pytest.raises(ConflictError, match="trashed"):
        world.services.merge.merge(world.scope(), draft, world.request())
    with pytest.raises(TooLargeError):
        merge(world, 1, 2, text="x" * (TEXT_MAX_BYTES + 1))


def test_a_merge_that_loses_a_race_is_a_conflict(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add("one")
    world.add("two")

    def busy(*_: object) -> None:
        raise StaleVersionError(("1",))

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    with pytest.raises(ConflictError, match="meanwhile"):
        merge(world, 1, 2)


def test_a_repeated_merge_answers_its_first_outcome(world: World) -> None:
    world.add("one")
    world.add("two")
    first = merge(world, 1, 2, under="m")
    world.later(days=3)
    assert merge(world, 1, 2, under="m") == first
    world.services.revise.erase(world.scope(), 3, None, world.request())
    with pytest.raises(NotFoundError, match="erased since"):
        merge(world, 1, 2, under="m")


def test_a_merge_is_undone_as_one(world: World) -> None:
    """SPEC M13."""
    world.add("one")
    world.add("two")
    merge(world, 1, 2)
    answer = undo(world, "1-2")
    assert sorted((m["number"], m["state"]) for m in answer["memories"]) == [  # type: ignore[attr-defined]
        (1, "active"),
        (2, "active"),
        (3, "trashed"),
    ]
    assert sorted(active(world)) == [1, 2]
    undo(world, "1-3")
    assert active(world) == [3]


def test_an_undone_edit_brings_the_former_text_back_and_keeps_other_changes(world: World) -> None:
    world.category()
    world.add("I like tea.")
    world.services.revise.edit(world.scope(), 1, Edit(version=1, text="I like coffee."), world.request())
    world.services.revise.edit(world.scope(), 1, Edit(version=2, category="General"), world.request())
    [memory] = undo(world, "1-2")["memories"]  # type: ignore[misc]
    assert (memory["text"], memory["category"], memory["version"]) == ("I like tea.", "General", 4)


def test_an_edit_of_what_was_edited_since_is_not_undone(world: World) -> None:
    world.add("I like tea.")
    world.services.revise.edit(world.scope(), 1, Edit(version=1, text="I like coffee."), world.request())
    world.services.revise.edit(world.scope(), 1, Edit(version=2, text="I like cocoa."), world.request())
    with pytest.raises(ConflictError, match="text changed since") as caught:
        undo(world, "1-2")
    assert caught.value.details["current"]["text"] == "I like cocoa."


def test_an_undone_add_is_in_the_trash(world: World) -> None:
    world.add()
    assert undo(world, "1-1")["memories"][0]["state"] == "trashed"  # type: ignore[index]
    with pytest.raises(ConflictError, match="already"):
        undo(world, "1-1")


def test_a_retirement_is_undone(world: World) -> None:
    world.add()
    world.services.revise.retire(world.scope(), 1, Ending(reason="moved"), 1, world.request())
    [memory] = undo(world, "1-2")["memories"]  # type: ignore[misc]
    assert (memory["state"], memory["reason"], memory["valid_to"]) == ("active", None, None)


def test_an_erase_cannot_be_undone(world: World) -> None:
    world.add()
    world.services.revise.erase(world.scope(), 1, None, world.request())
    for change in ("1-2", "1-1"):
        with pytest.raises(ConflictError, match="cannot be brought back"):
            undo(world, change)


@pytest.mark.parametrize("change", ["", "x", "9-1", "1-9", "-1", "1-", "cat_x-1", "1-999999999999999999"])
def test_a_change_that_does_not_exist_is_not_found(world: World, change: str) -> None:
    world.add()
    with pytest.raises(NotFoundError):
        undo(world, change)


def test_a_change_of_another_space_is_not_found(world: World) -> None:
    world.add("pool", world.scope(world.add_project()))
    with pytest.raises(NotFoundError):
        undo(world, "1-1")


def test_an_undo_that_loses_a_race_is_a_conflict(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add()

    def busy(*_: object) -> None:
        raise StaleVersionError(("1",))

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    with pytest.raises(ConflictError, match="by others"):
        undo(world, "1-1")


def test_a_repeated_undo_is_done_once(world: World) -> None:
    world.add()
    first = undo(world, "1-1", key="u")
    world.later(days=1)
    assert undo(world, "1-1", key="u") == first


def test_what_was_before_may_be_lost_and_that_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    work = world.category("Work")
    edit = CategoryEdit(version=1, name="Job")
    world.services.categories.edit(world.scope(), work["id"], edit, world.request())
    world.add()
    world.services.revise.edit(world.scope(), 1, Edit(version=1, text="other"), world.request())
    change = type(world.parts.memories).change

    def forgetful(store: object, scope: object, target: str, version: int) -> object:
        return change(store, scope, target, version) if version == 2 else None  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.memories), "change", forgetful)
    for one in ("1-2", f"{work['id']}-2"):
        with pytest.raises(ConflictError, match="not known any more"):
            undo(world, one)


def test_changes_of_categories_are_undone(world: World) -> None:
    work = world.category("Work")
    world.add(category="Work")
    world.services.categories.edit(
        world.scope(), work["id"], CategoryEdit(version=1, name="Job"), world.request()
    )
    undo(world, f"{work['id']}-2")
    assert [c["name"] for c in world.services.categories.listed(world.scope())] == ["Work"]
    world.services.categories.delete(world.scope(), work["id"], None, world.request())
    assert world.services.read.get(world.scope(), 1)["recallable"] is False
    answer = undo(world, f"{work['id']}-4")
    assert answer["categories"][0]["deleted"] is False  # type: ignore[index]
    assert world.services.read.get(world.scope(), 1)["memory"]["category"] == "Work"
    with pytest.raises(ConflictError, match="changed since"):
        undo(world, f"{work['id']}-4")
    undo(world, f"{world.category('New')['id']}-1")
    assert [c["name"] for c in world.services.categories.listed(world.scope())] == ["Work"]


def test_in_a_pool_only_an_admin_undoes_a_change_of_a_category(world: World) -> None:
    """SPEC M6."""
    pool = world.add_project()
    made = world.category("Work", world.scope(pool))
    member = world.scope(pool, rights=frozenset({Right.READ, Right.WRITE}))
    with pytest.raises(ForbiddenError):
        world.services.undo.undo(member, f"{made['id']}-1", world.request())


def test_undoing_twice_says_that_it_is_undone_already(world: World) -> None:
    world.add("I like tea.")
    world.services.revise.edit(world.scope(), 1, Edit(version=1, text="I like coffee."), world.request())
    undo(world, "1-2")
    with pytest.raises(ConflictError, match="undone already"):
        undo(world, "1-2")


def test_a_category_whose_name_was_given_away_does_not_come_back(world: World) -> None:
    first = world.category("Food")
    world.services.categories.delete(world.scope(), first["id"], None, world.request())
    world.category("food")
    with pytest.raises(ConflictError, match="name was given"):
        undo(world, f"{first['id']}-2")


def test_a_category_comes_back_only_where_there_is_room(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = world.category("Food")
    world.services.categories.delete(world.scope(), first["id"], None, world.request())
    world.category("Home")
    monkeypatch.setattr(undo_module, "CATEGORIES_MAX", 1)
    with pytest.raises(ConflictError, match="at most"):
        undo(world, f"{first['id']}-2")


def test_the_default_category_is_the_default_again_when_its_deletion_is_undone(world: World) -> None:
    general = world.category("General", default=True)
    world.services.categories.delete(world.scope(), general["id"], None, world.request())
    assert world.add()["memory"]["category"] is None
    undo(world, f"{general['id']}-2")
    assert world.add()["memory"]["category"] == "General"
