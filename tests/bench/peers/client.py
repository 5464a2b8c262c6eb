"""The clients: they ask as a programme says, ask again for what was refused or got no answer, and look at the end."""

from collections.abc import Sequence
from typing import Any, Protocol

from tests.bench.peers.plan import KILLS, USERS, Fault, Step
from tests.bench.peers.witness import Counts, Witness

TRIES = 5
GONE_ALREADY = ("not found", "already")
"""What an error says, when a repeated delete finds that the first attempt had done it."""


class GoneError(Exception):
    """The peer's process ended without an answer."""


class Peer(Protocol):
    """A running system. Its data outlive its process."""

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request. Raises GoneError."""
        ...


class Programme:
    """Runs a programme against a peer. `keys`: whether writes carry a key that is the same for each attempt."""

    def __init__(self, peer: Peer, steps: Sequence[Step], *, keys: bool = True) -> None:
        self._peer, self._steps, self._keys = peer, steps, keys
        self._witness = Witness(steps)
        self._counts = self._witness.counts

    def run(self) -> Counts:
        """Do every step, then compare all that is stored with all that was promised."""
        self._peer.start()
        for step in self._steps:
            if step.writes:
                self._write(step)
            else:
                self._read(step)
        self._look()
        return self._counts

    def _write(self, step: Step) -> None:
        memory = self._witness.id_of(step.text) if step.kind == "delete" else ""
        if memory is None:
            return
        perhaps_done = False
        for attempt in range(TRIES):
            fault = step.fault if step.fault and attempt < step.fault.times else None
            answer = self._ask(self._request(step, fault, memory), fault)
            if "error" not in answer or (perhaps_done and _gone_already(answer, step)):
                self._witness.acknowledged(step, answer.get("id", memory))
                if fault is not None and fault.kind == "kill_acked":
                    self._counts.faults[fault.kind] += 1
                    self._peer.kill()
                    self._peer.start()
                return
            perhaps_done = perhaps_done or fault is not None
        self._counts.given_up.append(f"step {step.place}, {step.kind} of {step.text!r}")

    def _read(self, step: Step) -> None:
        memory = self._witness.id_of(step.text) if step.kind == "get" else ""
        if memory is None:
            return
        answer = self._ask(self._request(step, step.fault, memory), step.fault)
        self._witness.read(step, answer, fired=answer.get("fired", False))

    def _look(self) -> None:
        """The whole state, user by user, and its history."""
        for user in USERS:
            shown = self._wanted("list", user)["memories"]
            self._witness.end(user, shown)
            for memory, text in shown:
                events = self._wanted("history", user, memory)["events"]
                self._witness.history(f"{text!r} ({memory})", events, "add")
        users = {step.text: step.user for step in self._steps}
        for text, memory in self._witness.deleted_ids().items():
            events = self._wanted("history", users[text], memory)["events"]
            self._witness.history(f"{text!r} ({memory})", events, "delete")

    def _wanted(self, kind: str, user: str, memory: str = "") -> dict[str, Any]:
        place = len(self._steps)
        request = {"kind": kind, "user": user, "id": memory, "text": "", "key": None}
        answer = self._peer.ask({**request, "fault": None, "place": place, "settles": True})
        if "error" in answer:
            raise RuntimeError(f"{kind} for {user}, without a fault: {answer['error']}")
        return answer

    def _request(self, step: Step, fault: Fault | None, memory: str) -> dict[str, Any]:
        by_peer = fault is not None and fault.kind != "kill_acked"
        return {
            "kind": step.kind,
            "user": step.user,
            "text": step.text,
            "id": memory,
            "key": f"step-{step.place}" if self._keys else None,
            "fault": {"kind": fault.kind, "part": fault.part} if fault is not None and by_peer else None,
            "place": step.place,
            "settles": step.settles,
        }

    def _ask(self, request: dict[str, Any], fault: Fault | None) -> dict[str, Any]:
        """One attempt, which may end with the peer killed and started again."""
        try:
            answer = self._peer.ask(request)
        except GoneError as error:
            if fault is not None and fault.kind in KILLS:
                self._counts.faults[fault.kind] += 1
            else:
                self._counts.crashes.append(f"step {request['place']}: {error}")
            self._peer.start()
            return {"error": "no answer"}
        if answer["fired"] and fault is not None:
            self._counts.faults[fault.kind] += 1
        return answer


def _gone_already(answer: dict[str, Any], step: Step) -> bool:
    said = answer["error"].lower()
    return step.kind == "delete" and any(words in said for words in GONE_ALREADY)
