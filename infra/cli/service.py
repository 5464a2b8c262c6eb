"""The service over HTTP, as commands see it: JSON in, JSON out, every call bounded in time, every write repeatable.

A write always carries an `Idempotency-Key`, so what is sent again after a lost connection is done once.
"""

import json
import random
import ssl
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import urllib3
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

from infra.cli.connection import Destination
from infra.cli.failures import CommandError, RefusedError, UnreachableError

CONNECT_S = 5.0
SILENCE_S = 35.0
"""API Gateway gives up after 29 s."""
ANSWER_S = 120.0
"""For the whole of one answer: a trickle ends here."""
ATTEMPTS = 4
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 10.0
ANSWER_BYTES = 256 * 1024 * 1024
AGAIN = frozenset({429, 502, 503, 504})
DATE_S = 2.0
"""The header Date has whole seconds, and whoever writes it a clock of his own."""
MARK = "x-correlation-id"
"""Every answer of Palimpsest has it; what has it not is somebody else's JSON."""
CONFLICT = 409
ERRORS_FROM = 400


class Fields(dict[str, Any]):
    """An object of an answer. A field that is needed and is not there raises UnreachableError: that is no Palimpsest."""

    def __missing__(self, name: str) -> Any:
        raise UnreachableError(
            f"What answered is no Palimpsest, or another version: its answer has no {name}. See that the URL is right.",
            why="other",
        )


@dataclass(frozen=True)
class Answer:
    """An answer of the service: its text as it came, its headers by their names in small letters, and how many seconds
    ago it was asked for first."""

    status: int
    text: str
    headers: Mapping[str, str]
    took_s: float = 0.0

    @property
    def json(self) -> Any:
        """The text's values; objects are Fields."""
        return json.loads(self.text, object_hook=Fields)

    def told_before(self, moment: str) -> bool:
        """Whether `moment` lies before this was asked for, by the service's own clock."""
        try:
            asked = parsedate_to_datetime(self.headers["date"]) - timedelta(seconds=self.took_s + DATE_S)
            return datetime.fromisoformat(moment) < asked
        except (KeyError, ValueError, TypeError):
            return False


def new_key() -> str:
    """An Idempotency-Key that nobody has used."""
    return f"cli-{uuid.uuid4()}"


def space_path(space: str, *parts: str | int) -> str:
    """`/v1/spaces/project%3A12/memories/3` of `project:12`, `memories`, 3."""
    return "/v1/spaces/" + "/".join(quote(str(part), safe="") for part in (space, *parts))


class _Https(HTTPSConnection):
    """Whatever fails until the connection stands, nothing was sent."""

    def connect(self) -> None:
        """As urllib3 does. Raises NewConnectionError for a refusal of TLS, too."""
        try:
            super().connect()
        except OSError as error:
            raise NewConnectionError(self, _tls(error)) from error


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Https


NOTHING_SENT = (NewConnectionError, ConnectTimeoutError)


