"""R12: every outbound call has a time-out, by the code and by trying; and one without is found."""

import ast
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from chalicelib import ports
from chalicelib.errors import IndexUnavailableError
from chalicelib.search import text
from chalicelib.search.opensearch.client import Client, Patience
from chalicelib.search.opensearch.index import OpenSearchIndex
from chalicelib.sqlite_file import Database
from tests.prove.concurrency import silences
from tests.prove.concurrency.outbound import PROBED, sites, unknown_libraries, unprobed
from tests.prove.concurrency.silences import PROBES, Call, arguments, asked_ports, listen, methods, of_port

# ---------------------------------------------------------------------------- by the code


def test_every_place_that_asks_another_machine_states_how_long_it_waits() -> None:
    assert [str(site) for site in sites() if site.missing] == []


def test_every_place_that_asks_another_machine_is_put_before_a_server_that_never_answers() -> None:
    assert unprobed(sites()) == []
    assert set(PROBED.values()) == set(PROBES)


def test_no_library_that_reaches_out_came_in_unseen() -> None:
    assert unknown_libraries() == []


@pytest.mark.parametrize(
    "code",
    [
        "import boto3\nboto3.client('s3')",
        "client: Any = boto3.client\nclient('s3', region_name='eu')",
        "import boto3\nboto3.session.Session().client('sqs')",
        "import boto3\nmine = boto3.Session()\nmine.client('sqs', region_name='eu')",
        "from boto3.session import Session\nSession().resource('sqs', config=None)",
        "from boto3.session import Session\nmake = Session().client\nmake('sqs')",
        "from botocore.session import Session\ndef of(aws: Session): return aws.client('sqs')",
        "Config(connect_timeout=1)",
        "Config(connect_timeout=1, read_timeout=None)",
        "Connection(region='eu')",
        "class Own(Connection):\n    pass\nOwn(region='eu', connect_timeout_seconds=1)",
        "urllib3.PoolManager(num_pools=1)",
        "urllib3.Timeout(connect=1)",
        "transport.perform_request('GET', '/')",
        "opensearchpy.OpenSearch('http://127.0.0.1')",
        "httpx.Client()",
        "urlopen('http://127.0.0.1')",
        "subprocess.run(['true'])",
    ],
)
def test_a_client_without_a_time_out_is_found(code: str, tmp_path: Path) -> None:
    file = tmp_path / "planted.py"
    file.write_text(code)
    assert [site.missing for site in sites([file]) if site.missing]
    assert "planted.py" in unprobed(sites([file]))


@pytest.mark.parametrize(
    "code",
    ["urllib3.Timeout(total=3)", "Config(connect_timeout=a, read_timeout=b)", "boto3.client('s3', config=c)"],
)
def test_a_client_with_a_time_out_is_not(code: str, tmp_path: Path) -> None:
    file = tmp_path / "sound.py"
    file.write_text(code)
    [site] = sites([file])
    assert site.missing == ()


@pytest.mark.parametrize(
    "code", ["import requests", "from http import client", "import smtplib", "from urllib import request"]
)
def test_a_new_way_out_is_found(code: str, tmp_path: Path) -> None:
    file = tmp_path / "planted.py"
    file.write_text(code)
    ast.parse(code)
    assert len(unknown_libraries([file])) == 1


# ---------------------------------------------------------------------------- by trying


def test_nothing_is_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silences, "WAIT_S", 0.1)
    heard = listen(holes=("silent",), most=5)
    assert heard.faults == []
    assert set(heard.by_adapter) == set(PROBES)


def test_every_method_of_every_port_is_asked() -> None:
    for port in asked_ports():
        for name, signature in methods(port):
            assert arguments(port, name, signature) or len(signature.parameters) == 1, name


def test_every_port_that_may_reach_out_has_a_probe() -> None:
    asked = {
        call.name.removeprefix(name).strip().partition(".")[0]
        for name, probe in PROBES.items()
        for call in probe("http://127.0.0.1:9", Database())
    }
    assert {port.__name__ for port in asked_ports()} <= asked


def impatient(url: str, database: Database) -> Iterator[Call]:
    """An index that waits longer than it says."""
    client = Client(url, patience=Patience(connect_s=1, read_s=1.2, work_s=1.2))
    index = OpenSearchIndex(client, text, prefix="slow")
    yield Call("slow ready", index.ready, IndexUnavailableError, within_s=0.2)


def failing_otherwise(url: str, database: Database) -> Iterator[Call]:
    """An index whose library's own error comes out."""
    yield Call("raw", lambda: 1 / 0, IndexUnavailableError, within_s=1)


def answering(url: str, database: Database) -> Iterator[Call]:
    """An index that takes silence for an answer."""

    def swallowed() -> None:
        with suppress(IndexUnavailableError):
            OpenSearchIndex(Client(url, patience=Patience(0.1, 0.1, 0.1)), text).ready()

    yield Call("swallowed", swallowed, IndexUnavailableError, within_s=1)


@pytest.mark.parametrize(
    ("probe", "told"),
    [(impatient, "not 0.2 s"), (failing_otherwise, "ZeroDivisionError"), (answering, "an answer")],
)
def test_an_adapter_that_waits_too_long_or_tells_it_wrongly_is_found(
    probe: silences.Probe, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silences, "SLACK_S", 0.3)
    heard = listen({"planted": probe}, holes=("silent",))
    assert len(heard.faults) == 1
    assert told in heard.faults[0]


def test_a_method_whose_arguments_nobody_wrote_is_found() -> None:
    class Newer(ports.Reranker):
        def ask(self, unheard_of: int) -> None: ...

    with pytest.raises(KeyError, match="unheard_of"):
        list(of_port("planted", object(), Newer, IndexUnavailableError, 1))
