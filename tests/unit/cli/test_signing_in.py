"""A key is checked before it is kept, kept for its owner's eyes only, and sent to its own service only."""

import json
import os
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest

from infra.cli.connection import is_loopback
from tests.fakes.terminal import Terminal
from tests.prove.degradation.gateway import Forward, Reply, Request, gateway


@pytest.fixture
def outside(terminal: Terminal) -> Terminal:
    """The terminal of somebody who has set nothing."""
    terminal.set(PALIMPSEST_CLI_URL=None, PALIMPSEST_CLI_KEY=None)
    return terminal


def _log_in(terminal: Terminal, key: str | None = None, *options: str) -> int:
    typed = (key or terminal.client.key) + "\n"
    return terminal.type("login", "--url", terminal.url, "--key-stdin", *options, typed=typed).code


def _run_json(folder: Path, mode: int = 0o600, folder_mode: int = 0o700, **said: object) -> None:
    data = folder / ".palimpsest"
    data.mkdir(exist_ok=True)
    (data / "run.json").write_text(json.dumps(said))
    (data / "run.json").chmod(mode)
    data.chmod(folder_mode)


def test_after_a_login_commands_know_the_service(outside: Terminal) -> None:
    before = outside.type("whoami")
    assert (before.code, "palimpsest login" in before.err) == (1, True)
    assert _log_in(outside) == 0
    assert "anna" in outside.type("whoami").out
    assert outside.type("whoami", "--json").json == outside.client.get("/v1/me").json
    assert outside.type("logout").code == 0
    assert outside.type("whoami").code == 1


def test_the_login_is_readable_by_its_owner_only(outside: Terminal) -> None:
    assert _log_in(outside) == 0
    [kept] = outside.config.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.chmod(0o644)
    refused = outside.type("whoami")
    assert (refused.code, "chmod 600" in refused.err) == (1, True)


def test_a_key_that_does_not_hold_is_not_kept_and_never_shown(outside: Terminal) -> None:
    ended = outside.type("login", "--url", outside.url, "--key-stdin", typed="plm_wrong\n")
    assert ended.code == 1
    assert "plm_wrong" not in ended.out + ended.err
    assert not outside.config.exists()


def test_a_failed_login_leaves_the_former_one(outside: Terminal) -> None:
    assert _log_in(outside) == 0
    assert _log_in(outside, "plm_wrong") == 1
    assert outside.type("whoami").code == 0


def test_without_a_terminal_a_key_is_not_asked_for(outside: Terminal) -> None:
    ended = outside.type("login", "--url", outside.url)
    assert (ended.code, "--key-stdin" in ended.err) == (1, True)


@pytest.mark.parametrize("url", ["http://memory.example", "http://10.0.0.7:8340"])
def test_a_key_is_not_sent_over_plain_http_to_another_machine(outside: Terminal, url: str) -> None:
    outside.set(PALIMPSEST_CLI_URL=url, PALIMPSEST_CLI_KEY=outside.client.key)
    for command in (["whoami"], ["login", "--key-stdin"], ["memories", "list"]):
        ended = outside.type(*command, typed="plm_x\n")
        assert (ended.code, "plain HTTP" in ended.err) == (1, True)


def test_a_kept_key_does_not_go_to_another_service(outside: Terminal) -> None:
    assert _log_in(outside) == 0
    keys: list[str | None] = []

    def listen(request: Request, forward: Forward, _closing: Event) -> Reply:
        keys.append(request.headers.get("authorization"))
        return forward()

    with gateway(outside.url) as way:
        way.fault = listen
        ended = outside.type("--url", way.url, "whoami")
    assert (ended.code, f"There is no key for {way.url}" in ended.err) == (1, True)
    assert set(keys) == {None}


def test_that_a_service_does_not_run_is_told_before_that_its_key_is_not_known(outside: Terminal) -> None:
    outside.set(PALIMPSEST_CLI_URL="http://127.0.0.1:9")
    ended = outside.type("whoami")
    assert (ended.code, "127.0.0.1:9 cannot be reached" in ended.err) == (3, True)


def test_a_service_that_runs_in_this_folder_is_found(outside: Terminal, tmp_path: Path) -> None:
    _run_json(tmp_path, url=outside.url, key=outside.client.key, pid=os.getpid())
    assert "run.json" in outside.type("whoami").out
    outside.set(PALIMPSEST_DATA=str(tmp_path / "elsewhere"))
    assert outside.type("whoami").code == 1


