"""What the contract suite is run on. An adapter joins by one `Engine` in the list of `conftest.py`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytest

from chalicelib.ports import SearchIndex


def _nothing_to_wait_for(index: SearchIndex) -> None:
    """What was applied is visible already."""


@dataclass(frozen=True)
class Engine:
    """An adapter under test."""

    open: Callable[[pytest.FixtureRequest], AbstractContextManager[SearchIndex]]
    """A brand-new index: nothing was ever built in it, `ready()` is False. Whatever it made is gone at exit."""
    settle: Callable[[SearchIndex], None] = _nothing_to_wait_for
    """Makes all that was applied visible to searches (a refresh, where the engine has one)."""
    exact: bool = False
    """Scores of words equal the reference, not only their order: lengths are not rounded, and documents are
    counted in the space alone."""
