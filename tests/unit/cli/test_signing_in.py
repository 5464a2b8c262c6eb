"""A key is checked before it is kept, kept for its owner's eyes only, and sent to its own service only."""

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.fakes.terminal import Terminal


@pytest.fixture
def outside(terminal: Terminal) -> Terminal:
    """The terminal of somebody who has set nothing."""
    terminal.set(PALIMPSEST_CLI_URL=None, PALIMPSEST_CLI_KEY=None)
    return terminal


def _log_in(terminal: Terminal, key: str | None = None, *options: str) -> int:
    typed = (key or terminal.client.key) + "\n"
    return terminal.type("login", "--url", terminal.url, "--key-stdin", *options, typed=typed).code


def _run_json(folder: Path, **said: object) -> None:
    (folder / ".palimpsest").mkdir(exist_ok=True)
    (folder / ".palimpsest" / "run.json").write_text(json.dumps(said))


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
    ended = outside.type("--url", "http://127.0.0.1:9", "whoami")
    assert (ended.code, "There is no key for http://127.0.0.1:9" in ended.err) == (1, True)


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


def test_the_environment_comes_before_the_login_and_the_login_before_run_json(
    outside: Terminal, tmp_path: Path
) -> None:
    _run_json(tmp_path, url=outside.url, key=outside.client.key, pid=os.getpid())
    assert _log_in(outside) == 0
    assert "said by the login" in outside.type("whoami").out
    outside.set(PALIMPSEST_CLI_KEY=outside.client.key)
    assert "said by the environment" in outside.type("whoami").out


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
