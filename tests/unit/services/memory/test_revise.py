"""Changing one memory, and many."""

import pytest

from chalicelib.domain.drafts import Bulk, Edit, Ending, SearchFilters
from chalicelib.domain.memory import TEXT_MAX_BYTES
from chalicelib.domain.vitality import Retention
from chalicelib.errors import (
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    StaleVersionError,
    TooLargeError,
)
from tests.fakes.world import READS, World


def edit(world: World, number: int = 1, version: int = 1, **fields: object) -> dict[str, object]:
    draft = Edit.model_validate({"version": version, **fields})
    return world.services.revise.edit(world.scope(), number, draft, world.request())


def numbers(world: World, **filters: object) -> list[int]:
    page = world.services.read.browse(world.scope(), SearchFilters.model_validate(filters))
    return [memory["number"] for memory in page["items"]]


def test_an_edit_changes_only_what_it_names(world: World) -> None:
    world.add("I like tea.", importance=7)
    world.later(minutes=1)
    memory = edit(world, text="I like green tea.")["memory"]
    assert (memory["text"], memory["importance"], memory["version"]) == ("I like green tea.", 7, 2)
    assert memory["updated_at"] > memory["recorded_at"]


def test_an_edited_memory_is_found_by_its_new_words_and_no_longer_by_the_old(world: World) -> None:
    """CASES second-brain-cloudflare#135: an edit removed the vector that was just written."""
    world.add("Anna works at Google.")
    world.settle()
    edit(world, text="Anna works at Microsoft.")
    for _ in range(2):
        assert world.find("Microsoft") == [1]
        assert world.find("Google") == []
        world.settle()


def test_a_stale_version_is_refused_with_the_current_state(world: World) -> None:
    """SPEC M15."""
    world.add("I like tea.")
    edit(world, text="I like coffee.")
    with pytest.raises(ConflictError) as caught:
        edit(world, version=1, text="I like cocoa.")
    assert caught.value.details["current"]["text"] == "I like coffee."
    assert caught.value.details["current"]["version"] == 2


def test_a_number_of_another_space_is_not_found(world: World) -> None:
    pool = world.scope(world.add_project())
    world.add("pool", pool)
    with pytest.raises(NotFoundError):
        edit(world, text="mine now")


def test_an_edit_can_take_a_memory_out_of_its_category(world: World) -> None:
    world.category()
    world.add(category="General")
    answer = edit(world, category=None)
    assert answer["memory"]["category"] is None
    assert answer["recallable"] is False


def test_an_edit_to_something_that_looks_like_a_secret_warns(world: World) -> None:
    world.add()
    assert edit(world, text="password: hunter2-hunter2")["warning"] == "secret"


def test_edits_that_cannot_be_are_refused(world: World) -> None:
    world.add()
    with pytest.raises(TooLargeError):
        edit(world, text="x" * (TEXT_MAX_BYTES + 1))
    with pytest.raises(InvalidError, match="category"):
        edit(world, category="Nowhere")
    world.services.revise.retire(world.scope(), 1, Ending(), None, world.request())
    with pytest.raises(InvalidError, match="valid_from"):
        edit(world, version=2, valid_from="2030-01-01T00:00:00Z")
    world.services.revise.trash(world.scope(), 1, None, world.request())
    with pytest.raises(ConflictError, match="restored before"):
        edit(world, version=3, text="from the trash")


def test_who_may_only_read_cannot_change(world: World) -> None:
    world.add()
    reads = world.scope(rights=READS)
    with pytest.raises(ForbiddenError):
        world.services.revise.trash(reads, 1, None, world.request())
    with pytest.raises(ForbiddenError):
        world.services.revise.erase(reads, 1, None, world.request())
    with pytest.raises(ForbiddenError):
        world.services.revise.bulk(reads, Bulk(op="delete", numbers=(1,)), world.request())


def test_a_retired_memory_stays_to_be_read_and_says_why(world: World) -> None:
    """SPEC M4."""
    world.add("The office is in Prague.")
    world.add("The office is in Brno.")
    ending = Ending(reason="we moved", replaced_by=2)
    memory = world.services.revise.retire(world.scope(), 1, ending, 1, world.request())["memory"]
    assert (memory["state"], memory["reason"], memory["replaced_by"]) == ("retired", "we moved", 2)
    assert memory["valid_to"] == "2026-05-04T09:00:00.000Z"
    assert world.find("Prague") == []
    assert numbers(world, state="retired") == [1]


