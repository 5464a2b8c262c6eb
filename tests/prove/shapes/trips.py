"""One text's way through everything that stores it and everything that shows it again."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from chalicelib.domain.text_rules import _BREAKS
from chalicelib.search.text import stems
from tests.fakes.client import Client, Reply
from tests.fakes.world import World
from tests.prove.shapes.texts import can_be_seen

SPACE = "/v1/spaces/personal"
MEMORIES = f"{SPACE}/memories"
QUERY_MAX = 20_000
CONTEXT_KEPT = 2_000
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT|NEAR)\b")


@dataclass
class Readings:
    """How often a text was read back by which way, and what came back otherwise than it was said."""

    ways: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)

    def compare(self, way: str, said: str | None, read: object) -> None:
        """Note one reading."""
        self.ways[way] += 1
        if read != said:
            self.found.append(f"{way}: said {_short(said)}, read {_short(read)}")

    def expect(self, way: str, reply: Reply, status: int) -> bool:
        """Whether an answer has the status that it must have; noted if not."""
        if reply.status != status:
            self.found.append(f"{way}: {reply.status} instead of {status}: {reply.text[:300]}")
        return reply.status == status


class Traveller:
    """Sends texts on their way in one World, and keeps what it expects to find there in the end."""

    def __init__(self, world: World, readings: Readings) -> None:
        self.world = world
        self.client = Client(world)
        self.readings = readings
        self.expected: dict[int, str] = {}
        self._trips = 0
        world.category(default=True)

    def send(self, text: str, other: str) -> None:
        """All ways of `text`: added, replayed, read, found, edited to `other` and back, retired, merged, in a batch."""
        self._trips += 1
        number = self._add(text, other)
        if number is None:
            return
        self._read(number, text, "just written")
        if self._trips % 3 == 0:
            self.world.settle()
            self._read(number, text, "indexed")
        self._edit_and_undo(number, text, other)
        self._retire_and_restore(number, text, other)
        self._batch_and_merge(number, text, other)

    def store(self, text: str, *, edits: bool = True) -> None:
        """The short way, for very large texts: added, read, found; edited and undone unless not `edits`."""
        self._trips += 1
        added = self._ask("POST", MEMORIES, {"text": text})
        if self.readings.expect("add", added, 201):
            number = added.json["memory"]["number"]
            self.expected[number] = text
            self._read(number, text, "just written", query="edge")
            self.world.settle()
            self._read(number, text, "indexed", query="edge")
            if edits:
                self._edit_and_undo(number, text, f"{text[:-2]}\n.")

    def read_all(self) -> None:
        """Everything that was stored, as an export would read it: page by page over all states."""
        read: dict[int, str] = {}
        following = ""
        while True:
            page = self.client.get(f"{MEMORIES}?state=all&sort=oldest&limit=7{following}").json
            read |= {memory["number"]: memory["text"] for memory in page["items"]}
            if page["next"] is None:
                break
            following = f"&cursor={page['next']}"
        for number, text in self.expected.items():
            self.readings.compare("export", text, read.get(number))

    # -------------------------------------------------------------- ways

    def _ask(self, method: str, path: str, body: object, **how: Any) -> Reply:
        """Every second body as UTF-8, the others with `\\u` escapes: both are JSON."""
        raw = json.dumps(body, ensure_ascii=self._trips % 2 == 0).encode()
        return self.client.ask(method, path, raw=raw, **how)

    def _add(self, text: str, other: str) -> int | None:
        line, line_of_other = as_line(text), as_line(other)
        body = {
            "text": text,
            "context": other,
            "key": line,
            "subject": line_of_other,
            "source": {"conversation": line or "talk", "author": line_of_other},
        }
        headers = {"Idempotency-Key": f"shape-{self._trips}"}
        added = self._ask("POST", MEMORIES, body, headers=headers)
        if not self.readings.expect("add", added, 201):
            return None
        number = int(added.json["memory"]["number"])
        self.expected[number] = text
        for way, reply in (
            ("add", added),
            ("replay", self._ask("POST", MEMORIES, body, headers=headers)),
            ("get", self.client.get(f"{MEMORIES}/{number}")),
        ):
            self._compare_fields(way, reply.json["memory"], body)
        self._list_by_names(number, line, line_of_other)
        return number

    def _compare_fields(self, way: str, memory: dict[str, Any], said: dict[str, Any]) -> None:
        for name in ("text", "key", "subject"):
            self.readings.compare(f"{way} {name}", said[name], memory[name])
        self.readings.compare(f"{way} context", said["context"][-CONTEXT_KEPT:], memory["context"])
        for name, value in said["source"].items():
            self.readings.compare(f"{way} source.{name}", value, memory["source"][name])

    def _list_by_names(self, number: int, source: str | None, subject: str | None) -> None:
        """A name of any shape finds its memories when it is filtered by."""
        for name, value in (("source", source or "talk"), ("subject", subject)):
            if value is None or f"{value}".strip() != value:
                continue
            reply = self.client.get(f"{MEMORIES}?limit=200&{name}={quote(value, safe='')}")
            found = [memory["number"] for memory in reply.json.get("items", [])]
            self.readings.compare(f"list by {name}", value, value if number in found else found)

    def _read(self, number: int, text: str, when: str, query: str | None = None) -> None:
        self.readings.compare(
            f"get {when}", text, self.client.get(f"{MEMORIES}/{number}").json["memory"]["text"]
        )
        listed = self.client.get(f"{MEMORIES}?limit=200").json["items"]
        self.readings.compare(f"list {when}", text, _text_of(number, listed))
        history = self.client.get(f"{MEMORIES}/{number}/history").json["items"]
        self.readings.compare(f"history {when}", text, history[-1]["after"]["text"])
        self._find(number, text, when, query or text)

    def _find(self, number: int, text: str, when: str, query: str) -> None:
        asked = query[:QUERY_MAX]
        if not can_be_seen(asked):
            return
        reply = self._ask("POST", f"{SPACE}/search", {"query": asked, "limit": 100})
        if not stems(_OPERATOR.sub(" ", asked)):
            self.readings.expect("search without words", reply, 422)
        elif self.readings.expect(f"search {when}", reply, 200):
            self.readings.compare(f"search {when}", text, _text_of(number, _memories(reply)))
            self._recall(number, text, when, asked)

    def _recall(self, number: int, text: str, when: str, asked: str) -> None:
        body = {"query": asked, "max": 50, "bytes": 100_000, "dry_run": True}
        reply = self._ask("POST", f"{SPACE}/recall", body)
        if reply.status == 422 and reply.fields == ["query"]:
            return  # a message without a letter, digit, mark or symbol of this Python's Unicode asks for nothing
        if self.readings.expect(f"recall {when}", reply, 200):
            given = _text_of(number, _memories(reply))
            if given is not None:  # else the budget left it out
                self.readings.compare(f"recall {when}", text, given)

    def _edit_and_undo(self, number: int, text: str, other: str) -> None:
        path = f"{MEMORIES}/{number}"
        version = self.client.get(path).json["memory"]["version"]
        edited = self._ask("PATCH", path, {"version": version, "text": other})
        if not self.readings.expect("edit", edited, 200):
            return
        self.readings.compare("edit", other, edited.json["memory"]["text"])
        self.readings.compare("get edited", other, self.client.get(path).json["memory"]["text"])
        newest = self.client.get(f"{path}/history?limit=1").json["items"][0]
        self.readings.compare("history before", text, newest["before"]["text"])
        self.readings.compare("history after", other, newest["after"]["text"])
        if other != text:
            undone = self.client.post(f"{SPACE}/changes/{number}-{version + 1}/undo")
            if self.readings.expect("undo", undone, 200):
                self.readings.compare("undo", text, undone.json["memories"][0]["text"])
        self.readings.compare("get undone", text, self.client.get(path).json["memory"]["text"])

    def _retire_and_restore(self, number: int, text: str, other: str) -> None:
        path = f"{MEMORIES}/{number}"
        version = self.client.get(path).json["memory"]["version"]
        reason = other[:1_000]
        retired = self._ask("POST", f"{path}/retire", {"version": version, "reason": reason})
        if self.readings.expect("retire", retired, 200):
            self.readings.compare("reason", reason, self.client.get(path).json["memory"]["reason"])
            restored = self.client.post(f"{path}/restore")
            self.readings.compare("restore", text, restored.json["memory"]["text"])

    def _batch_and_merge(self, number: int, text: str, other: str) -> None:
        batch = self._ask("POST", f"{MEMORIES}/batch", {"items": [{"text": text}, {"text": other}]})
        if not self.readings.expect("batch", batch, 200):
            return
        pairs = list(zip((text, other), batch.json["items"], strict=True))
        for said, item in pairs:
            self.readings.compare("batch", said, item["memory"]["text"])
            self.expected[item["memory"]["number"]] = said
        second = pairs[1][1]["memory"]["number"]
        versions = {
            str(one): self.client.get(f"{MEMORIES}/{one}").json["memory"]["version"]
            for one in (number, second)
        }
        body = {"numbers": [number, second], "versions": versions, "text": text}
        merged = self._ask("POST", f"{MEMORIES}/merge", body)
        if self.readings.expect("merge", merged, 201):
            self.readings.compare("merge", text, merged.json["memory"]["text"])
            self.expected[merged.json["memory"]["number"]] = text
            for said, old in zip((text, other), merged.json["merged"], strict=True):
                self.readings.compare("merged", said, old["text"])


def as_line(text: str) -> str | None:
    """The text as the name of something: one line of at most 200 characters; None when nothing of it is left."""
    line = re.sub(f"[{_BREAKS}]", "", text)[:200]
    return line if can_be_seen(line) else None


def _memories(reply: Reply) -> list[dict[str, Any]]:
    return [item["memory"] for item in reply.json["items"]]


def _text_of(number: int, memories: list[dict[str, Any]]) -> object:
    return next((memory["text"] for memory in memories if memory["number"] == number), None)


def _short(text: object) -> str:
    shown = ascii(text)
    return shown if len(shown) <= 200 else f"{shown[:90]}…{shown[-90:]} ({len(shown):,} characters)"