def test_what_a_dead_process_left_or_names_another_machine_is_not_believed(
    outside: Terminal, tmp_path: Path
) -> None:
    _run_json(tmp_path, url=outside.url, key=outside.client.key, pid=2**22 + 1)
    assert "No service is known" in outside.type("whoami").err
    _run_json(tmp_path, url="https://memory.example", key=outside.client.key, pid=os.getpid())
    assert "No service is known" in outside.type("whoami").err


@pytest.mark.parametrize("pid", [0, -1, None, "1", True, 1.5, 2**80])
def test_a_pid_that_is_nobodys_is_not_believed(outside: Terminal, tmp_path: Path, pid: object) -> None:
    _run_json(tmp_path, url=outside.url, key=outside.client.key, pid=pid)
    assert "No service is known" in outside.type("whoami").err


@pytest.mark.parametrize(
    "form",
    [
        "http://{}\\@127.0.0.1",
        "http://{}\\.127.0.0.1",
        "http://{}\x00@127.0.0.1",
        "http://x@{}",
        "//{}",
        "file://{}",
        "http://{}/\x1b[2J",
    ],
)
def test_a_url_that_parsers_read_differently_is_refused_wherever_it_comes_from(
    outside: Terminal, tmp_path: Path, form: str
) -> None:
    with gateway(outside.url) as way:
        url = form.format(way.url.removeprefix("http://"))
        _run_json(tmp_path, url=url, key="plm_planted", pid=os.getpid())
        assert outside.type("memories", "add", "Marie.").code == 1
        outside.config.mkdir()
        (outside.config / "login.json").write_text(json.dumps({"url": url, "key": "plm_kept"}))
        (outside.config / "login.json").chmod(0o600)
        kept = outside.type("memories", "list")
        assert (kept.code, "login.json is damaged" in kept.err) == (1, True)
        outside.set(PALIMPSEST_CLI_KEY="plm_mine")
        assert outside.type("--url", url, "memories", "list").code == 2
        assert outside.type("login", "--url", url, "--key-stdin", typed="plm_x\n").code == 2
        if "\x00" not in url:
            outside.set(PALIMPSEST_CLI_URL=url)
            assert outside.type("memories", "list").code == 2
        assert way.received == 0


def test_what_is_this_machine_is_what_the_connection_goes_to() -> None:
    assert is_loopback("http://[::1]:8340/api")
    assert is_loopback("HTTP://LOCALHOST:8340")
    assert not is_loopback("http://192.0.2.2:9970\\@127.0.0.1")
    assert not is_loopback("http://127.0.0.1.example")


@pytest.mark.parametrize(
    ("mode", "folder_mode"), [(0o620, 0o700), (0o602, 0o700), (0o640, 0o700), (0o600, 0o770), (0o600, 0o777)]
)
def test_a_run_json_that_others_could_have_written_is_not_believed(
    outside: Terminal, tmp_path: Path, mode: int, folder_mode: int
) -> None:
    _run_json(tmp_path, mode, folder_mode, url=outside.url, key=outside.client.key, pid=os.getpid())
    ended = outside.type("whoami")
    assert (ended.code, "chmod go= .palimpsest" in ended.err) == (1, True)
    assert outside.type("doctor", "--json").json["findings"][0]["fix"].startswith("chmod go= .palimpsest")


