"""One JSON request to an embedding endpoint: bounded in time, in tries and in the size of the answer."""

import json
import random
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import urllib3
from pydantic import SecretStr
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError, NewConnectionError
from urllib3.util.retry import Retry

from chalicelib.errors import EmbedderUnavailableError

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
CONNECT_TIMEOUT_S = 3.0
FIRST_WAIT_S = 0.25
ANSWER_BYTES = 64 * 1024 * 1024
"""More than 2,048 vectors of 3,072 numbers never take this much."""
CONNECTIONS = 8

EXPLAINED = {
    401: "refuses the key (401): check PALIMPSEST_EMBEDDING_KEY",
    403: "refuses the key (403): check PALIMPSEST_EMBEDDING_KEY",
    404: "knows no such address or model (404): check PALIMPSEST_EMBEDDING_URL and PALIMPSEST_EMBEDDING_MODEL",
    413: "finds the request too large (413): lower PALIMPSEST_EMBEDDING_BATCH or PALIMPSEST_EMBEDDING_TEXT_BYTES",
    429: "limits how much it is asked (429)",
}


class Patience(Retry):
    """urllib3's retries with two more promises: no try begins after `until` (of `time.monotonic`), and every wait,
    the first one too, is random, so that those who were refused together do not come back together.

    A wait that the endpoint asks for (`Retry-After`) and that would end later is not begun: the call gives up.
    """

    def __init__(self, *args: Any, until: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.until = until

    def new(self, **kwargs: Any) -> "Patience":
        return super().new(until=self.until, **kwargs)

    def get_retry_after(self, response: urllib3.BaseHTTPResponse) -> float | None:
        try:
            return super().get_retry_after(response)
        except InvalidHeader:  # fractions of a second, or nonsense: our own wait will do
            return None

    def get_backoff_time(self) -> float:
        return random.uniform(0, FIRST_WAIT_S * 2 ** len(self.history))  # noqa: S311 - jitter, no secret

    def sleep(self, response: urllib3.BaseHTTPResponse | None = None) -> None:
        asked = self.get_retry_after(response) if response is not None else None
        wait = asked or self.get_backoff_time()
        if time.monotonic() + wait > self.until:
            status = f"answers {response.status}" if response is not None else "cannot be reached"
            raise EmbedderUnavailableError(
                f"The embedding endpoint {status}, and there is no time to try again."
            )
        time.sleep(wait)


class JsonEndpoint:
    """An address that takes JSON and answers JSON. Safe to share between threads; connects at first use.

    `timeout` (seconds) bounds one try, and no try begins later than that after the first: a call takes at most
    twice as long. Neither the key nor a text is ever in an error.
    """

    def __init__(self, url: str, key: SecretStr | None, *, timeout: float, attempts: int) -> None:
        self.host = urlsplit(url).netloc.rpartition("@")[2]
        self._url = url
        self._key = key
        self._timeout = timeout
        self._attempts = attempts
        self._pool = urllib3.PoolManager(
            num_pools=1,
            maxsize=CONNECTIONS,
            timeout=urllib3.Timeout(connect=min(CONNECT_TIMEOUT_S, timeout), read=timeout),
        )

    def post(self, body: Mapping[str, object]) -> object:
        """The answer's JSON. Raises EmbedderUnavailableError."""
        start = time.monotonic()
        retries = Patience(
            self._attempts - 1,
            until=start + self._timeout,
            allowed_methods=None,  # asking for a vector twice changes nothing
            status_forcelist=RETRIED,
            raise_on_status=False,
        )
        try:
            response = self._pool.request(
                "POST",
                self._url,
                body=json.dumps(body, ensure_ascii=False).encode(),
                headers=self._headers(),
                retries=retries,
                redirect=False,
                preload_content=False,
            )
            with response:
                if response.status != 200:
                    raise self._refused(response.status)
                answer = self._read(response, start + 2 * self._timeout)
        except HTTPError as error:
            raise self._unreachable(error) from error
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise EmbedderUnavailableError(
                f"The embedding endpoint {self.host} answers something that is not JSON: "
                "check PALIMPSEST_EMBEDDING_URL."
            ) from error

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "palimpsest",
        }
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        return headers

    def _read(self, response: urllib3.BaseHTTPResponse, until: float) -> bytes:
        """The whole body; the time-out of a try is one of silence, so a trickle is stopped here."""
        body = bytearray()
        while chunk := response.read1(1 << 16):
            body += chunk
            if len(body) > ANSWER_BYTES:
                raise EmbedderUnavailableError(f"The embedding endpoint {self.host} answers without end.")
            if time.monotonic() > until:
                raise EmbedderUnavailableError(f"The embedding endpoint {self.host} answers too slowly.")
        return bytes(body)

    def _refused(self, status: int) -> EmbedderUnavailableError:
        return EmbedderUnavailableError(
            f"The embedding endpoint {self.host} {EXPLAINED.get(status, f'answers {status}')}."
        )

    def _unreachable(self, error: HTTPError) -> EmbedderUnavailableError:
        reason = error.reason if isinstance(error, MaxRetryError) and error.reason else error
        if isinstance(reason, urllib3.exceptions.TimeoutError) and not isinstance(reason, NewConnectionError):
            return EmbedderUnavailableError(f"The embedding endpoint {self.host} did not answer in time.")
        return EmbedderUnavailableError(
            f"The embedding endpoint {self.host} cannot be reached ({type(reason).__name__}): "
            "check PALIMPSEST_EMBEDDING_URL."
        )
