"""The package that Lambda runs: the app, what it needs, Chalice's small runtime part, and bytecode of all of it.

What the app needs is installed for Lambda by its pinned hashes; `chalice package` describes the functions and the API.
Installing is done once for each list of requirements; the rest is made anew each time, and is the same bytes for the
same sources.
"""

import compileall
import json
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from infra.aws import shell

PROJECT = Path(__file__).resolve().parents[2]
REQUIREMENTS = PROJECT / "requirements.txt"
BUNDLED = PROJECT / "infra" / "requirements" / "bundled.txt"
LOCAL = PROJECT / "infra" / "requirements" / "local.txt"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")
CALLED = frozenset({"bedrock-runtime", "dynamodb", "secretsmanager", "sqs", "sts"})
"""Services of AWS that the functions call."""
LIMIT_MB = 250
"""Of Lambda, unzipped."""
FORM = "compiled"
"""What is kept of libraries; another word when that changes."""
STAGE = "dev"
INSTALL_S = 900


class PackageError(Exception):
    """The package cannot be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Package:
    """What was made. `template`: what `chalice package` says of the app. `code`: the folder that Lambda is given."""

    template: Path
    code: Path

    def megabytes(self) -> float:
        """Its size unzipped."""
        return sum(file.stat().st_size for file in self.code.rglob("*") if file.is_file()) / 1_000_000


def make_package(folder: Path, *, cache: Path | None, bundled: bool = False) -> Package:
    """Make the package in `folder` (emptied first). `cache`: where installed libraries are kept; None leaves them out,
    for tests of the description. `bundled`: with the embedding model. Raises PackageError."""
    shutil.rmtree(folder, ignore_errors=True)
    source, out, code = folder / "source", folder / "chalice", folder / "code"
    source.mkdir(parents=True)
    shutil.copy(PROJECT / "app.py", source)
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("chalicelib", ".chalice"):
        shutil.copytree(PROJECT / name, source / name, ignore=ignored)
    (source / "requirements.txt").touch()  # installed by ourselves, by hash
    _describe(source, out)
    with zipfile.ZipFile(out / "deployment.zip") as packed:
        packed.extractall(code)
    if cache is not None:
        _compile(code)
        shutil.copytree(_libraries(cache, bundled=bundled), code, dirs_exist_ok=True)
    made = Package(out / "sam.json", code)
    if made.megabytes() > LIMIT_MB:
        raise PackageError(f"the package has {made.megabytes():.0f} MB; Lambda takes {LIMIT_MB}")
    return made


def _describe(source: Path, out: Path) -> None:
    """Let Chalice package the app. It reads no credentials, but wants to know a region."""
    _run(
        [sys.executable, "-c", "from chalice.cli import main; main()", "package", "--stage", STAGE, str(out)],
        source,
        shell.with_region(),
        120,
    )


def _libraries(cache: Path, *, bundled: bool) -> Path:
    """The folder with what the app needs, installed for Lambda if it is not there yet."""
    lists = [REQUIREMENTS, *([BUNDLED] if bundled else [])]
    contents = [FORM, _python(), *PLATFORMS, *(one.read_text() for one in lists)]
    folder = cache / f"libraries-{sha256(json.dumps(contents).encode()).hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    unfinished = folder.with_name(f"{folder.name}-unfinished-{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    _install(unfinished, lists)
    for path in _never_used(unfinished):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    _compile(unfinished)
    unfinished.replace(folder)
    return folder


def _never_used(libraries: Path) -> list[Path]:
    """What no request can use: the libraries' own tests, stubs for type checkers, commands, and botocore's
    descriptions of services that we do not call."""
    found = [
        path for name in ("bin", "numpy/f2py", "numpy/_core/include") if (path := libraries / name).exists()
    ]
    found += [path for path in libraries.rglob("tests") if path.is_dir()]
    found += libraries.rglob("*.pyi")
    found += [
        path
        for path in (libraries / "botocore" / "data").iterdir()
        if path.is_dir() and path.name not in CALLED
    ]
    return [path for path in found if not set(path.parents) & set(found)]


def _install(folder: Path, lists: Sequence[Path]) -> None:
    """Install wheels for Lambda's platform, each by its hash."""
    said = [option for one in lists for option in ("-r", str(one))]
    for_lambda = [option for one in PLATFORMS for option in ("--platform", one)]
    _run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"),
            *("--require-hashes", "--no-deps", "--no-compile", "--only-binary", ":all:"),
            *("--implementation", "cp", "--python-version", _python(), *for_lambda, "--target", str(folder)),
            *said,
        ],
        folder.parent,
        shell.without_settings(),
        INSTALL_S,
    )


def _compile(code: Path) -> None:
    """Bytecode beside each source: Lambda's file system is read-only. It is not compared with the source's time, which
    packing changes."""
    compileall.compile_dir(
        code,
        quiet=2,
        stripdir=str(code),
        prependdir="/var/task",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PackageError(f"{Path(command[0]).name} did not end: {type(error).__name__}") from error
    if done.returncode:
        raise PackageError(f"{' '.join(command[1:5])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
