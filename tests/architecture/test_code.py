"""The rules of the code hold everywhere. To break one, write the reason into its list here, or split the code."""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Callable

import pytest

from tests.architecture import rules

LONG_MODULES: dict[str, str] = {}
"""File: why it is longer than others may be."""

LONG_FUNCTIONS: dict[str, str] = {}
"""File::function: why it is longer than others may be."""

CATCH_ALLS = {
    "chalicelib/web/operations.py": "the boundary of HTTP: whatever happens becomes an answer of our form, and a log line",
    "chalicelib/jobs/entrypoint.py": "the boundary of events: one record's failure must not fail the others",
    "infra/local/loops.py": "the boundary of a thread: a loop that dies silently would be the worst fault",
}
"""The three wrappers at the edge; nothing else may catch what it cannot name."""

ENVIRONMENT = {
    "chalicelib/settings.py": "the one place that knows where settings come from",
    "infra/cli/settings.py": "the same for the command, whose settings are a person's and not an installation's",
    "infra/aws/shell.py": "the same for whoever deploys: what is read there becomes the settings of the functions",
}

UNBOUNDED: dict[str, str] = {}
"""File: why a call in it may wait for ever."""

DOMAIN_MAY_IMPORT = {"pydantic", "pydantic_core", "annotated_types", "typing_extensions", "chalicelib"}
INPUT_AND_OUTPUT = {
    "asyncio", "ctypes", "fcntl", "ftplib", "glob", "http", "io", "logging", "mmap", "multiprocessing", "os",
    "pathlib", "pickle", "select", "selectors", "shelve", "shutil", "signal", "smtplib", "socket", "socketserver",
    "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "urllib",
}  # fmt: skip
"""Parts of the standard library that the domain, which is values and rules, has no business with."""


def _broken(rule: Callable[[ast.AST], list[rules.Broken]], allowed: dict[str, str]) -> list[str]:
    return [
        f"{rules.name_of(file)}:{broken.line} {broken.where}: {broken.what}"
        for file in rules.source_files()
        for broken in rule(ast.parse(file.read_text()))
        if rules.name_of(file) not in allowed and f"{rules.name_of(file)}::{broken.where}" not in allowed
    ]


def test_no_module_is_too_long_to_read_at_once() -> None:
    long = {
        rules.name_of(file): lines
        for file in rules.source_files()
        if (lines := len(file.read_text().splitlines())) > rules.MODULE_LINES
    }
    assert {name: lines for name, lines in long.items() if name not in LONG_MODULES} == {}


def test_no_function_is_too_long_to_see_at_once() -> None:
    assert _broken(rules.long_functions, LONG_FUNCTIONS) == []


def test_only_the_edges_catch_everything() -> None:
    assert _broken(rules.catch_alls, CATCH_ALLS) == []


def test_an_edge_catches_everything_in_one_place_only() -> None:
    for name in CATCH_ALLS:
        file = rules.PROJECT / name
        if file.exists():
            assert len(rules.catch_alls(ast.parse(file.read_text()))) <= 1, name


def test_only_settings_read_the_environment() -> None:
    assert _broken(rules.environment_reads, ENVIRONMENT) == []


def test_every_call_that_leaves_the_process_has_a_time_out() -> None:
    assert _broken(rules.unbounded_calls, UNBOUNDED) == []


def test_tables_answer_well_before_the_gateway_gives_up() -> None:
    """PynamoDB's own time-outs are 15 s and 30 s; API Gateway gives up after 29 s."""
    package = importlib.import_module("chalicelib.stores.dynamodb")
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    from pynamodb.models import Model

    waiting = list(Model.__subclasses__())
    while waiting:
        model = waiting.pop()
        waiting.extend(model.__subclasses__())
        if model.__module__.startswith("chalicelib.") and hasattr(model, "Meta"):
            seconds = model.Meta.connect_timeout_seconds + model.Meta.read_timeout_seconds
            assert seconds <= 10, f"{model.__name__} may wait for {seconds} s"


def test_the_domain_imports_values_and_rules_only() -> None:
    for file in sorted((rules.PROJECT / "chalicelib" / "domain").rglob("*.py")):
        for module in rules.imported_modules(ast.parse(file.read_text())):
            top = module.split(".")[0]
            assert top in sys.stdlib_module_names | DOMAIN_MAY_IMPORT, (
                f"{rules.name_of(file)} imports {module}"
            )
            assert top not in INPUT_AND_OUTPUT, f"{rules.name_of(file)} imports {module}"


@pytest.mark.parametrize(
    "allowed",
    [LONG_MODULES, LONG_FUNCTIONS, ENVIRONMENT, UNBOUNDED],
    ids=["modules", "functions", "environment", "calls"],
)
def test_no_exception_is_kept_for_code_that_is_gone(allowed: dict[str, str]) -> None:
    for name, reason in allowed.items():
        assert (rules.PROJECT / name.split("::")[0]).exists(), name
        assert len(reason) > 20, f"why may {name}?"
