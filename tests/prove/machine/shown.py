"""What an answer must say of a row of the model."""

from datetime import datetime
from typing import Any

from chalicelib.domain.clock import rfc3339
from tests.prove.machine.model import Model, Row
from tests.prove.machine.people import Caller

PLAIN = ("number", "state", "text", "kind", "importance", "subject", "reason", "replaced_by")
NAMES = {
    "anna": "personal",
    "bert": "personal",
    "pool": "project:rocket",
    "community": "community:discord:1001",
}


def memory(model: Model, row: Row) -> Row:
    """A memory, as of the moment of `row`, with the name that its category has now."""
    return {
        **{name: row[name] for name in PLAIN},
        "space": NAMES[model.space],
        "category": model.category(row)["name"],
        "source": row["source"],
        "derived_from": row.get("derived_from", []),
        "valid_to": _time(row["valid_to"]),
        "recorded_at": _time(row["recorded_at"]),
        "recorded_by": row["recorded_by"],
        "updated_at": _time(row["updated_at"]),
        "version": row["version"],
    }


def same(model: Model, row: Row, told: dict[str, Any], *, now: bool = True) -> None:
    """That `told` says what the model says; `now`: also of what counts and time change."""
    expected = memory(model, row)
    found = {name: told[name] for name in expected} | {
        "source": told["source"] and told["source"]["conversation"],
        "recorded_by": _actor(told["recorded_by"]),
    }
    assert found == expected, f"in {model.space}: {_difference(expected, found)}"
    if now:
        used = (told["use_count"], told["last_used_at"])
        assert used == (row["use_count"], _time(row.get("last_used_at"))), f"#{row['number']} was used {used}"
        faded = None if model.space == "community" else round(model.vitality(row), 1)
        assert (told["vitality"] is None) == (faded is None)
        assert faded is None or abs(told["vitality"] - faded) < 0.11, (
            f"#{row['number']}: {told['vitality']}, not {faded}"
        )


def change(model: Model, who: Caller, made: Row, told: dict[str, Any]) -> None:
    """That a line of a history is this change."""
    assert act(told) == (f"{made['key']}-{made['version']}", made["op"], made["by"]), told
    images = {"before": None if made["version"] == 1 else made["before"], "after": made["after"]}
    for name, row in images.items():
        assert (told[name] is None) == (row is None), f"{name} of {told['id']}: {told[name]}"
        if row is not None:
            same(model, row, told[name], now=False)


def act(told: dict[str, Any]) -> tuple[str, str, str]:
    """What was done, and by whom."""
    return told["id"], told["op"], _actor(told["by"])


def category(model: Model, key: str, told: dict[str, Any]) -> None:
    """That a category is as the model has it."""
    row = model.items[key]
    expected = (key, row["name"], row["project"], row["version"], model.default == key)
    found = (told["id"], told["name"], told["project"], told["version"], told["default"])
    assert found == expected, f"category {found}, not {expected}"


def _actor(told: dict[str, Any]) -> str:
    return f"{told['kind']} {told['id']}"


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)


def _difference(expected: Row, found: Row) -> str:
    wrong = [
        f"{name} is {found[name]!r}, not {expected[name]!r}"
        for name in expected
        if found[name] != expected[name]
    ]
    return f"#{expected['number']}: {'; '.join(wrong)}"
