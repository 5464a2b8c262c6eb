"""How a person ends the process: Ctrl-C, SIGTERM, a closed terminal."""

import signal
from collections.abc import Callable
from types import FrameType


class Ending:
    """Until `announce_to` is called, a signal interrupts whatever runs (KeyboardInterrupt), once. From then on, and
    after that once, signals are only noted: what is under way is finished, and no second Ctrl-C breaks into it."""

    def __init__(self) -> None:
        self.times = 0
        self._interrupts = True
        self._tell: Callable[[], None] | None = None

    @property
    def hurried(self) -> bool:
        """Whether it was asked for a second time: nobody wants to wait any more."""
        return self.times > 1

    def listen(self) -> None:
        """Take the signals from now on. One that the shell has switched off for a closed terminal (nohup) stays so."""
        signal.signal(signal.SIGINT, self._asked)
        signal.signal(signal.SIGTERM, self._asked)
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
            signal.signal(signal.SIGHUP, self._asked)

    def announce_to(self, tell: Callable[[], None]) -> None:
        """Call `tell` when a signal comes, instead of interrupting. It runs between any two steps of the main thread,
        so it must only set a flag."""
        self._tell = tell
        self._interrupts = False

    def over(self) -> None:
        """Take no notice any more: the interpreter, while it shuts down, would let a late signal kill the process."""
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(kind, signal.SIG_IGN)

    def _asked(self, _signal: int, _frame: FrameType | None) -> None:
        self.times += 1
        if self._interrupts:
            self._interrupts = False
            raise KeyboardInterrupt
        if self._tell is not None:
            self._tell()
