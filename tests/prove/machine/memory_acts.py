"""What people and models do to memories: asked of the service, said to the model, compared."""

from typing import Any

from tests.fakes.client import Reply
from tests.prove.machine import shown
from tests.prove.machine.drafts import TALKS, described
from tests.prove.machine.model import Row
from tests.prove.machine.people import Caller
from tests.prove.machine.program import Program
from tests.prove.machine.refusing import Refused, same_status

MEMORIES = "/memories"
BULK = {
    "trash": "delete",
    "restore": "restore",
    "retire": "retire",
    "erase": "erase",
    "categorise": "categorise",
}


class MemoryActs(Program):
    """Each takes whole numbers that choose; what cannot be (a stale version, a wrong state) is asked for, too."""

    def add(self, who: Caller, space: str, shape: int) -> None:
        """One memory."""
        body, said = self._draft(space, shape)
        number = self.highest(space) + 1

        def work(reply: Reply) -> Row:
            told = reply.json.get("memory", {"number": number})
            return self.models[space].add(who, told["number"], said)

        reply, row = self.write(who, space, "add", ("POST", MEMORIES, body), work)
        if row is not None:
            self._judge_one(space, row, reply.json)

    def add_batch(self, who: Caller, space: str, shapes: list[int]) -> None:
        """Several, some of which may be refused."""
        drafts = [self._draft(space, shape) for shape in shapes]
        model = self.models[space]

        def work(reply: Reply) -> list[Row | None]:
            model.check(who, "write")
            rows: list[Row | None] = []
            for (_, said), item in zip(drafts, reply.json["items"], strict=True):
                number = item.get("memory", {"number": self.highest(space) + 1})["number"]
                try:
                    rows.append(model.add(who, number, said))
                except Refused as refused:
                    same_status(item["status"], refused, item)
                    rows.append(None)
            return rows

        asked = ("POST", f"{MEMORIES}/batch", {"items": [body for body, _ in drafts]})
        reply, rows = self.write(who, space, "batch", asked, work)
        for row, item in zip(rows or [], reply.json.get("items", []), strict=True):
            if row is not None:
                assert item["status"] == 201, item
                self._judge_one(space, row, item)

    def edit(self, who: Caller, space: str, pick: int, shape: int, stale: int) -> None:
        """Of text, kind, importance, subject, category: some."""
        number = self.number(space, pick)
        shape, what = divmod(shape, 3)
        fields, said = described(shape, sorted(self.models[space].names()))
        if what or not fields:
            text = {"text": self.text()}
            fields, said = (text, text) if what == 1 or not fields else (fields | text, said | text)
        if number in [row["number"] for row in self.rows(space, "trashed")]:
            fields = said = {"text": self.text()}  # one thing that is wrong at a time
        version = self.version(space, number, stale)
        asked = ("PATCH", f"{MEMORIES}/{number}", {"version": version, **fields})
        self._change(who, space, "edit", number, version, said, asked)

    def move(self, who: Caller, space: str, op: str, pick: int, stale: int) -> None:
        """To the trash, back from it, or out of the world; a version may be named."""
        states = {"trash": ("active", "retired"), "restore": ("trashed", "retired")}.get(op, ())
        number = self.number(space, pick, *states)
        version = self.version(space, number, stale) if stale % 2 else None
        body = {"version": version} if version else {}
        if op == "trash":
            query = f"?version={version}" if version else ""
            asked: tuple[str, str, Any] = ("DELETE", f"{MEMORIES}/{number}{query}", None)
        else:
            asked = ("POST", f"{MEMORIES}/{number}/{op}", body)
        self._change(who, space, op, number, version, {}, asked)

    def retire(self, who: Caller, space: str, pick: int, other: int, stale: int) -> None:
        """For a reason; another memory may replace it."""
        number = self.number(space, pick, "active")
        version = self.version(space, number, stale)
        said: dict[str, Any] = {"reason": "outgrown"} if other % 2 else {}
        if other % 3 == 0 and not who.model:
            said["replaced_by"] = self.number(space, other // 3)
        asked = ("POST", f"{MEMORIES}/{number}/retire", {"version": version, **said})
        self._change(who, space, "retire", number, version, said, asked)

    def bulk(self, who: Caller, space: str, op: str, picks: list[int], shape: int) -> None:
        """One operation on several, each with its own outcome."""
        numbers = list(dict.fromkeys(self.number(space, pick) for pick in picks))
        names = sorted(self.models[space].names())
        said = (
            {"category": names[shape % len(names)] if names and shape % 3 else None}
            if op == "categorise"
            else {}
        )
        model = self.models[space]

        def work(reply: Reply) -> list[Row | None]:
            model.check(who, "write")
            return [self._part(who, space, op, item, said) for item in reply.json["items"]]

        asked = ("POST", f"{MEMORIES}/bulk", {"op": BULK[op], "numbers": numbers, **said})
        reply, rows = self.write(who, space, "bulk", asked, work)
        if rows is not None:
            assert [item["number"] for item in reply.json["items"]] == numbers
            if None in rows:
                self.past.pop()  # what failed of it would be tried again
            for row, item in zip(rows, reply.json["items"], strict=True):
                if row is not None and op != "erase":
                    self._judge_one(space, row, item)

    def _part(self, who: Caller, space: str, op: str, item: dict[str, Any], said: Row) -> Row | None:
        try:
            row = self.models[space].change(who, op, item["number"], None, said)
        except Refused as refused:
            same_status(item["status"], refused, f"{op} {item}")
            return None
        assert item["status"] == 200, f"{op}: {item}"
        return row

    def merge(self, who: Caller, space: str, picks: list[int], stale: int) -> None:
        """Several into a new one."""
        numbers = list(dict.fromkeys(self.number(space, pick, "active") for pick in picks))
        if len(numbers) < 2:
            numbers.append(numbers[0] + 1)
        versions = {number: self.version(space, number, 0) for number in numbers}
        versions[numbers[-1]] = self.version(space, numbers[-1], stale)
        text = self.text()
        body: dict[str, Any] = {"numbers": numbers, "text": text}
        body["versions"] = {str(number): version for number, version in versions.items()}

        def work(reply: Reply) -> list[Row]:
            number = reply.json.get("memory", {"number": self.highest(space) + 1})["number"]
            assert number > self.highest(space), f"the number {number} was used before"
            return self.models[space].merge(who, number, text, versions)

        reply, rows = self.write(who, space, "merge", ("POST", f"{MEMORIES}/merge", body), work)
        if rows is not None:
            self._judge_one(space, rows[0], reply.json)
            for row, told in zip(rows[1:], reply.json["merged"], strict=True):
                shown.same(self.models[space], row, told)

    def undo(self, who: Caller, space: str, pick: int) -> None:
        """A change of a memory: mostly one of the latest."""
        changes = [one for one in self.models[space].changes if isinstance(one["key"], int)]
        pick, strange = divmod(pick, 8)
        chosen = (
            changes[-1 - pick % min(len(changes), 40)] if changes and strange else {"key": 1, "version": 99}
        )
        self._undo(who, space, "undo", chosen)

    def undo_category(self, who: Caller, space: str, pick: int) -> None:
        """A change of a category."""
        changes = [one for one in self.models[space].changes if isinstance(one["key"], str)]
        if changes:
            self._undo(who, space, "undo category", changes[-1 - pick % len(changes)])

    def _undo(self, who: Caller, space: str, op: str, chosen: Row) -> None:
        model = self.models[space]
        asked = ("POST", f"/changes/{chosen['key']}-{chosen['version']}/undo", None)
        work = lambda _: model.undo(who, chosen["key"], chosen["version"])  # noqa: E731
        reply, rows = self.write(who, space, op, asked, work)
        told = {one["number"]: one for one in reply.json.get("memories", [])}
        for row in [row for row in rows or [] if "number" in row]:
            shown.same(model, row, told.pop(row["number"]))
        assert not told, f"undone beside: {sorted(told)}"

    def _change(
        self,
        who: Caller,
        space: str,
        op: str,
        number: int,
        version: int | None,
        said: Row,
        asked: tuple[str, str, Any],
    ) -> None:
        work = lambda _: self.models[space].change(who, op, number, version, said)  # noqa: E731
        reply, row = self.write(who, space, op, asked, work)
        if row is not None and op != "erase":
            self._judge_one(space, row, reply.json)

    def _judge_one(self, space: str, row: Row, told: dict[str, Any]) -> None:
        """That a write's answer shows the memory as it is now, and says whether models are given it (M8)."""
        model = self.models[space]
        shown.same(model, row, told["memory"])
        recallable = row["state"] == "active" and model.recallable(row)
        assert told["recallable"] == recallable, f"#{row['number']} recallable: {told['recallable']}"
        assert recallable or told["why_not_recallable"]

    def _draft(self, space: str, shape: int) -> tuple[dict[str, Any], Row]:
        shape, talk = divmod(shape, len(TALKS))
        body, said = described(shape, sorted(self.models[space].names()))
        text = {"text": self.text()}
        source = {"source": {"conversation": TALKS[talk]}} if TALKS[talk] else {}
        return body | text | source, said | text | {"source": TALKS[talk]}
