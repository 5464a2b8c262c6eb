"""A life of memories, by the chance of a seed; and its way from one installation to another, over HTTP."""

import json
import random
from typing import Any, Protocol

from chalicelib import bootstrap
from tests.fakes.client import Client, Reply
from tests.fakes.world import World

SPACE = "/v1/spaces/personal"
MEMORIES = f"{SPACE}/memories"
Record = dict[str, Any]


class Installation(Client):
    """One of several: each request is answered by the world that it is for."""

    def ask(self, method: str, path: str, body: object = None, **how: Any) -> Reply:
        """One request."""
        bootstrap.use(self.world.services)
        return super().ask(method, path, body, **how)


class Asks(Protocol):
    """Whoever is asked."""

    def ask(self, method: str, path: str, body: object = None) -> Reply: ...


def export(client: Asks, limit: int = 200, space: str = SPACE) -> list[Record]:
    """All records of a space."""
    found: list[Record] = []
    following = ""
    while True:
        reply = client.ask("GET", f"{space}/export?limit={limit}{following}")
        assert reply.status == 200, reply.text
        assert len(reply.json["items"]) <= limit
        found += reply.json["items"]
        if reply.json["next"] is None:
            return found
        following = f"&cursor={reply.json['next']}"


def send(client: Asks, whole: Record, items: list[Record], space: str = SPACE) -> Reply:
    """One page into a space."""
    return client.ask("POST", f"{space}/import", {"space": whole, "items": items})


def bring(
    client: Asks, records: list[Record], page: int = 500, space: str = SPACE
) -> dict[str, dict[str, int]]:
    """All records into a space; what was written, and what was there."""
    whole, *items = records
    highest = max([item.get("number", 0) for item in items], default=0)
    whole = {**whole, "last_number": max(whole["last_number"], highest)}
    told = {"written": dict.fromkeys(("categories", "memories", "changes"), 0)}
    told["there"] = dict(told["written"])
    for start in range(0, len(items), page) or [0]:
        reply = send(client, whole, items[start : start + page], space)
        assert reply.status == 200, reply.text
        for outcome, counts in told.items():
            for kind, count in reply.json[outcome].items():
                counts[kind] += count
    return told


def told(records: list[Record]) -> list[str]:
    """What an export says, in an order of its own, each thing once; not when it was made, and by which name."""
    whole, *items = records
    lasting = {name: whole[name] for name in whole if name not in ("export", "as_of", "id")}
    last: dict[tuple[str, Any, Any], str] = {}
    for item in items:
        thing = item.get("id") or item.get("number") or item["category"]
        version = item["version"] if item["record"].endswith("_change") else None
        last[item["record"], thing, version] = json.dumps(item, sort_keys=True)
    return [json.dumps(lasting, sort_keys=True), *sorted(last.values())]


