"""One emulator and one installation on it, for all tests here: they are steps of one life, in the order of the file."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.aws.emulator import Emulator
from tests.deployed.installation import Installation
from tests.e2e.test_index_loss import delete_indices
from tests.shared_services import free_ports


@pytest.fixture(scope="session")
def account(tmp_path_factory: pytest.TempPathFactory, opensearch_url: str) -> Iterator[Installation]:
    """An empty account: nothing is deployed."""
    folder: Path = tmp_path_factory.mktemp("aws")
    emulator = Emulator(folder, free_ports(1)[0])
    emulator.start()
    prefix = f"e2e-{secrets.token_hex(4)}"
    try:
        yield Installation(emulator, opensearch_url, prefix)
    finally:
        emulator.stop()
        delete_indices(opensearch_url, prefix)


@pytest.fixture(scope="session")
def installed(account: Installation) -> Installation:
    """The account after `make deploy`."""
    account.deploy()
    return account
