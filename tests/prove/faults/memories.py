"""Programs over memories: what a person and their assistant do in a space, step by step."""

import random
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from chalicelib.domain.memory import State
from tests.prove.faults.book import Book, Told
from tests.prove.faults.customer import Written

ALIVE = (State.ACTIVE, State.RETIRED)
SHOWN = (*ALIVE, State.TRASHED)


def _memory(answer: Any) -> Any:
    """What a repeated write must answer alike of a memory."""
    shown = answer.get("memory", answer)
    return {
        name: shown.get(name) for name in ("number", "version", "text", "state", "category", "importance")
    }


def _memories(answer: Any) -> Any:
    items = answer.get("items") or [{"memory": one} for one in answer.get("memories", [])]
    return [(item.get("status"), item.get("number"), _memory(item), item.get("erased")) for item in items]


def _category(answer: Any) -> Any:
    return answer["category"]


def _job(answer: Any) -> Any:
    """A job goes on between a request and its repeat."""
    return answer["job"]["id"] if "job" in answer else answer


def _numbers(answer: Any) -> list[int]:
    return [item["memory"]["number"] for item in answer["items"]]


class Memories:
    """One space's use cases, each by chance."""

    def __init__(self, book: Book, chance: random.Random, marks: "count[int]") -> None:
        self.book = book
        self.customer = book.customer
        self.chance = chance
        self.path = f"{book.path}/memories"
        self._marks = marks
        self._place = count()
        self._make_category("General", default=True)
        self.steps: Sequence[tuple[int, Callable[[], None]]] = (
            (14, self.add), (4, self.add_twin), (4, self.add_said), (6, self.add_batch), (10, self.edit),
            (4, self.retire), (5, self.trash), (4, self.restore), (4, self.erase), (4, self.merge),
            (4, self.categorise), (4, self.bulk), (6, self.undo), (5, self.search), (6, self.recall),
            (3, self.browse), (5, self.look), (2, self.reindex), (2, self.order_categories),
        )  # fmt: skip

    # -------------------------------------------------------------- texts and choices

    def _mark(self) -> str:
        return f"kq{next(self._marks):06}zz"

    def _words(self, mark: str) -> str:
        own = ("".join(self.chance.choices("bdfglmnprstvz", k=6)) for _ in range(9))
        return " ".join([mark, self.chance.choice(("lantern", "harbour", "tea", "rain")), *own])

    def _pick(self, *states: State, most: int = 1) -> list[Told]:
        some = self.book.some(*states)
        return self.chance.sample(some, min(len(some), self.chance.randint(1, most)))

    def _write(self, method: str, path: str, body: Any = None, same: Any = _memory) -> Written:
        return self.customer.write(method, path, body, same)

    def _settle(
        self, written: Written, op: str, numbers: set[int] = frozenset(), marks: Sequence[str] = ()
    ) -> bool:  # type: ignore[assignment]
        """Whether it was acknowledged; otherwise what is stored says what became of it."""
        if not written.done:
            self.book.adopt(numbers, marks, op)
        return written.done

    def _never_refused(self, written: Written) -> None:
        """The client named what is current, and nobody else writes: there is no reason to refuse."""
        if written.refused:
            self.customer.findings.wrong.append(f"refused: {written.reply}")

    # -------------------------------------------------------------- adding

    def add(self, **fields: Any) -> None:
        """One memory."""
        mark = self._mark()
        body = {"text": self._words(mark), "importance": self.chance.randint(1, 10), **fields}
        written = self._write("POST", self.path, body)
        if self._settle(written, "add", marks=[mark]):
            self.book.keep(written.json["memory"], "add")

    def add_twin(self) -> None:
        """Nearly the words of another memory: the answer names that one, or says that it could not look."""
        for told in self._pick(State.ACTIVE):
            if not self.book.stage.findable(told.memory):
                continue
            mark = self._mark()
            words = told.memory.text.split(" ", 1)[1]
            written = self._write("POST", self.path, {"text": f"{mark} {words}"})
            if not self._settle(written, "add", marks=[mark]):
                continue
            self.book.keep(written.json["memory"], "add")
            alike = [one["memory"]["number"] for one in written.json["similar"]]
            if told.number not in alike and len(alike) < 5 and not written.json["degraded"]:
                self.customer.findings.wrong.append(f"{self.path}: #{told.number} is not among {alike}")

    def add_said(self) -> None:
        """Said one after the other: the second has the first as its context."""
        for _ in range(2):
            self.add(source={"conversation": "talk", "position": next(self._place)})

    def add_batch(self) -> None:
        """Many at once, sometimes more than fit into one transaction."""
        size = self.chance.choice((2, 5, 9, 40))
        marks = [self._mark() for _ in range(size)]
        items = [{"text": self._words(mark)} for mark in marks]
        written = self._write("POST", f"{self.path}/batch", {"items": items}, _memories)
        if self._settle(written, "add", marks=marks):
            for item in written.json["items"]:
                self.book.keep(item["memory"], "add")

    # -------------------------------------------------------------- changing

    def _change(
        self, told: Told, op: str, method: str, path: str, body: Any = None, marks: Sequence[str] = ()
    ) -> None:
        written = self._write(method, path, body)
        told.marks |= set(marks)
        self._never_refused(written)
        if self._settle(written, op, {told.number}):
            self.book.keep(written.json["memory"], op)

    def edit(self) -> None:
        """Other words, or another importance."""
        for told in self._pick(*ALIVE):
            mark = self._mark()
            worth = (told.memory.importance or 0) % 10 + 1
            change = self.chance.choice(({"text": self._words(mark)}, {"importance": worth}))
            body = {"version": told.version, **change}
            self._change(told, "edit", "PATCH", f"{self.path}/{told.number}", body, [mark])

    def retire(self) -> None:
        """It was true, and is no longer."""
        for told in self._pick(State.ACTIVE):
            self._change(
                told, "retire", "POST", f"{self.path}/{told.number}/retire", {"version": told.version}
            )

    def trash(self) -> None:
        """Delete, with a version or without."""
        for told in self._pick(*ALIVE):
            named = self.chance.choice(("", f"?version={told.version}"))
            self._change(told, "trash", "DELETE", f"{self.path}/{told.number}{named}")

    def restore(self) -> None:
        """Out of the trash, or true again."""
        for told in self._pick(State.TRASHED, State.RETIRED):
            self._change(told, "restore", "POST", f"{self.path}/{told.number}/restore")

    def categorise(self) -> None:
        """Into a category, or out of it."""
        for told in self._pick(*ALIVE):
            category = self.chance.choice((None, *self._categories()))
            body = {"version": told.version, "category": category}
            self._change(told, "categorise", "PATCH", f"{self.path}/{told.number}", body)

    def erase(self) -> None:
        """For good. Others may have had its text as their context."""
        for told in self._pick(*SHOWN):
            written = self._write("POST", f"{self.path}/{told.number}/erase", same=lambda answer: answer)
            self._never_refused(written)
            if written.done:
                self.book.keep_erased(told.number)
            else:
                self._adopt_erased([told])

    def _adopt_erased(self, some: Sequence[Told]) -> None:
        """Erased or not: those whose context they were may have lost it already."""
        changed = {told.number for told in some}
        followers = {told.number for number in changed for told in self.book.followers(number)}
        for number in sorted(changed):
            self.book.adopt_one(number, "erase")
        for number in sorted(followers - changed):
            self.book.adopt_one(number, "edit")
        self.book.adopt(op="erase")

    def merge(self) -> None:
        """Some into a new one."""
        some = self._pick(State.ACTIVE, most=4)
        if len(some) < 2:
            return
        mark = self._mark()
        numbers = [told.number for told in some]
        versions = {str(told.number): told.version for told in some}
        body = {"numbers": numbers, "versions": versions, "text": self._words(mark)}
        written = self._write("POST", f"{self.path}/merge", body)
        self._never_refused(written)
        if self._settle(written, "merge", set(numbers), [mark]):
            for memory in (written.json["memory"], *written.json["merged"]):
                self.book.keep(memory, "merge")

    def bulk(self) -> None:
        """One operation on many; each has its own outcome."""
        op = self.chance.choice(("delete", "restore", "retire", "erase", "categorise"))
        some = self._pick(*SHOWN, most=6)
        if not some:
            return
        told_as = {"delete": "trash"}.get(op, op)
        body: dict[str, Any] = {"op": op, "numbers": [told.number for told in some]}
        if op == "categorise":
            body["category"] = None
        written = self._write("POST", f"{self.path}/bulk", body, _memories)
        if not written.done:
            if op == "erase":
                self._adopt_erased(some)
            else:
                self.book.adopt(set(body["numbers"]), op=told_as)
            return
        for item in written.json["items"]:
            if "memory" in item:
                self.book.keep(item["memory"], told_as)
            elif "erased" in item:
                self.book.keep_erased(item["number"])

    def undo(self) -> None:
        """Take the last change of a memory back; a merge as a whole."""
        for told in self._pick(*SHOWN):
            before = {number: one.version for number, one in self.book.told.items()}
            path = f"{self.book.path}/changes/{told.number}-{told.version}/undo"
            written = self._write("POST", path, None, _memories)
            if self._settle(written, "undo", set(before)):
                for memory in written.json["memories"]:
                    self.book.keep(memory, "undo")

    # -------------------------------------------------------------- finding

    def search(self) -> None:
        """By a memory's own words, or by words that many share."""
        for told in self._pick(State.ACTIVE):
            query = self.chance.choice((told.memory.text, "lantern harbour tea"))
            self.customer.read("POST", f"{self.book.path}/search", {"query": query, "limit": 20}, _numbers)

    def recall(self) -> None:
        """What an assistant is given."""
        for told in self._pick(State.ACTIVE):
            body = {"query": told.memory.text, "dry_run": self.chance.random() < 0.5}
            self.customer.read("POST", f"{self.book.path}/recall", body, _numbers)

    def browse(self) -> None:
        """A list, by any order."""
        sort = self.chance.choice(("newest", "oldest", "updated", "importance", "vitality", "used"))
        query = f"?state=all&sort={sort}&limit=20{self.chance.choice(('', '&q=lantern'))}"
        self.customer.read(
            "GET", f"{self.path}{query}", None, lambda answer: [one["number"] for one in answer["items"]]
        )

    def look(self) -> None:
        """One memory, its history; the space's audit, map, categories, jobs."""
        for told in self._pick(*SHOWN):
            one = f"{self.path}/{told.number}"
            own = (one, f"{one}/history", f"{one}/history?limit=1")
            all_of_them = (
                f"{self.book.path}/{what}" for what in ("audit?limit=20", "map", "categories", "jobs")
            )
            self.customer.read("GET", self.chance.choice((*own, *all_of_them)))

    # -------------------------------------------------------------- what lies beside memories

    def reindex(self) -> None:
        """Index anew; now and then everywhere."""
        everywhere = self.chance.random() < 0.3
        before = set(self.book.jobs_now())
        body = {"kind": "reindex", **({"all": True} if everywhere else {})}
        written = self._write("POST", f"{self.book.path}/jobs", body, _job)
        job = written.json.get("job") if written.done else None
        self.book.keep_job(job["id"] if job else None, before)

    def _categories(self) -> list[str]:
        here = self.book.stage.truth.memories.categories(self.book.stage.scope(self.book.space))
        return [category.id for category in here if not category.deleted]

    def _make_category(self, name: str, *, default: bool) -> None:
        body = {"name": name, "default": default}
        written = self._write("POST", f"{self.book.path}/categories", body, _category)
        self.book.keep_category(written.json["category"] if written.done else None)

    def order_categories(self) -> None:
        """Make a category, rename one, delete one."""
        path, known = f"{self.book.path}/categories", self.book.categories
        kind, living = self.chance.random(), self._categories()
        if kind < 0.5 or not living:
            self._make_category(self._mark(), default=self.chance.random() < 0.5)
            return
        if kind < 0.8:
            category = self.chance.choice(living)
            body = {"version": known[category], "name": self._mark()}
            written = self._write("PATCH", f"{path}/{category}", body, _category)
        else:
            written = self._write("DELETE", f"{path}/{self.chance.choice(living)}", None, _category)
        self.book.keep_category(written.json["category"] if written.done else None)
