"""How a command fails: one plain sentence on standard error, and an exit code that says which kind it was.

  0  done
  1  refused, or failed: the service said no, or what was asked for cannot be done
  2  wrong usage (typer says which option)
  3  not reachable: nobody answered, or what answered was no Palimpsest
  4  partly: some of what was asked for was done, and some was not; both are told
130  interrupted
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Literal

Why = Literal["nobody", "silent", "untrusted", "other"]


class ExitCode(IntEnum):
    """What the command answers to a shell."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    PARTLY = 4
    INTERRUPTED = 130


class CommandError(Exception):
    """Ends the command with `exit_code`; the message is for the person at the terminal, and holds no secret."""

    exit_code = ExitCode.FAILED


class NotTrustedError(CommandError):
    """A file that others could have written is not believed. `fix`: the command that mends it."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message} Run: {fix}")
        self.fix = fix


class UnreachableError(CommandError):
    """Nobody answered in time, or what answered was no Palimpsest.

    `may_be_done`: a write was under way, and nobody knows whether it was done. `why`: "silent", where somebody is there
    and does not answer; "untrusted", where the certificate is not trusted; "other", where somebody else answered; or
    "nobody"."""

    exit_code = ExitCode.UNREACHABLE

    def __init__(self, message: str, *, may_be_done: bool = False, why: Why = "nobody") -> None:
        super().__init__(message)
        self.may_be_done = may_be_done
        self.why = why


class PartlyError(CommandError):
    """Some of it was done, and some was not."""

    exit_code = ExitCode.PARTLY


class InterruptedCommandError(CommandError):
    """Ctrl-C in the middle of a write; the message says what was done until then."""

    exit_code = ExitCode.INTERRUPTED


class RefusedError(CommandError):
    """The service answered with an error: `status`, `code`, `details` as in docs/errors.md, `text` as it came."""

    def __init__(
        self, status: int, code: str, message: str, details: Mapping[str, Any], *, text: str = ""
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.details = details
        self.text = text
