"""One installation on the emulator: deployed by the commands of the README, and looked at from all sides."""

import json
import os
import re
import signal
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chalicelib.bootstrap import Services, build, parts_of
from chalicelib.domain.scope import Scope
from chalicelib.services.memory.project import pass_scope
from chalicelib.settings import Settings
from infra.aws.emulator import REGION, Emulator
from infra.aws.functions import FUNCTIONS
from tests.fakes.caller import Answer, Caller
from tests.shared_services import PROJECT

NAME = "e2e"
MAKE_S = 600


class Made:
    """What a make target said, and how it ended."""

    def __init__(self, done: "subprocess.CompletedProcess[str]") -> None:
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def said(self, pattern: str) -> str:
        """The first group of what it said."""
        found = re.search(pattern, self.out)
        assert found is not None, f"{pattern} is not in:\n{self.out[-3000:]}\n{self.err[-3000:]}"
        return found[1]


class Remote(Caller):
    """Asks what was deployed, over TLS."""

    def __init__(self, url: str, key: str, certificate: Path) -> None:
        super().__init__(url, key)
        self._trusted = ssl.create_default_context(cafile=str(certificate))

    def ask(self, method: str, path: str, body: object = None, *, seconds: float = 60.0) -> Answer:
        """One request on a connection of its own."""
        address = urlsplit(self.url)
        connection = HTTPSConnection(
            str(address.hostname), address.port, timeout=seconds, context=self._trusted
        )
        try:
            headers = {"Content-Type": "application/json"}
            if self.key:
                headers["Authorization"] = f"Bearer {self.key}"
            connection.request(
                method, address.path + path, None if body is None else json.dumps(body), headers
            )
            answer = connection.getresponse()
            return Answer(answer.status, json.loads(answer.read()))
        finally:
            connection.close()


class Installation:
    """What is deployed, and the account that it is deployed to."""

    def __init__(self, emulator: Emulator, opensearch_url: str, prefix: str) -> None:
        self.emulator = emulator
        self.opensearch_url = opensearch_url
        self.prefix = prefix
        self.url = ""
        self.key = ""
        self._services: Services | None = None

    def make(self, target: str, arguments: str = "", without: str = "", **settings: str) -> Made:
        """Run a make target as a person does who has this emulator's variables in their shell, but `without`."""
        own = {
            name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PALIMPSEST_"))
        }
        environment = own | self.emulator.environment() | {
            "PALIMPSEST_DEPLOY_NAME": NAME,
            "PALIMPSEST_OPENSEARCH_URL": self.opensearch_url,
            "PALIMPSEST_OPENSEARCH_PREFIX": self.prefix,
            **settings,
        }  # fmt: skip
        kept = {
            name: value for name, value in environment.items() if not (without and name.startswith(without))
        }
        command = ["make", target, *([f"ARGS={arguments}"] if arguments else [])]
        done = subprocess.run(
            command, cwd=PROJECT, env=kept, capture_output=True, text=True, timeout=MAKE_S, check=False
        )
        return Made(done)

    def deploy(self, arguments: str = "", **settings: str) -> Made:
        """`make deploy`; keeps the URL, and the key if one is shown."""
        made = self.make("deploy", arguments, **settings)
        assert made.code == 0, f"{made.out[-6000:]}\n{made.err[-6000:]}"
        self.url = made.said(r" runs: (\S+)")
        shown = re.search(r"shown only now: (\S+)", made.out)
        self.key = shown[1] if shown else self.key
        return made

    def caller(self, key: str | None = None) -> Remote:
        """A client, with the first admin's key or another."""
        certificate = Path(self.emulator.environment()["SSL_CERT_FILE"])
        return Remote(self.url, self.key if key is None else key, certificate)

    def client(self, service: str) -> Any:
        """boto3's client of a service of this account."""
        from boto3 import Session

        said = self.emulator.environment()
        session = Session(said["AWS_ACCESS_KEY_ID"], said["AWS_SECRET_ACCESS_KEY"], region_name=REGION)
        return session.client(service, endpoint_url=self.emulator.url, verify=said["AWS_CA_BUNDLE"])

    def stacks(self) -> set[str]:
        """Names of the stacks that are there."""
        said = self.client("cloudformation").describe_stacks()["Stacks"]
        return {one["StackName"] for one in said if one["StackStatus"] != "DELETE_COMPLETE"} - {"CDKToolkit"}

    def function(self, name: str) -> Mapping[str, Any]:
        """The configuration of a function by a part of its name."""
        found = [
            one for one in self.client("lambda").list_functions()["Functions"] if name in one["FunctionName"]
        ]
        assert len(found) == 1, [one["FunctionName"] for one in found]
        return dict(found[0])

    def logged(self) -> list[str]:
        """All that the functions have logged."""
        pages = self.client("logs").get_paginator("filter_log_events")
        return [
            event["message"]
            for function in FUNCTIONS
            for page in pages.paginate(logGroupName=f"/palimpsest/{NAME}/{function.name}")
            for event in page["events"]
        ]

    def files_with(self, text: bytes) -> list[str]:
        """Files that the deployment has left behind, and packages and templates that the account was given, in which
        these bytes are."""
        left = [
            path for path in (PROJECT / ".deploy").rglob("*") if path.is_file() and "cache" not in path.parts
        ]
        given = [path for path in (self.emulator.folder / "s3").rglob("*") if path.is_file()]
        return [str(path) for path in (*left, *given) if text in path.read_bytes()]

    def inside(self) -> Services:
        """The same table and index, as an operator's tool sees them."""
        if self._services is None:
            os.environ.update(self.emulator.environment())
            settings = Settings(
                store="dynamodb",
                region=REGION,
                table_prefix=f"{NAME}-",
                search="opensearch",
                opensearch_url=self.opensearch_url,
                opensearch_prefix=self.prefix,
                queue_url="http://127.0.0.1:9",
                dynamodb_read_timeout=30,
            )
            self._services = build(settings, parts_of(settings))
        return self._services

    def scope(self) -> Scope:
        """Over the one personal space that there is."""
        (space,) = self.inside().parts.memories.spaces()
        return pass_scope(space, "test")

    def differences(self) -> list[tuple[int, str]]:
        """Where the index does not have what the table has: number, and how."""
        parts, scope = self.inside().parts, self.scope()
        self.refresh()
        table = {one.number: one for one in parts.memories.page(scope, after=None, limit=10_000)}
        index = {one.number: one for one in parts.index.indexed(scope, after=0, limit=10_000)}
        found = [(number, "only in the table") for number in table.keys() - index.keys()]
        found += [(number, "only in the index") for number in index.keys() - table.keys()]
        found += [
            (number, "older")
            for number in table.keys() & index.keys()
            if table[number].revision != index[number].revision
        ]
        return sorted(found)

    def refresh(self) -> None:
        """Make OpenSearch show what it was given."""
        index: Any = self.inside().parts.index
        index.refresh()

    def workers(self, function: str) -> Iterator[int]:
        """Processes in which the emulator runs a function, by a part of its name."""
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                environment = (process / "environ").read_bytes().split(b"\0")
                parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            named = any(
                one.startswith(b"AWS_LAMBDA_FUNCTION_NAME=") and function.encode() in one
                for one in environment
            )
            if named and parent == self.emulator.pid:
                yield int(process.name)

    def kill(self, function: str) -> int:
        """End its processes without a word; how many."""
        killed = 0
        for pid in self.workers(function):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed += 1
        return killed
