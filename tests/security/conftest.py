"""The same small installation as in the tests of accounts."""

from tests.unit.services.accounts.conftest import world

__all__ = ["world"]
