"""The file of an export: one JSON object a line. It is whole, or it says that it is not.

{"palimpsest": "export", "format": 1, "space", "service", "export", "as_of", "written_at"}
{"record": "space", …}                      the records, as `GET /v1/spaces/{space}/export` answers them
{"record": "memory_change", …} …
{"trailer": {"records": {"memory": 12, …}, "sha256": "…"}}      of every byte before this line
"""

import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from infra.cli.failures import CommandError

FORMAT = 1
LINE_BYTES = 16 * 1024 * 1024
"""No line is longer: a record holds one text of at most 250,000 bytes, each written as six at most."""


class FileWriter:
    """Lines, and what the last one says of them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.records: Counter[str] = Counter()

    def header(self, told: Mapping[str, Any]) -> None:
        """Write the first line."""
        self._line({"palimpsest": "export", "format": FORMAT, **told})

    def record(self, record: Mapping[str, Any]) -> None:
        """Write a record."""
        self._line(record)
        self.records[str(record["record"])] += 1

    def trailer(self) -> None:
        """Write the last line."""
        told = {"records": dict(self.records), "sha256": self._hash.hexdigest()}
        self._file.write(_encoded({"trailer": told}))

    def _line(self, values: Mapping[str, Any]) -> None:
        line = _encoded(values)
        self._hash.update(line)
        self._file.write(line)


@contextmanager
def written(target: Path, *, overwrite: bool) -> Iterator[FileWriter]:
    """A file that is there under its name when the block ends, whole and for its owner's eyes only; or not at all.
    Raises CommandError."""
    if not target.name or target.is_dir():
        raise CommandError(f"{target} is a folder. Name a file.")
    if target.exists() and not overwrite:
        raise CommandError(f"{target} exists already. Choose another name, or say --overwrite.")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield FileWriter(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise CommandError(f"{target} cannot be written ({error.strerror}).") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@dataclass(frozen=True)
class ExportFile:
    """A file that was found whole."""

    path: Path
    header: Mapping[str, Any]
    space: Mapping[str, Any]
    """The space's own record; no number in the file is above its `last_number`."""
    records: Mapping[str, int]
    """How many there are of each kind, that of the space too."""
    sha256: str
    file: BinaryIO
    """Where all of it can be read again."""

    @property
    def count(self) -> int:
        """How many records there are beside that of the space."""
        return sum(self.records.values()) - 1

    def items(self) -> Iterator[tuple[int, dict[str, Any], int]]:
        """(line, record, its bytes) of each beside that of the space, in order. Raises CommandError, at the end too,
        when it is not what was found whole: somebody writes into it meanwhile."""
        digest = hashlib.sha256()
        number = 0
        self.file.seek(0)
        try:
            with _told(self.path):
                for number, line in enumerate(_lines(self.path, self.file), start=1):
                    if number > self.count + 2:
                        break
                    digest.update(line)
                    if number > 2:
                        yield number, _decoded(self.path, number, line), len(line)
        except _NotWholeError as error:
            raise CommandError(f"{self.path} {_CHANGED}") from error
        if number < self.count + 2 or digest.hexdigest() != self.sha256:
            raise CommandError(f"{self.path} {_CHANGED}")


_CHANGED = "was changed while it was read."


class _NotWholeError(CommandError):
    """Found before anything was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Nothing was imported.")


@contextmanager
def opened(path: Path) -> Iterator[ExportFile]:
    """The file, looked through from the first line to the last. Raises CommandError, in plain words, when it is none of
    ours, is not whole, or was changed."""
    with _twice_readable(path) as file:
        with _told(path):
            found = _looked_through(path, file)
        yield found


@contextmanager
def _twice_readable(path: Path) -> Iterator[BinaryIO]:
    """The file; of what can be read only once (a pipe) a copy that nobody else can open, and that ends with us."""
    with ExitStack() as stack:
        with _told(path):
            file: BinaryIO = stack.enter_context(path.open("rb"))
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                copy = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(file, copy)
                copy.seek(0)
                file = copy
        yield file


def _looked_through(path: Path, file: BinaryIO) -> ExportFile:
    digest = hashlib.sha256()
    records: Counter[str] = Counter()
    header: dict[str, Any] = {}
    space: dict[str, Any] = {}
    trailer: Any = None
    highest = 0
    for number, line in enumerate(_lines(path, file), start=1):
        if trailer is not None:
            raise _NotWholeError(f"{path}: there is something behind its last line.")
        values = _decoded(path, number, line)
        if "trailer" in values:
            trailer = values["trailer"]
            continue
        digest.update(line)
        if number == 1:
            header = _header(path, values)
            continue
        space = values if number == 2 else space
        records[str(values.get("record"))] += 1
        highest = max(highest, _whole(values.get("number")))
    if trailer is None or not header:
        raise _NotWholeError(
            f"{path} is not whole: its last line is missing, so the export was interrupted or the file was cut."
        )
    sha256 = digest.hexdigest()
    if trailer != {"records": dict(records), "sha256": sha256} or space.get("record") != "space":
        raise _NotWholeError(f"{path} is damaged: what it holds is not what its last line says.")
    last = max(highest, _whole(space.get("last_number")))
    return ExportFile(path, header, {**space, "last_number": last}, dict(records), sha256, file)


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _header(path: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    if values.get("palimpsest") != "export":
        raise _NotWholeError(f"{path} is no export of Palimpsest.")
    if values.get("format") != FORMAT:
        raise _NotWholeError(
            f"{path} is of format {values.get('format')}, this palimpsest reads {FORMAT}: take its newer version."
        )
    return dict(values)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CommandError(f"{path} cannot be read ({error.strerror}).") from error


def _lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(LINE_BYTES):
        if not line.endswith(b"\n"):
            told = (
                "has a line without end" if len(line) == LINE_BYTES else "is not whole: it ends within a line"
            )
            raise _NotWholeError(f"{path} {told}.")
        yield line


def _decoded(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
        if isinstance(values, dict):
            json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair is no character
            return values
    except (ValueError, RecursionError):
        pass
    wrong = "is no export of Palimpsest" if number == 1 else f"is damaged in line {number}"
    raise _NotWholeError(f"{path} {wrong}.")


def _encoded(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _sync_folder(folder: Path) -> None:
    """Let the new name outlast a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
