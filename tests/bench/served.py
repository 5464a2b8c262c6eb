"""The service as its users meet it: a process of its own with a data folder of its own, spoken to over HTTP.

    with served({"PALIMPSEST_EMBEDDER": "bundled"}) as service:
        status, answer = service.post("/v1/spaces/personal/memories", {"text": "Tom drinks green tea."})
        service.kill()      # as kill -9 does
        service.start()     # again, with the same data

Used by benches and by end-to-end tests. Nothing here knows the product's code.
"""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

PROJECT = Path(__file__).resolve().parents[2]
START_S = 120.0
STOP_S = 20.0
ANSWER_S = 300.0
IDLE_S = 60.0
"""A connection that was idle for longer is made anew: the service closes idle ones."""

Json = Any


class ServiceError(Exception):
    """The service did not start, or gave an answer that the bench cannot go on with."""


class Response(NamedTuple):
    """One answer: its status, its JSON (None when it has none) and its headers by lower-case name."""

    status: int
    body: Json
    headers: dict[str, str]


class _Connection(NamedTuple):
    url: str
    http: http.client.HTTPConnection
    used: list[float]


class Service:
    """One installation: a data folder, and the process that serves it (while it runs)."""

    def __init__(self, environment: Mapping[str, str], folder: Path, module: str = "infra.local") -> None:
        self.folder = folder
        self.data = folder / "data"
        self.url = ""
        self.key = ""
        self.pid = 0
        self._environment = dict(environment)
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._connections = threading.local()
        self._open: list[http.client.HTTPConnection] = []

    # ------------------------------------------------------------------ the process

    def start(self, **environment: str) -> float:
        """Start the process and wait for its first answer; seconds that took. `environment` is added to what it has.

        Raises ServiceError with the end of its log when it dies or stays silent.
        """
        self._environment |= environment
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "AWS_"))
        }
        own = {"PALIMPSEST_DATA": str(self.data), "PALIMPSEST_PORT": "0", "PALIMPSEST_LOG_LEVEL": "warning"}
        began = time.perf_counter()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                cwd=PROJECT,
                env={**inherited, **own, **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._await_answer(self._process, began + START_S)
        return time.perf_counter() - began

    def kill(self) -> None:
        """`kill -9` of every process of the service; returns when they are gone."""
        process = self._running()
        _signal_group(process.pid, signal.SIGKILL)
        process.wait(STOP_S)
        self._process = None

    def stop(self) -> None:
        """End it as Ctrl-C does, and by force if it does not end, and close the connections of all threads, which
        ask no more; nothing when it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        _signal_group(process.pid, signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            _signal_group(process.pid, signal.SIGKILL)
            process.wait(STOP_S)
        while self._open:
            self._open.pop().close()

    @property
    def log(self) -> Path:
        """What it printed."""
        return self.folder / "service.log"

    def memory_bytes(self) -> int:
        """What the process holds of the machine's memory now."""
        status = Path(f"/proc/{self.pid}/status")
        if status.exists():
            line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
            return int(line.split()[1]) * 1024
        shown = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(self.pid)], capture_output=True, text=True, timeout=10, check=True
        )
        return int(shown.stdout) * 1024

    def processor_seconds(self) -> float:
        """Processor time that the process has used so far: does not waver when others use the machine too."""
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists():
            return 0.0
        user, system = stat.read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def disk_bytes(self) -> int:
        """What the data folder takes."""
        return sum(path.stat().st_size for path in self.data.rglob("*") if path.is_file())

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise ServiceError("the service does not run")
        return self._process

    def _await_answer(self, process: "subprocess.Popen[bytes]", until: float) -> None:
        while time.perf_counter() < until:
            if process.poll() is not None:
                break
            if self._announced(process.pid) and self._answers():
                return
            time.sleep(0.01)
        self.stop()
        raise ServiceError(f"the service did not start\n{self.log.read_text(errors='replace')[-4000:]}")

    def _announced(self, pid: int) -> bool:
        try:
            running = json.loads((self.data / "run.json").read_text())
        except (FileNotFoundError, ValueError):
            return False
        self.url, self.key = running["url"], running["key"]
        return bool(running["pid"] == pid)

    def _answers(self) -> bool:
        try:
            return self.send("GET", "/v1/me").status == 200
        except (OSError, http.client.HTTPException):
            return False

    # ------------------------------------------------------------------ requests

    def send(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """One request over this thread's kept connection, with the owner's key unless another is given.

        Never sent twice. Raises OSError or HTTPException when there is no answer.
        """
        connection = self._connection()
        sent = {"Authorization": f"Bearer {key or self.key}", **(headers or {})}
        payload = None
        if body is not None:
            payload = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path, payload, sent)
            answer = connection.getresponse()
            raw = answer.read()
        except (OSError, http.client.HTTPException):
            self.hang_up()
            raise
        names = {name.lower(): value for name, value in answer.getheaders()}
        is_json = names.get("content-type", "").startswith("application/json")
        return Response(answer.status, json.loads(raw) if raw and is_json else None, names)

    def get(self, path: str, *, key: str | None = None) -> tuple[int, Json]:
        """Status and JSON of a GET."""
        return self.send("GET", path, key=key)[:2]

    def post(
        self, path: str, body: Json, *, key: str | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Json]:
        """Status and JSON of a POST."""
        return self.send("POST", path, body, key=key, headers=headers)[:2]

    def wanted(self, method: str, path: str, body: Json = None, *, key: str | None = None) -> Json:
        """The JSON of a request that must succeed. Raises ServiceError when it does not."""
        status, answer, _ = self.send(method, path, body, key=key)
        if not 200 <= status < 300:
            raise ServiceError(f"{method} {path} answered {status}: {answer}")
        return answer

    def hang_up(self) -> None:
        """Close this thread's connection; the next request opens another."""
        kept: _Connection | None = getattr(self._connections, "kept", None)
        if kept is not None and kept.http in self._open:
            self._open.remove(kept.http)
            kept.http.close()

    def _connection(self) -> http.client.HTTPConnection:
        kept: _Connection | None = getattr(self._connections, "kept", None)
        if kept is None or not self._usable(kept):
            self.hang_up()
            address = urlsplit(self.url)
            made = http.client.HTTPConnection(address.hostname or "", address.port, timeout=ANSWER_S)
            self._open.append(made)
            kept = self._connections.kept = _Connection(self.url, made, [0.0])
        kept.used[0] = time.monotonic()
        return kept.http

    def _usable(self, kept: _Connection) -> bool:
        idle = time.monotonic() - kept.used[0]
        return kept.http in self._open and kept.url == self.url and idle < IDLE_S

    # ------------------------------------------------------------------ spaces

    def make_pool(self, name: str) -> str:
        """The path of a new space: the pool of a project of the owner's."""
        project = self.wanted("POST", "/v1/projects", {"name": name, "pool": True})["project"]
        return space_path(f"project:{project['id']}")

    def indexed(self, space: str, *, key: str | None = None) -> int:
        """How many active memories the index has in the space at this path."""
        cursor = ""
        while True:
            page = self.wanted("GET", f"/v1/spaces?limit=200{cursor}", key=key)
            for shown in page["items"]:
                if space_path(shown["space"]) == space:
                    return int(shown["counts"]["active"])
            if page["next"] is None:
                raise ServiceError(f"{space} is not among the caller's spaces")
            cursor = f"&cursor={quote(page['next'])}"

    def settle(self, space: str, count: int, *, key: str | None = None, seconds: float = 300.0) -> None:
        """Wait until the index has `count` active memories of the space. Raises ServiceError after `seconds`."""
        until = time.monotonic() + seconds
        while (indexed := self.indexed(space, key=key)) != count:
            if time.monotonic() > until:
                raise ServiceError(f"the index has {indexed} memories of {space}, not {count}")
            time.sleep(0.05)


def space_path(name: str) -> str:
    """The path of a space by its name: `personal`, `project:<id>`."""
    return f"/v1/spaces/{quote(name, safe='')}"


@contextmanager
def served(
    environment: Mapping[str, str] | None = None,
    *,
    folder: Path | None = None,
    module: str = "infra.local",
    start: bool = True,
) -> Iterator[Service]:
    """A service that runs inside the block, on a free port; its data are in `folder`, or in one that goes with it."""
    own = folder is None
    place = folder or Path(tempfile.mkdtemp(prefix="palimpsest-served-"))
    service = Service(environment or {}, place, module)
    try:
        if start:
            service.start()
        yield service
    finally:
        service.stop()
        if own:
            shutil.rmtree(place, ignore_errors=True)


def _signal_group(pid: int, kind: signal.Signals) -> None:
    try:
        os.killpg(pid, kind)
    except ProcessLookupError:
        return
