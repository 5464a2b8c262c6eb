"""A storage that fails when it is told to, in the process that is served with it.

Standard library only: it runs in the environment of each peer.
"""

import os
import signal
from collections.abc import Callable, Mapping
from typing import Any

Parts = frozenset[str]
WRITE: Parts = frozenset({"write"})


def _kill_this_process() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Switch:
    """At most one fault, which waits for a call of the part that it is meant for. `die`: how a kill ends the process."""

    def __init__(self, die: Callable[[], None] = _kill_this_process) -> None:
        self._die = die
        self._armed: Mapping[str, str] | None = None
        self._fired = False

    def arm(self, fault: Mapping[str, str] | None) -> None:
        """Let the next call of `fault["part"]` fail as `fault["kind"]` says; None: let nothing fail."""
        self._armed, self._fired = fault, False

    def disarm(self) -> bool:
        """Let nothing fail any more; whether anything did."""
        self._armed = None
        return self._fired

    def run(self, parts: Parts, error: Callable[[str], Exception], call: Callable[[], Any]) -> Any:
        """Do `call`, which belongs to `parts`, or fail before or after it."""
        fault = self._armed
        if fault is None or fault["part"] not in parts:
            return call()
        self._armed, self._fired = None, True
        kind = fault["kind"]
        if kind == "kill_before":
            self._die()
        if kind in ("before", "read"):
            raise error(kind)
        done = call()
        if kind == "kill_after":
            self._die()
        if kind == "after":
            raise error(kind)
        return done


class Failing:
    """`inner`, whose methods in `methods` (by name: the parts that each plays) go through a switch.

    `error` makes what a failed call raises: an error that callers of `inner` know.
    """

    def __init__(
        self,
        inner: Any,
        switch: Switch,
        methods: Mapping[str, Parts],
        error: Callable[[str], Exception],
    ) -> None:
        missing = [name for name in methods if not callable(getattr(inner, name, None))]
        if missing:
            raise TypeError(f"{type(inner).__name__} has no method {', '.join(missing)}")
        self._inner, self._switch, self._methods, self._error = inner, switch, methods, error

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        parts = self._methods.get(name)
        if parts is None:
            return found

        def guarded(*given: Any, **named: Any) -> Any:
            return self._switch.run(parts, self._error, lambda: found(*given, **named))

        return guarded
