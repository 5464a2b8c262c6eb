"""docs/cli.md names every command, option, variable and exit code, and nothing that is gone. Read from the command."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from infra.cli.app import app
from infra.cli.failures import ExitCode
from infra.cli.settings import CliSettings
from tests.architecture.rules import PROJECT

PAGE = (PROJECT / "docs" / "cli.md").read_text()
COMMON = {"--json", "--space", "--help"}
"""Told once, for all."""
OPTION = r"(?<![\w-])--[a-z](?:[a-z-]*[a-z])?(?![\w-])"


def _walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from _walk(inner, f"{path} {name}")
    else:
        yield path, command


WHOLE = typer.main.get_command(app)
COMMANDS: dict[str, Any] = dict(_walk(WHOLE, "palimpsest"))


def _options(command: Any) -> set[str]:
    options = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    return {option for option in options if option.startswith("--")}


def _section(path: str) -> str:
    found = re.search(rf"(?ms)^### `{re.escape(path)}`\n(.*?)(?=^##|\Z)", PAGE)
    assert found, f"docs/cli.md has no section `{path}`"
    return found[1]


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_a_section_that_names_its_options_and_no_others(path: str) -> None:
    options = _options(COMMANDS[path]) - COMMON
    named = set(re.findall(OPTION, _section(path)))
    assert options - named == set()
    assert named - options - COMMON == set()


def test_no_section_is_about_a_command_that_is_gone() -> None:
    assert set(re.findall(r"(?m)^### `(palimpsest [a-z ]+)`$", PAGE)) == set(COMMANDS)


def test_the_options_before_the_command_are_named() -> None:
    head = PAGE.split("## Exit codes")[0]
    assert _options(WHOLE) - set(re.findall(OPTION, head)) == set()


def test_every_command_prints_json_and_says_what_it_does() -> None:
    for path, command in COMMANDS.items():
        assert "--json" in _options(command), path
        assert command.help, path


def test_every_exit_code_and_variable_is_named() -> None:
    codes = {int(code) for code in re.findall(r"(?m)^\| (\d+) \|", PAGE)}
    assert codes == {int(code) for code in ExitCode}
    own = {f"PALIMPSEST_CLI_{name.upper()}" for name in CliSettings.model_fields if name != "data"}
    assert set(re.findall(r"PALIMPSEST_CLI_[A-Z]+", PAGE)) == own
