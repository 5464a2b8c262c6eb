"""Which rows have which stems, of one leg of words in one space; and their BM25 scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chalicelib.search.embedded.arrays import grown
from chalicelib.search.embedded.terms import TERM, terms_of
from chalicelib.search.fresh import K1, B, rarity

Rows = NDArray[np.int32]
Counts = NDArray[np.float32]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]

_TAIL_MIN = 1_024
_TAIL_SHARE = 8


@dataclass(frozen=True, slots=True)
class _Frozen:
    """Postings in order of stem; never changed, so readers need no lock."""

    stems: NDArray[np.uint64]
    starts: NDArray[np.int64]
    rows: Rows
    counts: NDArray[np.uint16]

    @classmethod
    def of(
        cls, stems: NDArray[np.uint64], rows: Rows, counts: NDArray[np.uint16], *, nearly: bool
    ) -> "_Frozen":
        """`nearly`: the stems are two runs in order each, which a merge sorts thirty times as fast."""
        order = np.argsort(stems, kind="stable" if nearly else None)
        ordered = stems[order]
        first = np.ones(len(ordered), np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        begins = np.flatnonzero(first)
        return cls(ordered[begins], np.append(begins, len(ordered)), rows[order], counts[order])

    def all_stems(self) -> NDArray[np.uint64]:
        """The stem of each posting."""
        return np.repeat(self.stems, np.diff(self.starts))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.stems.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes


@dataclass(frozen=True, slots=True)
class PostingsView:
    """The postings as they were at one moment: `size` rows, of which `live` count (None: all of them)."""

    frozen: _Frozen
    tail: Mapping[int, Sequence[int]]
    lengths: Floats
    documents: int
    tokens: int
    size: int
    live: Mask | None
    _weighed: dict[int, tuple[Rows, Floats]] = field(default_factory=dict)
    """By term that was asked before, what it adds to which rows: several queries have words in common."""

    @property
    def average_length(self) -> float:
        """Mean number of stems of the texts that have any."""
        return self.tokens / self.documents if self.documents else 0.0

    def scores(self, asked: Mapping[int, int]) -> Floats:
        """BM25 of each row for the terms `asked` (and how often the query has each); 0 where none occurs."""
        scores = np.zeros(self.size, np.float32)
        self._weigh(asked)
        for term, times in asked.items():
            rows, weights = self._weighed[term]
            scores[rows] += weights if times == 1 else times * weights
        return scores

    def frequencies(self, terms: Sequence[int]) -> list[int]:
        """How many rows have each of these terms."""
        self._weigh(terms)
        return [len(self._weighed[term][0]) for term in terms]

    def having_all(self, terms: Sequence[int]) -> Mask:
        """Which rows have every one of `terms`."""
        having = np.ones(self.size, np.bool_)
        for rows, _counts in self._holders(terms):
            with_this = np.zeros(self.size, np.bool_)
            with_this[rows] = True
            having &= with_this
        return having

    def _weigh(self, terms: Iterable[int]) -> None:
        """Have in `_weighed` what each of these terms adds to the score of the rows that have it."""
        new = [term for term in terms if term not in self._weighed]
        if not new:
            return
        flat = np.float32(K1 * (1 - B))
        slope = np.float32(K1 * B / (self.average_length or 1.0))
        for term, (rows, counts) in zip(new, self._holders(new), strict=True):
            weight = np.float32(rarity(self.documents, len(rows)))
            parts = counts / (counts + flat + slope * self.lengths[rows])
            self._weighed[term] = rows, (weight * parts).astype(np.float32, copy=False)

    def _holders(self, terms: Sequence[int]) -> list[tuple[Rows, Counts]]:
        """For each term the live rows that have it, and how often."""
        wanted = np.array(terms, np.uint64)
        places = np.searchsorted(self.frozen.stems, wanted)
        known = places < len(self.frozen.stems)
        known[known] = self.frozen.stems[places[known]] == wanted[known]
        return [
            self._living(term, place if there else None)
            for term, place, there in zip(terms, places.tolist(), known.tolist(), strict=True)
        ]

    def _living(self, term: int, place: int | None) -> tuple[Rows, Counts]:
        rows, counts = np.empty(0, np.int32), np.empty(0, np.float32)
        if place is not None:
            start, end = self.frozen.starts[place], self.frozen.starts[place + 1]
            rows, counts = self.frozen.rows[start:end], self.frozen.counts[start:end].astype(np.float32)
        if late := self.tail.get(term):
            packed = np.array(late, np.int64)
            packed = packed[packed >> 16 < self.size]
            rows = np.concatenate([rows, (packed >> 16).astype(np.int32)])
            counts = np.concatenate([counts, (packed & 0xFFFF).astype(np.float32)])
        if self.live is not None:
            living = self.live[rows]
            rows, counts = rows[living], counts[living]
        return rows, counts


@dataclass(frozen=True, slots=True)
class Texts:
    """The kept texts of rows 0, 1, 2 ... as they are read. Joined at once: a list of them would shred the memory."""

    joined: list[bytes] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """In terms, of each row."""

    def extend(self, texts: Sequence[bytes]) -> None:
        """Add the next rows' texts."""
        self.joined.append(b"".join(texts))
        self.sizes.extend(len(text) // TERM.itemsize for text in texts)


_Parts = tuple[_Frozen, dict[int, list[int]]]
"""What is in order, and the tail: by stem, `row << 16 | count` of each later posting."""


class Postings:
    """Grows by one row at a time. What came since the last merge waits in the tail; a merge comes when the tail has
    an eighth of all rows, so its cost is spread over them. One writer; readers take a `view`.

    Both parts are replaced at one stroke: a merge keeps no reader waiting.
    """

    def __init__(self) -> None:
        nothing = _Frozen(
            np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16)
        )
        self._parts: _Parts = (nothing, {})
        self._in_tail = 0
        self._postings_in_tail = 0
        self._lengths = np.zeros(0, np.float32)
        self._documents = 0
        self._tokens = 0

    @classmethod
    def loaded(cls, texts: Texts) -> "Postings":
        """Of all texts of a space."""
        postings = cls()
        terms = np.frombuffer(b"".join(texts.joined), TERM)
        rows = np.repeat(np.arange(len(texts.sizes), dtype=np.int32), texts.sizes)
        counts = np.ascontiguousarray(terms["count"])
        lengths = np.bincount(rows, counts, minlength=len(texts.sizes))
        postings._lengths = lengths.astype(np.float32)
        postings._documents = int(np.count_nonzero(lengths))
        postings._tokens = int(lengths.sum())
        postings._parts = (_Frozen.of(np.ascontiguousarray(terms["stem"]), rows, counts, nearly=False), {})
        return postings

    def append(self, row: int, text: bytes) -> None:
        """Add the next row's text (its `TERM`s)."""
        tail = self._parts[1]
        length = 0
        for stem, count in terms_of(text):
            length += count
            tail.setdefault(stem, []).append(row << 16 | count)
        self._lengths = grown(self._lengths, row + 1)
        self._lengths[row] = length
        self._documents += length > 0
        self._tokens += length
        self._in_tail += 1
        self._postings_in_tail += len(text) // TERM.itemsize

    def remove(self, row: int) -> None:
        """The row does not count any more; its postings go with the next merge."""
        length = int(self._lengths[row])
        self._documents -= length > 0
        self._tokens -= length

    def merge_if_due(self, live: Mask) -> None:
        """Put the tail, when it has grown long, in order with the rest; `live` says which rows still count."""
        if self._in_tail < max(_TAIL_MIN, len(live) // _TAIL_SHARE):
            return
        frozen, tail = self._parts
        late = sorted(tail)
        packed = np.fromiter(
            (posting for stem in late for posting in tail[stem]), np.int64, self._postings_in_tail
        )
        often = np.fromiter((len(tail[stem]) for stem in late), np.int64, len(late))
        stems = np.concatenate([frozen.all_stems(), np.repeat(np.array(late, np.uint64), often)])
        rows = np.concatenate([frozen.rows, (packed >> 16).astype(np.int32)])
        counts = np.concatenate([frozen.counts, (packed & 0xFFFF).astype(np.uint16)])
        living = live[rows]
        self._parts = (_Frozen.of(stems[living], rows[living], counts[living], nearly=True), {})
        self._in_tail = self._postings_in_tail = 0

    def view(self, size: int, live: Mask | None) -> PostingsView:
        """What a reader sees of it, whatever is appended meanwhile."""
        return PostingsView(*self._parts, self._lengths, self._documents, self._tokens, size, live)

    @property
    def nbytes(self) -> int:
        """Bytes held, about: a posting of the tail is a Python integer in a list."""
        return self._parts[0].nbytes + self._lengths.nbytes + 48 * self._postings_in_tail