@pytest.mark.parametrize(
    ("ending", "field"),
    [
        (Ending(replaced_by=1), "replaced_by"),
        (Ending(replaced_by=99), "replaced_by"),
        (Ending.model_validate({"valid_to": "2001-01-01T00:00:00Z"}), "valid_to"),
    ],
)
def test_an_end_that_cannot_be_is_refused(world: World, ending: Ending, field: str) -> None:
    world.add(valid_from=world.now)
    with pytest.raises(InvalidError, match=field):
        world.services.revise.retire(world.scope(), 1, ending, 1, world.request())


def test_only_an_active_memory_is_retired(world: World) -> None:
    world.add()
    world.services.revise.retire(world.scope(), 1, Ending(), 1, world.request())
    with pytest.raises(ConflictError, match="retired"):
        world.services.revise.retire(world.scope(), 1, Ending(), 2, world.request())


def test_delete_moves_to_the_trash_and_restore_brings_back(world: World) -> None:
    world.add()
    world.services.revise.trash(world.scope(), 1, None, world.request())
    assert (numbers(world), numbers(world, state="trashed")) == ([], [1])
    with pytest.raises(ConflictError, match="already"):
        world.services.revise.trash(world.scope(), 1, None, world.request())
    restored = world.services.revise.restore(world.scope(), 1, None, world.request())
    assert restored["memory"]["state"] == "active"
    with pytest.raises(ConflictError, match="active already"):
        world.services.revise.restore(world.scope(), 1, None, world.request())


def test_restoring_a_retired_memory_reopens_it_and_leaves_its_replacement_alone(world: World) -> None:
    world.add("old")
    world.add("new")
    world.services.revise.retire(world.scope(), 1, Ending(replaced_by=2, reason="new"), 1, world.request())
    memory = world.services.revise.restore(world.scope(), 1, 2, world.request())["memory"]
    assert (memory["valid_to"], memory["reason"], memory["replaced_by"]) == (None, None, None)
    assert sorted(numbers(world)) == [1, 2]


def test_restoring_says_when_the_memory_may_soon_be_trashed_again(world: World) -> None:
    """SPEC M30."""
    world.add(importance=1)
    world.services.revise.trash(world.scope(), 1, None, world.request())
    world.later(days=60)
    assert "master switch" in world.services.revise.restore(world.scope(), 1, None, world.request())["notice"]
    world.services.revise.trash(world.scope(), 1, None, world.request())
    world.set_retention(Retention(automatic=False))
    assert world.services.revise.restore(world.scope(), 1, None, world.request())["notice"] is None


def test_a_community_has_no_such_notice(world: World) -> None:
    den = world.scope(world.add_community())
    world.add("fact", den)
    world.services.revise.trash(den, 1, None, world.request())
    assert "notice" not in world.services.revise.restore(den, 1, None, world.request())


def test_erase_leaves_number_and_time_and_no_text(world: World) -> None:
    """SPEC M13."""
    world.add("My diary is under the floor.")
    edit(world, text="My diary is in the attic.")
    world.settle()
    erased = world.services.revise.erase(world.scope(), 1, 2, world.request("e1"))["erased"]
    assert erased == {"number": 1, "space": "personal", "at": "2026-05-04T09:00:00.000Z"}
    assert world.services.revise.erase(world.scope(), 1, 2, world.request("e1"))["erased"] == erased
    for _ in range(2):
        assert world.find("diary attic floor") == []
        world.settle()
    with pytest.raises(NotFoundError):
        world.services.read.get(world.scope(), 1)
    history = world.services.read.history(world.scope(), 1)["items"]
    assert [(one["op"], one["before"], one["after"]) for one in history] == [
        ("erase", None, None),
        ("edit", None, None),
        ("add", None, None),
    ]
    assert not any(b"diary" in bytes(str(line), "utf-8") for line in world.database_dump())


def test_the_number_of_an_erased_memory_is_never_used_again(world: World) -> None:
    """SPEC M3."""
    world.add()
    world.services.revise.erase(world.scope(), 1, None, world.request())
    assert world.add()["memory"]["number"] == 2


def test_erasing_takes_the_text_out_of_what_had_it_as_context(world: World) -> None:
    """SPEC M13: the text vanishes everywhere, also where it was only said before."""
    for position, text in enumerate(["My diary is in the attic.", "Nobody knows."]):
        world.add(text, source={"conversation": "c", "position": position})
    world.settle()
    world.services.revise.erase(world.scope(), 1, None, world.request())
    world.settle()
    assert world.services.read.get(world.scope(), 2)["memory"]["context"] is None
    assert not any("diary" in line for line in world.database_dump())
    assert world.find("diary attic") == []


