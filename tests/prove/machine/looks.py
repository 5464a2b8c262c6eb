"""What can be seen must be what the model says: lists with filters, sorts and pages, single memories, histories, counts,
finds and recalls; and nothing at all for whom the space is closed."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from tests.prove.machine import shown
from tests.prove.machine.drafts import IMPORTANCES, SUBJECTS, TALKS
from tests.prove.machine.model import Row
from tests.prove.machine.other_acts import Acts
from tests.prove.machine.people import ADDRESSES, CALLERS, NOWHERE, SPACES, Caller, address

SORTS = ("newest", "oldest", "updated", "importance", "vitality", "used")
LIMITS = (200, 200, 200, 2)
CLOSED: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/memories", None),
    ("GET", "/memories/1", None),
    ("GET", "/memories/1/history", None),
    ("POST", "/search", {"query": "lantern"}),
    ("POST", "/recall", {"query": "lantern"}),
    ("POST", "/memories", {"text": "tea"}),
    ("PATCH", "/memories/1", {"version": 1, "text": "tea"}),
    ("POST", "/memories/1/erase", {}),
    ("GET", "/audit", None),
    ("GET", "/map", None),
    ("GET", "/categories", None),
)
"""What is asked of a space that is closed."""


class Looks(Acts):
    """`turn` chooses what is looked at, and how; after some turns everything was."""

    def look(self, space: str, turn: int, most: int) -> None:
        """At the list of the space that was changed; and from `most` more sides at it, or at another one. With 0, in
        turn at one of them."""
        if most or turn % 2:
            self.look_at_list(space, turn)
        sides = (
            self.look_for_word, self.look_at_history, self.look_through_filter, self.look_at_one, self.look_for_closed,
            self.look_for_memory, self.look_at_counts, self.look_for_word, self.look_at_categories, self.look_at_audit,
        )  # fmt: skip
        first = turn * most if most else turn // 2
        for place in range(first, first + (most or (turn + 1) % 2)):
            other = SPACES[place // len(sides) % len(SPACES)]
            sides[place % len(sides)](other if place % 3 == 0 else space, turn + place)

    def look_everywhere(self, most: int) -> None:
        """At every space, by everybody: as it is now, and when the index has caught up. `most`: so many of each kind."""
        for space in SPACES:
            for word in self._words_of(space)[-most:]:
                for who in self._readers(space)[:1]:
                    self.find(who, space, word)
        self.world.settle()
        for space in SPACES:
            for turn in range(min(most, 12)):
                self.look_at_list(space, turn)
                self.look_through_filter(space, turn)
            for number in range(1, min(most, self.highest(space)) + 1):
                self.look_at_history(space, number)
                self.look_at_one(space, number)
            self.look_for_memory(space, 3)
            self.look_at_audit(space, 0)
            if most > 1:
                self.look_at_categories(space, 0)
                self.look_for_closed(space, most)
        for turn in range(min(most, len(CALLERS))):
            self.look_at_counts(SPACES[0], turn)

    # ------------------------------------------------------------------ lists

    def look_at_list(self, space: str, turn: int) -> None:
        """All that is not erased, by one of the sorts, in pages of one of the lengths."""
        who, sort = self._reader(space, turn), SORTS[turn % len(SORTS)]
        if who is None:
            return
        limit = LIMITS[turn // len(SORTS) % len(LIMITS)]
        rows = self.models[space].listed(who, sort)
        self._list(who, space, {"state": "all", "sort": sort, "limit": limit}, rows)
        self.tally.looks["list"] += bool(rows)
        self.tally.looks["list in pages"] += len(rows) > limit
        self.tally.looks["list while the index is behind"] += bool(self.world.waiting())

    def look_through_filter(self, space: str, turn: int) -> None:
        """One or two filters, one of the sorts."""
        who = self._reader(space, turn)
        if who is None:
            return
        asked, sort = self._filter(space, turn), SORTS[turn // 2 % len(SORTS)]
        rows = [row for row in self.models[space].listed(who, sort) if self._fits(space, row, asked)]
        self._list(who, space, {**asked, "sort": sort, "limit": LIMITS[turn % len(LIMITS)]}, rows)
        self.tally.looks["filter"] += bool(rows)

    def _filter(self, space: str, turn: int) -> dict[str, Any]:
        names = [*sorted(self.models[space].names()), "none"]
        kinds = ("user", "feedback", "project", "reference")
        choices: tuple[dict[str, Any], ...] = (
            {},
            {"state": "retired"},
            {"state": "trashed"},
            {"category": names[turn % len(names)], "state": "all"},
            {"kind": kinds[turn % len(kinds)]},
            {"importance_min": IMPORTANCES[1 + turn % 4]},
            {"importance_max": IMPORTANCES[1 + turn % 4], "state": "all"},
            {"subject": SUBJECTS[2 + turn % 2], "state": "all"},
            {"source": TALKS[2 + turn % 2]},
            {"q": self.said[turn % len(self.said)] if self.said else "lantern", "state": "all"},
            {"q": "lantern harbour"},
            {"category": "none"},
        )
        return choices[turn % len(choices)]

    def _fits(self, space: str, row: Row, asked: dict[str, Any]) -> bool:
        told = {**row, "category": self.models[space].category(row)["name"] or "none"}
        wanted = {"state": "active", **asked}
        if wanted["state"] == "all":
            del wanted["state"]
        least, most = wanted.pop("importance_min", 0), wanted.pop("importance_max", 0)
        in_bounds = not (least or most) or least <= (row["importance"] or -1) <= (most or 10)
        return in_bounds and wanted.pop("q", "") in row["text"] and told.items() >= wanted.items()

    def _list(self, who: Caller, space: str, asked: dict[str, Any], rows: list[Row]) -> None:
        found: list[Row] = []
        path: str | None = f"/memories?{urlencode(asked)}"
        while path:
            page = self._read(who, space, path)
            found += page["items"]
            assert page["degraded"] is None, page["degraded"]
            assert len(page["items"]) <= asked["limit"]
            path = f"/memories?{urlencode({**asked, 'cursor': page['next']})}" if page["next"] else None
        numbers, due = [told["number"] for told in found], [row["number"] for row in rows]
        assert numbers == due, f"the list of {space} by {asked} is {numbers}, not {due}"
        for row, told in zip(rows, found, strict=True):
            shown.same(self.models[space], row, told)

    # ------------------------------------------------------------------ one by one

    def look_at_one(self, space: str, turn: int) -> None:
        """A memory by its number; what is erased, or hidden from a model, is as what never was."""
        who, number = self._reader(space, turn), turn % (self.highest(space) + 2) + 1
        if who is None:
            return
        model = self.models[space]
        row = model.known(who).get(number)
        reply = self.ask(who, space, "GET", f"/memories/{number}")
        self.tally.looks["get" if row else "get nothing"] += 1
        if row is None:
            nothing = self.ask(who, space, "GET", "/memories/999999")
            told, due = reply.text.replace(str(number), "?"), nothing.text.replace("999999", "?")
            assert (reply.status, told) == (404, due), f"#{number} of {space} is not as nothing: {told}"
            return
        assert reply.status == 200, f"#{number} of {space}: {reply.text}"
        shown.same(model, row, reply.json["memory"])
        assert reply.json["recallable"] == (row["state"] == "active" and model.recallable(row))

    def look_at_history(self, space: str, turn: int) -> None:
        """Every change of a memory, whole, newest first (M13)."""
        who, number = self._reader(space, turn), turn % (self.highest(space) or 1) + 1
        model = self.models[space]
        made = [one for one in reversed(model.changes) if one["key"] == number]
        if who is None or not made:
            return
        limit = LIMITS[turn % len(LIMITS)]
        hidden = model.items[number]["state"] != "erased" and number not in model.known(who)
        if hidden:
            assert self.ask(who, space, "GET", f"/memories/{number}/history").status == 404
            return
        found = self._pages(who, space, f"/memories/{number}/history?limit={limit}")
        ids = [told["id"] for told in found]
        assert len(found) == len(made), f"history of #{number} of {space}: {ids}, not {len(made)} changes"
        for one, told in zip(made, found, strict=True):
            shown.change(model, who, one, told)
        self.tally.looks["history"] += 1

    def look_at_audit(self, space: str, turn: int) -> None:
        """Every act in the space, newest first; those of one commit in any order."""
        who, model = self._reader(space, turn), self.models[space]
        if who is None:
            return
        found = [shown.act(told) for told in self._pages(who, space, "/audit?limit=200")]
        due = [(f"{one['key']}-{one['version']}", one["op"], one["by"]) for one in model.changes]
        assert Counter(found) == Counter(due), f"acts in {space}: {sorted(set(found) ^ set(due))}"
        self.tally.looks["audit"] += bool(due)

    def look_at_categories(self, space: str, turn: int) -> None:
        """All that there are, and which is the default."""
        who, model = self._reader(space, turn), self.models[space]
        if who is None:
            return
        found = self._read(who, space, "/categories")["items"]
        assert {told["id"] for told in found} == set(model.names().values()), (
            f"categories of {space}: {found}"
        )
        for told in found:
            shown.category(model, told["id"], told)
        self.tally.looks["categories"] += bool(found)

    # ------------------------------------------------------------------ finding

    def look_for_word(self, space: str, turn: int) -> None:
        """A word that one memory has, or had, here or elsewhere (M25)."""
        who = self._reader(space, turn)
        own = self._words_of(space)
        words = own if own and turn % 3 else self.said
        if who is not None and words and not who.model:  # a model's search counts as use
            self.find(who, space, words[-1 - turn % len(words)])

    def look_for_memory(self, space: str, turn: int) -> None:
        """What a model would be given."""
        who, words = self._reader(space, turn), self._words_of(space)
        if who is not None:
            self.remember(who, space, words[-1 - turn % len(words)] if words and turn % 3 else "lantern")

    def _words_of(self, space: str) -> list[str]:
        return [row["text"].split()[0] for row in self.rows(space)]

    # ------------------------------------------------------------------ who sees what

    def look_at_counts(self, space: str, turn: int) -> None:
        """The spaces that a key may read, what else it may do there, and how many memories they hold."""
        who = list(CALLERS.values())[turn % len(CALLERS)]
        reply = self.client.get("/v1/spaces", key=self.keys[who])
        found = {told["space"]: (set(told["rights"]), told["counts"]) for told in reply.json["items"]}
        own = {place: self.models[place].rights(who) for place in SPACES}
        due = {address(place): (set(may), self._counts(place)) for place, may in own.items() if "read" in may}
        if self.world.waiting():
            found = {place: (rights, None) for place, (rights, _) in found.items()}
            due = {place: (rights, None) for place, (rights, _) in due.items()}
        assert found == due, f"spaces of {who}: {found}, not {due}"
        self.tally.looks["counts"] += any(counts for _, counts in due.values())

    def _counts(self, space: str) -> dict[str, int] | None:
        return {state: len(self.rows(space, state)) for state in ("active", "retired", "trashed")}

    def look_for_closed(self, space: str, turn: int) -> None:
        """A space that is closed to somebody is to them as one that never was."""
        if space not in ADDRESSES:
            return
        closed = [who for who in CALLERS.values() if not self.models[space].rights(who)]
        for who in closed[: 1 + turn % 2]:
            method, path, body = CLOSED[turn % len(CLOSED)]
            reply = self.ask(who, space, method, path, body)
            nothing = self.ask_at(who, NOWHERE[space], method, path, body)
            assert (reply.status, reply.text) == (404, nothing.text), f"{method} {path}: {reply.text}"
            self.tally.looks["foreign"] += 1

    def _readers(self, space: str) -> list[Caller]:
        return [who for who in CALLERS.values() if "read" in self.models[space].rights(who)]

    def _reader(self, space: str, turn: int) -> Caller | None:
        readers = self._readers(space)
        return readers[turn % len(readers)] if readers else None

    def _read(self, who: Caller, space: str, path: str) -> dict[str, Any]:
        reply = self.ask(who, space, "GET", path)
        assert reply.status == 200, f"GET {path} in {space}: {reply.status} {reply.text}"
        return dict(reply.json)

    def _pages(self, who: Caller, space: str, path: str) -> list[dict[str, Any]]:
        page = self._read(who, space, path)
        found = list(page["items"])
        while page["next"]:
            page = self._read(who, space, f"{path}&cursor={page['next']}")
            found += page["items"]
        return found
