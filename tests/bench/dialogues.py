"""Long conversations with questions about them, read from a file in the form of the public LoCoMo data set.

A list of `{"sample_id", "conversation": {"session_1": [turn, …], "session_1_date_time", …}, "qa": [question, …]}`;
a turn is `{"dia_id", "speaker", "text"}`, a question `{"question", "evidence": [dia_id, …], "category"}`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ADVERSARIAL = 5
"""The category of questions that the conversation does not answer: scored apart."""
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", ADVERSARIAL: "adversarial"}

_SESSION = re.compile(r"session_(\d+)")
_TURN = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Turn:
    """What one speaker said, and when (RFC 3339)."""

    id: str
    session: int
    speaker: str
    text: str
    said_at: str


@dataclass(frozen=True)
class Question:
    """A question, and the ids of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Dialogue:
    """One conversation in dated sessions. `dropped`: evidence that names no turn, questions that are left without."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    dropped_evidence: int
    dropped_questions: int


def read(path: Path, limit: int | None = None) -> list[Dialogue]:
    """The first `limit` conversations of the file (None: all)."""
    samples = json.loads(path.read_text(encoding="utf-8"))
    return [_dialogue(sample) for sample in samples[:limit]]


def repaired(entries: Iterable[object]) -> Iterator[str]:
    """The turns' ids in malformed entries: several in one string, `D:11:26`, `D30:05`. What names none is left out."""
    for entry in entries:
        for session, place in _TURN.findall(str(entry)):
            yield f"D{int(session)}:{int(place)}"


def _dialogue(sample: Mapping[str, Any]) -> Dialogue:
    turns = tuple(_turns(sample["conversation"]))
    known = {turn.id for turn in turns}
    questions: list[Question] = []
    dropped_evidence = dropped_questions = 0
    for asked in sample["qa"]:
        entries = asked.get("evidence") or []
        named = set(repaired(entries))
        dropped_evidence += len(named - known) + sum(not list(repaired([entry])) for entry in entries)
        if named & known:
            questions.append(
                Question(str(asked["question"]), int(asked["category"]), frozenset(named & known))
            )
        else:
            dropped_questions += 1
    return Dialogue(str(sample["sample_id"]), turns, tuple(questions), dropped_evidence, dropped_questions)


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    sessions = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    for session in sessions:
        said_at = (
            _moment(str(conversation[f"session_{session}_date_time"]))
            if conversation[f"session_{session}"]
            else ""
        )
        for turn in conversation[f"session_{session}"]:
            text = str(turn.get("text") or "").strip()
            if text:
                yield Turn(str(turn["dia_id"]), session, str(turn["speaker"]), text, said_at)


def _moment(shown: str) -> str:
    """`1:56 pm on 8 May, 2023` as RFC 3339."""
    moment = datetime.strptime(shown, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
