"""Questions about long conversations: each turn goes in as one memory, each question is asked, through HTTP.

    python -m tests.bench locomo --data FILE [--conversations N] [--search embedded|opensearch|both] [--ablation]

No language model takes part. Bars: recall@10 and MRR with the product's defaults, fused at least each leg alone,
and both engines alike.
"""

import argparse
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from chalicelib.domain.ranking import RankingWeights
from tests.bench.dialogues import ADVERSARIAL, CATEGORIES, Dialogue, Question, Turn, read
from tests.bench.engines import chosen, engine
from tests.bench.figures import Report, parser
from tests.bench.quantiles import paired_difference, quantile
from tests.bench.ranks import DEPTH, HEADER, Rank, averaged, row
from tests.bench.served import Service, served

RECALL_10 = 0.75
MRR = 0.58
ENGINES_APART = 0.02
BATCH = 100
SINGLY = 20
"""Turns at the end of each conversation that are added one by one, for the latency of an add."""
REPEATED = 200
"""Questions that are asked twice: the second time the embedder still has their vectors, and what is left is ours."""
SIGNALS = tuple(RankingWeights.model_fields)


class Asked(NamedTuple):
    """A question, and what its answer was worth."""

    question: Question
    rank: Rank


@dataclass
class Times:
    """Seconds of single requests, and of all batches together."""

    adds: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    batched: int = 0
    batches: float = 0.0


@dataclass
class Filled:
    """One conversation in the service: its space, and which turn each memory is."""

    dialogue: Dialogue
    space: str
    turns: dict[int, str]


def main(arguments: Sequence[str]) -> int:
    """Run it; see the module."""
    asked = _asked(arguments)
    dialogues = read(asked.data, asked.conversations)
    report = Report()
    report.say(
        f"{len(dialogues)} conversations, {sum(len(d.turns) for d in dialogues)} turns, "
        f"{sum(len(d.questions) for d in dialogues)} questions; dropped: "
        f"{sum(d.dropped_evidence for d in dialogues)} evidence ids, "
        f"{sum(d.dropped_questions for d in dialogues)} questions without evidence"
    )
    fused = {name: _on(name, dialogues, report, asked) for name in chosen(asked.search)}
    if len(fused) == 2:
        one, other = (averaged([a.rank for a in answerable(found)]) for found in fused.values())
        report.add("recall@10: engines apart", abs(one.recall_10 - other.recall_10), at_most=ENGINES_APART)
        report.add("MRR: engines apart", abs(one.reciprocal - other.reciprocal), at_most=ENGINES_APART)
    return report.end(asked)


def _asked(arguments: Sequence[str]) -> argparse.Namespace:
    known = parser("locomo", "Recall over long conversations, through HTTP.")
    known.add_argument("--data", type=Path, required=True, help="file in the form of LoCoMo")
    known.add_argument("--conversations", type=int, help="only the first N")
    known.add_argument("--search", choices=["embedded", "opensearch", "both"], default="embedded")
    known.add_argument("--ablation", action="store_true", help="also with each signal off")
    known.add_argument("--embedder", choices=["bundled", "none"], default="bundled")
    return known.parse_args(arguments)


def _on(name: str, dialogues: Sequence[Dialogue], report: Report, asked: argparse.Namespace) -> list[Asked]:
    """All of it on one engine; the answers of the defaults."""
    with (
        engine(name) as environment,
        served({**environment, "PALIMPSEST_EMBEDDER": asked.embedder}) as service,
    ):
        times = Times()
        filled = [_fill(service, dialogue, times) for dialogue in dialogues]
        fused = [one for each in filled for one in _ask(service, each, times)]
        _tell(report, name, service, fused, times)
        variants = dict(_legs())
        if asked.ablation:
            variants |= dict(_each_off())
        others = {title: _with(service, filled, weights) for title, weights in variants.items()}
    _tell_legs(report, name, fused, others)
    if asked.ablation:
        _tell_ablation(report, name, fused, others)
    return fused


def _fill(service: Service, dialogue: Dialogue, times: Times) -> Filled:
    """Add every turn: all but the last in batches, those one by one; wait until the index has them."""
    space = service.make_pool(dialogue.id)
    drafts = [_draft(dialogue, turn, place) for place, turn in enumerate(dialogue.turns)]
    numbers: list[int] = []
    for batch in _batched(drafts[:-SINGLY], BATCH):
        began = time.perf_counter()
        answer = service.wanted("POST", f"{space}/memories/batch", {"items": batch})
        times.batches += time.perf_counter() - began
        numbers += [item["memory"]["number"] for item in answer["items"]]
    times.batched += len(numbers)
    for draft in drafts[-SINGLY:]:
        began = time.perf_counter()
        answer = service.wanted("POST", f"{space}/memories", draft)
        times.adds.append(time.perf_counter() - began)
        numbers.append(answer["memory"]["number"])
    service.settle(space, len(numbers))
    turns = dict(zip(numbers, (turn.id for turn in dialogue.turns), strict=True))
    return Filled(dialogue, space, turns)


