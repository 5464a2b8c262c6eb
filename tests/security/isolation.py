"""S1: nothing of one person reaches another, whatever is asked (RELIABILITY S1; CASES "Wrong person, wrong room").

    python -m tests.security.isolation --attempts 100000 --seed 1

People with keys of their own ask for everything, by their own ids, by those of others, and by such as no one has; with
others' cursors, idempotency keys and numbers. A mark in an answer that its reader may not see is a leak; so is any
change of what is stored in a space that is closed to whoever asked.
"""

import argparse
import logging
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from chalicelib.web.doors import operations
from chalicelib.web.operations import Operation
from tests.fakes.client import Reply
from tests.security.tenants import FAR, MARK, PEOPLE, Tenant, Tenants

TAGS = {"memories", "search", "categories"}
LOOKING = {"get_me", "list_spaces", "list_keys", "list_projects", "get_project", "list_members", "list_communities"} | {
    "get_community", "list_team", "list_accounts", "get_account", "get_settings", "get_account_audit",
}  # fmt: skip
DOORS = [one for one in operations() if one.tag in TAGS or one.name in LOOKING]

STRANGE = (
    "", " ", "null", "undefined", "0", "-1", "1e2", "١", "*", "%", "_", "?", "..", ".", "[]", "{}", "true", "personal:",
    "account#anna1", "account:anna1", "personal:anna1", "personal#anna1", "project", "project:", "project:*", "project:rocket#",
    "project:rocket,project:rocket1", "project:rocket1:rocket", "community:discord:", "community:discord:1001#x",
    "community::1001", "project#rocket", "anna1", "/", "a/../b", "personal/../project:rocket", "\x00", "\n", "rocket\x00",
    "project:rocket\n", "'", "' OR 1=1 --", '"', "\\", "😀", "x" * 300, "9" * 40, "[\"personal\"]", "1,205", "205 ", "0205",
    "205#", "205-1", "é", "\u202e", "cat_", "none",
)  # fmt: skip
"""What nobody is called."""


_NUMBERED = re.compile(r'"(?:number|replaced_by|context_from)":(\d+)')


@dataclass
class Leaks:
    """What went wrong, in words; and how often which status was the answer."""

    found: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    """Own marks in answers, by operation: what shows that something could have been found."""


