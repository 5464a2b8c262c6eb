"""What attackers ask: of every door, with what is theirs, what is another's, and what is nobody's."""

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from chalicelib.web.operations import Operation
from tests.security.tenants import PEOPLE, Tenant, Tenants

STRANGE = (
    "", " ", "null", "undefined", "0", "-1", "1e2", "١", "*", "%", "_", "?", "..", ".", "[]", "{}", "true", "personal:",
    "account#anna1", "account:anna1", "personal:anna1", "personal#anna1", "project", "project:", "project:*", "project:rocket#",
    "project:rocket,project:rocket1", "project:rocket1:rocket", "community:discord:", "community:discord:1001#x",
    "community::1001", "project#rocket", "anna1", "/", "a/../b", "personal/../project:rocket", "\x00", "\n", "rocket\x00",
    "project:rocket\n", "'", "' OR 1=1 --", '"', "\\", "😀", "x" * 300, "9" * 40, "[\"personal\"]", "1,205", "205 ", "0205",
    "205#", "205-1", "é", "\u202e", "cat_", "none",
)  # fmt: skip
"""What nobody is called."""
ODD: tuple[Any, ...] = (
    None, [], {}, "", 0, -1, True, 1.5, [[]], [None], ["personal"], ["anna1"], {"$ne": None}, {"id": "anna1"}, "*",
)  # fmt: skip
"""What is no id, no number and no name."""


class List(NamedTuple):
    """Which list is asked for: by which door, of which space as the path names it, of what else the path names."""

    door: str
    space: str
    parts: tuple[str, ...]

    def of(self, person: str) -> "List":
        """The same, whoever calls it `personal`."""
        return self._replace(space=f"personal of {person}") if self.space == "personal" else self


class Cursor(NamedTuple):
    """A cursor, and the list that it is of."""

    text: str
    list: List


class Questions:
    """Makes requests, by the chance of a seed."""

    def __init__(self, tenants: Tenants, seed: int) -> None:
        self.tenants = tenants
        self.chance = random.Random(seed)
        self.cursors: list[Cursor] = []
        self.cursor: Cursor | None = None
        """The one that is asked with now."""
        self.list = List("", "", ())
        self._numbers = [number for tenant in tenants.all for number in tenant.numbers]
        self._categories = [category for tenant in tenants.all for category in tenant.categories]
        self._changes = [change for tenant in tenants.all for change in tenant.changes]
        self._jobs = [job for tenant in tenants.all for job in tenant.jobs]
        self._spaces = ["personal", *(tenant.space.name for tenant in tenants.all)]
        self._home: Tenant = tenants.all[0]

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
        named = {name: str(part) for name, part in parts.items() if f"{{{name}}}" in door.path}
        self.list = List(door.name, named.pop("space", ""), tuple(named.values()))
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
            "cursor": self._cursor,
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

    def _cursor(self) -> str:
        if not self.cursors:
            return "x"
        self.cursor = self.chance.choice(self.cursors)
        return self.cursor.text

    def _headers(self) -> dict[str, str]:
        if self.chance.random() < 0.7:
            return {}
        space = self.chance.choice(self._spaces)
        return {"Idempotency-Key": f"{space}-{self.chance.randint(1, 13)}"}

    def _body(self, door: Operation) -> Any:
        make = getattr(self, f"_body_of_{door.name}", None)
        if make is None:
            return None if door.body is None else self._versioned()
        kind = self.chance.random()
        if kind < 0.92:
            return make()
        return self._twisted(make()) if kind < 0.97 else self._one(list, lambda: [make()], lambda: "personal")

    def _twisted(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body with something in it that is of another kind than it should be."""
        place = self.chance.choice(sorted(body))
        return {**body, place: self.chance.choice(ODD)}

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

    def _body_of_import_space(self) -> Any:
        """Of one's own export or another's, with numbers that are there, or are not, perhaps in an empty space."""
        kind, identifier = self._one(
            lambda: ("personal", self._id(["anna", "anna1"])),
            lambda: ("project", self._id(["rocket", "anna"])),
            lambda: ("community", self._id(["1001", "100"])),
        )
        number, at = self._number(), "2026-05-04T08:00:00Z"
        actor = {"kind": "person", "id": self._id(["anna", "anna1"])}
        image = {
            "number": number, "version": 1, "revision": 1, "state": "active", "text": "a lamp", "kind": "user",
            "recorded_at": at, "recorded_by": actor, "updated_at": at, "category": self._category(),
            "replaced_by": number, "context_from": number, "derived_from": [number],
        }  # fmt: skip
        change = {"number": number, "version": 1, "op": "add", "at": at, "by": actor, "group": "grp_1"}
        items = [
            {"record": "memory_change", **change, "image": image},
            {"record": "memory", **image},
        ]
        space = {
            "record": "space", "format": 1, "export": "exp_1", "as_of": at, "kind": kind, "id": identifier,
            "created_at": at, "last_number": 10**9,
        }  # fmt: skip
        return {"space": space, "items": self._one(list, lambda: items, lambda: items[1:])}

    def _body_of_create_category(self) -> Any:
        return {"name": f"shelf {self.chance.randint(1, 9)}", **self._working_in()}

    def _body_of_edit_category(self) -> Any:
        change = self._one(lambda: {"description": "shelves"}, lambda: {"default": True}, self._working_in)
        return {"version": self.chance.choice((1, 2)), **change}
