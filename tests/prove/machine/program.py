"""One program: an installation, the model beside it, and the ways of asking. Each request's answer is compared at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from chalicelib.domain.accounts import TeamMember
from chalicelib.domain.scope import Space
from tests.fakes.client import Client, Reply
from tests.prove.machine.embedder import own_word
from tests.prove.machine.model import Model, Row
from tests.prove.machine.people import CALLERS, PROJECT, SPACES, Caller, Moment, address
from tests.prove.machine.refusing import Refused, same_status
from tests.prove.machine.tally import Tally
from tests.prove.machine.worlds import ProgramWorld

STORED = {
    "anna": Space.personal("anna"),
    "bert": Space.personal("bert"),
    "pool": Space.pool(PROJECT),
    "community": Space.community("discord", "1001"),
}
"""The spaces, as the service knows them."""


class Past(NamedTuple):
    """A write that was done, to be repeated."""

    who: Caller
    space: str
    op: str
    asked: tuple[str, str, Any]
    key: str
    at: Any
    answer: Any


@dataclass
class Program:
    """What there is: people with keys, four spaces, a projector that runs or does not."""

    world: ProgramWorld
    tally: Tally
    embedded: bool
    running: bool = True
    past: list[Past] = field(default_factory=list)
    words: Iterator[int] = field(default_factory=lambda: count(1))
    said: list[str] = field(default_factory=list)
    """All own words that were ever in a text."""

    def __post_init__(self) -> None:
        self.client = Client(self.world)
        self._settle_people()
        self.at = Moment(self.world.now)
        self.models = {space: Model(space, self.at) for space in SPACES}
        self._requests = count(1)

    def _settle_people(self) -> None:
        world = self.world
        world.add_account("bert")
        world.add_project(PROJECT, "anna", "bert")
        world.add_community("1001")
        world._write(TeamMember(platform="discord", community="1001", account="bert", added_at=world.now))
        bert = world.parts.accounts.account("bert")
        assert bert is not None
        self.keys = {CALLERS["anna"]: self.client.key}
        self.keys[CALLERS["bert"]] = world.services.founding.new_key(bert, "Bert's key", world.now).plain
        self.keys[CALLERS["robot"]] = self._new_key("anna", acts_as="model")
        self.keys[CALLERS["reader"]] = self._new_key("bert", scopes=["read"])

    def _new_key(self, of: str, **how: Any) -> str:
        made = self.client.post("/v1/keys", {"name": "another", **how}, key=self.keys[CALLERS[of]])
        assert made.status == 201, made.text
        return str(made.json["key"]["key"])

    # ------------------------------------------------------------------ asking

    def ask(self, who: Caller, space: str, method: str, path: str, body: object = None, **how: Any) -> Reply:
        """One request about a space."""
        return self.ask_at(who, address(space), method, path, body, **how)

    def ask_at(
        self, who: Caller, place: str, method: str, path: str, body: object = None, **how: Any
    ) -> Reply:
        """One request about the space that HTTP knows under `place`."""
        reply = self.client.ask(method, f"/v1/spaces/{place}{path}", body, key=self.keys[who], **how)
        assert reply.status < 500, f"{method} {path} {body}: {reply.status} {reply.text}"
        return reply

    def write(
        self, who: Caller, space: str, op: str, asked: tuple[str, str, Any], work: Callable[[Reply], Any]
    ) -> tuple[Reply, Any]:
        """One write, and what the model makes of it: None when it was refused, as the model says it is to be."""
        self.tick()
        key = f"key-{next(self._requests)}"
        method, path, body = asked
        reply = self.ask(who, space, method, path, body, headers={"Idempotency-Key": key})
        outcome = self.judge(op, reply, lambda: work(reply))
        if outcome is not None:
            self.past.append(Past(who, space, op, asked, key, self.world.now, reply.json))
        self.follow()
        return reply, outcome

    def judge(self, op: str, reply: Reply, work: Callable[[], Any]) -> Any:
        """What `work` does to the model; None when the model refuses as the service did."""
        self.tally.acts[f"{op} {reply.status}"] += 1
        try:
            outcome = work()
        except Refused as refused:
            same_status(reply.status, refused, f"{op} {reply.text}")
            return None
        assert reply.status < 300, f"{op}: {reply.status} where nothing is wrong: {reply.text}"
        return outcome

    def tick(self, **elapsed: float) -> None:
        """A moment later."""
        self.world.later(**(elapsed or {"seconds": 1}))
        self.at.now = self.world.now

    def follow(self) -> None:
        """The projector does what it does by itself, if it runs."""
        if self.running:
            self.world.settle()

    # ------------------------------------------------------------------ choosing

    def rows(self, space: str, *states: str) -> list[Row]:
        """Memories of the space, by state; all but the erased ones without."""
        wanted = states or ("active", "retired", "trashed")
        rows = [row for key, row in self.models[space].items.items() if isinstance(key, int)]
        return [row for row in rows if row["state"] in wanted]

    def number(self, space: str, pick: int, *states: str) -> int:
        """Mostly one in such a state, sometimes any number that was used, or is not yet."""
        pick, strange = divmod(pick, 16)
        rows = self.rows(space, *states)
        if rows and strange:
            return int(rows[pick % len(rows)]["number"])
        return pick % (self.highest(space) + 2) + 1

    def highest(self, space: str) -> int:
        """The highest number that was used."""
        return max((key for key in self.models[space].items if isinstance(key, int)), default=0)

    def version(self, space: str, key: Any, pick: int) -> int:
        """Mostly the version that it has."""
        present = int(self.models[space].items.get(key, {"version": 1})["version"])
        return present + 1 if pick % 8 == 7 else present

    def category(self, space: str, pick: int) -> str | None:
        """The id of a category that there is or was."""
        keys = [key for key in self.models[space].items if isinstance(key, str)]
        return keys[pick % len(keys)] if keys else None

    def text(self, number: int | None = None) -> str:
        """A text with a word of its own, and words that all have."""
        word = own_word(next(self.words))
        self.said.append(word)
        return f"{word} lantern harbour"
