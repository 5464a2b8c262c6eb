"""Cases are provoked over HTTP, on a whole service in memory."""

from tests.unit.web.conftest import client

__all__ = ["client"]
