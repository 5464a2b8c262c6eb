"""Sends generated requests to a stage, and holds each answer to the contract by all checks of Schemathesis."""

import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from schemathesis import Case, CheckContext, Response
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup

from tests.api.stage import Stage

A_STAGE = 100
"""Requests that one stage takes: what they destroy is there again after as many."""

BEYOND_THE_SCHEMA = tuple(
    re.compile(rule)
    for rule in (
        r"is above importance_max",
        r"holds no word to search for",
        r"is not a cursor of this list",
        r"there is no such (category|project)",
        r"there is a category of this name already",
        r"`none` means uncategorised",
        r"a community has no projects",
        r"a pool('s category can be bound to| is used inside) its own project",
        r"is (after|before) valid_(from|to)",
        r"^lacks #|^names what numbers does not",
        r"a memory cannot replace itself|there is no memory #\d+ in this space",
        r"categorise needs it|goes with categorise only|go with retire only",
        r"must be in the future|must not be after the expiry",
        r"write needs read|a model is never an admin",
        r"was used before with another request",
        r"valid datetime",
        r"is not the kind of the space|does not follow the version before it",
        r"is not what its last change made of it|an erased memory h(olds nothing|as none)",
        r"is above the `last_number` of the space|is later than the export, and than now|^is at most [\d,]+$",
        r"is of another (number|category) or version|holds a context that belongs to another memory",
    )
)
"""Why a request that the schema allows may be refused as wrong: rules between fields, and with what is stored, which
the contract tells in words. (Of the times of RFC 3339, leap seconds and the year 0 are not taken.)"""


@dataclass
class Found:
    """What a run found: how many answers of which status each operation gave, and what did not conform."""

    statuses: dict[str, Counter[int]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    """One of each kind, in words, with a command that repeats it."""

    @property
    def cases(self) -> int:
        """How many requests were judged."""
        return sum(counter.total() for counter in self.statuses.values())

    @property
    def server_errors(self) -> int:
        """How many answers were 5xx."""
        return sum(
            count for seen in self.statuses.values() for status, count in seen.items() if status >= 500
        )

    @property
    def reached(self) -> set[str]:
        """Operations that succeeded at least once."""
        return {name for name, seen in self.statuses.items() if any(status < 300 for status in seen)}


class Judge:
    """Judges cases, on a stage that is set up anew before too much of it is gone."""

    def __init__(self) -> None:
        load_all_checks()
        self.found = Found()
        self._stage: Stage | None = None
        self._left = 0

    @property
    def stage(self) -> Stage:
        """The installation of now."""
        if self._stage is None or self._left <= 0:
            self.fresh_stage()
        assert self._stage is not None
        return self._stage

    def fresh_stage(self) -> None:
        """Begin anew."""
        self.close()
        self._stage, self._left = Stage(), A_STAGE

    def close(self) -> None:
        """Let the stage go."""
        if self._stage is not None:
            self._stage.close()
            self._stage = None

    def judge(self, case: Case, chance: random.Random | None) -> None:
        """Send one case, and note what is wrong with its answer. `chance`: makes it say what is on the stage."""
        stage = self.stage
        if chance is not None:
            stage.meet(case, chance)
        response = case.call(**stage.how())
        self._left = 0 if case.method == "DELETE" and response.status_code < 300 else self._left - 1
        self.look_at(case, response)

    def look_at(self, case: Case, response: Response, recorder: Any = None) -> None:
        """Note what is wrong with an answer. `recorder`: knows what was asked before."""
        self.found.statuses.setdefault(case.operation.label, Counter())[response.status_code] += 1
        how = self.stage.how()
        try:
            case.validate_response(
                response,
                headers=how["headers"],
                additional_checks=[valid_requests_are_accepted],
                excluded_checks=[CHECKS.get_one("positive_data_acceptance"), *_by_design(case)],
                transport_kwargs={"base_url": how["base_url"], "headers": how["headers"]},
                recorder=recorder,
            )
        except FailureGroup as group:
            for failure in group.exceptions:
                kind = f"{type(failure).__name__} in {case.operation.label}"
                self.found.faults.setdefault(kind, f"{kind}\n{failure}\n{group}")


def _by_design(case: Case) -> list[Any]:
    """A closed account is still there for admins: its login must not make a new one."""
    return [CHECKS.get_one("use_after_free")] if case.operation.path == "/v1/accounts/{account}" else []


def valid_requests_are_accepted(context: CheckContext, response: Response, case: Case) -> None:
    """What the contract allows is refused only for a reason that it can but tell in words."""
    if response.status_code == 422:
        fields = response.json()["error"]["details"].get("fields", [])
        if fields and all(any(rule.search(one["message"]) for rule in BEYOND_THE_SCHEMA) for one in fields):
            return
    CHECKS.get_one("positive_data_acceptance")(context, response, case)
