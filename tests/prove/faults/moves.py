"""Spaces that are taken out, and such that take in what was exported elsewhere, under faults."""

import random
from typing import Any

from chalicelib.domain.clock import rfc3339
from chalicelib.domain.scope import Space
from tests.prove.faults.book import Book
from tests.prove.faults.customer import Customer

Record = dict[str, Any]
PLACES = 8
"""Empty spaces, each of which takes in one export."""
TRIES = 20
UNUSED = 7
"""Numbers that were given out where it comes from, and never used."""


def _lasting(page: Any) -> list[Record]:
    """A page without the name and the time of its export."""
    return [{name: one[name] for name in one if name not in ("export", "as_of")} for one in page["items"]]


def _total(answer: Any) -> Any:
    """What a repeat must answer alike: a part that was written before it is there then."""
    return {kind: answer["written"][kind] + answer["there"][kind] for kind in answer["written"]}


class Moves:
    """Anna moves memories."""

    def __init__(self, customer: Customer, books: list[Book], chance: random.Random) -> None:
        self.customer, self.books, self.chance = customer, books, chance
        self.findings = customer.findings
        self._left = [self._place(number) for number in range(PLACES)]

    def take_out(self) -> None:
        """A page of what a space holds."""
        path = self.chance.choice(self.books).path
        limit = self.chance.choice((1, 7, 200))
        self.customer.read("GET", f"{path}/export?limit={limit}", None, _lasting)

    def take_in(self) -> None:
        """All pages of an export, each again until it is acknowledged; then all of it is there, once."""
        self._left = [space for space in self._left if self._is_open(space)]
        if not self._left:
            return
        space = self._left.pop()
        whole, items = self._records()
        size = self.chance.choice((1, 4, 50))
        for start in range(0, len(items), size):
            body = {"space": whole, "items": items[start : start + size]}
            if not self._sent(f"/v1/spaces/{space.name}/import", body):
                return
        self.customer.acknowledge("move")
        self._compare(space, items)

    def _is_open(self, space: Space) -> bool:
        """People may have closed it meanwhile."""
        accounts = self.customer.stage.truth.accounts
        project = accounts.project(space.id)
        return project is not None and project.pool and accounts.member(space.id, "anna") is not None

    def _sent(self, path: str, body: Record) -> bool:
        for _ in range(TRIES):
            written = self.customer.write("POST", path, body, _total)
            if written.refused:
                self.findings.wrong.append(f"{path}: refused: {written.reply}")
                return False
            if written.done:
                return True
        self.findings.wrong.append(f"{path}: never acknowledged")
        return False

    def _place(self, number: int) -> Space:
        reply, _ = self.customer.ask(
            "POST", "/v1/projects", {"name": f"place {number}", "pool": True}, faults=0
        )
        assert reply is not None
        return Space.pool(reply.json["project"]["id"])

    def _records(self) -> tuple[Record, list[Record]]:
        at = rfc3339(self.customer.stage.world.now)
        by = {"kind": "person", "id": "anna"}
        items: list[Record] = []
        numbers = self.chance.sample(range(1, 40), self.chance.randint(1, 6))
        for number in sorted(numbers):
            image: Record = {}
            for version in range(1, self.chance.randint(1, 4) + 1):
                image = {
                    "number": number, "version": version, "revision": version, "state": "active",
                    "text": f"moved {number} {version}", "kind": "project", "recorded_at": at, "recorded_by": by,
                    "updated_at": at, "use_count": 3, "last_used_at": at,
                }  # fmt: skip
                told = {"version": version, "op": "add" if version == 1 else "edit", "at": at, "by": by}
                items.append(
                    {
                        "record": "memory_change",
                        "number": number,
                        **told,
                        "group": "grp_moved",
                        "image": image,
                    }
                )
            items.append({"record": "memory", **image})
        whole = {
            "record": "space", "format": 1, "export": f"exp_{len(self._left)}", "as_of": at, "kind": "project",
            "id": "elsewhere", "created_at": at, "last_number": max(numbers) + UNUSED,
        }  # fmt: skip
        return whole, items

    def _compare(self, space: Space, items: list[Record]) -> None:
        store, scope = self.customer.stage.truth.memories, self.customer.stage.scope(space)
        due = {one["number"]: one for one in items if one["record"] == "memory"}
        stored = {one.number: one for one in store.page(scope, after=None, limit=100)}
        self.findings.lost += [
            f"{space.key}: #{number} was taken in" for number in due.keys() - stored.keys()
        ]
        self.findings.phantom += [f"{space.key}: #{number} came" for number in stored.keys() - due.keys()]
        for number in due.keys() & stored.keys():
            memory, told = stored[number], due[number]
            history = store.history(scope, str(number), after=None, limit=100)
            if [one.version for one in history] != list(range(told["version"], 0, -1)):
                self.findings.lost.append(f"{space.key}: #{number} has {len(history)} changes")
            if (memory.text, memory.version, memory.use_count) != (told["text"], told["version"], 3):
                self.findings.wrong.append(f"{space.key}: #{number} is {memory}, and came as {told}")
        if store.last_number(scope) != max(due) + UNUSED:
            self.findings.wrong.append(f"{space.key}: numbers go on behind {store.last_number(scope)}")
