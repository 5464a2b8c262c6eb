"""R12, read from the code: every place from where something is asked of another machine, and its time-outs.

A library that may reach out is known here with what makes its clients or calls; one that is not known is found, and so
is a place without a time-out, one with None for it, and one that no probe puts before a server that never answers.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.rules import dotted, name_of, source_files, with_place

CONNECT_AND_READ = ("connect_timeout", "read_timeout")
ASKS: dict[str, tuple[str, ...]] = {
    "Config": CONNECT_AND_READ,
    "boto3.client": ("config",),
    "boto3.resource": ("config",),
    "session.client": ("config",),
    "create_client": ("config",),
    "Connection": ("connect_timeout_seconds", "read_timeout_seconds"),
    "TableConnection": ("connect_timeout_seconds", "read_timeout_seconds"),
    "OpenSearch": ("timeout",),
    "perform_request": ("timeout",),
    "Timeout": ("connect", "read"),
    "PoolManager": ("timeout",),
    "HTTPConnectionPool": ("timeout",),
    "HTTPSConnectionPool": ("timeout",),
    "HTTPConnection": ("timeout",),
    "HTTPSConnection": ("timeout",),
    "urlopen": ("timeout",),
    "create_connection": ("timeout",),
    "httpx.Client": ("timeout",),
    "httpx.get": ("timeout",),
    "httpx.post": ("timeout",),
    "requests.get": ("timeout",),
    "requests.post": ("timeout",),
    "requests.request": ("timeout",),
    "subprocess.run": ("timeout",),
}
"""What makes a client or a call, by its last part or its last two, and the keywords that bound it."""
AWS = {"boto3", "botocore"}
OF_A_SESSION = ("client", "resource")
"""What a session of boto3 is asked by, whatever it is called there."""
IN_PLACE_OF = {"Timeout": "total"}
"""One keyword that does for all the others."""

LIBRARIES = {"boto3", "botocore", "pynamodb", "opensearchpy", "urllib3"}
"""Libraries in use that reach out: all that they are asked by is in ASKS."""
NOT_IN_USE = {
    "aiohttp", "aiobotocore", "asyncio", "elasticsearch", "ftplib", "grpc", "http", "httpx", "imaplib", "openai",
    "paramiko", "poplib", "requests", "smtplib", "socket", "subprocess", "telnetlib", "urllib", "websocket", "websockets",
    "xmlrpc",
}  # fmt: skip
"""Others that do. Who begins to use one puts it into LIBRARIES and ASKS, and writes a probe."""
HARMLESS = {
    "http.HTTPStatus", "http.HTTPMethod", "urllib.parse", "requests.structures",
    "infra/local/http_server.py: socket",
}  # fmt: skip
"""Parts that ask nothing of anybody; the last one only listens."""

PROBED = {
    "chalicelib/providers/bedrock.py": "Bedrock",
    "chalicelib/providers/http.py": "OpenAI-compatible embedder",
    "chalicelib/providers/oidc.py": "OIDC key set",
    "chalicelib/providers/secrets_manager.py": "Secrets Manager",
    "chalicelib/queues/sqs.py": "SQS",
    "chalicelib/search/opensearch/client.py": "OpenSearch",
    "chalicelib/stores/dynamodb/database.py": "DynamoDB",
    "infra/local/tables.py": "DynamoDB streams",
}
"""File that reaches out -> the probe of `silences` that shows what it does when nobody answers."""
AT_A_TERMINAL = ("infra/aws/", "infra/cli/")
"""What a person runs, and can end: its calls have time-outs too, but it may use what a service may not."""


@dataclass(frozen=True)
class Site:
    """One place that makes a client, or a call."""

    file: str
    line: int
    call: str
    bounds: tuple[str, ...]
    missing: tuple[str, ...]

    def __str__(self) -> str:
        told = f"without {' and '.join(self.missing)}" if self.missing else f"with {', '.join(self.bounds)}"
        return f"{self.file}:{self.line} {self.call}(...) {told}"


def sites(files: Iterable[Path] | None = None) -> list[Site]:
    """All of them, in the product's own files or in these."""
    trees = {_name(file): ast.parse(file.read_text()) for file in (files or source_files())}
    asks = {**ASKS, **_subclasses(trees.values())}
    return [site for name, tree in trees.items() for site in _in(name, tree, asks)]


def unknown_libraries(files: Iterable[Path] | None = None) -> list[str]:
    """Imports of libraries that reach out, of which nobody has said by what they are asked."""
    return [
        f"{_name(file)}:{line} {imported}"
        for file in files or source_files()
        if not _name(file).startswith(AT_A_TERMINAL)
        for line, imported in _imported(ast.parse(file.read_text()))
        if imported.split(".")[0] in NOT_IN_USE - LIBRARIES
        and imported not in HARMLESS
        and not any(imported.startswith(f"{harmless}.") for harmless in HARMLESS)
        and f"{_name(file)}: {imported}" not in HARMLESS
    ]


def unprobed(found: Iterable[Site]) -> list[str]:
    """Files that reach out without a probe, and probes of files that do not."""
    return sorted({site.file for site in found if not site.file.startswith(AT_A_TERMINAL)} ^ PROBED.keys())


def _name(file: Path) -> str:
    try:
        return name_of(file)
    except ValueError:
        return file.name


def _subclasses(trees: Iterable[ast.AST]) -> Mapping[str, tuple[str, ...]]:
    """Classes of our own that are one of those in ASKS."""
    return {
        node.name: ASKS[base]
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for base in (dotted(one).split(".")[-1] for one in node.bases)
        if base in ASKS
    }


def _in(name: str, tree: ast.AST, asks: Mapping[str, tuple[str, ...]]) -> Iterator[Site]:
    aliases = _aliases(tree, asks)
    makes_clients = any(imported.split(".")[0] in AWS for _, imported in _imported(tree))
    of_session = _of_session(tree) if makes_clients else set()
    for node, _ in with_place(tree):
        if isinstance(node, ast.Call):
            call = aliases.get(dotted(node.func), dotted(node.func))
            wanted = _wanted(call, asks)
            if (makes_clients and _asks_session(node.func)) or dotted(node.func) in of_session:
                wanted = ASKS["session.client"]
            if wanted is not None:
                yield Site(name, node.lineno, call, wanted, _missing(call, node, wanted))


def _asks_session(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and called.attr in OF_A_SESSION


def _of_session(tree: ast.AST) -> set[str]:
    """Names for what makes a client: `make = Session().client`."""
    return {
        dotted(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _asks_session(node.value)
        for target in node.targets
    }


def _wanted(call: str, asks: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    parts = call.split(".")
    return asks.get(".".join(parts[-2:])) or asks.get(parts[-1])


def _aliases(tree: ast.AST, asks: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Other names under which something of `asks` is called: `client = boto3.client`."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            meant = dotted(node.value)
            if meant and _wanted(meant, asks) is not None:
                found |= {dotted(target): meant for target in targets if dotted(target)}
    return found


def _missing(call: str, node: ast.Call, wanted: tuple[str, ...]) -> tuple[str, ...]:
    given = {keyword.arg for keyword in node.keywords if not _is_none(keyword.value)}
    if IN_PLACE_OF.get(call.rpartition(".")[2]) in given:
        return ()
    return tuple(name for name in wanted if name not in given)


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, one.name) for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{one.name}") for one in node.names)
