"""A person's client of a service over HTTP: what tests of whole services ask again and again."""

import json
import time
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PERSONAL = "/v1/spaces/personal"
WAIT_S = 60.0


class Answer(NamedTuple):
    """One HTTP answer."""

    status: int
    body: Any


def wait_until(true: Callable[[], object], seconds: float = WAIT_S) -> None:
    """Look again and again."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)


class Caller:
    """Asks the service at `url` with the key of its owner."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key

    def ask(self, method: str, path: str, body: object = None, *, seconds: float = 30.0) -> Answer:
        """One request on a connection of its own, with the owner's key."""
        address = urlsplit(self.url)
        connection = HTTPConnection(str(address.hostname), address.port, timeout=seconds)
        try:
            headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return Answer(answer.status, json.loads(answer.read()))
        finally:
            connection.close()

    def add(self, text: str) -> int:
        """Store a memory; its number."""
        answer = self.ask("POST", f"{PERSONAL}/memories", {"text": text})
        assert answer.status == 201, answer
        return int(answer.body["memory"]["number"])

    def search(self, query: str, limit: int = 100) -> dict[str, Any]:
        """The answer to a search."""
        answer = self.ask("POST", f"{PERSONAL}/search", {"query": query, "limit": limit})
        assert answer.status == 200, answer
        return dict(answer.body)

    def found(self, query: str) -> list[int]:
        """Numbers that a search finds."""
        return [item["memory"]["number"] for item in self.search(query)["items"]]

    def listed(self) -> tuple[list[int], str | None]:
        """Numbers of the whole list, and what its pages say of being degraded."""
        numbers: list[int] = []
        degraded, cursor = None, ""
        while True:
            page = self.ask("GET", f"{PERSONAL}/memories?limit=200&sort=oldest{cursor}").body
            numbers += [memory["number"] for memory in page["items"]]
            degraded = degraded or page["degraded"]
            if page["next"] is None:
                return numbers, degraded
            cursor = f"&cursor={page['next']}"

    def health(self) -> dict[str, Any]:
        """What health says."""
        return dict(self.ask("GET", "/v1/health").body)
