"""Scopes, filters, drafts and times: what cannot be said is refused where it is said."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from chalicelib.domain.change import parse_id
from chalicelib.domain.clock import rfc3339, to_utc
from chalicelib.domain.drafts import Bulk, CategoryEdit, Edit, Merge, SearchFilters
from chalicelib.domain.filters import MemoryFilter
from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Actor, Right, Scope, Space, SpaceKind

AT = datetime(2026, 5, 4, 9, 0, 0, 123_456, tzinfo=UTC)


def memory(**fields: object) -> Memory:
    return Memory.model_validate(
        {
            "text": "tea",
            "kind": "user",
            "space": "account#anna",
            "number": 1,
            "version": 1,
            "revision": 1,
            "recorded_at": AT,
            "recorded_by": {"kind": "person", "id": "anna"},
            "updated_at": AT,
            **fields,
        }
    )


@pytest.mark.parametrize(
    "space",
    [
        Space.personal("a-1"),
        Space.pool("prj_1"),
        Space.community("discord", "77"),
        Space.community("telegram", "-100"),
    ],
)
def test_a_space_is_known_again_by_its_key(space: Space) -> None:
    assert Space.from_key(space.key) == space


@pytest.mark.parametrize(
    "key", ["", "account", "account#", "account#a#b", "community#discord", "pool#1", "account#a:b", "#"]
)
def test_what_is_no_key_opens_no_space(key: str) -> None:
    """CASES mem0 PR#6892: a key collided when an id contained the delimiter."""
    with pytest.raises(ValueError, match=r"."):
        Space.from_key(key)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "community", "id": "1"},
        {"kind": "personal", "id": "anna", "platform": "discord"},
        {"kind": "personal", "id": ""},
        {"kind": "personal", "id": None},
        {"kind": "personal", "id": ["anna"]},
        {"kind": "personal", "id": "a#b"},
        {"kind": "personal"},
    ],
)
def test_a_space_without_a_proper_identity_cannot_be_made(fields: dict[str, object]) -> None:
    """CASES moorcheh-ai/memanto PR#1873: the scope failed open when missing, empty, null or a list."""
    with pytest.raises(ValidationError):
        Space.model_validate(fields)


def test_a_person_has_no_scope_in_anothers_personal_space() -> None:
    actor = Actor(kind="person", id="boris")
    with pytest.raises(ValidationError, match="private"):
        Scope(actor=actor, space=Space.personal("anna"), rights=frozenset(Right), place="http")
    with pytest.raises(ValidationError, match="own project"):
        Scope(actor=actor, space=Space.pool("a"), rights=frozenset(), place="http", project="b")
    with pytest.raises(ValidationError):
        Scope(actor=None, space=Space.personal("anna"), rights=frozenset(), place="http")  # type: ignore[arg-type]


def test_names_of_spaces_are_those_of_the_api() -> None:
    spaces = (Space.personal("anna"), Space.pool("p"), Space.community("discord", "7"))
    assert [space.name for space in spaces] == ["personal", "project:p", "community:discord:7"]
    assert Space.personal("anna").kind is SpaceKind.PERSONAL


@pytest.mark.parametrize(
    ("wanted", "fields", "matches"),
    [
        (MemoryFilter(), {"state": "retired"}, False),
        (MemoryFilter(exclude=frozenset({1})), {}, False),
        (MemoryFilter(category_in=frozenset({"a"})), {"category": "a"}, True),
        (MemoryFilter(category_in=frozenset({"a"})), {"category": None}, False),
        (MemoryFilter(category_in=frozenset()), {"category": "a"}, False),
        (MemoryFilter(category_not_in=frozenset({"a"})), {"category": None}, True),
        (MemoryFilter(category_not_in=frozenset({"a"})), {"category": "a"}, False),
        (MemoryFilter(category_not_in=frozenset({"a"})), {"category": "gone"}, True),
        (MemoryFilter(importance_min=5), {"importance": None}, False),
        (MemoryFilter(importance_min=5), {"importance": 5}, True),
        (MemoryFilter(importance_max=5), {"importance": 6}, False),
        (MemoryFilter(kinds=frozenset({"feedback"})), {}, False),
        (MemoryFilter(subject="x"), {"subject": "y"}, False),
        (MemoryFilter(source="c"), {}, False),
        (MemoryFilter(source="c"), {"source": {"conversation": "c"}}, True),
    ],
)
def test_a_filter_wants_what_it_says(wanted: MemoryFilter, fields: dict[str, object], matches: bool) -> None:
    assert wanted.matches(memory(**fields)) is matches


@pytest.mark.parametrize(
    ("draft", "values", "message"),
    [
        (Edit, {"version": 1}, "names no field"),
        (Edit, {"version": 1, "kind": None}, "kind: cannot be null"),
        (Merge, {"numbers": [1, 1], "versions": {"1": 1}, "text": "x"}, "numbers: must differ"),
        (Merge, {"numbers": [1, 2], "versions": {"1": 1}, "text": "x"}, "versions: lacks #2"),
        (Merge, {"numbers": [1, 2], "versions": {"1": 1, "2": 1, "3": 1}, "text": "x"}, "versions: names"),
        (Bulk, {"op": "delete", "numbers": [1, 1]}, "numbers: must differ"),
        (Bulk, {"op": "categorise", "numbers": [1]}, "category: categorise needs"),
        (Bulk, {"op": "delete", "numbers": [1], "category": "x"}, "category: goes with"),
        (Bulk, {"op": "delete", "numbers": [1], "reason": "x"}, "reason: "),
        (SearchFilters, {"importance_min": 5, "importance_max": 4}, "importance_min: is above"),
        (CategoryEdit, {"version": 1}, "names no field"),
        (CategoryEdit, {"version": 1, "name": None}, "name: cannot be null"),
    ],
)
def test_a_draft_that_does_not_fit_together_says_where(
    draft: type[Edit], values: dict[str, object], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        draft.model_validate(values)


def test_drafts_that_fit_together_are_taken() -> None:
    CategoryEdit.model_validate({"version": 1, "project": None})
    Edit.model_validate({"version": 1, "category": None})
    SearchFilters(importance_min=2, importance_max=2)
    Bulk(op="retire", numbers=(1,), reason="old")


def test_times_are_utc_with_milliseconds_and_sort_as_texts() -> None:
    """CASES mem0#3213, graphiti PR#988."""
    assert rfc3339(AT) == "2026-05-04T09:00:00.123Z"
    assert rfc3339(AT.astimezone(timezone(timedelta(hours=5)))) == "2026-05-04T09:00:00.123Z"
    assert rfc3339(AT.replace(tzinfo=None)) == "2026-05-04T09:00:00.123Z"
    assert rfc3339(datetime(33, 1, 1, tzinfo=UTC)) == "0033-01-01T00:00:00.000Z"
    with pytest.raises(ValueError, match="years"):
        to_utc(datetime.min.replace(tzinfo=timezone(timedelta(hours=14))))


def test_a_memory_is_searched_with_who_said_it_or_its_key() -> None:
    assert memory(key="theme", text="retro").words == "theme: retro"
    said = memory(source={"conversation": "c", "author": "Ann"})
    assert said.words == "Ann: tea"
    assert said.model_copy(update={"text": "Ann: tea"}).words == "Ann: tea"


@pytest.mark.parametrize("text", ["", "-", "1-", "-1", "a-b", "1-²", f"1-{'9' * 16}"])
def test_what_is_no_change_id_is_none(text: str) -> None:
    assert parse_id(text) is None
