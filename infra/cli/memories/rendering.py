"""Memories and what became of them, as lines and tables for a person."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from infra.cli.failures import RefusedError
from infra.cli.printing import say, show, table

DEGRADED = {
    "embedder_unavailable": "the embedding model does not answer, so this is by words",
    "reindex_needed": "the space has no complete vectors of this embedding model: run palimpsest reindex",
    "index_behind": "many writes wait for the index, so some of the newest may be missing",
    "use_not_counted": "the use was not counted",
    "index_missing": "the index is being built, so this is from the table",
    "index_unavailable": "the search index does not answer, so this is from the table",
}
LEFT_OUT = {
    "budget": "no room in the budget",
    "threshold": "below the threshold",
    "uncategorised": "without a category",
    "other_project": "of another project",
    "seen": "seen already",
}
WHY_NOT = "not given to models: "


def show_list(memories: Iterable[Mapping[str, Any]]) -> None:
    """One row for each memory."""
    rows = [
        [f"#{one['number']}", one["text"], one["category"], one["kind"], one["importance"], state_of(one)]
        for one in memories
    ]
    table(["number", "text", "category", "kind", "importance", "state"], rows, grows=1)


def state_of(memory: Mapping[str, Any]) -> str:
    """`active`, `trashed`, or `retired (by #7)`."""
    by = memory["replaced_by"]
    return f"{memory['state']} (by #{by})" if by else str(memory["state"])


def show_one(memory: Mapping[str, Any]) -> None:
    """Every field of a memory that says something."""
    show(f"#{memory['number']} {memory['text']}")
    rows = [[name, _value(value)] for name, value in memory.items() if _told(name, value)]
    table(["field", "value"], rows, grows=1)


def _told(name: str, value: object) -> bool:
    return name not in {"number", "text"} and value not in (None, [], "")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(f"#{part}" for part in value)
    return str(value)


def say_notes(answer: Mapping[str, Any]) -> None:
    """What an answer says besides its memory: that models are not given it, that it looks like a secret, and more."""
    if answer.get("recallable") is False:
        say(f"It is {WHY_NOT}{answer.get('why_not_recallable')}.")
    if answer.get("warning") == "secret":
        say("Its text looks like a credential: whoever may read this space can read it.")
    if answer.get("notice"):
        say(str(answer["notice"]))
    for near in answer.get("similar") or []:
        memory = near["memory"]
        say(f"Says much the same ({near['score']:.2f}): #{memory['number']} {memory['text']}")
    say_degraded(answer.get("degraded"))


def say_degraded(code: str | None) -> None:
    """That an answer is less than it could be, and why."""
    if code is not None:
        say(f"degraded: {code} ({DEGRADED.get(code, 'see docs/recall.md')}).")


def say_left_out(left_out: Mapping[str, int]) -> None:
    """How many related memories were not given, by reason."""
    for reason, count in left_out.items():
        if count:
            say(f"left out: {count} {LEFT_OUT.get(reason, reason)}")


def with_current(error: RefusedError) -> RefusedError:
    """The refusal, and below it the state now, if it shows that."""
    now = error.details.get("current")
    if not isinstance(now, Mapping) or "number" not in now:
        return error
    told = f"{error}\nNow #{now['number']} is at version {now['version']}, {now['state']}: {now['text']}"
    return RefusedError(error.status, error.code, told, error.details, text=error.text)
