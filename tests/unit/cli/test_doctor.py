"""`palimpsest doctor` finds what is wrong between the terminal and the last part, and ends with a code that says it."""

import os
import ssl
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from threading import Event

import pytest
from moto import mock_aws

from chalicelib import bootstrap
from chalicelib.bootstrap import build
from chalicelib.errors import StoreUnavailableError
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from infra.cli import direct
from infra.local.data_folder import DataFolder
from infra.local.service import LocalService
from tests.fakes.terminal import Ended, Terminal, served
from tests.fakes.world import World
from tests.prove.degradation.gateway import Forward, Reply, Request, gateway


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.cli.service.FIRST_WAIT_S", 0.0)


def found(ended: Ended) -> list[tuple[str, str, str]]:
    """Severity, part and fix of each finding."""
    return [(one["severity"], one["part"], one["fix"]) for one in ended.json["findings"]]


def look(terminal: Terminal) -> Ended:
    return terminal.type("doctor", "--json")


@pytest.fixture
def nowhere(terminal: Terminal) -> Terminal:
    """A terminal without a service and without a login."""
    terminal.set(PALIMPSEST_CLI_URL=None, PALIMPSEST_CLI_KEY=None)
    return terminal


@pytest.fixture
def folder(nowhere: Terminal, tmp_path: Path) -> Path:
    """The data folder of a service that ran here and has ended."""
    nowhere.set(PALIMPSEST_EMBEDDER="none")
    data = tmp_path / ".palimpsest"
    with LocalService(Settings(port=0, data=data, embedder="none")) as service:
        service.start()
    return data


def test_where_nothing_is_wrong_it_ends_with_0(terminal: Terminal) -> None:
    terminal.type("memories", "add", "Marie.")
    terminal.world.settle()
    ended = terminal.type("doctor")
    assert (ended.code, ended.out) == (0, f"Nothing is wrong at {terminal.url}.\n")
    assert look(terminal).json["compared"] == {"spaces": 1, "memories": 1, "all": True}


def test_what_the_service_says_of_itself_is_told_with_the_command_that_mends_it(terminal: Terminal) -> None:
    terminal.world.parts.index.drop()
    ended = terminal.type("doctor")
    assert ended.code == 1
    assert "fault (index): There is no complete index" in ended.out
    assert "\n    make run\n" in ended.out
    assert found(look(terminal)) == [("fault", "index", "make run")]


def test_warnings_alone_end_with_4(terminal: Terminal) -> None:
    soon = datetime.now(UTC) + timedelta(days=5)
    made = terminal.client.post(
        "/v1/keys", {"name": "short", "scopes": ["read", "write", "admin"], "expires_at": soon.isoformat()}
    )
    terminal.set(PALIMPSEST_CLI_KEY=made.json["key"]["key"])
    ended = look(terminal)
    assert (ended.code, found(ended)) == (4, [("warning", "key", f"palimpsest login --url {terminal.url}")])
    assert f"expires on {soon:%Y-%m-%d}" in ended.json["findings"][0]["message"]


def test_no_key(terminal: Terminal) -> None:
    terminal.set(PALIMPSEST_CLI_KEY=None)
    ended = look(terminal)
    assert (ended.code, found(ended)) == (1, [("fault", "key", f"palimpsest login --url {terminal.url}")])


def test_a_key_that_does_not_hold(terminal: Terminal) -> None:
    terminal.set(PALIMPSEST_CLI_KEY="plm_wrong")
    ended = look(terminal)
    assert found(ended) == [("fault", "key", f"palimpsest login --url {terminal.url}")]
    assert "plm_wrong" not in ended.out + ended.err


def test_a_key_that_may_not_look_inside_still_learns_what_does_not_answer(terminal: Terminal) -> None:
    made = terminal.client.post("/v1/keys", {"name": "reader", "scopes": ["read"]})
    terminal.set(PALIMPSEST_CLI_KEY=made.json["key"]["key"])
    terminal.world.break_embedder()
    login = f"palimpsest login --url {terminal.url}"
    ended = look(terminal)
    assert found(ended) == [("warning", "key", login), ("fault", "embedder", "make run")]
    assert "no scope write." in ended.json["findings"][0]["message"]


def test_a_users_key_is_no_fault_and_it_says_how_far_it_could_look(terminal: Terminal) -> None:
    made = terminal.client.post("/v1/keys", {"name": "user", "scopes": ["read", "write"]})
    terminal.set(PALIMPSEST_CLI_KEY=made.json["key"]["key"])
    ended = terminal.type("doctor")
    assert (ended.code, ended.out) == (0, f"Nothing is wrong at {terminal.url}.\n")
    assert "Without an admin's key its parts were only asked whether they answer" in ended.err
    assert look(terminal).json["asked"] == "health"


