"""Parts whose calls fail, by the chance of a seed."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from chalicelib.bootstrap import Parts
from chalicelib.domain.records import Commit
from chalicelib.domain.scope import Scope
from tests.prove.faults.kinds import AFTER, KILLS, Decision, Kind, error_for, of, port_of_part

Site = tuple[str, Kind]

RARE = 0.025
"""How likely a fault is in a call that has failed often."""


class KilledError(BaseException):
    """The process ended. Nothing may catch it but whoever starts the service again."""


@dataclass
class Attempt:
    """What happened while one request was answered, or one turn in the background was made."""

    fired: list[Site] = field(default_factory=list)
    commits: int = 0
    """Commits of the stores that were really done."""


class Injector:
    """Decides which call fails, how; and remembers. `around` makes the parts that ask it. `only`: the (method, kind)
    that may fail; all when empty."""

    def __init__(self, seed: int, only: frozenset[Site] = frozenset()) -> None:
        self._chance = random.Random(seed)
        self._only = only
        self._left = 0
        self._failures: Counter[str] = Counter()
        self.fired: Counter[Site] = Counter()
        self.attempt = Attempt()

    @contextmanager
    def armed(self, faults: int) -> Iterator[Attempt]:
        """Let up to `faults` calls fail inside."""
        self._left, self.attempt = faults, Attempt()
        try:
            yield self.attempt
        finally:
            self._left = 0

    def around(self, parts: Parts, watched: frozenset[str] = frozenset()) -> Parts:
        """These parts, each with faults; those of the fields `watched` fail below, and are only looked at."""
        wrapped = {
            name: Faulty(port_of_part(name), part, self, fails=name not in watched)
            for name, part in vars(parts).items()
            if part is not None
        }
        return replace(parts, **wrapped)

    def strike(self, site: str, decision: Decision) -> Kind | None:
        """How this call is to fail, if it is. What has seldom failed is the likelier to."""
        if not self._left or not decision.kinds:
            return None
        if self._only:
            kinds = sorted(kind for kind in decision.kinds if (site, kind) in self._only)
            return self._chance.choice(kinds) if kinds else None
        if self._chance.random() > max(RARE, 0.5 / (1 + self._failures[site])):
            return None
        kinds = sorted(decision.kinds)
        self._chance.shuffle(kinds)
        return min(kinds, key=lambda kind: self.fired[site, kind])

    def fire(self, site: str, kind: Kind) -> None:
        """It did fail so."""
        self._left -= 1
        self._failures[site] += 1
        self.fired[site, kind] += 1
        self.attempt.fired.append((site, kind))


class Faulty:
    """A part whose calls fail when the injector says so; else it is the part."""

    def __init__(self, port: str, inner: Any, injector: Injector, *, fails: bool = True) -> None:
        self._fails = fails
        self._port = port
        self._inner = inner
        self._injector = injector

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        decision = of(self._port, name)
        if decision is None or not decision.kinds:
            return method
        call = self._iterate if name == "spaces" else self._call
        return partial(call, name, method, decision)

    def _call(
        self, name: str, method: Callable[..., Any], decision: Decision, *given: Any, **named: Any
    ) -> Any:
        site = f"{self._port}.{name}"
        kind = self._injector.strike(site, decision) if self._fails else None
        if kind is None:
            return self._done(name, method(*given, **named))
        answer: Any = None
        if kind is Kind.PARTIAL:
            answer = self._done(name, _SOME_OF[site](method, *given))
        elif kind in AFTER:
            self._done(name, method(*given, **named))
        self._injector.fire(site, kind)
        if answer is not None:
            return answer
        raise KilledError(site) if kind in KILLS else error_for(self._port, kind, decision)

    def _done(self, name: str, answer: Any) -> Any:
        if name == "commit":
            self._injector.attempt.commits += 1
        return answer

    def _iterate(self, name: str, method: Callable[[], Iterator[Any]], decision: Decision) -> Iterator[Any]:
        """Fails at its first step, or (a partial batch) when it has given the first half."""
        site = f"{self._port}.{name}"
        kind = self._injector.strike(site, decision) if self._fails else None
        if kind is None:
            yield from method()
            return
        if kind is Kind.PARTIAL:
            items = list(method())
            yield from items[: len(items) // 2]
        self._injector.fire(site, kind)
        raise KilledError(site) if kind in KILLS else error_for(self._port, kind, decision)


# ------------------------------------------------------------------ partial batches: what is done of them, and answered


def _half(items: Sequence[Any]) -> Sequence[Any]:
    return items[: len(items) // 2]


def _commit(method: Callable[..., Any], scope: Scope, commit: Commit) -> None:
    """The transaction, without the vectors that an adapter may write after it."""
    method(scope, commit.model_copy(update={"vectors": ()}))


def _touch(method: Callable[..., Any], scope: Scope, numbers: Sequence[int], at: Any) -> None:
    method(scope, _half(numbers), at)


def _put_vectors(method: Callable[..., Any], scope: Scope, vectors: Sequence[Any]) -> None:
    method(scope, _half(vectors))


def _apply(method: Callable[..., Any], entries: Sequence[Any]) -> list[Any]:
    """Half is applied; the other half is told to have failed."""
    half = _half(entries)
    failed = method(half) if half else []
    return [*failed, *entries[len(half) :]]


def _rebuild_apply(method: Callable[..., Any], name: str, entries: Sequence[Any]) -> list[Any]:
    return _apply(partial(method, name), entries)


def _repair(method: Callable[..., Any], entries: Sequence[Any]) -> None:
    if len(entries) > 1:
        method(_half(entries))


def _passages(method: Callable[..., Any], texts: Sequence[str]) -> None:
    method(_half(texts))


_SOME_OF: dict[str, Callable[..., Any]] = {
    "MemoryStore.commit": _commit,
    "MemoryStore.touch": _touch,
    "MemoryStore.put_vectors": _put_vectors,
    "SearchIndex.apply": _apply,
    "SearchIndex.rebuild_apply": _rebuild_apply,
    "SearchIndex.repair": _repair,
    "Embedder.passages": _passages,
}
"""By method: what is done of it. An answer is given as the method's own; after None the method raises."""