class Life:
    """Does things to Anna's space, one step at a time."""

    def __init__(self, world: World, seed: int, client: Asks | None = None) -> None:
        """`client`: who is asked, where it is not this world itself."""
        self.world = world
        self.client: Asks = client or Installation(world)
        self.chance = random.Random(seed)
        self.erased: set[str] = set()
        self._words: dict[int, set[str]] = {}
        self._said = 0
        self._category("General", default=True)
        self._steps = (
            (10, self.add), (3, self.add_said), (6, self.edit), (2, self.retire), (3, self.trash), (2, self.restore),
            (3, self.merge), (3, self.undo), (2, self.erase), (3, self.recall), (3, self.order_categories),
        )  # fmt: skip

    def live(self, steps: int) -> None:
        """So many steps, some seconds or days apart."""
        for _ in range(steps):
            [step] = self.chance.choices([step for _, step in self._steps], [n for n, _ in self._steps])
            step()
            self.world.later(seconds=self.chance.choice((0, 1, 90, 86_400)))

    def word(self) -> str:
        """A word that nobody has said."""
        self._said += 1
        return f"zq{self._said:05}c0ffee"

    def _ask(self, method: str, path: str, body: object = None) -> Reply:
        reply = self.client.ask(method, path, body)
        assert reply.status < 500, reply.text
        return reply

    def _memories(self, state: str = "all") -> list[Record]:
        return list(self._ask("GET", f"{MEMORIES}?state={state}&limit=200").json["items"])

    def _pick(self, state: str = "all") -> Record | None:
        some = self._memories(state)
        return self.chance.choice(some) if some else None

    def _kept(self, reply: Reply, word: str) -> None:
        if reply.status < 300:
            self._words.setdefault(reply.json["memory"]["number"], set()).add(word)

    def _categories(self) -> list[Record]:
        return list(self._ask("GET", f"{SPACE}/categories").json["items"])

    def _category(self, name: str, *, default: bool = False) -> None:
        self._ask("POST", f"{SPACE}/categories", {"name": name, "default": default, "description": "of it\n"})

    def add(self, **fields: Any) -> None:
        """A memory, with anything that may be said of one."""
        word = self.word()
        more: Record = {
            "importance": self.chance.randint(1, 10),
            "confidence": self.chance.choice((0.1, 0.25, 1, None)),
            "key": self.chance.choice((None, "a key “x”")),
            "subject": self.chance.choice((None, "Žofie")),
            "valid_from": self.chance.choice((None, "2020-02-29T23:59:59.999Z")),
            "context": self.chance.choice((None, "said\tbefore \u2028 it")),
        }
        if self.chance.random() < 0.3:
            more["category"] = self.chance.choice([None, *(one["id"] for one in self._categories())])
        body = {"text": f"{word} drinks\ntea 🍵 \x01", **more, **fields}
        self._kept(self._ask("POST", MEMORIES, body), word)

    def add_said(self) -> None:
        """Two, said one after the other: one is the context of the other."""
        place = self._said + 1
        for position in (place, place + 1):
            source = {
                "conversation": "talk",
                "position": position,
                "author": "Jana",
                "said_at": "2026-01-01T00:00:00Z",
            }
            self.add(context=None, source=source)

    def edit(self) -> None:
        """Other words."""
        if memory := self._pick():
            word = self.word()
            body = {"version": memory["version"], "text": f"{word} again", "importance": None}
            self._kept(self._ask("PATCH", f"{MEMORIES}/{memory['number']}", body), word)

    def retire(self) -> None:
        """It ended."""
        if memory := self._pick("active"):
            body = {"version": memory["version"], "reason": "moved\naway"}
            self._ask("POST", f"{MEMORIES}/{memory['number']}/retire", body)

    def trash(self) -> None:
        """Into the trash."""
        if memory := self._pick():
            self._ask("DELETE", f"{MEMORIES}/{memory['number']}")

    def restore(self) -> None:
        """Out of it."""
        if memory := self._pick("trashed"):
            self._ask("POST", f"{MEMORIES}/{memory['number']}/restore")

    def merge(self) -> None:
        """Some into one."""
        some = self._memories("active")
        if len(some) > 1:
            chosen = self.chance.sample(some, self.chance.randint(2, min(4, len(some))))
            word = self.word()
            body = {
                "numbers": [one["number"] for one in chosen],
                "versions": {str(one["number"]): one["version"] for one in chosen},
                "text": f"{word} of {len(chosen)}",
            }
            self._kept(self._ask("POST", f"{MEMORIES}/merge", body), word)

    def undo(self) -> None:
        """A change back."""
        acts = self._ask("GET", f"{SPACE}/audit?limit=20").json["items"]
        if acts:
            self._ask("POST", f"{SPACE}/changes/{self.chance.choice(acts)['id']}/undo")

    def erase(self) -> None:
        """For good."""
        memory = self._pick()
        if memory and self._ask("POST", f"{MEMORIES}/{memory['number']}/erase").status == 200:
            self.erased |= self._words.pop(memory["number"], set())

    def recall(self) -> None:
        """Uses are counted."""
        self._ask("POST", f"{SPACE}/recall", {"query": "tea", "max": 3})

    def order_categories(self) -> None:
        """Make, rename, delete."""
        some = self._categories()
        kind = self.chance.random()
        if kind < 0.5 or not some:
            self._category(f"shelf {self.word()}", default=self.chance.random() < 0.3)
        elif kind < 0.8:
            one = self.chance.choice(some)
            body = {"version": one["version"], "name": f"shelf {self.word()}"}
            self._ask("PATCH", f"{SPACE}/categories/{one['id']}", body)
        else:
            self._ask("DELETE", f"{SPACE}/categories/{self.chance.choice(some)['id']}")
