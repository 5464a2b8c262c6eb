"""What is said of memories: a whole number says which of many shapes, a small one a simple shape."""

from collections.abc import Sequence
from typing import Any

KINDS = (None, None, "feedback", "reference")
IMPORTANCES = (None, 1, 3, 8, 10)
SUBJECTS = (None, None, "marie", "tea")
TALKS = (None, None, "talk-1", "talk-2")


def described(shape: int, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Fields of a request; and as the model keeps them. `names`: categories that there are."""
    shape, kind = divmod(shape, len(KINDS))
    shape, importance = divmod(shape, len(IMPORTANCES))
    shape, subject = divmod(shape, len(SUBJECTS))
    shape, category = divmod(shape, 8)
    body = {"kind": KINDS[kind], "importance": IMPORTANCES[importance], "subject": SUBJECTS[subject]}
    body = {name: value for name, value in body.items() if value is not None}
    return body | named(category, names), body | named(category, names)


def named(choice: int, names: Sequence[str]) -> dict[str, Any]:
    """Of eight: no category is said, or that there is none, or (mostly) one; once one that does not exist."""
    if choice < 2:
        return {}
    if choice == 7:
        return {"category": "Nowhere"}
    return {"category": names[choice % len(names)] if names and choice > 2 else None}