def _draft(dialogue: Dialogue, turn: Turn, place: int) -> dict[str, Any]:
    """A session is a conversation; positions run through it, so that each turn's context is the one before."""
    return {
        "text": f"{turn.speaker}: {turn.text}",
        "source": {
            "conversation": f"{dialogue.id}/{turn.session}",
            "position": place,
            "author": turn.speaker,
            "said_at": turn.said_at,
        },
    }


def _ask(service: Service, filled: Filled, times: Times | None = None) -> Iterator[Asked]:
    """Ask every question of the conversation; with `times`, each a second time after all others of its batch."""
    for batch in _batched(filled.dialogue.questions, REPEATED):
        for question in batch:
            found, taken = _found(service, filled, question)
            if times is not None:
                times.searches.append(taken)
            yield Asked(question, Rank.of(found, question.evidence))
        if times is not None:
            times.again += [_found(service, filled, question)[1] for question in batch]


def _found(service: Service, filled: Filled, question: Question) -> tuple[list[str], float]:
    began = time.perf_counter()
    answer = service.wanted("POST", f"{filled.space}/search", {"query": question.text, "limit": DEPTH})
    taken = time.perf_counter() - began
    return [filled.turns[item["memory"]["number"]] for item in answer["items"]], taken


def _legs() -> Iterator[tuple[str, dict[str, float]]]:
    nothing = dict.fromkeys(SIGNALS, 0.0)
    yield "words alone", {**nothing, "words": 1.0}
    yield "meaning alone", {**nothing, "meaning": 1.0}


def _each_off() -> Iterator[tuple[str, dict[str, float]]]:
    """Each signal off, the others at their defaults; and all that come from the source."""
    for signal in SIGNALS:
        yield f"without {signal}", {signal: 0.0}
    yield "words and meaning only", {name: 0.0 for name in SIGNALS if name not in ("words", "meaning")}


def _with(service: Service, filled: Sequence[Filled], weights: Mapping[str, float]) -> list[Asked]:
    """The answers with other weights: the service is started anew with the same data."""
    service.stop()
    service.start(PALIMPSEST_RANKING=json.dumps(weights))
    return [one for each in filled for one in _ask(service, each)]


def answerable(asked: Sequence[Asked]) -> list[Asked]:
    """All but the adversarial questions."""
    return [one for one in asked if one.question.category != ADVERSARIAL]


def _tell(report: Report, name: str, service: Service, asked: Sequence[Asked], times: Times) -> None:
    scored = answerable(asked)
    rows = [row("all (1-4)", [one.rank for one in scored])]
    for category, title in CATEGORIES.items():
        of_category = [one.rank for one in asked if one.question.category == category]
        rows.append(row(f"{category} {title}", of_category))
    report.table(f"{name}, by category", ("", *HEADER), rows)
    overall = averaged([one.rank for one in scored])
    report.add(f"{name}: recall@5", overall.recall_5)
    report.add(f"{name}: recall@10", overall.recall_10, at_least=RECALL_10)
    report.add(f"{name}: recall@20", overall.recall_20)
    report.add(f"{name}: hit@10", overall.hit_10)
    report.add(f"{name}: MRR", overall.reciprocal, at_least=MRR)
    kinds = {
        "add, one": times.adds,
        "search, with embedding": times.searches,
        "search, beyond embedding": times.again,
    }
    for kind, seconds in kinds.items():
        for share in (0.5, 0.95):
            report.add(f"{name}: {kind}, p{share * 100:.0f}", quantile(seconds, share) * 1000, "ms")
    report.add(f"{name}: adds in batches of {BATCH}", times.batched / times.batches, "/s")
    report.add(f"{name}: memory of the process", service.memory_bytes() / 1e6, "MB")
    report.add(f"{name}: data folder", service.disk_bytes() / 1e6, "MB")


def _tell_legs(
    report: Report, name: str, fused: Sequence[Asked], others: Mapping[str, Sequence[Asked]]
) -> None:
    all_signals = averaged([one.rank for one in answerable(fused)]).recall_10
    for title, _ in _legs():
        alone = averaged([one.rank for one in answerable(others[title])]).recall_10
        report.add(f"{name}: recall@10, {title}", alone)
        report.add(f"{name}: fused above {title}", all_signals - alone, at_least=0.0)


def _tell_ablation(
    report: Report, name: str, fused: Sequence[Asked], others: Mapping[str, Sequence[Asked]]
) -> None:
    """What each variant is worth, and how far it is from all signals, paired by question."""
    everything = [one.rank for one in answerable(fused)]
    rows = [[*row("all signals", everything), "", ""]]
    for title, asked in others.items():
        ranks = [one.rank for one in answerable(asked)]
        recall = paired_difference([r.recall_10 for r in ranks], [r.recall_10 for r in everything])
        reciprocal = paired_difference([r.reciprocal for r in ranks], [r.reciprocal for r in everything])
        rows.append([*row(title, ranks), recall.shown, reciprocal.shown])
    header = ("", *HEADER, "R@10 against all (95 %)", "MRR against all (95 %)")
    report.table(f"{name}, each signal off", header, rows)


def _batched(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in itertools.count(0, size):
        if start >= len(items):
            return
        yield items[start : start + size]
