"""One call to the engine: with a time-out, repeated only where that helps, and failing only in our words."""

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chalicelib.errors import IndexUnavailableError
from chalicelib.search.opensearch import errors

if TYPE_CHECKING:
    from opensearchpy import Connection, Transport

Answer = dict[str, Any]
"""What the engine says, as it is in JSON."""

POOL = 16
FIRST_PAUSE_S = 0.1
NDJSON = {"content-type": "application/x-ndjson"}
UNCOMPRESSED = {"accept-encoding": "identity"}
"""What a person waits for comes as it is: the engine takes longer to compress a search's answer than to send it."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the engine is waited for, in seconds, and how often a call is repeated that was refused."""

    connect_s: float = 2.0
    read_s: float = 5.0
    """For what a person waits for."""
    work_s: float = 60.0
    """For writing, and for making and changing indices."""
    retries: int = 2


class Client:
    """The engine at one URL. Makes no connection until it is used; is safe to share between threads. Raises
    ValueError for a URL that is none.

    `http_auth` is what opensearch-py takes: None, (user, password), or a signer of requests (SigV4); it is kept as
    it is given, never copied (CASES: mem0 PR#4418). `connection_class` and `pause` are for tests.
    """

    def __init__(
        self,
        url: str,
        *,
        http_auth: Any = None,
        patience: Patience | None = None,
        compress: bool = True,
        connection_class: "type[Connection] | None" = None,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._host = _host(url)
        self._auth = http_auth
        self._patience = patience or Patience()
        self._compress = compress
        self._connection_class = connection_class
        self._pause = pause
        self._lock = threading.Lock()
        self._made: Transport | None = None

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | str | None = None,
        *,
        params: Mapping[str, str] | None = None,
        waiting: bool = False,
        again: Callable[[Answer], bool] | None = None,
    ) -> Answer:
        """The engine's answer. `waiting`: a person waits, so the short time-out holds.

        A text as body is lines of JSON. `again` says of an answer that another attempt may give a better one; the
        last answer is given as it is. Raises IndexMissingError, IndexUnavailableError.
        """
        for attempt in range(self._patience.retries):
            try:
                answer = self._once(method, path, body, params, waiting)
            except _library_errors() as error:
                if not errors.is_worth_a_retry(error):
                    raise errors.from_library(error) from None  # its own text quotes documents
            else:
                if again is None or not again(answer):
                    return answer
            self._pause(FIRST_PAUSE_S * 2**attempt * random.uniform(0.5, 1))  # noqa: S311 - jitter, no secret
        try:
            return self._once(method, path, body, params, waiting)
        except _library_errors() as error:
            raise errors.from_library(error) from None

    def close(self) -> None:
        """Close the connections; the next call makes new ones."""
        with self._lock:
            made, self._made = self._made, None
        if made is not None:
            made.close()

    def _once(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | str | None,
        params: Mapping[str, str] | None,
        waiting: bool,
    ) -> Answer:
        from urllib3 import Timeout

        read_s = self._patience.read_s if waiting else self._patience.work_s
        headers = {**(NDJSON if isinstance(body, str) else {}), **(UNCOMPRESSED if waiting else {})}
        answer = self._transport().perform_request(
            method,
            path,
            params=dict(params or {}),
            body=body,
            headers=headers or None,
            timeout=Timeout(connect=self._patience.connect_s, read=read_s),  # type: ignore[arg-type]
        )
        if not isinstance(answer, dict):
            raise IndexUnavailableError(errors.UNREADABLE)
        return answer

    def _transport(self) -> "Transport":
        with self._lock:
            if self._made is None:
                self._made = self._make_transport()
            return self._made

    def _make_transport(self) -> "Transport":
        from opensearchpy import Transport

        from chalicelib.search.opensearch.connection import QuietConnection

        return Transport(
            [self._host],
            connection_class=self._connection_class or QuietConnection,
            max_retries=0,  # repeated here, with a pause
            retry_on_status=(),
            http_auth=self._auth,
            http_compress=self._compress,
            pool_maxsize=POOL,
        )


def _library_errors() -> tuple[type[Exception], ...]:
    from opensearchpy import ImproperlyConfigured, OpenSearchException

    return OpenSearchException, ImproperlyConfigured


def _host(url: str) -> dict[str, Any]:
    """The parts of a URL as opensearch-py wants them. Raises ValueError when it is none.

    A password does not belong into a URL, which gets logged: it is refused.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
        raise ValueError("the search engine's URL is not like https://host:9200 (without user, password)")
    secure = parts.scheme == "https"
    return {
        "host": parts.hostname,
        "port": parts.port or (443 if secure else 80),
        "use_ssl": secure,
        "url_prefix": parts.path.rstrip("/"),
    }
