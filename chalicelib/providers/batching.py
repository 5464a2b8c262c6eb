"""Many texts as few calls: of one caller's (`batches`), or of callers that come at the same time (`Gathering`)."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from threading import Lock, Semaphore
from typing import NamedTuple

from chalicelib.errors import EmbedderUnavailableError, EmbeddingError

Sized = tuple[str, int]
"""A text and what it weighs (tokens, bytes)."""


def batches(texts: Sequence[Sized], *, count: int, weight: int) -> Iterator[list[Sized]]:
    """`texts` in order, in lists of at most `count` that together weigh at most `weight`; a heavier one is alone."""
    batch: list[Sized] = []
    total = 0
    for text, its_weight in texts:
        if batch and (len(batch) == count or total + its_weight > weight):
            yield batch
            batch, total = [], 0
        batch.append((text, its_weight))
        total += its_weight
    if batch:
        yield batch


class Gathering:
    """Makes few calls of `work` from the texts of callers that come at the same time; at most `at_once` run.

    A lone caller is served at once. A thread that finds a free place makes the next call, for all who wait, first
    come first served; nothing waits for more to come, and no thread of its own is needed. A caller with many texts
    queues one batch at a time, so that others get their turn between.
    """

    def __init__(
        self, work: Callable[[Sequence[str]], list[bytes]], *, count: int, weight: int, at_once: int
    ) -> None:
        self._work = work
        self._count = count
        self._weight = weight
        self._places = Semaphore(at_once)
        self._changing = Lock()
        self._waiting: deque[_Wanted] = deque()

    def __call__(self, texts: Sequence[Sized]) -> list[bytes]:
        """What `work` gives for `texts`, in their order. Raises the EmbeddingError that it raised."""
        found: list[bytes] = []
        for batch in batches(texts, count=self._count, weight=self._weight):
            wanted = [_Wanted(text, weight, Future()) for text, weight in batch]
            with self._changing:
                self._waiting.extend(wanted)
            found.extend(self._await(one.vector) for one in wanted)
        return found

    def _await(self, vector: "Future[bytes]") -> bytes:
        """Help until the text is computed, or another thread has it in hand."""
        while not vector.done():
            with self._places:
                batch = [] if vector.done() else self._next()
                if batch:
                    self._run(batch)
            if not batch:
                break
        return vector.result()

    def _next(self) -> list["_Wanted"]:
        """The texts of the next call; none when all are in hand."""
        batch: list[_Wanted] = []
        total = 0
        with self._changing:
            while self._waiting and len(batch) < self._count:
                if batch and total + self._waiting[0].weight > self._weight:
                    break
                batch.append(self._waiting.popleft())
                total += batch[-1].weight
        return batch

    def _run(self, batch: list["_Wanted"]) -> None:
        failure: EmbeddingError = EmbedderUnavailableError("The embedding was interrupted.")
        vectors: list[bytes] = []
        try:
            vectors = self._work([one.text for one in batch])
        except EmbeddingError as error:
            failure = error
        finally:  # whatever happened, nobody may be left waiting
            for place, one in enumerate(batch):
                if place < len(vectors):
                    one.vector.set_result(vectors[place])
                else:
                    one.vector.set_exception(failure)


class _Wanted(NamedTuple):
    """A text that waits for its turn."""

    text: str
    weight: int
    vector: "Future[bytes]"
