"""What every test may ask for: the servers that a run shares, and the same surroundings on every machine."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import shared_services

FOLDER = pytest.StashKey[Path]()
REQUIRED = os.environ.get("CI") == "true" or os.environ.get("PALIMPSEST_TEST_ALL") == "1"
"""In CI and in `make test` a missing part is a failure; with a plain `pytest` it is a skip that says what to do."""

HERE = Path(__file__).parent
collect_ignore = [] if os.environ.get("PALIMPSEST_TEST_DEPLOYED") == "1" else ["deployed"]
"""What is deployed is tested by `make e2e`, after `make test`."""

settings.register_profile(
    "suite",
    derandomize=True,
    deadline=None,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Nothing of the person's own AWS account or settings reaches a test; the first process makes the run's folder."""
    for name in list(os.environ):
        if name.startswith("AWS_") or (
            name.startswith("PALIMPSEST_") and not name.startswith("PALIMPSEST_TEST_")
        ):
            del os.environ[name]
    os.environ.update(
        AWS_ACCESS_KEY_ID="test",
        AWS_SECRET_ACCESS_KEY="test",
        AWS_DEFAULT_REGION="eu-central-1",
        AWS_EC2_METADATA_DISABLED="true",
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    )
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        config.stash[FOLDER] = Path(worker["shared_services"])
        return
    config.stash[FOLDER] = shared_services.begin_run()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end still stops the servers


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each worker of pytest-xdist where the run keeps its servers."""
    node.workerinput["shared_services"] = str(node.config.stash[FOLDER])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What attacks the whole once more, or runs all of an emulator in this process, takes up to twice as long when it is
    measured, and reaches no line that no other test does: coverage does without."""
    for item in items:
        if item.path.is_relative_to(HERE / "prove") or "moto" in item.name:
            item.add_marker("no_cover")


def pytest_unconfigure(config: pytest.Config) -> None:
    """The first process is the last to go: it stops what was started."""
    if not hasattr(config, "workerinput") and FOLDER in config.stash:
        shared_services.end_run(config.stash[FOLDER])


def _missing(error: shared_services.NotThereError) -> None:
    if REQUIRED:
        pytest.fail(str(error), pytrace=False)
    pytest.skip(str(error))


@pytest.fixture(scope="session")
def opensearch_url(pytestconfig: pytest.Config) -> str:
    """The URL of a real OpenSearch node, one for the whole run: name your indexes so that tests do not meet."""
    try:
        return shared_services.opensearch(pytestconfig.stash[FOLDER], required=REQUIRED)
    except shared_services.NotThereError as error:
        _missing(error)
        raise


@pytest.fixture(scope="session")
def ministack_url(pytestconfig: pytest.Config) -> str:
    """The URL of an AWS emulator, one for the whole run: name your tables so that tests do not meet."""
    try:
        return shared_services.ministack(pytestconfig.stash[FOLDER])
    except shared_services.NotThereError as error:
        _missing(error)
        raise
