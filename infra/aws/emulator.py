"""An emulator of AWS on this machine (MiniStack), to try a deployment without an account: TLS, with roles and policies
in force, loopback only. It forgets everything when it ends.

    python -m infra.aws.emulator [--port 4566] [--folder FOLDER]
"""

import argparse
import ipaddress
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from infra.aws import shell
from infra.aws.package import PROJECT

PYTHON = PROJECT / ".venv-ministack" / "bin" / "python"
PORT = 4566
START_S = 60
REGION = "eu-central-1"
CERTIFICATE_DAYS = 30


class EmulatorError(Exception):
    """It does not start; the message says why."""


class Emulator:
    """One emulator, with all it keeps in `folder`. It runs from `start` to `stop`."""

    def __init__(self, folder: Path, port: int = PORT) -> None:
        self.folder = folder
        self.url = f"https://127.0.0.1:{port}"
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._certificate = folder / "certificate.pem"
        self._key = folder / "key.pem"
        self.log = folder / "emulator.log"

    def environment(self) -> dict[str, str]:
        """What a shell needs to mean this emulator instead of AWS. The certificate is trusted besides the usual ones."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CA_BUNDLE": str(self._certificate),
            "NODE_EXTRA_CA_CERTS": str(self._certificate),
            "SSL_CERT_FILE": str(self._certificate),
        }

    @property
    def pid(self) -> int:
        """Its process; the functions that it runs are children of it."""
        if self._process is None:
            raise EmulatorError("it was not started")
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers. Raises EmulatorError."""
        if not PYTHON.exists():
            raise EmulatorError("the emulator is not installed: run `make setup-emulator`")
        if not _is_free(self._port):
            raise EmulatorError(
                f"Port {self._port} is in use, perhaps by another emulator: choose one with `make emulator ARGS='--port 4567'`."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self._certify()
        environment = shell.of_this_machine() | {
            "AUTH": "true",
            "USE_SSL": "true",
            "MINISTACK_SSL_CERT": str(self._certificate),
            "MINISTACK_SSL_KEY": str(self._key),
            "BIND_HOST": "127.0.0.1",
            "MINISTACK_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(self._port),
            "STATE_DIR": str(self.folder / "state"),
            "S3_DATA_DIR": str(self.folder / "s3"),
            "TMPDIR": str(self.folder),
            "LOG_LEVEL": "INFO",
        }
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(
                [PYTHON, "-m", "ministack"],
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait()

    def stop(self) -> None:
        """End it and the functions that it runs."""
        if self._process is None:
            return
        for how, seconds in ((signal.SIGTERM, 15), (signal.SIGKILL, 15)):
            try:
                os.killpg(self._process.pid, how)
            except ProcessLookupError:
                break
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
        self._process = None

    def wait(self) -> None:
        """Until it ends by itself."""
        if self._process is not None:
            self._process.wait()

    def _wait(self) -> None:
        context = ssl.create_default_context(cafile=str(self._certificate))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        end = time.monotonic() + START_S
        while time.monotonic() < end and self._process is not None and self._process.poll() is None:
            try:
                with opener.open(f"{self.url}/_ministack/health", timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        raise EmulatorError(f"the emulator did not start:\n{self.log.read_text(errors='replace')[-2000:]}")

    def _certify(self) -> None:
        """A certificate of its own for 127.0.0.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "palimpsest emulator")])
        names: list[x509.GeneralName] = [
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            x509.DNSName("localhost"),
        ]
        now = datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=CERTIFICATE_DAYS))
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        self._certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        self._key.touch(mode=0o600)
        self._key.write_bytes(private)


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one until Ctrl-C; say what a shell needs to use it."""
    parser = argparse.ArgumentParser(
        prog="infra.aws.emulator", description="An emulator of AWS on this machine."
    )
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument(
        "--folder", type=Path, help="where it keeps its things; otherwise a new one that is removed"
    )
    asked = parser.parse_args(arguments)
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="palimpsest-emulator-"))
    emulator = Emulator(folder.resolve(), asked.port)
    try:
        emulator.start()
        print(
            f"An emulator of AWS runs on {emulator.url}. In a terminal of its own, which then trusts only it:\n",
            flush=True,
        )
        for name, value in emulator.environment().items():
            print(f"  export {name}={value}", flush=True)
        print("\nCtrl-C ends it, and all that was deployed to it is gone.", flush=True)
        emulator.wait()
        print(f"It ended by itself: {emulator.log}", file=sys.stderr)
        return 1
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        emulator.stop()
        if asked.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
