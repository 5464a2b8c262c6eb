"""The list of public bug kinds is whole, and each covered row points to tests that exist."""

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.cases.rows import COUNT, ROWS, Later, Row

PROJECT = Path(__file__).resolve().parents[2]
HERE = "tests/cases/"


@cache
def written_in(file: str) -> frozenset[str]:
    """The tests of a file, as `test` or `Class::test`; none when there is no such file."""
    path = PROJECT / file
    if not path.exists():
        return frozenset()
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)
            }
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return frozenset(name for name in found if name.split("::")[-1].startswith("test_"))


def faults(rows: dict[str, Row]) -> list[str]:
    """What is wrong with a list of rows."""
    wrong = [f"{len(rows)} rows instead of {COUNT}"] if len(rows) != COUNT else []
    for report, row in rows.items():
        if not row.tests and row.later is None:
            wrong.append(f"{report}: neither covered nor left for later")
        if len(row.what) < 20 or not row.what.endswith("."):
            wrong.append(f"{report}: says too little")
        for node in row.tests:
            file, _, name = node.partition("::")
            if name not in written_in(file):
                wrong.append(f"{report}: there is no {node}")
    return wrong


def test_every_row_is_covered_by_tests_that_exist_or_left_for_later_with_the_reason() -> None:
    assert faults(ROWS) == []
    assert all(len(later.value) > 40 for later in Later)


def test_no_row_about_memories_and_their_engines_is_left_for_later() -> None:
    """What waits is about a part that does not exist yet."""
    waiting = {row.later for row in ROWS.values() if not row.tests}
    assert waiting == set(Later)
    assert sum(bool(row.tests) for row in ROWS.values()) >= 60


def test_every_test_of_this_folder_belongs_to_a_row() -> None:
    named = {node for row in ROWS.values() for node in row.tests if node.startswith(HERE)}
    written = {
        f"{HERE}{path.name}::{name}"
        for path in (PROJECT / HERE).glob("test_*.py")
        if path.name != Path(__file__).name
        for name in written_in(f"{HERE}{path.name}")
    }
    assert named == written


@pytest.mark.parametrize("report", [report for report, row in ROWS.items() if row.tests])
def test_a_test_of_this_folder_names_its_report(report: str) -> None:
    """Whoever reads a failing case must find the report that it is about."""
    first = report.replace(";", ",").split(",")[0].strip().split(" (")[0]
    for node in ROWS[report].tests:
        file, _, name = node.partition("::")
        if file.startswith(HERE):
            assert first in _docstring(file, name), f"{node} does not name {first}"


def _docstring(file: str, name: str) -> str:
    """What a test says of itself, and its class of itself."""
    scope, said = ast.parse((PROJECT / file).read_text()).body, ""
    for part in name.split("::"):
        node = next(
            one for one in scope if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name == part
        )
        said += ast.get_docstring(node) or ""
        scope = node.body
    return " ".join(said.split())


@pytest.mark.parametrize(
    ("planted", "seen"),
    [
        ({}, "0 rows"),
        ({"a#1": Row("It went quite wrong.")}, "neither covered nor left"),
        ({"a#1": Row("It went quite wrong.", (f"{HERE}test_rows.py::test_nothing",))}, "there is no"),
        ({"a#1": Row("It went quite wrong.", ("tests/cases/nowhere.py::test_x",))}, "there is no"),
        ({"a#1": Row("Wrong", later=Later.DISCORD)}, "says too little"),
    ],
)
def test_a_list_that_is_not_whole_is_found(planted: dict[str, Row], seen: str) -> None:
    assert any(seen in fault for fault in faults(planted))
