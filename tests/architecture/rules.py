"""The rules of the code that no linter has, as functions from a syntax tree to the lines that break them."""

import ast
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

MODULE_LINES = 400
FUNCTION_LINES = 50


@dataclass(frozen=True)
class Broken:
    """A line that breaks a rule; `where` is the function around it, as `Class.method`, or `` at module level."""

    line: int
    where: str
    what: str


def source_files() -> list[Path]:
    """The Python files of the product: what runs, in the cloud or on a laptop."""
    files = [PROJECT / "app.py", *(PROJECT / "chalicelib").rglob("*.py"), *(PROJECT / "infra").rglob("*.py")]
    return sorted(
        file for file in files if file.exists() and not {"__pycache__", "node_modules"} & set(file.parts)
    )


def project_files() -> list[Path]:
    """Every file that belongs to the project: known to git, or not yet known and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
    )
    names = {PROJECT / name for name in listed.stdout.decode().split("\0") if name}
    return sorted(name for name in names if name.is_file())


def name_of(file: Path) -> str:
    """A file as the rules' own lists name it: `chalicelib/web/openapi.py`."""
    return file.relative_to(PROJECT).as_posix()


def dotted(node: ast.expr) -> str:
    """`os.environ.get` of an expression that is a name or a chain of attributes, otherwise ``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else f"?.{node.attr}"
    return ""


def with_place(tree: ast.AST, place: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Every node below `tree` with the name of the function or class around it."""
    for node in ast.iter_child_nodes(tree):
        yield node, place
        inner = place
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{place}.{node.name}" if place else node.name
        yield from with_place(node, inner)


def long_functions(tree: ast.AST) -> list[Broken]:
    """Functions of more than FUNCTION_LINES lines, their docstring not counted."""
    found = []
    for node, place in with_place(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                lines -= (first.end_lineno or first.lineno) - first.lineno + 1
            if lines > FUNCTION_LINES:
                name = f"{place}.{node.name}" if place else node.name
                found.append(Broken(node.lineno, name, f"{lines} lines"))
    return found


def catch_alls(tree: ast.AST) -> list[Broken]:
    """Handlers of every exception that do not raise it again."""
    found = []
    for node, place in with_place(tree):
        if isinstance(node, ast.ExceptHandler) and _catches_all(node.type) and not _raises_again(node):
            found.append(Broken(node.lineno, place, "catches everything"))
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "suppress":
            found.extend(
                Broken(node.lineno, place, "suppresses everything") for a in node.args if _catches_all(a)
            )
    return found


def _catches_all(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    if isinstance(kind, ast.Tuple):
        return any(_catches_all(one) for one in kind.elts)
    return dotted(kind).split(".")[-1] in {"Exception", "BaseException"}


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def environment_reads(tree: ast.AST) -> list[Broken]:
    """Reads of the process's environment; setting a variable for a library is not a read."""
    written = {
        id(node.value)
        for node in ast.walk(tree)
        if (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.Attribute) and node.attr == "setdefault")
    }
    found = []
    for node, place in with_place(tree):
        if isinstance(node, ast.Attribute) and dotted(node) in {
            "os.environ",
            "os.environb",
            "os.getenv",
            "os.getenvb",
        }:
            if id(node) not in written:
                found.append(Broken(node.lineno, place, dotted(node)))
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            found.extend(
                Broken(node.lineno, place, f"from os import {one.name}")
                for one in node.names
                if one.name.startswith(("environ", "getenv"))
            )
    return found


@dataclass(frozen=True)
class _Bound:
    """A call that may wait for another machine or process, and the keywords of which all must be given."""

    keywords: tuple[str, ...]
    or_positions: int = 99
    """That many positional arguments give the time-out as well."""


_HTTP_VERBS = ("get", "post", "put", "patch", "delete", "head", "options", "request", "stream")

BOUNDS: dict[str, _Bound] = {
    "OpenSearch": _Bound(("timeout",)),
    "Config": _Bound(("connect_timeout", "read_timeout")),
    "boto3.client": _Bound(("config",)),
    "boto3.resource": _Bound(("config",)),
    "session.client": _Bound(("config",)),
    "session.resource": _Bound(("config",)),
    "create_client": _Bound(("config",)),
    "Connection": _Bound(("connect_timeout_seconds", "read_timeout_seconds")),
    "TableConnection": _Bound(("connect_timeout_seconds", "read_timeout_seconds")),
    "urlopen": _Bound(("timeout",), or_positions=3),
    "create_connection": _Bound(("timeout",), or_positions=2),
    "HTTPConnection": _Bound(("timeout",)),
    "HTTPSConnection": _Bound(("timeout",)),
    "PoolManager": _Bound(("timeout",)),
    "httpx.Client": _Bound(("timeout",)),
    "httpx.AsyncClient": _Bound(("timeout",)),
    "sqlite3.connect": _Bound(("timeout",)),
    **{
        f"{library}.{verb}": _Bound(("timeout",)) for library in ("requests", "httpx") for verb in _HTTP_VERBS
    },
    **{f"subprocess.{name}": _Bound(("timeout",)) for name in ("run", "call", "check_call", "check_output")},
}
"""By the name of what is called: its last part, or its last two."""


def unbounded_calls(tree: ast.AST) -> list[Broken]:
    """Calls that may wait for ever, because no time-out is written where they are made."""
    found = []
    for node, place in with_place(tree):
        if not isinstance(node, ast.Call):
            continue
        parts = dotted(node.func).split(".")
        bound = BOUNDS.get(".".join(parts[-2:])) or BOUNDS.get(parts[-1])
        if bound is None or len(node.args) >= bound.or_positions:
            continue
        given = {keyword.arg for keyword in node.keywords}
        missing = [name for name in bound.keywords if name not in given]
        if missing:
            found.append(
                Broken(node.lineno, place, f"{'.'.join(parts)}(...) without {' and '.join(missing)}")
            )
    return found


def imported_modules(tree: ast.AST) -> set[str]:
    """Every module that is imported anywhere in the tree, by its full name."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found
