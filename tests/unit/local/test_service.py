"""The whole service of a laptop, started in this process: put together, taken apart, and what it does by itself."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib import bootstrap
from chalicelib.domain.drafts import NewJob
from chalicelib.domain.scope import Actor, Right, Scope, Space
from chalicelib.errors import DataFolderError, EmbedderUnavailableError
from chalicelib.ports import Embedder
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.services.idempotency import Request
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from infra.local import service as module
from infra.local.cannot_start import CannotStartError
from infra.local.data_folder import DataFolder
from infra.local.ending import Ending
from infra.local.service import LocalService, with_laptop_defaults
from tests.fakes.caller import PERSONAL, Caller, wait_until


@pytest.fixture(autouse=True)
def put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The services of the process are put back afterwards."""
    monkeypatch.setattr(bootstrap, "_services", None)


class Here(Caller):
    """A service that runs, and how to ask it."""

    def __init__(self, service: LocalService) -> None:
        self.service = service
        self.said = service.start()
        running = json.loads((service.settings.data / "run.json").read_text())
        super().__init__(running["url"], running["key"])
        self.pid = running["pid"]
        self.thread = threading.Thread(target=service.serve, args=[Ending()], daemon=True)
        self.thread.start()

    def end(self) -> None:
        """As a signal does."""
        self.service._server.end()
        self.thread.join(20)
        assert not self.thread.is_alive()


def settings(folder: Path, **others: Any) -> Settings:
    return Settings.model_validate({"data": folder, "port": 0, "embedder": "none", **others})


@contextmanager
def running(folder: Path, **others: Any) -> Iterator[Here]:
    with LocalService(settings(folder, **others)) as service:
        here = Here(service)
        yield here
        here.end()


# ---------------------------------------------------------------------------- start and end


