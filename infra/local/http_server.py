"""The HTTP server: waitress on one address, which ends without dropping what was asked, and errs in our form."""

import json
import logging
import socket
import time
from collections.abc import Callable
from typing import Any, cast

from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import create_server
from waitress.task import ErrorTask, WSGITask

from infra.local.cannot_start import CannotStartError

POLL_S = 1.0
DRAIN_POLL_S = 0.05
THREADS_END_S = 0.3
CONNECTIONS = 200

_ERRORS = {
    400: ("malformed", "this is not a well-formed HTTP request"),
    413: ("too_large", "the body is too large"),
    431: ("too_large", "the headers are too large"),
    500: ("internal", "an unexpected error; it was logged"),
    501: ("malformed", "this transfer encoding is not supported"),
}
"""What waitress refuses by itself, as code and message of our error body."""


class HttpServer:
    """Listens at once, answers while `serve` runs. Raises CannotStartError when the address cannot be had.

    `max_body_bytes` is where reading stops; what is just above our own limit gets our own answer.
    """

    def __init__(
        self, app: Callable[..., Any], host: str, port: int, *, threads: int, max_body_bytes: int
    ) -> None:
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a full queue is not news for a person
        self._ending = False
        self._map: dict[int, Any] = {}
        try:
            bound = _bound(host, port)
        except OSError as error:
            raise CannotStartError(
                f"Port {port} on {host} cannot be used ({error.strerror or error}). Stop what listens there, "
                "or choose another one with PALIMPSEST_PORT."
            ) from error
        self.port: int = bound.getsockname()[1]
        made = create_server(
            app,
            map=self._map,
            sockets=[bound],
            threads=threads,
            ident=None,
            connection_limit=CONNECTIONS,
            max_request_body_size=max_body_bytes * 4,
            clear_untrusted_proxy_headers=True,
        )
        self._server = cast("Any", made)  # what is used of it below has no types
        self._server.channel_class = _Channel
        self._server.ending = False

    def serve(self) -> None:
        """Answer until `end` is called."""
        while not self._ending:
            self._turn(POLL_S)

    def end(self) -> None:
        """Let `serve` return; from any thread, or from a signal, as often as one likes."""
        if not self._ending:
            self._ending = True
            self._server.pull_trigger()

    def drain(self, seconds: float, hurried: Callable[[], bool] = lambda: False) -> bool:
        """Take no more connections, and answer what has been asked, for at most `seconds`; whether all of it was."""
        self._server.ending = True
        wasyncore.dispatcher.close(self._server)
        until = time.monotonic() + seconds
        while self._closes_what_is_idle() and time.monotonic() < until and not hurried():
            self._turn(DRAIN_POLL_S)
        return not self._server.active_channels

    def close(self) -> None:
        """End threads and connections."""
        self._server.task_dispatcher.shutdown(timeout=THREADS_END_S)
        self._server.close()
        wasyncore.close_all(self._map, ignore_all=True)

    def _turn(self, seconds: float) -> None:
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._map, count=1)

    def _closes_what_is_idle(self) -> bool:
        """Tell connections to close on which no request is being received or answered; whether there are any left."""
        channels = list(self._server.active_channels.values())
        for channel in channels:
            if not (channel.requests or channel.request is not None or channel.total_outbufs_len):
                channel.will_close = True
        return bool(channels)


class _Task(WSGITask):
    """An answer; the last one of its connection when the server is ending."""

    def build_response_header(self) -> bytes:
        if cast("Any", self.channel.server).ending:
            self.set_close_on_finish()
        return super().build_response_header()


class _ErrorTask(ErrorTask):
    """What waitress answers by itself, in our form."""

    def execute(self) -> None:
        error = cast("Any", self.request).error
        code, message = _ERRORS[error.code]
        body = json.dumps({"error": {"code": code, "message": message, "details": {}}}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers = [("Content-Type", "application/json")]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Channel(HTTPChannel):
    task_class = _Task
    error_task_class = _ErrorTask


def _bound(host: str, port: int) -> socket.socket:
    """A socket bound to this address. Raises OSError when it is taken, or no address of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound
