"""What adding costs beyond the embedder's own time: batches through HTTP against the embedder alone.

    python -m tests.bench embedding [--rounds 5] [--texts 100]

The same texts are embedded in this process and added through HTTP, turn by turn. Memories with a source are embedded
twice by the product (alone, and after what was said before), so they are compared with twice the work.
"""

import os
import time
from collections.abc import Sequence
from typing import Any

from chalicelib.providers.bundled import BundledEmbedder
from tests.bench.corpus import Corpus
from tests.bench.figures import Report, parser
from tests.bench.served import Service, served

OVERHEAD = 0.30


def main(arguments: Sequence[str]) -> int:
    """Run it; see the module."""
    known = parser("embedding", "What adding costs beyond the embedder's own time.")
    known.add_argument("--rounds", type=int, default=5)
    known.add_argument("--texts", type=int, default=100, help="memories in a batch")
    asked = known.parse_args(arguments)
    report = Report()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as the service has it, before the library is loaded
    corpus, embedder = Corpus(), BundledEmbedder()
    embedder.query("warm")
    with served({"PALIMPSEST_EMBEDDER": "bundled"}) as service:
        service.wanted("POST", "/v1/spaces/personal/memories", {"text": "warm"})
        for sourced in (False, True):
            _measure(service, embedder, corpus, report, sourced, asked.rounds, asked.texts)
    return report.end(asked)


def _measure(
    service: Service,
    embedder: BundledEmbedder,
    corpus: Corpus,
    report: Report,
    sourced: bool,
    rounds: int,
    count: int,
) -> None:
    """Turn by turn, so that what else the machine does weighs on both alike."""
    space = service.make_pool("sourced" if sourced else "plain")
    alone = through = 0.0
    for place in range(rounds):
        drafts = list(corpus.drafts(count, start=place * count))
        for draft in drafts if not sourced else ():
            del draft["source"]
        texts = _embedded(drafts) if sourced else [draft["text"] for draft in drafts]
        began = time.perf_counter()
        embedder.passages(texts)
        middle = time.perf_counter()
        service.wanted("POST", f"{space}/memories/batch", {"items": drafts})
        alone, through = alone + middle - began, through + time.perf_counter() - middle
    what = "with a source" if sourced else "plain"
    total = rounds * count
    report.add(f"embedding: {what}, the embedder alone", total / alone, "memories/s")
    report.add(f"embedding: {what}, added through HTTP", total / through, "memories/s")
    report.add(f"embedding: {what}, overhead", through / alone - 1, at_most=OVERHEAD)


def _embedded(drafts: Sequence[dict[str, Any]]) -> list[str]:
    """The texts that the product embeds for drafts with a source: each alone, and after the one before it."""
    texts = [draft["text"] for draft in drafts]
    pairs = zip(texts, texts[1:], drafts[1:], strict=False)
    return texts + [f"{before}\n{text}" for before, text, draft in pairs if draft["source"]["position"]]
