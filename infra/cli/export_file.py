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
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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

    @property
    def count(self) -> int:
        """How many records there are beside that of the space."""
        return sum(self.records.values()) - 1

    def items(self) -> Iterator[tuple[int, dict[str, Any], int]]:
        """(line, record, its bytes) of each beside that of the space, in order. Raises CommandError."""
        with _opened(self.path) as file:
            for number, line in enumerate(_lines(self.path, file), start=1):
                if 2 < number < self.count + 3:
                    yield number, _decoded(self.path, number, line), len(line)


def read(path: Path) -> ExportFile:
    """The file, looked through from the first line to the last. Raises CommandError, in plain words, when it is none of
    ours, is not whole, or was changed."""
    digest = hashlib.sha256()
    records: Counter[str] = Counter()
    header: dict[str, Any] = {}
    space: dict[str, Any] = {}
    trailer: Any = None
    highest = 0
    with _opened(path) as file:
        for number, line in enumerate(_lines(path, file), start=1):
            if trailer is not None:
                raise CommandError(f"{path}: there is something behind its last line. {_NOTHING}")
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
        raise CommandError(
            f"{path} is not whole: its last line is missing, so the export was interrupted or the file was cut. {_NOTHING}"
        )
    if trailer != {"records": dict(records), "sha256": digest.hexdigest()} or space.get("record") != "space":
        raise CommandError(f"{path} is damaged: what it holds is not what its last line says. {_NOTHING}")
    last = max(highest, _whole(space.get("last_number")))
    return ExportFile(path, header, {**space, "last_number": last}, dict(records))


_NOTHING = "Nothing was imported."


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _header(path: Path, values: Mapping[str, Any]) -> dict[str, Any]:
    if values.get("palimpsest") != "export":
        raise CommandError(f"{path} is no export of Palimpsest. {_NOTHING}")
    if values.get("format") != FORMAT:
        raise CommandError(
            f"{path} is of format {values.get('format')}, this palimpsest reads {FORMAT}: take its newer version. {_NOTHING}"
        )
    return dict(values)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise CommandError(f"{path} cannot be read ({error.strerror}).") from error


def _lines(path: Path, file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(LINE_BYTES):
        if not line.endswith(b"\n"):
            told = (
                "has a line without end" if len(line) == LINE_BYTES else "is not whole: it ends within a line"
            )
            raise CommandError(f"{path} {told}. {_NOTHING}")
        yield line


def _decoded(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        values = json.loads(line)
        if isinstance(values, dict):
            return values
    except (ValueError, RecursionError):
        pass
    wrong = "is no export of Palimpsest" if number == 1 else f"is damaged in line {number}"
    raise CommandError(f"{path} {wrong}. {_NOTHING}")


def _encoded(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _sync_folder(folder: Path) -> None:
    """Let the new name outlast a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
