"""S1: nothing of one person reaches another, whatever is asked (RELIABILITY S1; CASES "Wrong person, wrong room").

    python -m tests.security.isolation --attempts 100000 --seed 1

People with keys of their own ask for everything, by their own ids, by those of others, and by such as no one has; with
others' cursors, idempotency keys and numbers; while all is well, with each leg of the search alone, before the index
has anything, and with parts that are down. A mark in an answer that its reader may not see is a leak; so is any change
of what is stored in a space that is closed to whoever asked, a list that opens with a cursor of another list, and an
answer to a request that somebody else made.
"""

import argparse
import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from chalicelib.web.doors import operations
from tests.fakes.client import Reply
from tests.security.conditions import CONDITIONS, WHOLE, furnished
from tests.security.legs import foreign_hits
from tests.security.questions import Cursor, Questions
from tests.security.tenants import FAR, MARK, PEOPLE, Tenant, Tenants

TAGS = {"memories", "search", "categories", "moving"}
LOOKING = {"get_me", "list_spaces", "list_keys", "list_projects", "get_project", "list_members", "list_communities"} | {
    "get_community", "list_team", "list_accounts", "get_account", "get_settings", "get_account_audit", "get_diagnosis",
}  # fmt: skip
DOORS = [one for one in operations() if one.tag in TAGS or one.name in LOOKING]
MEMORIES = "/v1/spaces/personal/memories"
A_ROUND = 5_000
"""Attempts on one installation: what they destroy is there again in the next."""

_NUMBERED = re.compile(r'"(?:number|replaced_by|context_from)":(\d+)')


@dataclass
class Leaks:
    """What went wrong, in words; and how often which status was the answer."""

    found: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    """Own marks in answers, by operation: what shows that something could have been found."""
    foreign_cursors: int = 0
    """Lists that were asked for with a cursor of another list."""
    replays: int = 0
    """Requests of others that were sent again under their key."""


