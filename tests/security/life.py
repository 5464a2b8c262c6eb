"""A person's life with memories, and the search for what was erased of them: by every way of asking, in every file."""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.fakes.client import Client, Reply
from tests.fakes.world import World

CANARY = re.compile(r"kq[0-9]{6}zz")
MEMORIES = "/v1/spaces/personal/memories"


@dataclass
class Told:
    """One memory as its person knows it."""

    canaries: set[str] = field(default_factory=set)
    version: int = 1
    state: str = "active"
    erased: bool = False


@dataclass
class Remains:
    """What was looked at, and what of the erased was found there."""

    erased: int = 0
    canaries: int = 0
    answers: int = 0
    bytes: int = 0
    found: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Living memories that went with the erased ones."""

    def add(self, other: "Remains", of: str) -> None:
        """Count what is left of another life, which is called `of`, together with this."""
        self.erased += other.erased
        self.canaries += other.canaries
        self.answers += other.answers
        self.bytes += other.bytes
        self.found += [f"{of}: {one}" for one in other.found]
        self.lost += [f"{of}: {one}" for one in other.lost]


class Life:
    """One person's memories, and all requests that ever changed them."""

    def __init__(self, folder: Path, seed: int, world: World | None = None, most_at_once: int = 40) -> None:
        """`world`: on other engines than files in `folder`. `most_at_once`: memories that are added in one request."""
        self.folder = folder
        self.world = world or World(file=folder / "palimpsest.sqlite")
        self.most_at_once = most_at_once
        self.client = Client(self.world)
        self.world.category(default=True)
        self.world.category("Other")
        self.chance = random.Random(seed)
        self.told: dict[int, Told] = {}
        self.writes: list[tuple[str, str, Any, str]] = []
        self.log: list[str] = []
        self.vectors: set[bytes] = set()
        self._alive: set[str] = set()
        self._canaries = count(1)
        self._keys = count(1)
        self._place = count()

    def close(self) -> None:
        """Let go of the file."""
        self.world.database.close()

    # -------------------------------------------------------------- living

    def live(self, steps: int) -> None:
        """Do something `steps` times."""
        doings: list[Callable[[], None]] = [
            self._add, self._add, self._add_said, self._add_batch, self._edit, self._edit, self._retire, self._trash,
            self._restore, self._merge, self._categorise, self._undo, self._recall, self._pass_time,
        ]  # fmt: skip
        for doing in [self._add, self._add_said, self._add_batch, *self.chance.choices(doings, k=steps)]:
            doing()

    def _canary(self) -> str:
        return f"kq{next(self._canaries):06}zz"

    def _words(self, canary: str) -> str:
        """A text with a canary, words that many share, and words that make its vector unlike all others."""
        shared = self.chance.choices(("lantern", "harbour", "tea", "rain"), k=4)
        own = ("".join(self.chance.choices("bdfglmnprstvz", k=6)) for _ in range(5))
        return " ".join([canary, *shared, *own])

    def _write(self, method: str, path: str, body: Any = None) -> Reply:
        key = f"key-{next(self._keys)}"
        self.writes.append((method, path, body, key))
        return self.client.ask(method, path, body, headers={"Idempotency-Key": key})

    def _living(self, *states: str) -> list[int]:
        wanted = states or ("active", "retired", "trashed")
        return [n for n, told in self.told.items() if not told.erased and told.state in wanted]

    def _note(self, reply: Reply, canaries: set[str]) -> None:
        if reply.status == 201:
            self._keep(reply.json["memory"], canaries)

    def _keep(self, memory: dict[str, Any], canaries: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        told = self.told.setdefault(memory["number"], Told())
        told.version, told.state = memory["version"], memory["state"]
        told.canaries |= canaries

    def _draft(self) -> tuple[dict[str, Any], set[str]]:
        text, context, key, subject, source = (self._canary() for _ in range(5))
        body: dict[str, Any] = {"text": self._words(text), "importance": self.chance.randint(1, 10)}
        used = {text}
        if self.chance.random() < 0.5:
            body |= {"context": self._words(context), "key": key, "subject": subject}
            body["source"] = {"conversation": source, "author": key}
            used |= {context, key, subject, source}
        if self.chance.random() < 0.3:
            body["category"] = self.chance.choice((None, "Other"))
        return body, used

    def _add(self) -> None:
        body, canaries = self._draft()
        self._note(self._write("POST", MEMORIES, body), canaries)

    def _add_said(self) -> None:
        """Some that were said one after the other: each takes the text before it as its context."""
        for _ in range(self.chance.randint(2, 4)):
            canary = self._canary()
            source = {"conversation": "talk", "position": next(self._place)}
            body = {"text": self._words(canary), "source": source}
            self._note(self._write("POST", MEMORIES, body), {canary})

    def _add_batch(self) -> None:
        drafts = [self._draft() for _ in range(self.chance.randint(1, self.most_at_once))]
        reply = self._write("POST", f"{MEMORIES}/batch", {"items": [body for body, _ in drafts]})
        for item, (_, canaries) in zip(reply.json["items"], drafts, strict=True):
            self._keep(item["memory"], canaries)

    def _edit(self) -> None:
        for number in self._some("active", "retired"):
            canary = self._canary()
            change = self.chance.choice(({"text": self._words(canary)}, {"key": canary}, {"subject": canary}))
            body = {"version": self.told[number].version, **change}
            self._keep(self._write("PATCH", f"{MEMORIES}/{number}", body).json["memory"], {canary})

    def _retire(self) -> None:
        for number in self._some("active"):
            canary = self._canary()
            body = {"version": self.told[number].version, "reason": self._words(canary)}
            self._keep(self._write("POST", f"{MEMORIES}/{number}/retire", body).json["memory"], {canary})

    def _trash(self) -> None:
        for number in self._some("active", "retired"):
            self._keep(self._write("DELETE", f"{MEMORIES}/{number}").json["memory"])

    def _restore(self) -> None:
        for number in self._some("trashed", "retired"):
            self._keep(self._write("POST", f"{MEMORIES}/{number}/restore").json["memory"])

    def _categorise(self) -> None:
        numbers = self._some("active", "retired")
        if numbers:
            body = {"op": "categorise", "numbers": numbers, "category": self.chance.choice(("Other", None))}
            for item in self._write("POST", f"{MEMORIES}/bulk", body).json["items"]:
                self._keep(item["memory"])

    def _merge(self) -> None:
        numbers = self._some("active", most=4)
        if len(numbers) < 2:
            return
        canary = self._canary()
        versions = {str(number): self.told[number].version for number in numbers}
        body = {"numbers": numbers, "versions": versions, "text": self._words(canary)}
        # What a merge takes over from the old ones is said of the new one, too.
        body |= {"key": None, "subject": None}
        reply = self._write("POST", f"{MEMORIES}/merge", body)
        self._note(reply, {canary})
        for memory in reply.json["merged"]:
            self._keep(memory)

    def _undo(self) -> None:
        for number in self._some():
            path = f"/v1/spaces/personal/changes/{number}-{self.told[number].version}/undo"
            reply = self._write("POST", path)
            for memory in reply.json.get("memories", []):
                self._keep(memory)

    def _recall(self) -> None:
        self.client.post("/v1/spaces/personal/recall", {"query": "lantern harbour"})

    def _pass_time(self) -> None:
        self.world.later(hours=7)
        if self.chance.random() < 0.5:
            self.world.settle()

    def _some(self, *states: str, most: int = 3) -> list[int]:
        living = self._living(*states)
        return self.chance.sample(living, min(len(living), self.chance.randint(1, most)))

    # -------------------------------------------------------------- erasing

    def erase(self, share: float) -> None:
        """Erase that share of the memories, in whatever state, one by one or many at a time."""
        living = self._living()
        numbers = self.chance.sample(living, max(1, round(len(living) * share)))
        self.vectors = self.vectors_of(numbers)
        while numbers:
            if self.chance.random() < 0.5:
                number = numbers.pop()
                reply = self._write("POST", f"{MEMORIES}/{number}/erase")
                assert reply.status == 200, reply.text
                self.told[number].erased = True
            else:
                taken, numbers = numbers[:5], numbers[5:]
                self._write("POST", f"{MEMORIES}/bulk", {"op": "erase", "numbers": taken})
                for number in taken:
                    self.told[number].erased = True

    def vectors_of(self, numbers: list[int]) -> set[bytes]:
        """Their vectors, and those of contexts that were taken from them."""
        store, scope = self.world.parts.memories, self.world.scope()
        assert self.world.parts.embedder is not None
        model = self.world.parts.embedder.model.fingerprint
        vectors = {vector.data for vector in store.vectors(scope, numbers, model)}
        followers = [follower for number in numbers for follower in store.context_of(scope, number)]
        contexts = store.vectors(scope, followers, model)
        return vectors | {vector.data for vector in contexts if vector.role == "context"}

    @property
    def gone(self) -> set[str]:
        """All that was said in what is erased."""
        return {canary for told in self.told.values() if told.erased for canary in told.canaries}

    # -------------------------------------------------------------- looking

    def look(self) -> Remains:
        """Ask for everything by every way, and look at every file."""
        remains = Remains(sum(told.erased for told in self.told.values()), len(self.gone))
        for asked, reply in self._ask_for_everything():
            remains.answers += 1
            self.judge(remains, asked, reply.text + str(reply.headers))
            if reply.status >= 500:
                remains.found.append(f"{asked} -> {reply.status}")
        self.judge(remains, "the log", "\n".join(self.log))
        for number, told in self.told.items():
            if not told.erased and self.client.get(f"{MEMORIES}/{number}").status != 200:
                remains.lost.append(f"#{number}")
        return remains

    def look_at_files(self, remains: Remains) -> None:
        """Look at every byte of the folder, after what the service does by itself within seconds. What is alive is
        found there: that is how the erased would be."""
        self.world.settle()
        assert self.world.database.scrub()
        for file in sorted(self.folder.iterdir()):
            content = file.read_bytes()
            remains.bytes += len(content)
            for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
                text = (
                    content.decode(encoding, "replace") if encoding != "utf-8" else content.decode("latin-1")
                )
                self.judge(remains, f"{file.name} as {encoding}", text)
            self.judge_bytes(remains, file.name, content)

    def judge_bytes(self, remains: Remains, where: str, content: bytes) -> None:
        """Look for the erased, texts and vectors, in something that is kept; and for the living."""
        self._alive |= set(CANARY.findall(content.decode("latin-1"))) - self.gone
        left = sum(vector in content for vector in self.vectors)
        remains.found += [f"{left} of {len(self.vectors)} vectors in {where}"] if left else []

    def judge(self, remains: Remains, where: str, text: str) -> None:
        found = set(CANARY.findall(text)) & self.gone
        remains.found += [f"{canary} in {where}" for canary in sorted(found)]

    def meet_alive(self, canaries: Iterable[str]) -> None:
        """Note canaries of the living that were found by looking."""
        self._alive |= set(canaries)

    @property
    def seen_alive(self) -> int:
        """How many canaries of the living were found by looking: that is how those of the erased would be."""
        return len(self._alive)

    def seen_alive_no_more(self) -> None:
        """Count anew, for another place to look at."""
        self._alive = set()

    def _ask_for_everything(self) -> Iterator[tuple[str, Reply]]:
        yield from self._lists()
        yield from self._finds()
        yield from self._single()
        for method, path, body, key in self.writes:
            again = self.client.ask(method, path, body, headers={"Idempotency-Key": key})
            yield f"repeat of {method} {path}", again

    def _lists(self) -> Iterator[tuple[str, Reply]]:
        sorts = ("newest", "oldest", "updated", "importance", "vitality", "used")
        paths = [f"{MEMORIES}?state=all&sort={sort}&limit=200" for sort in sorts]
        paths += [
            f"{MEMORIES}?state={state}&q=lantern&limit=200" for state in ("active", "retired", "trashed")
        ]
        whats = ("audit?limit=200", "export?limit=200", "map", "categories", "jobs")
        paths += [f"/v1/spaces/personal/{what}" for what in whats]
        for path in [*paths, "/v1/spaces", "/v1/me"]:
            yield from self._pages(path)

    def _pages(self, path: str) -> Iterator[tuple[str, Reply]]:
        following = ""
        while True:
            reply = self.client.get(f"{path}{following}")
            yield path, reply
            cursor = reply.json.get("next")
            if cursor is None:
                return
            following = f"{'&' if '?' in path else '?'}cursor={cursor}"

    def _finds(self) -> Iterator[tuple[str, Reply]]:
        for query in ("lantern harbour tea rain", "lantern"):
            body = {"query": query, "limit": 100, "filters": {"state": "all"}, "explain": True}
            yield "search", self.client.post("/v1/spaces/personal/search", body)
            recall = {"query": query, "max": 50, "bytes": 100_000, "dry_run": True}
            yield "recall", self.client.post("/v1/spaces/personal/recall", recall)
        for canary in sorted(self.gone):
            for name, text in (("word", canary), ("sentence", self._words(canary))):
                reply = self.client.post("/v1/spaces/personal/search", {"query": text, "limit": 100})
                yield f"search for its {name}", reply
            for where in ("q", "subject", "source"):
                reply = self.client.get(f"{MEMORIES}?state=all&{where}={canary}")
                yield f"list by {where}", reply
                assert reply.json["items"] == [], (where, canary)

    def _single(self) -> Iterator[tuple[str, Reply]]:
        for number, told in self.told.items():
            yield f"#{number}", self.client.get(f"{MEMORIES}/{number}")
            yield from self._pages(f"{MEMORIES}/{number}/history?limit=2")
            if told.erased:
                for version in range(1, told.version + 3):
                    path = f"/v1/spaces/personal/changes/{number}-{version}/undo"
                    reply = self.client.post(path)
                    yield f"undo {number}-{version}", reply
                    assert reply.status in {404, 409}
