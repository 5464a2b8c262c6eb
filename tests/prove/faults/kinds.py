"""Which faults each method of each port can have. The methods are read from the ports themselves: one that is new and
not decided on here, or decided on here and gone there, is told by `undecided`.
"""

import inspect
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, get_args, get_type_hints

from chalicelib import ports
from chalicelib.bootstrap import Parts
from chalicelib.errors import (
    EmbedderUnavailableError,
    IdentityProviderUnavailableError,
    IndexUnavailableError,
    StoreUnavailableError,
)


class Kind(StrEnum):
    """What goes wrong with a call."""

    TIMEOUT = "time-out"
    """No answer, and nothing was done."""
    TIMEOUT_AFTER = "time-out after commit"
    """No answer, and all of it was done."""
    THROTTLE = "throttle"
    SERVER_ERROR = "5xx"
    PARTIAL = "partial batch"
    """Some of it was done."""
    KILL = "kill"
    """The process ends before the call is made."""
    KILL_AFTER = "kill after commit"
    """The process ends when all of it was done, and nobody has been told."""


AFTER = frozenset({Kind.TIMEOUT_AFTER, Kind.KILL_AFTER})
KILLS = frozenset({Kind.KILL, Kind.KILL_AFTER})


@dataclass(frozen=True)
class Decision:
    """The faults that a method can have; or none, and why."""

    kinds: frozenset[Kind]
    why: str = ""

    @property
    def writes(self) -> bool:
        """Whether the method changes anything."""
        return bool(self.kinds & AFTER)


READS = Decision(frozenset({Kind.TIMEOUT, Kind.THROTTLE, Kind.SERVER_ERROR, Kind.KILL}))
WRITES = Decision(READS.kinds | AFTER)
WRITES_MANY = Decision(WRITES.kinds | {Kind.PARTIAL})
READS_MANY = Decision(READS.kinds | {Kind.PARTIAL})


def spared(why: str) -> Decision:
    """No fault."""
    return Decision(frozenset(), why)


def _each(decision: Decision, methods: str) -> dict[str, Decision]:
    return dict.fromkeys(methods.split(), decision)


_COMPUTED = "computed in this process: it calls nobody who could fail"

DECISIONS: dict[str, dict[str, Decision]] = {
    "MemoryStore": {
        **_each(READS, "get get_many page unprojected at_position context_of history change changes group"),
        **_each(READS, "last_number waiting"),
        **_each(READS, "categories space vectors job jobs"),
        **_each(READS_MANY, "spaces"),
        **_each(WRITES, "reserve pass_numbers finish_strip"),
        **_each(WRITES_MANY, "commit touch put_vectors"),
    },
    "InboxStore": _each(READS, "outcome"),
    "AccountStore": {
        **_each(READS, "account accounts login key keys_of project projects member members memberships"),
        **_each(READS, "community communities team_member team teams_of installation audit"),
        **_each(WRITES, "touch_key commit"),
    },
    "SearchIndex": {
        **_each(READS, "search browse counts indexed ready inspect"),
        **_each(WRITES_MANY, "apply repair rebuild_apply"),
        **_each(WRITES, "rebuild_begin rebuild_finish drop"),
    },
    "Embedder": {
        "model": spared("a description that is known at the start"),
        "passages": READS_MANY,
        "query": READS,
    },
    "Storage": {"look": READS},
    "Queue": {"send": WRITES, "depth": READS},
    "TokenVerifier": {"claims": READS},
    "Analyzer": _each(spared(_COMPUTED), "stems overlap coverage"),
    "Reranker": {"scores": spared("no adapter exists, so what it raises is not known yet")},
}

BELOW: dict[str, dict[str, Decision]] = {
    "SQLite": {"transaction": Decision(frozenset({Kind.TIMEOUT, Kind.KILL}) | AFTER)},
    "DynamoDB": {
        **_each(READS, "GetItem Query Scan BatchGetItem"),
        **_each(WRITES, "UpdateItem TransactWriteItems BatchWriteItem"),
    },
}
"""Faults inside an engine, under the adapters of the stores: before and after its own commit."""


def port_names() -> dict[str, list[str]]:
    """Every port, and all its methods, as the code has them now."""
    found = inspect.getmembers(
        ports, lambda one: inspect.isclass(one) and getattr(one, "_is_protocol", False)
    )
    return {
        name: [method for method in vars(port) if not method.startswith("_")]
        for name, port in found
        if port.__module__ == ports.__name__
    }


def port_of_part(field: str) -> str:
    """The name of the port that a field of `Parts` is for."""
    hint = get_type_hints(Parts)[field]
    options = [one for one in (get_args(hint) or (hint,)) if one is not type(None)]
    return str(options[0].__name__)


def undecided(
    known: dict[str, list[str]] | None = None, decisions: dict[str, dict[str, Decision]] | None = None
) -> list[str]:
    """Methods without a decision, decisions without a method, and parts that are no port."""
    known = port_names() if known is None else known
    decisions = DECISIONS if decisions is None else decisions
    there = {f"{port}.{method}" for port, methods in known.items() for method in methods}
    decided = {f"{port}.{method}" for port, methods in decisions.items() for method in methods}
    parts = {field: port_of_part(field) for field in get_type_hints(Parts)}
    return [
        *(f"{one}: which faults can it have?" for one in sorted(there - decided)),
        *(f"{one}: it is gone" for one in sorted(decided - there)),
        *(f"Parts.{field}: {port} is no port" for field, port in parts.items() if port not in known),
    ]


def expected(*engines: str) -> set[tuple[str, Kind]]:
    """Every (method, kind) that is to fire; of the engines, only those named."""
    tables = {**DECISIONS, **{name: BELOW[name] for name in engines}}
    return {
        (f"{port}.{method}", kind)
        for port, methods in tables.items()
        for method, decision in methods.items()
        for kind in decision.kinds
    }


def error_for(port: str, kind: Kind, decision: Decision) -> Exception:
    """What an adapter of this port raises then. A write that got no answer may have been done, for all it knows."""
    said = f"{kind} (injected)"
    if port == "SearchIndex":
        return IndexUnavailableError(said)
    if port == "Embedder":
        return EmbedderUnavailableError(said)
    if port == "TokenVerifier":
        return IdentityProviderUnavailableError(said)
    return StoreUnavailableError(said, unknown=decision.writes and kind is not Kind.THROTTLE)


def of(port: str, method: str) -> Decision | None:
    """What was decided of a method."""
    table: dict[str, Any] = DECISIONS.get(port) or BELOW.get(port) or {}
    return table.get(method)