class Attack(Questions):
    """Attempts on an installation, by the chance of a seed."""

    def __init__(self, tenants: Tenants, seed: int) -> None:
        super().__init__(tenants, seed)
        self.leaks = Leaks()
        self._requests: list[tuple[dict[str, Any], dict[str, str]]] = []

    def run(self, attempts: int) -> Leaks:
        """`attempts` of all people, in turn; stops at the first leak."""
        each = max(1, attempts // len(PEOPLE))
        self._leave_requests()
        for person in PEOPLE:
            closed = self.tenants.closed_to(person)
            allowed = self.tenants.allowed(person)
            for _ in range(each):
                if self.chance.random() < 0.02:
                    self._replay(person, allowed)
                else:
                    self._attempt(person, allowed)
                if self.leaks.found:
                    return self.leaks
            after = self.tenants.closed_to(person)
            changed = [space for space, stored in closed.items() if after[space] != stored]
            self.leaks.found += [f"{person} changed what is stored in {space}" for space in changed]
            if self.tenants.settles:
                self.tenants.world.settle()
        return self.leaks

    def _attempt(self, person: str, allowed: set[str]) -> None:
        door = self.chance.choice(DOORS)
        own = [tenant for tenant in self.tenants.all if person in tenant.readers]
        self._home = self.chance.choice(own if self.chance.random() < 0.6 else self.tenants.all)
        self.cursor = None
        path, query, body, headers = (
            self._path(door),
            self._query(door),
            self._body(door),
            self._headers(),
        )
        reply = self.tenants.ask(person, door.method, path + query, body, headers=headers)
        asked = f"{person}: {door.method} {path}{query} {body} {headers}"
        marks = self._judge(asked, reply, allowed)
        self.leaks.seen[door.name] += bool(marks & allowed)
        foreign = self._foreign_numbers(own, asked, reply)
        if foreign:
            self.leaks.found.append(f"{asked} -> {reply.status} with {foreign}: {reply.text[:500]}")
        self._judge_cursor(person, asked, reply)
        self._keep_cursor(person, reply)

    def _judge(self, asked: str, reply: Reply, allowed: set[str]) -> set[str]:
        """The marks in an answer; those that its reader may not see are noted."""
        self.leaks.statuses[reply.status] += 1
        marks = set(MARK.findall(reply.text + str(reply.headers)))
        if marks - allowed or reply.status >= 500:
            foreign = sorted(marks - allowed)
            self.leaks.found.append(f"{asked} -> {reply.status} with {foreign}: {reply.text[:500]}")
        return marks

    def _foreign_numbers(self, own: list[Tenant], asked: str, reply: Reply) -> list[str]:
        """Numbers of memories in an answer that are used in none of these spaces, and were not in the question."""
        told = {
            number for number in _NUMBERED.findall(reply.text) if int(number) >= FAR and number not in asked
        }
        spaces = {self.tenants.all.index(tenant) + 1 for tenant in own}
        return sorted(number for number in told if int(number) // FAR not in spaces)

    # -------------------------------------------------------------- cursors

    def _judge_cursor(self, person: str, asked: str, reply: Reply) -> None:
        """A cursor opens the list that it is of, and no other."""
        if self.cursor is None or self.cursor.list == self.list.of(person):
            return
        self.leaks.foreign_cursors += 1
        if reply.status == 200:
            self.leaks.found.append(f"{asked} -> opened by a cursor of {self.cursor.list}")

    def _keep_cursor(self, person: str, reply: Reply) -> None:
        if reply.status == 200 and reply.text.startswith("{") and (cursor := reply.json.get("next")):
            self.cursors.append(Cursor(cursor, self.list.of(person)))
            self.cursors = self.cursors[-200:]

    # -------------------------------------------------------------- requests of others

    def _leave_requests(self) -> None:
        """Each adds something under a key, for others to send the very same request under the same key."""
        for place, person in enumerate(PEOPLE):
            body = {"text": f"The lantern that {place} people saw", "category": None}
            headers = {"Idempotency-Key": f"same-{place}"}
            added = self.tenants.ask(person, "POST", MEMORIES, body, headers=headers)
            assert added.status == 201, added.text
            self._requests.append((body, headers))

    def _replay(self, person: str, allowed: set[str]) -> None:
        """Whoever sends the request of another stores an own memory, and is told of that one."""
        body, headers = self.chance.choice(self._requests)
        reply = self.tenants.ask(person, "POST", MEMORIES, body, headers=headers)
        asked = f"{person}: POST {MEMORIES} {body} {headers}"
        self._judge(asked, reply, allowed)
        self.leaks.replays += 1
        told = reply.json.get("memory", {})
        if (reply.status, told.get("text")) != (201, body["text"]) or told["recorded_by"]["id"] != person:
            self.leaks.found.append(f"{asked} -> {reply.status}, the answer of another: {reply.text[:500]}")


def unseen(leaks: Leaks) -> Iterator[str]:
    """Reads in whose answers nobody met a mark of their own: their attempts prove nothing."""
    silent = {"get_job", "list_jobs", "get_audit", "start_job", "create_category", "import_space"}
    for door in DOORS:
        if door.tag in TAGS and door.name not in silent and not leaks.seen[door.name]:
            yield door.name
    if not leaks.foreign_cursors:
        yield "cursors of other lists"
    if not leaks.replays:
        yield "requests of others"


def main() -> int:
    """Run from a terminal; one line of result."""
    asked = argparse.ArgumentParser(description="S1: no cross-tenant read")
    asked.add_argument("--attempts", type=int, default=100_000)
    asked.add_argument("--seed", type=int, default=1)
    told = asked.parse_args()
    logging.disable(logging.CRITICAL)
    done, found, seed = 0, list[str](), told.seed
    conditions = list(CONDITIONS)
    most = max(len(PEOPLE), min(A_ROUND, told.attempts // len(conditions)))
    while done < told.attempts and not found:
        condition = conditions[(seed - told.seed) % len(conditions)]
        tenants = furnished(condition)
        if condition in WHOLE:
            found += [f"{condition}: the index gives {hits}" for hits in foreign_hits(tenants).items()]
        leaks = Attack(tenants, seed).run(most)
        done += leaks.statuses.total()
        found += [f"{condition}, seed {seed}: {one}" for one in leaks.found]
        if not leaks.seen["search_memories"] or not leaks.seen["list_memories"]:
            found.append(f"{condition}, seed {seed}: nobody found anything, so nothing is proved")
        tenants.close()
        seed += 1
    for one in found:
        print(one)
    print(
        f"S1 no cross-tenant read: {done:,} attempts, foreign canaries or changes found {len(found)}, seed {told.seed}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