def test_a_context_that_was_given_by_the_caller_is_the_callers(world: World) -> None:
    world.add("first", source={"conversation": "c", "position": 0})
    world.add("second", source={"conversation": "c", "position": 1}, context="my own words")
    world.services.revise.erase(world.scope(), 1, None, world.request())
    assert world.services.read.get(world.scope(), 2)["memory"]["context"] == "my own words"


def test_a_change_without_a_version_is_tried_again_when_others_were_faster(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add()
    commit = type(world.parts.memories).commit
    left = [2]

    def busy(store: object, scope: object, unit: object) -> None:
        if left[0]:
            left[0] -= 1
            raise StaleVersionError(("1",))
        commit(store, scope, unit)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    assert (
        world.services.revise.trash(world.scope(), 1, None, world.request())["memory"]["state"] == "trashed"
    )
    left[0] = 1
    world.services.revise.erase(world.scope(), 1, None, world.request())


def test_what_others_keep_changing_is_given_up_with_a_conflict(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add()

    def busy(*_: object) -> None:
        raise StaleVersionError(("1",))

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    with pytest.raises(ConflictError, match="by others"):
        world.services.revise.trash(world.scope(), 1, None, world.request())
    with pytest.raises(ConflictError, match="by others"):
        world.services.revise.erase(world.scope(), 1, None, world.request())


def test_a_repeat_of_a_change_answers_its_first_outcome(world: World) -> None:
    world.add()
    draft = Edit(version=1, text="edited")
    first = world.services.revise.edit(world.scope(), 1, draft, world.request("k"))
    edit(world, version=2, text="edited again")
    world.later(days=1)
    assert world.services.revise.edit(world.scope(), 1, draft, world.request("k")) == first
    world.services.revise.erase(world.scope(), 1, None, world.request())
    with pytest.raises(NotFoundError, match="erased since"):
        world.services.revise.edit(world.scope(), 1, draft, world.request("k"))


def test_bulk_has_an_outcome_for_each_number(world: World) -> None:
    for _ in range(3):
        world.add()
    results = world.services.revise.bulk(
        world.scope(), Bulk(op="delete", numbers=(1, 3, 9), versions={"3": 7}), world.request("b")
    )
    assert [(one["number"], one["status"]) for one in results] == [(1, 200), (3, 409), (9, 404)]
    again = world.services.revise.bulk(
        world.scope(), Bulk(op="delete", numbers=(1, 3, 9), versions={"3": 7}), world.request("b")
    )
    assert again == results


@pytest.mark.parametrize(
    ("draft", "state"),
    [
        (Bulk(op="retire", numbers=(1, 2), reason="old"), "retired"),
        (Bulk(op="delete", numbers=(1, 2)), "trashed"),
        (Bulk(op="categorise", numbers=(1, 2), category="General"), "active"),
    ],
)
def test_each_bulk_operation_does_what_it_says(world: World, draft: Bulk, state: str) -> None:
    world.category()
    world.add()
    world.add()
    assert [one["status"] for one in world.services.revise.bulk(world.scope(), draft, world.request())] == [
        200,
        200,
    ]
    assert sorted(numbers(world, state=state)) == [1, 2]


def test_bulk_restores_and_erases(world: World) -> None:
    world.add()
    world.services.revise.bulk(world.scope(), Bulk(op="delete", numbers=(1,)), world.request())
    world.services.revise.bulk(world.scope(), Bulk(op="restore", numbers=(1,)), world.request())
    assert numbers(world) == [1]
    [erased] = world.services.revise.bulk(world.scope(), Bulk(op="erase", numbers=(1,)), world.request())
    assert erased["erased"]["number"] == 1
    assert numbers(world, state="all") == []


def test_an_erase_that_was_cut_off_is_finished_by_its_repeat(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A context that another memory got meanwhile, and one that is erased itself, are no obstacle."""
    for position, text in enumerate(["My diary is in the attic.", "Nobody knows.", "Really."]):
        world.add(text, source={"conversation": "c", "position": position})
    world.services.revise.erase(world.scope(), 2, None, world.request())
    numbers = iter([[2, 3], []])
    monkeypatch.setattr(type(world.parts.memories), "context_of", lambda *_: next(numbers))
    assert world.services.revise.erase(world.scope(), 1, None, world.request())["erased"]["number"] == 1