def test_a_run_json_of_somebody_else_is_not_believed(
    outside: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_json(tmp_path, url=outside.url, key=outside.client.key, pid=os.getpid())
    monkeypatch.setattr("infra.cli.connection.os.geteuid", lambda: os.getuid() + 1)
    assert "belongs to somebody else" in outside.type("whoami").err


def test_a_run_json_that_is_a_link_or_no_file_is_not_believed(outside: Terminal, tmp_path: Path) -> None:
    _run_json(tmp_path, url=outside.url, key=outside.client.key, pid=os.getpid())
    file = tmp_path / ".palimpsest" / "run.json"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert "No service is known" in outside.type("whoami").err
    file.unlink()
    os.mkfifo(file, 0o600)
    assert "No service is known" in outside.type("whoami").err


def test_a_service_known_from_run_json_alone_gets_its_own_key_and_no_other(
    outside: Terminal, tmp_path: Path
) -> None:
    keys: list[str] = []

    def listen(request: Request, forward: Forward, _closing: Event) -> Reply:
        keys.append(request.headers["authorization"])
        return forward()

    with gateway(outside.url) as way:
        way.fault = listen
        _run_json(tmp_path, url=way.url, key=outside.client.key, pid=os.getpid())
        outside.set(PALIMPSEST_CLI_KEY="plm_mine")
        assert "run.json" in outside.type("whoami").out
        assert outside.type("login", "--key-stdin", typed="plm_typed\n").code == 1
        assert keys == [f"Bearer {outside.client.key}"]


@pytest.mark.parametrize("key", ["plm_\u0107", "plm_a\r\nX: y", 7, None])
def test_a_key_that_is_none_in_the_login_is_told(outside: Terminal, key: object) -> None:
    assert _log_in(outside) == 0
    [kept] = outside.config.iterdir()
    kept.write_text(json.dumps({"url": outside.url, "key": key}))
    ended = outside.type("whoami")
    assert (ended.code, "is damaged. Run: palimpsest login --url" in ended.err) == (1, True)
    assert "plm_" not in ended.err


@pytest.mark.parametrize(
    "answer", [b"{}", b'{"name": "other", "version": {"number": "2.19"}}', b'{"items": [{}]}']
)
@pytest.mark.parametrize("marked", [True, False])
def test_what_answers_json_and_is_no_palimpsest_ends_with_3_and_no_key_is_kept(
    outside: Terminal, monkeypatch: pytest.MonkeyPatch, answer: bytes, marked: bool
) -> None:
    headers = {"Content-Type": "application/json", **({"X-Correlation-Id": "x"} if marked else {})}
    with gateway(outside.url) as way:
        way.fault = lambda _request, _forward, _closing: Reply(body=answer, headers=headers)
        login = outside.type("login", "--url", way.url, "--key-stdin", typed="plm_x\n")
        assert (login.code, outside.config.exists()) == (3, False)
        outside.set(PALIMPSEST_CLI_URL=way.url, PALIMPSEST_CLI_KEY="plm_x")
        for command in (
            ["whoami"],
            ["spaces"],
            ["memories", "add", "Marie."],
            ["memories", "add", "-"],
            ["memories", "list"],
            ["memories", "search", "Marie"],
            ["memories", "recall", "Marie"],
            ["memories", "show", "1"],
            ["memories", "history", "1"],
            ["memories", "edit", "1", "--text", "x"],
            ["memories", "delete", "1"],
            ["memories", "delete", "1", "2"],
            ["memories", "undo", "1-2"],
            ["reindex"],
        ):
            ended = outside.type(*command, typed="one\n")
            assert (ended.code, "Traceback" in ended.err) == (3, False), command
        assert outside.type("doctor", "--json").code == 1
        if not marked:
            assert outside.type("memories", "list", "--json") == (3, "", outside.type("memories", "list").err)


def test_the_environment_comes_before_the_login_and_the_login_before_run_json(
    outside: Terminal, tmp_path: Path
) -> None:
    _run_json(tmp_path, url=outside.url, key=outside.client.key, pid=os.getpid())
    assert _log_in(outside) == 0
    assert "said by the login" in outside.type("whoami").out
    outside.set(PALIMPSEST_CLI_KEY=outside.client.key)
    assert "with the environment's key" in outside.type("whoami").out


def test_an_expired_key_is_told_as_the_api_does(outside: Terminal) -> None:
    expires = outside.world.now + timedelta(days=1)
    key = outside.client.post("/v1/keys", {"name": "short", "expires_at": expires.isoformat()}).json["key"][
        "key"
    ]
    assert _log_in(outside, key) == 0
    outside.world.later(days=2)
    assert outside.type("whoami").code == 1


def test_nobody_there_ends_with_3(outside: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.cli.service.FIRST_WAIT_S", 0.0)
    outside.set(PALIMPSEST_CLI_URL="http://127.0.0.1:9", PALIMPSEST_CLI_KEY="plm_x")
    ended = outside.type("memories", "list")
    assert (ended.code, "127.0.0.1:9 cannot be reached" in ended.err) == (3, True)


def test_a_setting_of_the_command_that_does_not_exist_is_named(outside: Terminal) -> None:
    outside.set(PALIMPSEST_CLI_KEYS="plm_secret")
    ended = outside.type("whoami")
    assert ended.code == 2
    assert "PALIMPSEST_CLI_KEYS" in ended.err
    assert "plm_secret" not in ended.err


def test_spaces_are_listed_with_rights_and_counts(terminal: Terminal) -> None:
    terminal.client.post("/v1/spaces/personal/memories", {"text": "Marie."})
    listed = terminal.type("spaces")
    assert (listed.code, "personal" in listed.out, "write" in listed.out) == (0, True, True)
    assert terminal.type("spaces", "--json").json == terminal.client.get("/v1/spaces").json
