"""The Chalice app, made safe for several requests at once.

Chalice keeps the current request on the app object: on a threaded server one answer could hold another's data.
Here each thread has its own.
"""

import threading
from typing import Any

from chalice.app import Chalice, Request


class ThreadSafeChalice(Chalice):
    """A Chalice app whose current request and context belong to the thread that serves them."""

    def __init__(self, app_name: str) -> None:
        self._of_thread = threading.local()
        super().__init__(app_name, configure_logs=False)

    @property
    def current_request(self) -> Request | None:
        """The request that this thread serves."""
        return getattr(self._of_thread, "request", None)

    @current_request.setter
    def current_request(self, request: Request | None) -> None:
        self._of_thread.request = request

    @property
    def lambda_context(self) -> Any:
        """The context of the invocation that this thread serves."""
        return getattr(self._of_thread, "context", None)

    @lambda_context.setter
    def lambda_context(self, context: Any) -> None:
        self._of_thread.context = context
