"""How long the first request waits for a function that is not there yet: from the package's own files, in a fresh
process, against DynamoDB and SQS on an emulator and a real OpenSearch node.

python -m tests.bench cold [--rounds 5] [--bundled]

Without bytecode (the package's own files and no cache), and with the bytecode that the package ships. The standard
library has its bytecode in both, as on Lambda. The embedding model is left out: with --bundled its package is measured.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from chalicelib.bootstrap import build, parts_of, tables_of
from chalicelib.domain.drafts import NewMemory
from chalicelib.domain.scope import Right
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.keys import full_scopes
from chalicelib.services.idempotency import Request
from chalicelib.settings import Settings
from chalicelib.stores.dynamodb.provision import create_tables
from infra.aws.functions import FUNCTIONS, HTTP
from infra.aws.package import LIMIT_MB, PROJECT, make_package
from infra.founding import key_of_first_admin
from tests.bench.figures import Report, parser
from tests.bench.quantiles import quantile
from tests.fakes.engines import Servers, running_servers

HEALTH_S = 1.5
SEARCH_S = 2.5
PACKAGE_MB = 200
"""Without the bundled embedding model."""
REGION = "eu-central-1"
MODULES = {one.name: "app" if one is HTTP else "chalicelib.jobs.functions" for one in FUNCTIONS}
"""What Lambda imports for each function."""
CACHE = PROJECT / ".deploy" / "cache"

FIRST_ANSWER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import app
answer = app.app(json.loads(sys.argv[2]), None)
print(answer["statusCode"])
sys.stdout.flush()
import os
os._exit(0)
"""
IMPORTED = """
import sys, time
sys.path.insert(0, sys.argv[1])
begun = time.perf_counter()
import importlib
importlib.import_module(sys.argv[2])
print((time.perf_counter() - begun) * 1000)
"""


def main(arguments: Sequence[str]) -> int:
    """Run it; see the module."""
    known = parser("cold", "The first request to a function that is not there yet.")
    known.add_argument("--rounds", type=int, default=5)
    known.add_argument("--bundled", action="store_true")
    asked = known.parse_args(arguments)
    report = Report()
    with (
        TemporaryDirectory() as folder,
        running_servers() as servers,
        installation(servers) as (environment, key),
    ):
        whole = make_package(Path(folder) / "package", cache=CACHE, bundled=asked.bundled).code
        bare = Path(folder) / "bare"
        shutil.copytree(whole, bare, ignore=shutil.ignore_patterns("__pycache__"))
        for name, code in (("without bytecode", bare), ("as shipped", whole)):
            megabytes = sum(one.stat().st_size for one in code.rglob("*") if one.is_file()) / 1_000_000
            most = LIMIT_MB if asked.bundled else PACKAGE_MB
            report.add(f"cold: package {name}, unzipped", megabytes, "MB", at_most=most)
            for what, event, bar in (
                ("health", _event("GET", "/v1/health"), HEALTH_S),
                ("search", _search(key), SEARCH_S),
            ):
                taken = [_first_answer(code, event, environment) for _ in range(asked.rounds)]
                report.add(
                    f"cold: first answer of {what}, {name}, median", quantile(taken, 0.5), "s", at_most=bar
                )
                report.add(f"cold: first answer of {what}, {name}, longest", max(taken), "s")
            for module in sorted(set(MODULES.values())):
                times = [_import_ms(code, module) for _ in range(asked.rounds)]
                of = ", ".join(function for function, imported in MODULES.items() if imported == module)
                report.add(f"cold: import of {of}, {name}, median", quantile(times, 0.5), "ms")
    return report.end(asked)


@contextmanager
def installation(servers: Servers) -> Iterator[tuple[dict[str, str], str]]:
    """What a function's environment says, and a key; there is a memory to find."""
    prefix = f"cold-{secrets.token_hex(4)}"
    stated = {
        "PALIMPSEST_STORE": "dynamodb",
        "PALIMPSEST_TABLE_PREFIX": f"{prefix}-",
        "PALIMPSEST_DYNAMODB_ENDPOINT": servers.ministack,
        "PALIMPSEST_SEARCH": "opensearch",
        "PALIMPSEST_OPENSEARCH_URL": servers.opensearch,
        "PALIMPSEST_OPENSEARCH_PREFIX": prefix,
        "PALIMPSEST_METRICS": "emf",
        "AWS_REGION": REGION,
    }
    signed = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": servers.ministack,
    }
    os.environ.update(signed)
    stated["PALIMPSEST_QUEUE_URL"] = _queue(prefix)
    settings = Settings.from_environment(stated)
    create_tables(tables_of(settings))
    services = build(settings, parts_of(settings))
    key = key_of_first_admin(services, "cold")
    assert key is not None
    (account,) = services.parts.accounts.accounts(after=None, limit=1).items
    caller = Caller(account=account, scopes=full_scopes(account), acts_as="person", key=None, place="cli")
    scope = services.access.open_space(caller, "personal", Right.WRITE)
    request = Request(owner=account.id, key=None, hash="", now=services.clock())
    services.remember.add(scope, NewMemory(text="Marie is allergic to peanuts."), request)
    services.rebuild.rebuild()
    try:
        yield {"PATH": os.environ["PATH"], **signed, **stated}, key
    finally:
        services.parts.index.drop()


def _queue(prefix: str) -> str:
    from boto3 import Session

    client: Any = Session().client("sqs", region_name=REGION)
    made = client.create_queue(QueueName=f"{prefix}.fifo", Attributes={"FifoQueue": "true"})
    return str(made["QueueUrl"])


def _event(method: str, path: str, parts: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """As API Gateway sends it."""
    resource = path
    for name, value in (parts or {}).items():
        resource = resource.replace(f"/{value}", f"/{{{name}}}", 1)
    return {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "headers": {"content-type": "application/json"},
        "multiValueHeaders": {},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "pathParameters": dict(parts or {}) or None,
        "stageVariables": None,
        "requestContext": {"httpMethod": method, "resourcePath": resource, "identity": {}, "path": path},
        "body": None,
        "isBase64Encoded": False,
        **more,
    }


def _search(key: str) -> dict[str, Any]:
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    body = json.dumps({"query": "What can Marie not eat? Peanuts."})
    return _event("POST", "/v1/spaces/personal/search", {"space": "personal"}, headers=headers, body=body)


def _first_answer(code: Path, event: Mapping[str, Any], environment: Mapping[str, str]) -> float:
    """Seconds from the start of the process to its answer."""
    begun = time.perf_counter()
    done = _python(FIRST_ANSWER, code, json.dumps(event), environment)
    taken = time.perf_counter() - begun
    assert done.strip() == "200", done
    return taken


def _import_ms(code: Path, module: str) -> float:
    return float(_python(IMPORTED, code, module, {"PATH": os.environ["PATH"]}))


def _python(script: str, code: Path, argument: str, environment: Mapping[str, str]) -> str:
    """Run it with the package's files and the standard library, and nothing else."""
    done = subprocess.run(
        [sys._base_executable, "-B", "-I", "-S", "-c", script, str(code), argument],  # type: ignore[attr-defined]
        cwd=code,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()[-1] if done.stdout else ""
