"""How a case breaks its part, and mends it: a fault on the way, the engine's own state, the file and its disk."""

import json
import os
import resource
import sqlite3
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Timer
from typing import Any

from tests.prove.degradation.gateway import Fault, gateway
from tests.prove.degradation.stage import IMPATIENT, PATIENT, Stage

PAGE = 4096
PATIENCE_MS = 300
"""How long the file's lock is waited for in a stage."""


def by(fault: Fault) -> Callable[[Stage], AbstractContextManager[None]]:
    """Each request meets this fault."""

    @contextmanager
    def breaks(stage: Stage) -> Iterator[None]:
        assert stage.way is not None
        stage.way.fault = fault
        try:
            yield
        finally:
            stage.way.fault = None

    return breaks


@contextmanager
def refused(stage: Stage) -> Iterator[None]:
    """Nobody listens."""
    assert stage.way is not None
    stage.way.shut()
    stage.way.faulty += 1
    try:
        yield
    finally:
        stage.way.open()


@contextmanager
def redirected(stage: Stage) -> Iterator[None]:
    """All is said to be elsewhere. Nobody may go there: key and texts would go along."""
    assert stage.way is not None
    with gateway(stage.way.target) as elsewhere:
        from tests.prove.degradation.faults import says

        with by(says(307, Location=f"{elsewhere.url}/there"))(stage):
            yield
        if elsewhere.received:
            stage.logged.unexpected.append(f"{elsewhere.received} requests went where a redirect pointed")


def impatiently(
    breaks: Callable[[Stage], AbstractContextManager[None]],
) -> Callable[[Stage], AbstractContextManager[None]]:
    """The same, while the engine is waited for a moment only."""

    @contextmanager
    def hurried(stage: Stage) -> Iterator[None]:
        assert stage.client_of_engine is not None
        stage.client_of_engine._patience = IMPATIENT
        try:
            with breaks(stage):
                yield
        finally:
            stage.client_of_engine._patience = PATIENT

    return hurried


# ------------------------------------------------------------------ the search engine's own state


def engine_asked(stage: Stage, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """One request to the engine itself, past the gateway."""
    raw = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(
        f"{stage.engine}{path}", raw, {"Content-Type": "application/json"}, method=method
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(asked, timeout=60) as answer:
        return json.loads(answer.read())


def indices(stage: Stage, kind: str = "") -> list[str]:
    """Names of our indices there."""
    return [
        name for name in engine_asked(stage, "GET", "/_alias") if name.startswith(f"{stage.prefix}-{kind}")
    ]


def deleted(kind: str = "") -> Callable[[Stage], AbstractContextManager[None]]:
    """An operator deletes our indices of this kind (all kinds), once."""

    @contextmanager
    def breaks(stage: Stage) -> Iterator[None]:
        for index in indices(stage, kind):
            engine_asked(stage, "DELETE", f"/{index}")
        yield

    return breaks


@contextmanager
def flooded(stage: Stage) -> Iterator[None]:
    """The engine's disk is nearly full: it makes its indices read-only."""
    _set(stage, {"index.blocks.read_only_allow_delete": True})
    try:
        yield
    finally:
        _set(stage, {"index.blocks.read_only_allow_delete": None})


@contextmanager
def closed(stage: Stage) -> Iterator[None]:
    """Our indices are closed."""
    for index in indices(stage):
        engine_asked(stage, "POST", f"/{index}/_close")
    try:
        yield
    finally:
        for index in indices(stage):
            engine_asked(stage, "POST", f"/{index}/_open")


@contextmanager
def name_taken(stage: Stage) -> Iterator[None]:
    """An index stands where our alias should: something else wrote to the name before we had built ours."""
    taken = f"{stage.prefix}-words"
    for index in indices(stage):
        engine_asked(stage, "DELETE", f"/{index}")
    engine_asked(stage, "PUT", f"/{taken}/_doc/1", {"text": "somebody else's"})
    try:
        yield
    finally:
        engine_asked(stage, "DELETE", f"/{taken}")


@contextmanager
def wrong_mapping(stage: Stage) -> Iterator[None]:
    """Our index was made by somebody else's restore: same name and alias, other fields."""
    (index,) = indices(stage, "words")
    engine_asked(stage, "DELETE", f"/{index}")
    body = {"mappings": {"dynamic": True}, "aliases": {f"{stage.prefix}-words": {"is_write_index": True}}}
    engine_asked(stage, "PUT", f"/{index}", body)
    yield


def _set(stage: Stage, settings: dict[str, Any]) -> None:
    for index in indices(stage):
        engine_asked(stage, "PUT", f"/{index}/_settings", settings)


# ------------------------------------------------------------------ the embedded index and the file


@contextmanager
def dropped(stage: Stage) -> Iterator[None]:
    """The index is deleted, once."""
    stage.world.parts.index.drop()
    yield


@contextmanager
def quota(stage: Stage) -> Iterator[None]:
    """No file of ours may grow beyond what it is: a quota, or the largest file that a disk can keep."""
    log = stage.folder.database.with_name(f"{stage.folder.database.name}-wal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def locked(stage: Stage) -> Iterator[None]:
    """Another program holds the file for writing, longer than anybody waits."""
    _impatient(stage)
    with _other(stage) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def locked_shortly(stage: Stage) -> Iterator[None]:
    """Another program holds the file, and lets go in time."""
    with _other(stage) as other:
        other.execute("BEGIN IMMEDIATE")
        Timer(PATIENCE_MS / 1000, lambda: other.execute("ROLLBACK")).start()
        yield


@contextmanager
def read_only(stage: Stage) -> Iterator[None]:
    """The file may not be written any more."""
    connection = stage.world.database._writer._connection
    connection.execute("PRAGMA query_only = ON")
    try:
        yield
    finally:
        connection.execute("PRAGMA query_only = OFF")


@contextmanager
def no_growth(stage: Stage) -> Iterator[None]:
    """The file is full to its last page."""
    connection = stage.world.database._writer._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    most = connection.execute("PRAGMA max_page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA max_page_count = {most}")


@contextmanager
def damaged(stage: Stage) -> Iterator[None]:
    """All pages but the first are garbage; then the good ones are put back, and connections made anew, as by a restart."""
    file = stage.folder.database
    stage.world.database._writer._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    _reconnect(stage)
    whole, garbage = file.read_bytes(), os.urandom(PAGE)
    with file.open("r+b") as disk:
        for start in range(PAGE, len(whole), PAGE):
            disk.seek(start)
            disk.write(garbage)
    try:
        yield
    finally:
        with file.open("r+b") as disk:
            for start in range(PAGE, len(whole), PAGE):
                disk.seek(start)
                if disk.read(PAGE) == garbage:
                    disk.seek(start)
                    disk.write(whole[start : start + PAGE])
        _reconnect(stage)


def _reconnect(stage: Stage) -> None:
    database = stage.world.database
    while database._readers:
        database._readers.pop().close()
    database._writer._connection.execute("PRAGMA shrink_memory")


@contextmanager
def _other(stage: Stage) -> Iterator[sqlite3.Connection]:
    """Another program's connection to the file."""
    other = sqlite3.connect(stage.folder.database, isolation_level=None, check_same_thread=False)
    try:
        yield other
    finally:
        other.close()


def _impatient(stage: Stage) -> None:
    stage.world.database._writer._connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
