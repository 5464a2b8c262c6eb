"""The documentation names everything there is, and nothing that is gone.

Read from the code: routes, settings, error codes, commands; and the targets of the Makefile.
"""

import importlib
import importlib.util
import inspect
import re
from typing import get_args

import pytest

from chalicelib.observability import Metric
from tests.architecture.rules import PROJECT

VERBS = "GET|POST|PUT|PATCH|DELETE"


@pytest.fixture(scope="module")
def docs() -> str:
    """README.md and all pages of docs, as one text."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("**/*.md"))]
    return "\n".join(page.read_text() for page in pages)


def routes() -> set[str]:
    """`GET /v1/memories/{number}` for each operation that the app serves."""
    from app import app

    return {f"{method} {path}" for path, methods in app.routes.items() for method in methods}


def settings() -> set[str]:
    """`PALIMPSEST_PORT` for each setting, and for each of the command's own."""
    from chalicelib.settings import FOR_CLI, FOR_DEPLOYMENT, Settings
    from infra.aws.deployment import STATED
    from infra.cli.settings import CliSettings

    names = {
        str(field.validation_alias or field.alias or f"PALIMPSEST_{name.upper()}")
        for name, field in Settings.model_fields.items()
    }
    names |= {f"{FOR_CLI}{name.upper()}" for name in CliSettings.model_fields if name != "data"}
    return names | {f"{FOR_DEPLOYMENT}{name.upper()}" for name in STATED}


def error_codes() -> set[str]:
    """`not_found` for each error that has a code of its own."""
    errors = importlib.import_module("chalicelib.errors")
    return {one.code for one in errors.HTTP_ERRORS if inspect.isclass(one)}


def commands() -> set[str]:
    """`/undo` for each command of a conversation."""
    if importlib.util.find_spec("chalicelib.domain.commands") is None:
        return set()
    return {f"/{name}" for name in importlib.import_module("chalicelib.domain.commands").COMMANDS}


def targets() -> set[str]:
    """`make run` for each target that the Makefile offers."""
    found = re.findall(r"(?m)^([a-z0-9-]+):.*## ", (PROJECT / "Makefile").read_text())
    return {f"make {target}" for target in found}


def missing(names: set[str], text: str) -> list[str]:
    """The names that `text` does not have as a word of its own."""
    return sorted(name for name in names if not re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", text))


def gone(pattern: str, names: set[str], text: str) -> list[str]:
    """What `text` has of the form of `pattern` and is not, or no longer, one of `names`."""
    return sorted({found for found in re.findall(pattern, text) if found not in names})


def test_every_route_is_documented(docs: str) -> None:
    assert missing(routes(), docs) == []


def test_no_route_is_documented_that_is_gone(docs: str) -> None:
    assert gone(rf"(?:{VERBS}) /[\w/{{}}.-]*[\w}}]|(?:{VERBS}) /(?![\w{{])", routes(), docs) == []


def test_every_setting_is_documented(docs: str) -> None:
    assert missing(settings(), docs) == []


def test_no_setting_is_documented_that_is_gone(docs: str) -> None:
    assert gone(r"PALIMPSEST_[A-Z0-9_]*[A-Z0-9]", settings(), docs) == []


def test_every_error_is_documented(docs: str) -> None:
    assert missing({f"`{code}`" for code in error_codes()}, docs) == []


def test_every_command_is_documented(docs: str) -> None:
    assert missing(commands(), docs) == []


def test_every_metric_is_documented(docs: str) -> None:
    assert missing({f"`{name}`" for name in get_args(Metric)}, docs) == []


def test_every_metric_is_counted_somewhere() -> None:
    sources = "".join(path.read_text() for path in (PROJECT / "chalicelib").rglob("*.py"))
    assert [
        name
        for name in get_args(Metric)
        if not re.search(rf"""(count|measure|_tell)\(\s*"{name}\"""", sources)
    ] == []


def test_every_make_target_is_documented(docs: str) -> None:
    assert missing(targets() - {"make help"}, docs) == []


def test_no_make_target_is_documented_that_is_gone(docs: str) -> None:
    assert gone(r"`(make [a-z0-9-]+)", targets(), docs) == []


def test_the_comparison_sees_what_is_missing_and_what_is_gone() -> None:
    assert missing({"GET /v1/a", "GET /v1/a/{n}"}, "`GET /v1/a/{n}`") == ["GET /v1/a"]
    assert gone(r"PALIMPSEST_[A-Z]+", {"PALIMPSEST_PORT"}, "PALIMPSEST_PORT PALIMPSEST_OLD") == [
        "PALIMPSEST_OLD"
    ]