class Service:
    """One service, asked with one key. Safe to share between threads; connects at first use.

    `wait` sleeps so many seconds before a request is sent again.
    """

    def __init__(self, connection: Destination, *, wait: Callable[[float], object] = time.sleep) -> None:
        self.url = connection.url
        self.connection = connection
        self._wait = wait
        self._pool = urllib3.PoolManager(
            num_pools=1, maxsize=8, timeout=urllib3.Timeout(connect=CONNECT_S, read=SILENCE_S), retries=False
        )
        self._pool.pool_classes_by_scheme = {"http": urllib3.HTTPConnectionPool, "https": _HttpsPool}

    def get(self, path: str, query: Mapping[str, object] | None = None) -> Answer:
        """Read. Parameters that are None are left out. Raises as `ask`."""
        return self.ask("GET", path, query=query)

    def pages(self, path: str, query: Mapping[str, object] | None = None) -> Iterator[Answer]:
        """Every page of a list. Raises as `ask`."""
        cursor = None
        while True:
            page = self.ask("GET", path, query={**(query or {}), **({"cursor": cursor} if cursor else {})})
            yield page
            cursor = page.json["next"]
            if cursor is None:
                return

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, object] | None = None,
        key: str | None = None,
        public: bool = False,
        attempts: int = ATTEMPTS,
        silence_s: float = SILENCE_S,
    ) -> Answer:
        """One request and its answer, which is below 400. `key`: the Idempotency-Key of a write; a new one unless given.
        `public`: the API key is not sent. `silence_s`: how long one try waits for a sign of life.

        Sent again, up to `attempts` times in all, when the connection was lost or the service asks for it. Raises
        RefusedError, and UnreachableError (`may_be_done`: repeat with the same `key` to learn whether it was).
        """
        try:
            url = self.url + path + _query(query)
            content = None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except ValueError as error:
            raise CommandError("What was given is no text in UTF-8, or no number.") from error
        headers = self._headers(method, key, public=public, body=content is not None)
        lost = False
        started = time.monotonic()
        for attempt in range(1, attempts + 1):
            last = attempt == attempts
            try:
                status, raw, got = self._once(method, url, content, headers, silence_s)
            except HTTPError as error:
                lost = lost or not isinstance(_cause(error), NOTHING_SENT)
                if last:
                    raise self._unreachable(error, lost=lost and method != "GET") from error
                self._wait(_pause(attempt, None))
                continue
            if not last and (status in AGAIN or (lost and _in_flight(status, raw))):
                lost = lost or status != 429
                self._wait(_pause(attempt, got.get("retry-after")))
                continue
            answer = self._understood(status, raw, got, wrote=method != "GET")
            return replace(answer, took_s=time.monotonic() - started)
        raise AssertionError("attempts is at least 1")

    def _headers(self, method: str, key: str | None, *, public: bool, body: bool) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "palimpsest-cli"}
        if body:
            headers["Content-Type"] = "application/json"
        if method != "GET":
            headers["Idempotency-Key"] = key or new_key()
        if not public:
            if self.connection.key is None:
                self.ask("GET", "/v1/health", public=True, attempts=1)  # that nobody is there is told first
                raise CommandError(
                    f"There is no key for {self.url}. Run: palimpsest login --url {self.url} (or set PALIMPSEST_CLI_KEY)."
                )
            headers["Authorization"] = f"Bearer {self.connection.key.get_secret_value()}"
        return headers

    def _once(
        self, method: str, url: str, content: bytes | None, headers: Mapping[str, str], silence_s: float
    ) -> tuple[int, bytes, dict[str, str]]:
        until = time.monotonic() + min(ANSWER_S, 4 * silence_s)
        response = self._pool.request(
            method,
            url,
            body=content,
            headers=headers,
            redirect=False,
            preload_content=False,
            timeout=urllib3.Timeout(connect=CONNECT_S, read=silence_s),
        )
        with response:
            raw = bytearray()
            while chunk := response.read1(1 << 16):
                raw += chunk
                if len(raw) > ANSWER_BYTES or time.monotonic() > until:
                    raise UnreachableError(
                        f"{self.url} answers without end.", may_be_done=method != "GET", why="silent"
                    )
            return (
                response.status,
                bytes(raw),
                {name.lower(): value for name, value in response.headers.items()},
            )

    def _understood(self, status: int, raw: bytes, headers: Mapping[str, str], *, wrote: bool) -> Answer:
        """The answer, if it is one of ours and no error."""
        try:
            text = raw.decode("utf-8")
            values = json.loads(text)
            if status < 300 and isinstance(values, dict) and MARK in headers:
                return Answer(status, text, headers)
            if status >= ERRORS_FROM:
                told = values["error"]
                raise RefusedError(
                    status, str(told["code"]), str(told["message"]), dict(told["details"]), text=text
                )
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        raise UnreachableError(
            f"{self.url} answered {status}, and not as Palimpsest does: see that the URL is right "
            "(make run and make deploy print it).",
            may_be_done=wrote and (status >= 500 or status < 300),
            why="other",
        )

    def _unreachable(self, error: HTTPError, *, lost: bool) -> UnreachableError:
        cause = _cause(error)
        host = urlsplit(self.url).netloc
        if lost:
            return UnreachableError(
                f"{host}: the connection was lost ({type(cause).__name__}), so nobody knows whether it was done.",
                may_be_done=True,
            )
        if isinstance(cause, ReadTimeoutError):
            return UnreachableError(
                f"{host} does not answer: somebody is there, and says nothing.", why="silent"
            )
        if isinstance(cause.__cause__, ssl.SSLCertVerificationError):
            return UnreachableError(
                f"{host}: its certificate is not trusted ({cause.__cause__.verify_message}), so nothing was sent. If it "
                "is one of your own, name the file of its authority in SSL_CERT_FILE.",
                why="untrusted",
            )
        why = _tls(cause.__cause__) or type(cause).__name__
        return UnreachableError(f"{host} cannot be reached ({why}).")


def _query(query: Mapping[str, object] | None) -> str:
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return "?" + urlencode(given) if given else ""


def _pause(attempt: int, asked: str | None) -> float:
    """Seconds before the next try: as the service asks, or growing and random."""
    if asked is not None and asked.isdigit():
        return min(float(asked), LONGEST_WAIT_S)
    longest = min(FIRST_WAIT_S * float(2**attempt), LONGEST_WAIT_S)
    return random.uniform(longest / 2, longest)  # noqa: S311 - jitter, no secret


def _in_flight(status: int, raw: bytes) -> bool:
    """Whether the first of two same requests has not finished."""
    return status == CONFLICT and b"in flight" in raw


def _tls(error: BaseException | None) -> str:
    """Why there is no trusted connection; empty when that is not why."""
    if not isinstance(error, ssl.SSLError):
        return ""
    return f"TLS: {error.reason or type(error).__name__}"


def _cause(error: HTTPError) -> BaseException:
    reason = getattr(error, "reason", None)
    return reason if isinstance(reason, BaseException) else error
