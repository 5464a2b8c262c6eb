"""The servers that tests share: one real OpenSearch node and one AWS emulator in a whole run.

The first test that asks for one starts it (a file lock lets one worker of pytest-xdist be first), the process that
began the run stops it at the end. Each run keeps what it needs in a folder of its own, so runs do not meet; a
folder whose run was killed is swept by the next run.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock

PROJECT = Path(__file__).resolve().parent.parent
NODE = PROJECT / "infra" / "local" / "opensearch-node"
MINISTACK_PYTHON = PROJECT / ".venv-ministack" / "bin" / "python"
PREFIX = "palimpsest-tests-"
NODE_START_S = 180
MINISTACK_START_S = 60


class NotThereError(Exception):
    """A part that tests need is not installed, or does not start; the message says what to do."""


def begin_run() -> Path:
    """Make the folder of this run, open to the unprivileged user who runs the node, and sweep what dead runs left."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    folder.chmod(0o755)
    return folder


def end_run(folder: Path) -> None:
    """Stop what was started for this run, and remove its folder."""
    if (folder / "opensearch").exists():
        _node("wipe", folder, read_port(folder, "opensearch"))
    pid_file = folder / "ministack.pid"
    if pid_file.exists():
        _stop_process(int(pid_file.read_text()), "ministack")
    shutil.rmtree(folder, ignore_errors=True)


def sweep() -> None:
    """End the runs whose first process is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if folder.stat().st_uid == os.getuid() and owner.isdigit() and not _alive(int(owner)):
            end_run(folder)


def opensearch(folder: Path, *, required: bool) -> str:
    """The URL of the node of this run, started if it is not; NotThereError says what is missing.

    When it is not `required`, nothing is downloaded for it.
    """
    if (
        not required
        and subprocess.run([NODE, "ready"], capture_output=True, timeout=60, check=False).returncode
    ):
        raise NotThereError("OpenSearch is not set up: run `make setup-test` once")
    return _started(folder, "opensearch", lambda port: _start_node(folder, port))


def ministack(folder: Path) -> str:
    """The URL of the AWS emulator of this run, started if it is not; NotThereError says what is missing."""
    if not MINISTACK_PYTHON.exists():
        raise NotThereError("MiniStack is not set up: run `make setup-test` once")
    return _started(folder, "ministack", lambda port: _start_ministack(folder, port))


def free_ports(count: int) -> list[int]:
    """`count` different ports of the loopback interface that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def read_port(folder: Path, name: str) -> int:
    """The port that `name` listens on in this run."""
    return int((folder / f"{name}.port").read_text())


def _started(folder: Path, name: str, start: Callable[[int], None]) -> str:
    port_file, failed_file = folder / f"{name}.port", folder / f"{name}.failed"
    with FileLock(folder / f"{name}.lock", timeout=NODE_START_S + 120):
        if failed_file.exists():  # said once is enough: do not wait again for each test
            raise NotThereError(failed_file.read_text())
        if not (folder / f"{name}.up").exists():
            port = free_ports(1)[0]
            port_file.write_text(str(port))
            try:
                start(port)
            except NotThereError as error:
                failed_file.write_text(str(error))
                raise
            (folder / f"{name}.up").touch()
    return f"http://127.0.0.1:{read_port(folder, name)}"


def _start_node(folder: Path, port: int) -> None:
    done = _node("start", folder, port)
    if done.returncode:
        raise NotThereError(f"the OpenSearch node did not start.\n{done.stdout[-4000:]}")


def _node(command: str, folder: Path, port: int) -> "subprocess.CompletedProcess[str]":
    transport_file = folder / "opensearch.transport"
    if not transport_file.exists():
        transport_file.write_text(str(free_ports(1)[0]))
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "OS_ROOT": str(folder / "opensearch"),
        "OS_PORT": str(port),
        "OS_TRANSPORT_PORT": transport_file.read_text(),
        "OS_WAIT_S": str(NODE_START_S),
    }
    return subprocess.run(
        [NODE, command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=NODE_START_S + 100,
        check=False,
    )


def _start_ministack(folder: Path, port: int) -> None:
    (folder / "ministack").mkdir(exist_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MINISTACK_"))},
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": "127.0.0.1",
        "STATE_DIR": str(folder / "ministack" / "state"),
        "S3_DATA_DIR": str(folder / "ministack" / "s3"),
        "TMPDIR": str(folder / "ministack"),
        "LOG_LEVEL": "WARNING",
    }
    log = folder / "ministack.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [MINISTACK_PYTHON, "-m", "ministack"],
            env=environment,
            cwd=folder / "ministack",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    (folder / "ministack.pid").write_text(str(process.pid))
    for _ in _ticks(MINISTACK_START_S):
        if process.poll() is not None:
            break
        if _answers(f"http://127.0.0.1:{port}/_ministack/health"):
            process.returncode = 0  # it outlives this process on purpose: end_run stops it
            return
    raise NotThereError(f"MiniStack did not start.\n{log.read_text(errors='replace')[-4000:]}")


def _answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _ticks(seconds: float) -> Iterator[None]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _stop_process(pid: int, name: str) -> None:
    """End the process group of `pid`, if it still is what we started."""
    command_line = Path(f"/proc/{pid}/cmdline")
    if command_line.exists() and name.encode() not in command_line.read_bytes():
        return
    for kind in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, kind)
        for _ in _ticks(5):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            if not _alive(pid):
                return


if __name__ == "__main__":
    sweep()