def test_the_first_request_of_a_first_start_is_answered_in_full(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        assert here.search("tea") == {"items": [], "matched_by": "words", "degraded": None}
        status, health = here.ask("GET", "/v1/health")
        assert (status, health["status"]) == (200, "ok")
        assert here.pid == os.getpid()
        assert here.key in here.said


def test_after_the_end_nothing_says_that_it_runs_and_another_may_begin(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        first.add("Tea is green.")
    assert not (tmp_path / "run.json").exists()
    with running(tmp_path) as second:
        assert second.key == first.key
        assert "(new)" not in second.said
        assert [item["memory"]["text"] for item in second.search("green tea")["items"]] == ["Tea is green."]


def test_no_thread_outlives_the_end(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with running(tmp_path) as here:
        here.add("Tea is green.")
    wait_until(lambda: not [t for t in threading.enumerate() if t not in before and t.daemon])


def test_a_service_that_cannot_be_put_together_lets_go_of_everything(tmp_path: Path) -> None:
    with running(tmp_path / "one") as here:
        port = urlsplit(here.url).port
        with pytest.raises(CannotStartError):
            LocalService(settings(tmp_path / "two", port=port))
    DataFolder(tmp_path / "two").close()


def test_a_folder_in_use_is_left_as_it_is(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        with pytest.raises(DataFolderError, match=str(os.getpid())):
            LocalService(settings(tmp_path))
        assert here.ask("GET", "/v1/me")[0] == 200
        assert (tmp_path / "run.json").exists()


def test_a_request_that_takes_too_long_does_not_keep_it_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "ANSWER_S", 0.1)
    embedder = ScriptedEmbedder()
    slow = threading.Event()
    with LocalService(settings(tmp_path)) as service:
        use_embedder(service, embedder)
        here = Here(service)
        embedder.hold(slow)
        asking = threading.Thread(target=_ask_and_fail, args=[here], daemon=True)
        asking.start()
        wait_until(lambda: len(embedder.asked) > 1)
        here.end()
        assert "requests that took too long were not answered" in caplog.messages
        slow.set()
        asking.join(20)


def _ask_and_fail(here: Here) -> None:
    with suppress(OSError, HTTPException):  # answered late, or hung up on
        here.search("tea")


def use_embedder(service: LocalService, embedder: Embedder) -> None:
    """Go on with another embedder; before `start`."""
    parts = replace(service.services.parts, embedder=embedder)
    built = bootstrap.build(service.settings, parts)
    service.services = replace(built, health=service.services.health)
    bootstrap.use(service.services)


# ---------------------------------------------------------------------------- what it does by itself


def test_what_was_written_reaches_the_index(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        here.add("Tea is green.")
        wait_until(lambda: here.ask("GET", "/v1/spaces")[1]["items"][0]["counts"]["active"] == 1)
        memories = here.service.services.parts.memories
        wait_until(lambda: not memories.unprojected(scope_of(here), 10))


def scope_of(here: Here) -> Scope:
    account = here.ask("GET", "/v1/me")[1]["account"]["id"]
    space = Space.personal(account)
    return Scope(actor=Actor(kind="person", id=account), space=space, rights=frozenset(Right), place="cli")


def test_a_job_is_worked_off(tmp_path: Path) -> None:
    with LocalService(settings(tmp_path)) as service:
        use_embedder(service, ScriptedEmbedder())
        here = Here(service)
        here.add("Tea is green.")
        status, answer = here.ask("POST", f"{PERSONAL}/jobs", {"kind": "reindex"})
        assert status < 300, answer
        path = f"{PERSONAL}/jobs/{answer['job']['id']}"
        wait_until(lambda: bool(here.ask("GET", path)[1]["job"]["state"] == "done"))
        here.end()


def test_a_job_that_was_left_unfinished_is_worked_off_at_the_next_start(tmp_path: Path) -> None:
    """Its message is leased to a process that is gone, as after kill -9; and another's was lost altogether."""
    with running(tmp_path) as here:
        here.add("Tea is green.")
        scope = scope_of(here)
    with LocalService(settings(tmp_path)) as service:
        use_embedder(service, ScriptedEmbedder())
        jobs = service.services.jobs
        request = Request(owner=scope.space.id, key=None, hash="", now=service.services.clock())
        job = jobs.start(scope, NewJob(kind="reindex"), request)["job"]["id"]
        jobs.wake(scope.space, job)
        queue = service.services.parts.queue
        assert queue.receive() is not None  # type: ignore[attr-defined]
        here = Here(service)
        wait_until(lambda: bool(jobs.get(scope, job)["job"]["state"] == "done"))
        here.end()


def test_an_erased_text_leaves_the_files_bytes(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        number = here.add("The canary sings in Vladivostok.")
        wait_until(lambda: not here.service.services.parts.memories.unprojected(scope_of(here), 10))
        assert here.ask("POST", f"{PERSONAL}/memories/{number}/erase", {})[0] == 200
        wait_until(lambda: not here.service.services.parts.memories.unprojected(scope_of(here), 10))
        wait_until(lambda: not any(b"Vladivostok" in file.read_bytes() for file in tmp_path.iterdir()))


def test_a_folder_that_cannot_be_written_is_told_by_health_until_it_can(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        (tmp_path / ".room").mkdir()  # where the look for room writes
        status, health = here.ask("GET", "/v1/health")
        assert (status, health["status"], health["parts"]["table"]) == (200, "degraded", "down")
        (tmp_path / ".room").rmdir()
        assert here.ask("GET", "/v1/health")[1]["status"] == "ok"


def test_a_file_that_cannot_be_written_is_told_by_health_although_there_is_room(tmp_path: Path) -> None:
    with running(tmp_path) as here:
        connection = here.service._database._writer._connection
        connection.execute("PRAGMA query_only = ON")
        assert here.ask("GET", "/v1/health")[1]["parts"]["table"] == "down"
        connection.execute("PRAGMA query_only = OFF")
        assert here.ask("GET", "/v1/health")[1]["status"] == "ok"


def test_an_embedder_that_does_not_answer_at_start_is_said_and_no_reason_to_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = ScriptedEmbedder()
    embedder.fail(EmbedderUnavailableError("down"))
    with LocalService(settings(tmp_path)) as service:
        use_embedder(service, embedder)
        here = Here(service)
        wait_until(lambda: "the embedding model does not answer" in caplog.messages)
        assert here.search("tea")["degraded"] == "embedder_unavailable"
        here.end()


def test_a_search_engine_that_is_not_there_is_no_reason_not_to_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    closed = "http://127.0.0.1:1"
    with running(tmp_path, search="opensearch", opensearch_url=closed) as here:
        assert "the index is not there yet" in caplog.messages
        here.add("Tea is green.")
        found = here.search("green tea")
        assert (found["degraded"], len(found["items"])) == ("index_unavailable", 1)


def test_what_was_erased_is_scrubbed_from_the_file_at_start_and_every_half_minute_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an erase of a large file leaves to later, or a killed process left (M13, S5)."""
    assert module.SCRUB_EVERY_S <= 30
    monkeypatch.setattr(module, "SCRUB_EVERY_S", 0.01)
    scrubs: list[float] = []
    own = Database.scrub
    monkeypatch.setattr(Database, "scrub", lambda database: scrubs.append(0) or own(database))
    with running(tmp_path):
        wait_until(lambda: len(scrubs) > 2)


def test_the_model_and_the_owners_space_are_loaded_before_anybody_asks(tmp_path: Path) -> None:
    embedder = ScriptedEmbedder()
    with LocalService(settings(tmp_path)) as service:
        use_embedder(service, embedder)
        service.start()
        wait_until(lambda: embedder.asked)


# ---------------------------------------------------------------------------- where it is


@pytest.mark.parametrize(
    ("others", "url"),
    [
        ({}, "http://127.0.0.1:{port}"),
        ({"host": "localhost"}, "http://localhost:{port}"),
        ({"host": "0.0.0.0", "allow_remote": True}, "http://127.0.0.1:{port}"),
        ({"public_url": "https://memory.example/"}, "https://memory.example"),
    ],
)
def test_the_url_is_one_that_clients_here_can_use(tmp_path: Path, others: dict[str, Any], url: str) -> None:
    with LocalService(settings(tmp_path, **others)) as service:
        assert service.url == url.format(port=service._server.port)


def test_an_ipv6_address_is_written_in_brackets(tmp_path: Path) -> None:
    try:
        with LocalService(settings(tmp_path, host="::1")) as service:
            assert service.url == f"http://[::1]:{service._server.port}"
    except CannotStartError:
        pytest.skip("this machine has no IPv6")


@pytest.mark.parametrize(
    ("others", "host", "status"),
    [
        ({}, "evil.example", 403),
        ({}, "localhost:1", 200),
        ({"public_url": "https://memory.example"}, "memory.example", 200),
        ({"allow_remote": True}, "evil.example", 200),
    ],
)
def test_only_names_of_this_machine_are_answered_unless_others_are_let_in(
    tmp_path: Path, others: dict[str, Any], host: str, status: int
) -> None:
    with running(tmp_path, **others) as here:
        connection = HTTPConnection("127.0.0.1", here.service._server.port, timeout=20)
        connection.request("GET", "/v1/health", headers={"Host": host})
        assert connection.getresponse().status == status
        connection.close()


# ---------------------------------------------------------------------------- defaults


def test_a_laptop_searches_by_meaning_where_the_model_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _name: object())
    chosen = with_laptop_defaults(Settings())
    assert (chosen.embedder, chosen.log_level) == ("bundled", "warning")


def test_a_laptop_without_the_model_searches_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _name: None)
    assert with_laptop_defaults(Settings()).embedder == "none"


def test_what_was_stated_stands() -> None:
    stated = Settings.model_validate({"embedder": "none", "log_level": "debug"})
    chosen = with_laptop_defaults(stated)
    assert (chosen.embedder, chosen.log_level) == ("none", "debug")


def test_a_file_that_is_slow_to_close_does_not_keep_it_from_ending() -> None:
    go_on = threading.Event()
    module._within(0.01, lambda: go_on.wait(20))
    go_on.set()
