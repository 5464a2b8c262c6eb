"""Background work outlives whatever happens to the process that does it."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.e2e.conftest import MakeLaptop
from tests.e2e.laptop import Laptop
from tests.fakes.caller import PERSONAL, wait_until

FACTS = 400
DIMENSION = 8


class Model:
    """An embedding endpoint that answers as long as it has leave to: so many texts, or any number."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.embedded = 0
        self.leave: float = 0
        self._changed = threading.Condition()

    def give_leave(self, texts: float) -> None:
        with self._changed:
            self.leave = texts
            self._changed.notify_all()

    def vectors(self, texts: list[str]) -> list[list[float]]:
        with self._changed:
            self._changed.wait_for(lambda: self.embedded + len(texts) <= self.leave, timeout=60)
            self.embedded += len(texts)
        return [[1.0 + (hash(text) >> place) % 7 for place in range(DIMENSION)] for text in texts]


@contextmanager
def served_model() -> Iterator[Model]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            rows = [
                {"index": place, "embedding": row} for place, row in enumerate(model.vectors(asked["input"]))
            ]
            body = json.dumps({"data": rows}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_said: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(ConnectionError):  # the service was killed meanwhile
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = Model(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        model.give_leave(float("inf"))
        server.shutdown()
        server.server_close()


@pytest.fixture
def model() -> Iterator[Model]:
    with served_model() as made:
        yield made


def with_new_model(here: Laptop, model: Model) -> None:
    """Facts that were stored without an embedding model; then one is set, and the service started again."""
    here.start()
    for first in range(0, FACTS, 100):
        items = [{"text": f"fact {number} about tea"} for number in range(first, first + 100)]
        assert here.ask("POST", f"{PERSONAL}/memories/batch", {"items": items}).status == 200
    here.stop()
    model.give_leave(10)  # a few questions
    here.settings |= {
        "EMBEDDER": "openai", "EMBEDDING_MODEL": "m", "EMBEDDING_DIMENSION": str(DIMENSION), "EMBEDDING_URL": model.url,
        "EMBEDDING_TIMEOUT": "60",
    }  # fmt: skip
    here.start()
    assert here.search("tea")["degraded"] == "reindex_needed"


def begin(here: Laptop) -> str:
    status, answer = here.ask("POST", f"{PERSONAL}/jobs", {"kind": "reindex"})
    assert status < 300, answer
    return f"{PERSONAL}/jobs/{answer['job']['id']}"


def progress(here: Laptop, job: str) -> tuple[str, int]:
    shown = here.ask("GET", job).body["job"]
    return shown["state"], shown["done"]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_reindex_that_is_broken_off_in_the_middle_goes_on_where_it_was(
    make: MakeLaptop, model: Model, end: signal.Signals
) -> None:
    here = make()
    with_new_model(here, model)
    model.give_leave(model.embedded + 230)
    job = begin(here)
    wait_until(lambda: progress(here, job) == ("running", 128))
    ended = here.stop(end)
    assert "Traceback" not in ended.err
    model.give_leave(float("inf"))
    before = model.embedded
    here.start()
    wait_until(lambda: progress(here, job)[0] != "running")
    assert progress(here, job) == ("done", FACTS)
    assert model.embedded - before < FACTS, "what was embedded already was embedded again"
    wait_until(lambda: here.search("fact")["degraded"] is None)
    assert here.search("fact")["matched_by"] == "meaning"


def test_a_job_that_was_just_begun_is_not_lost_with_the_process(make: MakeLaptop, model: Model) -> None:
    here = make()
    with_new_model(here, model)
    job = begin(here)
    here.kill()
    model.give_leave(float("inf"))
    here.start()
    wait_until(lambda: progress(here, job) == ("done", FACTS))


def test_a_service_that_is_ended_while_its_model_does_not_answer_ends_in_time(
    make: MakeLaptop, model: Model
) -> None:
    here = make()
    with_new_model(here, model)
    model.give_leave(0)
    job = begin(here)
    wait_until(lambda: progress(here, job)[0] == "running")
    ended = here.stop(signal.SIGINT)
    assert ended.code == 0
    assert "Traceback" not in ended.err
    assert ended.out.endswith("Stopped; the data stay.\n")
