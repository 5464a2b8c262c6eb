"""An engine that gives the answers it is told to give, reached through the real library."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from opensearchpy.connection import Connection

from chalicelib.search.opensearch.client import Client, Patience

Given = tuple[int, object] | Exception
Answer = Given | Callable[[bytes], Given]


def json_error(status: int, kind: str, reason: str = "secret text of a memory", **more: Any) -> Given:
    """An error as the engine tells it, with a piece of a document in its reason."""
    error = {"type": kind, "reason": reason, "root_cause": [{"type": kind, "reason": reason}], **more}
    return status, {"error": error, "status": status}


class FakeEngine:
    """Gives its answers (or what they make of the body) one after the other, the last one for ever, and remembers
    what it was asked."""

    def __init__(self, *answers: Answer, content_type: str = "application/json; charset=UTF-8") -> None:
        self.answers = list(answers)
        self.content_type = content_type
        self.asked: list[tuple[str, str, Any]] = []
        self.options: Mapping[str, Any] = {}
        self.timeouts: list[Any] = []
        self.pauses: list[float] = []

    def client(self, **options: Any) -> Client:
        """A client of this engine; it never really pauses."""
        connection_class = type("FakeConnection", (_FakeConnection,), {"engine": self})
        return Client(
            "http://search.example:9200",
            **{
                "connection_class": connection_class,
                "pause": self.pauses.append,
                "patience": Patience(),
                **options,
            },
        )

    def lines(self, call: int = -1) -> list[Any]:
        """The body of one call, taken as lines of JSON."""
        return [json.loads(line) for line in self.asked[call][2].decode().splitlines()]


class _FakeConnection(Connection):
    engine: FakeEngine

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.engine.options = options

    def perform_request(
        self,
        method: str,
        url: str,
        params: Any = None,
        body: Any = None,
        timeout: Any = None,
        ignore: Any = (),
        headers: Any = None,
    ) -> Any:
        engine = self.engine
        engine.asked.append((method, url, body))
        engine.timeouts.append(timeout)
        answer = engine.answers.pop(0) if len(engine.answers) > 1 else engine.answers[0]
        if not isinstance(answer, tuple | Exception):
            answer = answer(body)
        if isinstance(answer, Exception):
            raise answer
        status, content = answer
        text = content if isinstance(content, str) else json.dumps(content)
        if status >= 300:
            self._raise_error(status, text, engine.content_type)
        return status, {"content-type": engine.content_type}, text

    def close(self) -> None:
        """Nothing is open."""