def test_it_says_how_much_was_compared_when_that_is_not_all(terminal: Terminal) -> None:
    terminal.world.add_facts(201)
    terminal.world.settle()
    ended = terminal.type("doctor")
    assert ended.code == 0
    assert "Not everything was compared with the index, but " in ended.err
    assert "memories of 1 space.\n" in ended.err


def test_a_service_that_hangs_is_told_soon_and_is_to_be_ended(
    nowhere: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.cli.doctor.SILENCE_S", 0.2)
    held = DataFolder(folder)

    def hang(_request: Request, _forward: Forward, closing: Event) -> Reply:
        closing.wait(10)
        return Reply(sent=None)

    with gateway(nowhere.url) as way:
        way.fault = hang
        nowhere.set(PALIMPSEST_CLI_URL=way.url)
        began = time.monotonic()
        ended = look(nowhere)
        taken = time.monotonic() - began
        way.closing.set()
    held.close()
    assert taken < 5
    assert way.faulty == 1
    assert found(ended) == [("fault", "service", "stop the process there, then: make run")]
    assert "does not answer" in ended.json["findings"][0]["message"]


def test_settings_that_make_no_sense_are_a_finding_and_json_is_printed(nowhere: Terminal) -> None:
    nowhere.set(PALIMPSEST_PORT="none", PALIMPSEST_CLI_URL="http://127.0.0.1:9")
    ended = look(nowhere)
    assert ended.code == 1
    assert found(ended)[1] == ("fault", "settings", "less docs/settings.md")
    assert "PALIMPSEST_PORT" in ended.json["findings"][1]["message"]
    nowhere.set(PALIMPSEST_PORT=None, PALIMPSEST_CLI_URL="nowhere")
    ended = look(nowhere)
    assert (ended.code, found(ended)[0]) == (1, ("fault", "settings", "less docs/cli.md"))


def test_json_of_others_is_no_service(terminal: Terminal) -> None:
    with gateway(terminal.url) as way:
        way.fault = lambda _request, _forward, _closing: Reply(headers={"X-Correlation-Id": "x"})
        for key in (terminal.client.key, None):
            terminal.set(PALIMPSEST_CLI_URL=way.url, PALIMPSEST_CLI_KEY=key)
            [(severity, part, _)] = found(look(terminal))
            assert (severity, part) == ("fault", "service")


def test_a_certificate_that_is_not_trusted_is_told_as_such(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        error = ssl.SSLCertVerificationError(1, "self-signed")
        error.reason, error.verify_message = "CERTIFICATE_VERIFY_FAILED", "self-signed certificate"
        raise error

    monkeypatch.setattr("urllib3.connection.HTTPSConnection.connect", refuse)
    terminal.set(PALIMPSEST_CLI_URL="https://127.0.0.1:9")
    added = terminal.type("memories", "add", "Marie.")
    assert (added.code, "nobody knows" in added.err) == (3, False)
    assert "its certificate is not trusted (self-signed certificate), so nothing was sent" in added.err
    assert "SSL_CERT_FILE" in added.err
    assert found(look(terminal))[0][2] == "SSL_CERT_FILE=authority.pem palimpsest doctor"


def test_a_clock_that_differs_from_the_services(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    class TwoHoursAgo(datetime):
        """A clock that is behind."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) - timedelta(hours=2, seconds=30)

    monkeypatch.setattr("infra.cli.doctor.datetime", TwoHoursAgo)
    ended = look(terminal)
    assert found(ended) == [("warning", "clock", "sudo timedatectl set-ntp true")]
    assert ended.json["findings"][0]["message"] == "This machine's clock is 2 hours behind the service's."


def test_nobody_and_nothing_here(nowhere: Terminal) -> None:
    ended = look(nowhere)
    assert (ended.code, found(ended)) == (1, [("fault", "service", "make run")])


def test_a_service_that_does_not_answer_and_whose_parts_are_not_here(terminal: Terminal) -> None:
    terminal.set(PALIMPSEST_CLI_URL="http://127.0.0.1:9")
    ended = look(terminal)
    assert (ended.code, found(ended), ended.json["asked"]) == (1, [("fault", "service", "make run")], None)
    for elsewhere in ("http://127.0.0.1:9/api", "https://memory.invalid"):
        terminal.set(PALIMPSEST_CLI_URL=elsewhere)
        assert found(look(terminal))[0][2] == f"curl -sS -m 10 {elsewhere}/v1/health"


def test_what_answers_and_is_no_palimpsest(terminal: Terminal) -> None:
    with gateway(terminal.url) as way:
        way.fault = lambda _request, _forward, _closing: Reply(body=b"<html>", headers={})
        terminal.set(PALIMPSEST_CLI_URL=way.url)
        assert found(look(terminal)) == [("fault", "service", "palimpsest login --url URL")]


def test_without_a_running_service_its_data_folder_is_looked_at(nowhere: Terminal, folder: Path) -> None:
    ended = look(nowhere)
    assert (found(ended), ended.json["asked"]) == ([("fault", "service", "make run")], "parts")
    database = Database(folder / "palimpsest.sqlite")
    with database.write() as connection:
        connection.execute("DROP TABLE outbox")
        connection.execute("DELETE FROM search_generation")
    database.close()
    ended = look(nowhere)
    assert [part for _, part, _ in found(ended)] == ["service", "table", "index"]
    assert "There is no table outbox" in ended.out


def test_a_data_folder_that_another_process_holds(nowhere: Terminal, folder: Path) -> None:
    held = DataFolder(folder)
    try:
        ended = look(nowhere)
    finally:
        held.close()
    assert [part for _, part, _ in found(ended)] == ["service", "table"]
    assert "is in use by another Palimpsest" in ended.out


def test_without_a_service_tables_of_dynamodb_that_are_missing_are_told(nowhere: Terminal) -> None:
    nowhere.set(
        PALIMPSEST_STORE="dynamodb",
        PALIMPSEST_REGION="eu-central-1",
        PALIMPSEST_EMBEDDER="none",
        PALIMPSEST_TABLE_PREFIX="gone-",
    )
    with mock_aws():
        ended = look(nowhere)
    table = next(one for one in ended.json["findings"] if one["part"] == "table")
    assert table["message"] == "There is no table gone-memory, gone-account, gone-inbox."
    assert table["fix"] == "make deploy"


class Unreadable:
    """An account store whose table does not answer."""

    def __getattr__(self, _name: str) -> Callable[..., object]:
        def refuse(*_: object, **__: object) -> object:
            raise StoreUnavailableError("unreached")

        return refuse


def test_a_service_that_cannot_read_its_tables_is_told_and_its_parts_are_asked(
    terminal: Terminal, folder: Path
) -> None:
    assert folder.exists()
    world = terminal.world
    terminal.set(PALIMPSEST_CLI_URL=terminal.url, PALIMPSEST_CLI_KEY=terminal.client.key)
    parts = replace(world.parts, accounts=Unreadable())  # type: ignore[arg-type]
    bootstrap.use(build(Settings(), parts, world.clock))
    ended = look(terminal)
    assert (ended.json["asked"], found(ended)) == ("parts", [("fault", "table", "make run")])
    assert "The service says: the table does not answer" in ended.out


def test_an_index_is_built_anew_from_the_data_folder(nowhere: Terminal, folder: Path) -> None:
    database = Database(folder / "palimpsest.sqlite")
    with database.write() as connection:
        connection.execute("DELETE FROM search_generation")
    database.close()
    ended = nowhere.type("index", "rebuild")
    assert (ended.code, ended.err) == (0, "The index is built anew: 0 memories.\n")
    assert found(look(nowhere)) == [("fault", "service", "make run")]
    with direct.opened() as services:
        assert services.parts.index.ready()


def test_what_is_in_use_or_not_there_is_not_built_anew(nowhere: Terminal, folder: Path) -> None:
    held = DataFolder(folder)
    try:
        ended = nowhere.type("index", "rebuild")
    finally:
        held.close()
    assert (ended.code, "is in use" in ended.err) == (1, True)
    nowhere.set(PALIMPSEST_DATA=os.devnull)
    assert nowhere.type("index", "rebuild").code == 1


def test_reindexing_waits_until_it_is_done(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    world = terminal.world
    terminal.type("memories", "add", "Marie.")
    started = terminal.type("reindex", "--no-wait", "--json").json["job"]
    assert started["state"] == "queued"

    def work(_seconds: float) -> None:
        world.services.jobs.run(world.scope(), started["id"], lambda: True)

    monkeypatch.setattr("infra.cli.upkeep.time.sleep", work)
    ended = terminal.type("reindex")
    assert (ended.code, ended.err) == (0, f"The job {started['id']} is done: 1 memories.\n")
    assert terminal.type("reindex", "--all").err == "Started in 0 spaces.\n"


def test_reindexing_that_fails_says_why(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    world = terminal.world
    terminal.type("memories", "add", "Marie.")
    world.settle()
    with world.database.write() as connection:
        connection.execute("DELETE FROM vector")
    world.break_embedder()
    started = terminal.type("reindex", "--no-wait", "--json").json["job"]["id"]
    monkeypatch.setattr(
        "infra.cli.upkeep.time.sleep", lambda _: world.services.jobs.run(world.scope(), started, lambda: True)
    )
    ended = terminal.type("reindex")
    assert (ended.code, "failed" in ended.err) == (1, True)


def test_a_service_without_an_embedding_model_has_nothing_to_reindex(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(admin=True, embedder=None)
    with served(world) as url:
        ended = Terminal(world, url, tmp_path, monkeypatch).type("reindex")
    assert (ended.code, "nothing to index anew" in ended.err) == (1, True)
