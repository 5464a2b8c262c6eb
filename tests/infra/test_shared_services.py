"""The servers that tests share are real, and only this machine reaches them."""

import json
import urllib.request

import pytest


def _get(url: str) -> dict:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


@pytest.mark.opensearch
def test_the_search_node_is_real_and_has_vectors(opensearch_url: str) -> None:
    assert _get(opensearch_url)["version"]["distribution"] == "opensearch"
    with urllib.request.urlopen(f"{opensearch_url}/_cat/plugins?h=component", timeout=10) as answer:
        assert answer.read().decode().split() == ["opensearch-knn"]


@pytest.mark.ministack
def test_the_emulator_of_aws_answers(ministack_url: str) -> None:
    assert _get(f"{ministack_url}/_ministack/health")["services"]["dynamodb"] == "available"


@pytest.mark.parametrize("service", ["opensearch_url", "ministack_url"])
def test_a_server_listens_on_the_loopback_interface_only(
    service: str, request: pytest.FixtureRequest
) -> None:
    url: str = request.getfixturevalue(service)
    assert url.startswith("http://127.0.0.1:")
    port = int(url.rsplit(":", 1)[1])
    listening = {
        line.split()[1].split(":")[0]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for line in _lines(table)
        if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == port
    }
    assert listening <= {"0100007F", "0000000000000000FFFF00000100007F"}


def _lines(table: str) -> list[str]:
    try:
        with open(table) as file:  # noqa: PTH123 - a kernel table, not a path of ours
            return file.readlines()[1:]
    except FileNotFoundError:  # not on this system: nothing to compare with
        return []
