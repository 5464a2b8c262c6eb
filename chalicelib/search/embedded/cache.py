"""Which spaces are in memory: those used last, as many as the limit allows."""

import threading
from collections import OrderedDict

from chalicelib.search.embedded.segment import Segment

Key = tuple[int, str]


class SegmentCache:
    """At most `limit` bytes, except that the space used last always stays."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._segments: OrderedDict[Key, Segment] = OrderedDict()
        self._sizes: dict[Key, int] = {}
        self._total = 0

    def get(self, generation: int, space: str) -> Segment:
        """The space's segment, perhaps an empty one that is yet to be prepared."""
        key = (generation, space)
        with self._lock:
            segment = self._segments.get(key)
            if segment is None:
                segment = self._segments[key] = Segment(generation, space)
            self._segments.move_to_end(key)
            return segment

    def peek(self, generation: int, space: str) -> Segment | None:
        """The segment, if the space is in memory; does not count as use."""
        with self._lock:
            return self._segments.get((generation, space))

    def weigh(self, segment: Segment) -> None:
        """Note how large a segment has become; others have to go for it, those first that were used longest ago."""
        key = (segment.generation, segment.space)
        size = segment.nbytes
        with self._lock:
            if self._segments.get(key) is not segment:
                return
            self._total += size - self._sizes.get(key, 0)
            self._sizes[key] = size
            while self._total > self._limit and len(self._segments) > 1:
                self._forget(next(iter(self._segments)))

    def forget(self, segment: Segment) -> None:
        """Let go of one; the next use reads it from the file."""
        with self._lock:
            if self._segments.get((segment.generation, segment.space)) is segment:
                self._forget((segment.generation, segment.space))

    def keep_only(self, generation: int | None) -> None:
        """Let go of the segments of all other generations."""
        with self._lock:
            for key in [key for key in self._segments if key[0] != generation]:
                self._forget(key)

    def _forget(self, key: Key) -> None:
        del self._segments[key]
        self._total -= self._sizes.pop(key, 0)

    @property
    def nbytes(self) -> int:
        """Bytes held, about."""
        return self._total
