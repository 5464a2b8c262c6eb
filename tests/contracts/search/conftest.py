"""One suite for every SearchIndex adapter: `pytest tests/contracts/search -k embedded` (or opensearch)."""

from collections.abc import Callable, Iterator, Sequence

import pytest

from chalicelib.domain.projection import IndexEntry
from chalicelib.ports import SearchIndex
from tests.contracts.search.engine_embedded import EMBEDDED
from tests.contracts.search.engine_opensearch import OPENSEARCH
from tests.contracts.search.engines import Engine

ENGINES = [
    pytest.param(EMBEDDED, id="embedded"),
    pytest.param(
        OPENSEARCH, id="opensearch", marks=[pytest.mark.opensearch, pytest.mark.xdist_group("opensearch")]
    ),
]

Put = Callable[..., None]


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return request.param


@pytest.fixture
def brand_new(engine: Engine, request: pytest.FixtureRequest) -> Iterator[SearchIndex]:
    """An index in which nothing was built yet."""
    with engine.open(request) as index:
        yield index


@pytest.fixture
def index(brand_new: SearchIndex) -> SearchIndex:
    """A complete index without entries."""
    brand_new.rebuild_finish(brand_new.rebuild_begin())
    return brand_new


@pytest.fixture(scope="module")
def shared_index(engine: Engine, request: pytest.FixtureRequest) -> Iterator[SearchIndex]:
    """A complete index that the tests of one module fill once and then only read."""
    with engine.open(request) as index:
        index.rebuild_finish(index.rebuild_begin())
        yield index


@pytest.fixture
def settle(engine: Engine, index: SearchIndex) -> Callable[[], None]:
    return lambda: engine.settle(index)


@pytest.fixture
def put(engine: Engine, index: SearchIndex) -> Put:
    """Apply entries, all of which must be taken, and make them visible."""

    def applied(*entries: IndexEntry) -> None:
        failed: Sequence[IndexEntry] = index.apply(entries)
        assert list(failed) == []
        engine.settle(index)

    return applied