class Attack:
    """Attempts on an installation, by the chance of a seed."""

    def __init__(self, tenants: Tenants, seed: int) -> None:
        self.tenants = tenants
        self.chance = random.Random(seed)
        self.leaks = Leaks()
        self.cursors: list[str] = []
        self._numbers = [number for tenant in tenants.all for number in tenant.numbers]
        self._categories = [category for tenant in tenants.all for category in tenant.categories]
        self._changes = [change for tenant in tenants.all for change in tenant.changes]
        self._jobs = [job for tenant in tenants.all for job in tenant.jobs]
        self._spaces = ["personal", *(tenant.space.name for tenant in tenants.all)]
        self._home: Tenant = tenants.all[0]

    def run(self, attempts: int) -> Leaks:
        """`attempts` of all people, in turn; stops at the first leak."""
        each = max(1, attempts // len(PEOPLE))
        for person in PEOPLE:
            closed = self.tenants.closed_to(person)
            allowed = self.tenants.allowed(person)
            for _ in range(each):
                self._attempt(person, allowed)
                if self.leaks.found:
                    return self.leaks
            after = self.tenants.closed_to(person)
            changed = [space for space, stored in closed.items() if after[space] != stored]
            self.leaks.found += [f"{person} changed what is stored in {space}" for space in changed]
            self.tenants.world.settle()
        return self.leaks

    def _attempt(self, person: str, allowed: set[str]) -> None:
        door = self.chance.choice(DOORS)
        own = [tenant for tenant in self.tenants.all if person in tenant.readers]
        self._home = self.chance.choice(own if self.chance.random() < 0.6 else self.tenants.all)
        path, query, body, headers = (
            self._path(door),
            self._query(door),
            self._body(door),
            self._headers(),
        )
        reply = self.tenants.ask(person, door.method, path + query, body, headers=headers)
        self.leaks.statuses[reply.status] += 1
        marks = set(MARK.findall(reply.text + str(reply.headers)))
        self.leaks.seen[door.name] += bool(marks & allowed)
        asked = f"{person}: {door.method} {path}{query} {body} {headers}"
        foreign = sorted(marks - allowed) + self._foreign_numbers(own, asked, reply)
        if foreign or reply.status >= 500:
            self.leaks.found.append(f"{asked} -> {reply.status} with {foreign}: {reply.text[:500]}")
        self._keep_cursor(reply)

    def _foreign_numbers(self, own: list[Tenant], asked: str, reply: Reply) -> list[str]:
        """Numbers of memories in an answer that are used in none of these spaces, and were not in the question."""
        told = {
            number for number in _NUMBERED.findall(reply.text) if int(number) >= FAR and number not in asked
        }
        spaces = {self.tenants.all.index(tenant) + 1 for tenant in own}
        return sorted(number for number in told if int(number) // FAR not in spaces)

    def _keep_cursor(self, reply: Reply) -> None:
        if reply.status == 200 and reply.text.startswith("{") and (cursor := reply.json.get("next")):
            self.cursors.append(cursor)
            self.cursors = self.cursors[-200:]

    # -------------------------------------------------------------- what is asked

    def _one(self, *choices: Callable[[], Any]) -> Any:
        return self.chance.choice(choices)()

    def _strange(self) -> str:
        return self.chance.choice(STRANGE)

    def _pick(self, home: Sequence[Any], anywhere: Sequence[Any]) -> Any:
        """Mostly what goes together, often what is another's, sometimes what is nothing."""
        kind = self.chance.random()
        if kind < 0.55 and home:
            return self.chance.choice(home)
        return self.chance.choice(anywhere) if kind < 0.92 and anywhere else self._strange()

    def _space(self) -> str:
        return str(self._pick([self._home.space.name], self._spaces))

    def _number(self) -> Any:
        return self._pick(self._home.numbers, self._one(lambda: self._numbers, lambda: range(1, 13)))

    def _category(self) -> str:
        return str(self._pick(self._home.categories, self._categories))

    def _id(self, known: list[str]) -> str:
        return str(self._pick([], known))

    def _path(self, door: Operation) -> str:
        parts = {
            "space": self._space(),
            "number": self._number(),
            "category": self._category(),
            "change": self._pick(self._home.changes, self._changes),
            "job": self._pick(self._home.jobs, self._jobs),
            "account": self._id(list(PEOPLE)),
            "project": self._id(["rocket", "rocket1", "anna"]),
            "platform": self._id(["discord", "telegram"]),
            "community": self._id(["1001", "100"]),
            "key": self._id(["key_nothing"]),
        }
        twice = self.chance.random() < 0.05
        encoded = {name: quote(str(part), safe="") for name, part in parts.items()}
        if twice:
            encoded = {name: quote(part, safe="") for name, part in encoded.items()}
        return door.path.format(**encoded)

    def _query(self, door: Operation) -> str:
        if door.query is None:
            return ""
        values: dict[str, Callable[[], Any]] = {
            "limit": lambda: self.chance.choice((1, 3, 50, 200)),
            "cursor": lambda: self.chance.choice(self.cursors) if self.cursors else "x",
            "version": lambda: self.chance.choice((1, 2, 9)),
            "state": lambda: self.chance.choice(("active", "retired", "trashed", "all", "erased")),
            "category": lambda: self._one(lambda: self._category(), lambda: "none"),
            "kind": lambda: self.chance.choice(("user", "project", "reference")),
            "importance_min": lambda: self.chance.randint(1, 10),
            "importance_max": lambda: self.chance.randint(1, 10),
            "subject": lambda: self.chance.choice(("member-shared", "member-", self._strange())),
            "source": lambda: self.chance.choice(("talk-shared", "talk-", self._strange())),
            "q": lambda: self.chance.choice(("lantern", "lantern harbour", "*", self._strange())),
            "sort": lambda: self.chance.choice(
                ("newest", "oldest", "updated", "importance", "vitality", "used")
            ),
        }
        taken = [name for name in door.query.model_fields if self.chance.random() < 0.25]
        return f"?{urlencode({name: values[name]() for name in taken})}" if taken else ""

    def _headers(self) -> dict[str, str]:
        if self.chance.random() < 0.7:
            return {}
        space = self.chance.choice(self._spaces)
        return {"Idempotency-Key": f"{space}-{self.chance.randint(1, 13)}"}

    def _body(self, door: Operation) -> Any:
        make = getattr(self, f"_body_of_{door.name}", None)
        if make is None:
            return None if door.body is None else self._versioned()
        return (
            make() if self.chance.random() < 0.97 else self._one(list, lambda: [make()], lambda: "personal")
        )

    def _versioned(self) -> Any:
        return self._one(dict, lambda: {"version": self.chance.choice((1, 2, 3))})

    def _numbers_of(self, most: int) -> list[Any]:
        return [self._number() for _ in range(self.chance.randint(1, most))]

    def _body_of_add_memory(self) -> Any:
        place = self.chance.randint(1, 13)
        body: dict[str, Any] = {"text": f"The lantern in the harbour, as told {place} times"}
        if self.chance.random() < 0.7:
            # said just after another's words: the context must not be taken from there
            conversation = self.chance.choice(("talk-shared", "talk-"))
            body["source"] = {"conversation": conversation, "position": place}
        if self.chance.random() < 0.3:
            body["category"] = self._category()
        return body

    def _body_of_add_batch(self) -> Any:
        return {"items": [self._body_of_add_memory() for _ in range(self.chance.randint(1, 3))]}

    def _body_of_edit_memory(self) -> Any:
        change = self._one(lambda: {"text": "a lamp"}, lambda: {"category": self._category()})
        return {"version": self.chance.choice((1, 1, 2, 3)), **change}

    def _body_of_retire_memory(self) -> Any:
        return {"version": self.chance.choice((1, 2)), "replaced_by": self._number()}

    def _body_of_merge_memories(self) -> Any:
        numbers = self._numbers_of(4)
        versions = {str(number): self.chance.choice((1, 1, 1, 2)) for number in numbers}
        return {"numbers": numbers, "versions": versions, "text": "a lamp"}

    def _body_of_change_many(self) -> Any:
        op = self.chance.choice(("delete", "restore", "retire", "erase", "categorise"))
        body: dict[str, Any] = {"op": op, "numbers": list(dict.fromkeys(self._numbers_of(5)))}
        if op == "categorise":
            body["category"] = self._category()
        if op == "retire":
            body["replaced_by"] = self._number()
        return body

    def _body_of_search_memories(self) -> Any:
        body: dict[str, Any] = {
            "query": self.chance.choice(
                ("lantern", "the lantern in the harbour", "what of the lantern?", "*")
            ),
            "limit": self.chance.choice((1, 6, 100)),
            "explain": self.chance.random() < 0.5,
        }
        if self.chance.random() < 0.5:
            body["filters"] = self._one(
                lambda: {"category": self._category()},
                lambda: {"state": "all", "subject": "member-shared"},
                lambda: {"source": "talk-shared"},
            )
        return {**body, **self._working_in()}

    def _body_of_recall_memories(self) -> Any:
        seen = self._numbers_of(3) if self.chance.random() < 0.5 else []
        return {"query": "the lantern in the harbour", "max": 50, "seen": seen, **self._working_in()}

    def _working_in(self) -> dict[str, str]:
        return {} if self.chance.random() < 0.7 else {"project": self._id(["rocket", "rocket1", "anna"])}

    def _body_of_start_job(self) -> Any:
        return {"kind": "reindex", **self._one(dict, lambda: {"all": True})}

    def _body_of_create_category(self) -> Any:
        return {"name": f"shelf {self.chance.randint(1, 9)}", **self._working_in()}

    def _body_of_edit_category(self) -> Any:
        change = self._one(lambda: {"description": "shelves"}, lambda: {"default": True}, self._working_in)
        return {"version": self.chance.choice((1, 2)), **change}


def unseen(leaks: Leaks) -> Iterator[str]:
    """Reads in whose answers nobody met a mark of their own: their attempts prove nothing."""
    silent = {"get_job", "list_jobs", "get_audit", "start_job", "create_category"}
    for door in DOORS:
        if door.tag in TAGS and door.name not in silent and not leaks.seen[door.name]:
            yield door.name


def main() -> int:
    """Run from a terminal; one line of result."""
    asked = argparse.ArgumentParser(description="S1: no cross-tenant read")
    asked.add_argument("--attempts", type=int, default=100_000)
    asked.add_argument("--seed", type=int, default=1)
    told = asked.parse_args()
    logging.disable(logging.CRITICAL)
    done, found, seed = 0, list[str](), told.seed
    while done < told.attempts and not found:
        tenants = Tenants()
        leaks = Attack(tenants, seed).run(min(5_000, told.attempts - done))
        tenants.close()
        done += leaks.statuses.total()
        found += leaks.found
        seed += 1
    for one in found:
        print(one)
    print(
        f"S1 no cross-tenant read: {done:,} attempts, foreign canaries or changes {len(found)}, seed {told.seed}"
    )
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
