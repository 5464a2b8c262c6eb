"""Jobs run over a whole service in memory, whose parts a test can break."""

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib import bootstrap
from tests.fakes.world import World


class Breakable:
    """A part, and what happens instead when one of its methods is called."""

    def __init__(self, part: object) -> None:
        self._part = part
        self._instead: dict[str, Callable[..., object]] = {}

    def instead(self, method: str, does: Callable[..., object] | None) -> None:
        """Call `does` (with the part's own method first) instead of `method`; None = the method again."""
        if does is None:
            self._instead.pop(method, None)
        else:
            self._instead[method] = does

    def fails(self, method: str, error: Exception | None) -> None:
        """Let a method raise `error`; None = work again."""

        def fail(*_args: object, **_named: object) -> object:
            assert error is not None
            raise error

        self.instead(method, None if error is None else fail)

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._part, name)
        does = self._instead.get(name)
        return own if does is None else lambda *args, **named: does(own, *args, **named)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A service in memory, in use; its index, store and queue can be broken."""
    from dataclasses import replace

    def breakable(parts: bootstrap.Parts) -> bootstrap.Parts:
        return replace(
            parts,
            index=Breakable(parts.index),
            memories=Breakable(parts.memories),
            queue=Breakable(parts.queue),
        )

    made = World(replace=breakable)
    monkeypatch.setattr(bootstrap, "_services", made.services)
    return made
