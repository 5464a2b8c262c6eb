"""One case: an installation at work, one of its parts breaks, is mended, and everything is looked at."""

import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.fakes.client import Reply
from tests.prove.degradation.stage import Stage
from tests.prove.degradation.witness import MEMORIES, SPACE, Witness

BEFORE = 8
"""Memories there are before anything breaks."""
LASTS_S = 25
"""How long it stays broken after it was asked, by the test's clock: the loops meet it, again and again."""
MENDED_S = 660
"""Within which everything must be whole: the longest period of all loops is that of the clock's comparison, 10 minutes."""
CODES = {
    400: "malformed",
    404: "not_found",
    409: "conflict",
    413: "too_large",
    422: "invalid",
    503: "unavailable",
}

Handling = Literal["accepted", "refused", "either"]
Open = Callable[[Path, Mapping[str, str]], AbstractContextManager[Stage]]
Break = Callable[[Stage], AbstractContextManager[object]]


@dataclass(frozen=True)
class Told:
    """What a caller must be told while something is wrong: whether writes and reads are answered, the word in
    `degraded` of an add, a search and a list (None: nothing), and what health says of the parts that are not ok."""

    writes: Handling = "accepted"
    reads: Handling = "accepted"
    add: tuple[str | None, ...] = (None,)
    search: tuple[str | None, ...] = (None,)
    listed: tuple[str | None, ...] = (None,)
    health: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One row of the matrix. `part` is how a refusal calls what is down."""

    part: str
    name: str
    stage: Open
    breaks: Break
    told: Told


@dataclass
class Row:
    """What happened in one case."""

    case: Case
    writes: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    degraded: set[str] = field(default_factory=set)
    health: str = ""
    acknowledged: int = 0
    met: int = 0
    """Requests that met the fault, where a gateway can count them."""
    whole_after_s: int | None = None
    took_s: float = 0.0
    found: list[str] = field(default_factory=list)


def run(case: Case, folder: Path, servers: Mapping[str, str], chance: random.Random) -> Row:
    """Try one case."""
    row, began = Row(case), time.perf_counter()
    with case.stage(folder, servers) as stage:
        trial = _Trial(stage, Witness(stage.client, chance), row)
        trial.before()
        with case.breaks(stage):
            trial.during()
            stage.pass_time(LASTS_S)
            trial.once_more()
        trial.after()
        row.met = stage.way.faulty if stage.way else 0
        row.found += [f"logged: {line}" for line in stage.logged.unexpected]
    row.took_s = time.perf_counter() - began
    return row


@dataclass
class _Trial:
    stage: Stage
    witness: Witness
    row: Row

    # ------------------------------------------------------------------ before

    def before(self) -> None:
        """All is well, or the case would show nothing."""
        for _ in range(BEFORE):
            self.witness.send(self.witness.add())
        self.stage.pass_time(15)
        unwell = self._unwell()
        if unwell or self.witness.refused:
            self.row.found.append(f"it was not well before: {unwell} {self.witness.refused}")

    # ------------------------------------------------------------------ during

    def during(self) -> None:
        """Ask for everything while the part is broken."""
        self._look_at_health()
        witness = self.witness
        for make in (
            witness.add,
            witness.batch,
            witness.edit,
            witness.retire,
            witness.trash,
            witness.categorise,
        ):
            self._write(make)
        self._read_all()
        self._write(witness.erase)
        self._write(witness.add)

    def once_more(self) -> None:
        """It has been broken for a while."""
        self._write(self.witness.add)
        self._search(self.witness.untouched())
        self._look_at_health()

    def _write(self, make: Callable[[], object]) -> None:
        write = make()
        reply = self.witness.send(write)  # type: ignore[arg-type]
        what = getattr(write, "kind", "write")
        handled = self._handled(what, reply, self.row.case.told.writes)
        self.row.writes.add(handled)
        if handled == "accepted" and what in {"add", "batch"}:
            for item in reply.json.get("items", [reply.json]):
                self._degraded(what, item["degraded"], self.row.case.told.add)

    def _read_all(self) -> None:
        told, number = self.row.case.told, self.witness.untouched()
        known = self.witness.known[number]
        got = self._read(f"{MEMORIES}/{number}")
        if got is not None and not known.is_shown_by(got.json["memory"]):
            self.row.found.append(f"#{number} reads {got.text[:200]}")
        self._search(number)
        recalled = self._read(f"{SPACE}/recall", {"query": known.text, "dry_run": True})
        if recalled is not None:
            self._holds("recall", recalled, number)
            self._degraded("recall", recalled.json["degraded"], told.search)
        listed = self._read(f"{MEMORIES}?state=all&limit=100")
        if listed is not None:
            self._degraded("list", listed.json["degraded"], told.listed)
            self._same_list(listed)
        history = self._read(f"{MEMORIES}/{number}/history")
        if history is not None and not history.json["items"]:
            self.row.found.append(f"the history of #{number} is silently empty")
        for path in (f"{SPACE}/audit", f"{SPACE}/categories", "/v1/spaces", "/v1/me"):
            reply = self._read(path)
            if reply is not None and not reply.json.get("items", [1]):
                self.row.found.append(f"{path} is silently empty")

    def _search(self, number: int) -> None:
        reply = self._read(f"{SPACE}/search", {"query": self.witness.known[number].text})
        if reply is not None:
            self._holds("search", reply, number)
            self._degraded("search", reply.json["degraded"], self.row.case.told.search)

    def _read(self, path: str, body: dict[str, object] | None = None) -> Reply | None:
        """The answer, if it is one; a refusal is judged and gives None."""
        reply = self.stage.client.ask("POST" if body else "GET", path, body)
        handled = self._handled(path, reply, self.row.case.told.reads)
        self.row.reads.add(handled)
        return reply if handled == "accepted" else None

    def _handled(self, what: str, reply: Reply, wanted: Handling) -> str:
        """Whether it was accepted or refused, after a look at how."""
        if 200 <= reply.status < 300:
            handled = "accepted"
        else:
            handled = "refused" if self._refuses_well(what, reply) else f"answered {reply.status}"
        if handled != wanted and (wanted != "either" or handled not in {"accepted", "refused"}):
            self.row.found.append(f"{what}: {handled}, not {wanted}: {reply.text[:200]}")
        return handled

    def _refuses_well(self, what: str, reply: Reply) -> bool:
        """A refusal is a 503 in our form that names the part and says when to come again."""
        try:
            error = reply.json["error"]
            well = (
                reply.status == 503
                and error["code"] == "unavailable"
                and error["details"]["part"] == self.row.case.part
                and int(reply.headers["retry-after"]) > 0
                and bool(error["message"])
            )
        except (ValueError, KeyError, TypeError):
            well = False
        if not well:
            self.row.found.append(f"{what} is refused with {reply.status} {reply.text[:200]}")
        return well

    def _holds(self, what: str, reply: Reply, number: int) -> None:
        if number not in [item["memory"]["number"] for item in reply.json["items"]]:
            self.row.found.append(f"{what} does not find #{number}, and says {reply.json['degraded']}")

    def _same_list(self, reply: Reply) -> None:
        shown = {memory["number"]: memory["state"] for memory in reply.json["items"]}
        unsure = {refusal.write.number for refusal in self.witness.refused}
        wanted = self.witness.shown()
        wrong = {n for n in wanted.keys() | shown.keys() if wanted.get(n) != shown.get(n)} - unsure
        if {n for n in wrong if n in self.witness.known}:
            self.row.found.append(f"the list lacks or mistakes {sorted(wrong)}")

    def _degraded(self, what: str, word: str | None, wanted: tuple[str | None, ...]) -> None:
        if word is not None:
            self.row.degraded.add(word)
        if word not in wanted:
            self.row.found.append(f"{what} says degraded {word}, not {' or '.join(map(str, wanted))}")

    def _look_at_health(self) -> None:
        reply = self.stage.client.get("/v1/health", key="")
        told = self.row.case.told.health
        if reply.status != 200:
            self.row.found.append(f"health answers {reply.status} {reply.text[:200]}")
            return
        said = reply.json
        bad = {part: state for part, state in said["parts"].items() if state not in {"ok", "off"}}
        wrong = [part for part, states in told.items() if said["parts"][part] not in states]
        wrong += [part for part in bad if part not in told]
        red = said["status"] != "ok"
        if wrong or red != bool(bad):
            self.row.found.append(f"health says {said['status']}, {bad or 'all ok'}")
        self.row.health = ", ".join(f"{part} {state}" for part, state in bad.items()) or "ok"

    # ------------------------------------------------------------------ after

    def after(self) -> None:
        """Nobody does anything; then all that was promised is there, once, and what was refused can be had."""
        for second in range(MENDED_S):
            if not self._unwell():
                self.row.whole_after_s = second
                break
            self.stage.pass_time(1)
        else:
            self.row.found.append(f"not whole after {MENDED_S} s: {self._unwell()[:3]}")
            return
        self._nothing_was_changed()
        self.row.found += self.witness.repeat()
        self.stage.pass_time(10)
        self.row.acknowledged = self.witness.acknowledged
        self._compare()

    def _nothing_was_changed(self) -> None:
        """Of a write that was refused for certain, nothing is there."""
        listed = self.stage.client.get(f"{MEMORIES}?state=all&limit=200").json["items"]
        texts = {memory["text"] for memory in listed}
        for refusal in self.witness.refused:
            if not refusal.unknown and texts & set(refusal.write.texts):
                self.row.found.append(f"{refusal.write.kind} was refused, and done all the same")

    def _unwell(self) -> list[str]:
        """What is not as it should be."""
        health = self.stage.client.get("/v1/health", key="").json
        if health["status"] != "ok":
            return [f"health: {health['parts']}"]
        searched = self.stage.client.post(f"{SPACE}/search", {"query": "lantern"})
        listed = self.stage.client.get(f"{MEMORIES}?limit=100")
        for reply in (searched, listed):
            if reply.status != 200 or reply.json["degraded"]:
                return [f"{reply.status} {reply.text[:200]}"]
        if searched.json["matched_by"] != "meaning":
            return ["search is not by meaning"]
        return self.stage.differences()

    def _compare(self) -> None:
        witness, found = self.witness, self.row.found
        listed = self.stage.client.get(f"{MEMORIES}?state=all&limit=200").json["items"]
        shown = {memory["number"]: memory for memory in listed}
        wanted = {n: known for n, known in witness.known.items() if known.state != "erased"}
        for number, known in wanted.items():
            if number not in shown or not known.is_shown_by(shown[number]):
                found.append(f"lost or changed: #{number} {known}, there is {shown.get(number)}")
        found += [f"phantom: #{n} {shown[n]['text']}" for n in shown if n not in wanted]
        texts = [memory["text"] for memory in shown.values()]
        found += [f"doubled: {text}" for text in set(texts) if texts.count(text) > 1]
        for number, known in witness.known.items():
            if known.state == "active":
                reply = self.stage.client.post(f"{SPACE}/search", {"query": known.text})
                self._holds("search afterwards", reply, number)
        names = {one["name"] for one in self.stage.client.get(f"{SPACE}/categories").json["items"]}
        found += [f"lost: category {name}" for name in witness.categories - names]
        found += [f"afterwards: {one}" for one in self._unwell()]
