"""What is found and what is recalled: exactly what the model says."""

from tests.fakes.client import Reply
from tests.prove.machine import shown
from tests.prove.machine.memory_acts import MemoryActs
from tests.prove.machine.model import Row
from tests.prove.machine.people import PROJECT, Caller
from tests.prove.machine.refusing import refuse

MOST = 10
"""Memories of one recall."""


class Finding(MemoryActs):
    """Searches and recalls; also such as only look (a person's search, a dry run)."""

    def search(self, who: Caller, space: str, pick: int, how: int) -> None:
        """For a word that one memory has, or that all have; a model's search counts as use (M26)."""
        self.tick()
        word = self.said[-1 - pick % len(self.said)] if self.said and pick % 4 else "lantern"
        everything, project = (None, True, False)[how % 3], PROJECT if how // 3 % 2 else None
        found = self.find(who, space, word, everything=everything, project=project)
        if who.model and found:
            self.use(space, found)
        self.follow()

    def find(
        self,
        who: Caller,
        space: str,
        word: str,
        *,
        everything: bool | None = None,
        project: str | None = None,
    ) -> list[int]:
        """The numbers that a search for one word finds: exactly those that it should."""
        model = self.models[space]
        body = {"query": word, "limit": 100, "include_uncategorised": everything, "project": project}
        body = {name: value for name, value in body.items() if value is not None}
        reply = self.ask(who, space, "POST", "/search", body)

        def expected() -> set[int]:
            self._check_reader(who, space, project)
            refuse(403, who.model and everything)
            all_of_it = not who.model and everything is not False
            rows = [row for row in self.rows(space, "active") if word in row["text"]]
            return {row["number"] for row in rows if all_of_it or model.recallable(row, project)}

        numbers = self.judge("search", reply, expected)
        if numbers is None:
            return []
        self.tally.looks["search, found" if numbers else "search, nothing"] += 1
        self._judge_found(space, reply, numbers, word)
        assert {item["memory"]["number"] for item in reply.json["items"]} == numbers, (
            f"a search in {space} for {word} finds {[item['memory']['number'] for item in reply.json['items']]}, "
            f"not {sorted(numbers)}"
        )
        return [item["memory"]["number"] for item in reply.json["items"]]

    def recall(self, who: Caller, space: str, pick: int, how: int) -> None:
        """What a model is given for a message; it counts as use unless it is a dry run (M26)."""
        self.tick()
        word = self.said[-1 - pick % len(self.said)] if self.said and pick % 4 else "lantern"
        given = self.remember(who, space, word, project=PROJECT if how % 2 else None, dry=how % 4 > 1)
        if how % 4 < 2:
            self.use(space, given)
        self.follow()

    def remember(
        self, who: Caller, space: str, word: str, *, project: str | None = None, dry: bool = True
    ) -> list[int]:
        """The numbers that are given for one word: nothing but what may be, and all of that within the limit."""
        model = self.models[space]
        body = {"query": word, "dry_run": dry, **({"project": project} if project else {})}
        reply = self.ask(who, space, "POST", "/recall", body)

        def expected() -> list[Row]:
            self._check_reader(who, space, project)
            return [row for row in self.rows(space, "active") if word in row["text"]]

        rows = self.judge("recall", reply, expected)
        if rows is None:
            return []
        due = {row["number"] for row in rows if model.recallable(row, project)}
        given = [item["memory"]["number"] for item in reply.json["items"]]
        self._judge_found(space, reply, due, word)
        assert len(given) == min(MOST, len(due)), f"recalled in {space} for {word}: {given} of {sorted(due)}"
        assert all(f"#{number}]" in reply.json["text"] for number in given)
        listed = [row for row in rows if row["number"] in due] if who.model else rows
        self._judge_left_out(space, word, listed, due, reply)
        self.tally.looks["recall, given"] += bool(given)
        self.tally.looks["recall, held back"] += len(rows) > len(due)
        return given

    def use(self, space: str, numbers: list[int]) -> None:
        """These were put into a model's context."""
        for row in [self.models[space].items[number] for number in numbers]:
            row.update(use_count=row["use_count"] + 1, last_used_at=self.at.now)

    def _check_reader(self, who: Caller, space: str, project: str | None) -> None:
        self.models[space].check(who, "read")
        refuse(404, project and who.account not in self.at.members)

    def _judge_found(self, space: str, reply: Reply, due: set[int], word: str) -> None:
        model = self.models[space]
        for item in reply.json["items"]:
            number = item["memory"]["number"]
            assert number in due, f"#{number} of {space} was given for {word}: {item['memory']}"
            shown.same(model, model.items[number], item["memory"])
        how = (reply.json["matched_by"], reply.json["degraded"])
        due_how = ("meaning" if self.embedded and space != "community" else "words", None)
        assert how == due_how, f"in {space} {word}: matched by {how}"

    def _judge_left_out(self, space: str, word: str, rows: list[Row], due: set[int], reply: Reply) -> None:
        """Related memories that were not given are counted, those that the caller may list (M24)."""
        model, left_out = self.models[space], reply.json["left_out"]
        kept = [model.category(row)["name"] for row in rows if row["number"] not in due]
        assert left_out["uncategorised"] == kept.count(None), f"for {word}: {left_out}, {kept}"
        assert left_out["other_project"] == len(kept) - kept.count(None), f"for {word}: {left_out}, {kept}"
