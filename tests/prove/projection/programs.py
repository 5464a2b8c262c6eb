"""What people and passes do with memories, by chance: every kind of write there is, in several spaces."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.drafts import (
    Bulk,
    CategoryEdit,
    Edit,
    Ending,
    Merge,
    NewCategory,
    NewMemory,
    Recall,
)
from chalicelib.domain.memory import Source
from chalicelib.domain.scope import Scope, Space
from chalicelib.errors import PalimpsestError
from tests.fakes.world import World

WORDS = (
    "peanut", "harbour", "lantern", "Marie", "Turin", "budget", "release", "tea", "Gleis", "réunion", "печать", "山",
    "invoice", "garden", "violin", "staging", "deploy", "allergy", "train", "winter",
)  # fmt: skip
CATEGORIES_MOST = 8


@dataclass
class Known:
    """A memory as its person saw it last."""

    version: int
    state: str


class Person:
    """All that happens in one space."""

    def __init__(self, world: World, scope: Scope, chance: random.Random) -> None:
        self.world = world
        self.scope = scope
        self.chance = chance
        self.known: dict[int, Known] = {}
        self.categories: dict[str, int] = {}
        self._place = 0

    # -------------------------------------------------------------- helpers

    def _text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(3, 9)))

    def _draft(self, **fields: Any) -> NewMemory:
        if self.chance.random() < 0.3:
            fields["category"] = self._category()
        if self.chance.random() < 0.2:
            fields["context"] = self._text()
        return NewMemory(text=self._text(), importance=self.chance.randint(1, 10), **fields)

    def _category(self) -> str | None:
        return self.chance.choice([None, *self.categories])

    def _some(self, *states: str) -> int | None:
        for _ in range(8):
            if not self.known:
                return None
            number = self.chance.choice(list(self.known)) if len(self.known) < 50 else self._of_many()
            if self.known[number].state in states:
                return number
        return None

    def _of_many(self) -> int:
        newest = next(reversed(self.known))
        while True:
            number = self.chance.randint(1, newest)
            if number in self.known:
                return number

    def _note(self, memory: dict[str, Any]) -> None:
        self.known[memory["number"]] = Known(memory["version"], memory["state"])

    def _again(self, number: int) -> None:
        """Look at a memory that was not as it was thought to be."""
        memory = self.world.parts.memories.get(self.scope, number)
        if memory is not None:
            self.known[number] = Known(memory.version, memory.state.value)

    # -------------------------------------------------------------- operations; whether it was done

    def add(self) -> bool:
        answer = self.world.services.remember.add(self.scope, self._draft(), self.world.request())
        self._note(answer["memory"])
        return True

    def add_said(self) -> bool:
        """In a conversation: it takes what was said before it as its context."""
        self._place += 1
        source = Source(conversation="talk", position=self._place, author=self.chance.choice(("Ann", None)))
        draft = self._draft(source=source)
        answer = self.world.services.remember.add(self.scope, draft, self.world.request())
        self._note(answer["memory"])
        return True

    def add_batch(self) -> bool:
        drafts = [self._draft() for _ in range(self.chance.randint(2, 12))]
        for added in self.world.services.remember.add_many(self.scope, drafts, self.world.request()):
            assert isinstance(added, dict)
            self._note(added["memory"])
        return True

    def edit(self) -> bool:
        number = self._some("active", "retired")
        if number is None:
            return False
        change = self.chance.choice(
            ({"text": self._text()}, {"importance": self.chance.randint(1, 10)}, {"key": self._text()[:40]})
        )
        draft = Edit(version=self.known[number].version, **change)
        return self._changed(
            number, lambda: self.world.services.revise.edit(self.scope, number, draft, self.world.request())
        )

    def categorise(self) -> bool:
        number = self._some("active", "retired", "trashed")
        revise = self.world.services.revise
        return number is not None and self._changed(
            number,
            lambda: revise.categorise(self.scope, number, self._category(), None, self.world.request()),
        )

    def trash(self) -> bool:
        number = self._some("active", "retired")
        revise = self.world.services.revise
        return number is not None and self._changed(
            number, lambda: revise.trash(self.scope, number, None, self.world.request())
        )

    def restore(self) -> bool:
        number = self._some("trashed", "retired")
        revise = self.world.services.revise
        return number is not None and self._changed(
            number, lambda: revise.restore(self.scope, number, None, self.world.request())
        )

    def retire(self) -> bool:
        number = self._some("active")
        ending = Ending(reason=self._text(), replaced_by=None)
        revise = self.world.services.revise
        return number is not None and self._changed(
            number, lambda: revise.retire(self.scope, number, ending, None, self.world.request())
        )

    def erase(self) -> bool:
        number = self._some("active", "retired", "trashed")
        if number is None:
            return False
        self.world.services.revise.erase(self.scope, number, None, self.world.request())
        self.known[number].state = "erased"
        return True

    def merge(self) -> bool:
        numbers = list({number for number in (self._some("active") for _ in range(3)) if number})
        if len(numbers) < 2:
            return False
        versions = {str(number): self.known[number].version for number in numbers}
        draft = Merge(numbers=tuple(numbers), versions=versions, text=self._text())
        try:
            answer = self.world.services.merge.merge(self.scope, draft, self.world.request())
        except PalimpsestError:
            for number in numbers:
                self._again(number)
            return False
        for memory in (answer["memory"], *answer["merged"]):
            self._note(memory)
        return True

    def bulk(self) -> bool:
        numbers = list({n for n in (self._some("active", "retired", "trashed") for _ in range(6)) if n})
        if not numbers:
            return False
        op = self.chance.choice(("delete", "restore", "retire", "erase", "categorise"))
        extra = {"category": self._category()} if op == "categorise" else {}
        draft = Bulk.model_validate({"op": op, "numbers": tuple(numbers), **extra})
        results = self.world.services.revise.bulk(self.scope, draft, self.world.request())
        for number in numbers:
            self._again(number)
        return any(one["status"] == 200 for one in results)

    def recall(self) -> bool:
        draft = Recall(query=self._text(), max=self.chance.choice((1, 5, 20)))
        return bool(self.world.services.search.recall(self.scope, draft)["items"])

    def undo(self) -> bool:
        number = self._some("active", "retired", "trashed")
        if number is None:
            return False
        change = f"{number}-{self.known[number].version}"
        try:
            answer = self.world.services.undo.undo(self.scope, change, self.world.request())
        except PalimpsestError:
            self._again(number)
            return False
        for memory in answer["memories"]:
            self._note(memory)
        return True

    def change_categories(self) -> bool:
        services, request = self.world.services.categories, self.world.request()
        if len(self.categories) < 3 or (
            len(self.categories) < CATEGORIES_MOST and self.chance.random() < 0.4
        ):
            draft = NewCategory(name=f"{self._text()[:60]} {request.now.timestamp()} {self.chance.random()}")
            made = services.create(self.scope, draft, request)["category"]
            self.categories[made["id"]] = made["version"]
            return True
        chosen = self.chance.choice(list(self.categories))
        if self.chance.random() < 0.2:
            services.delete(self.scope, chosen, None, request)
            del self.categories[chosen]
            return True
        edit = CategoryEdit(version=self.categories[chosen], description=self._text())
        self.categories[chosen] = services.edit(self.scope, chosen, edit, request)["category"]["version"]
        return True

    def clean_up(self) -> bool:
        self.world.later(days=self.chance.choice((0.2, 3, 20)))
        trashed = self.world.services.retain.clean(self.scope.space)
        for number in trashed:
            self._again(number)
        return bool(trashed)

    def _changed(self, number: int, work: Callable[[], dict[str, Any]]) -> bool:
        try:
            self._note(work()["memory"])
        except PalimpsestError:
            self._again(number)
            return False
        return True


WEIGHTS = {
    "add": 16, "add_said": 8, "add_batch": 2, "edit": 22, "categorise": 8, "trash": 8, "restore": 7, "retire": 6,
    "erase": 5, "merge": 3, "bulk": 3, "recall": 5, "undo": 4, "change_categories": 2, "clean_up": 1,
}  # fmt: skip
OPERATIONS = tuple(WEIGHTS)


class Program:
    """People in spaces of all three kinds, who do things in turn."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self.world = world
        self.chance = chance
        self.done: Counter[str] = Counter()
        spaces = [Space.personal("anna"), world.add_project("rocket"), world.add_project("rocket1")]
        spaces += [world.add_community("1001"), world.add_community("100")]
        self.people = [Person(world, world.scope(space), chance) for space in spaces]

    def step(self) -> bool:
        """One operation; whether it was done."""
        person = self.chance.choice(self.people)
        name = self.chance.choices(OPERATIONS, list(WEIGHTS.values()))[0]
        done = bool(getattr(person, name)())
        self.done[name] += done
        if self.chance.random() < 0.2:
            self.world.later(seconds=self.chance.choice((0.001, 1, 600)))
        return done
