"""Eight clients at once, a small slice of `python -m tests.bench throughput`."""

import pytest

from tests.bench.served import served
from tests.bench.throughput import people, read_at_once

CLIENTS, EACH = 8, 250


@pytest.mark.slow
def test_no_client_is_given_what_another_one_asked_for() -> None:
    with served({"PALIMPSEST_EMBEDDER": "none"}) as service:
        reads = read_at_once(people(service, CLIENTS), EACH)

    assert reads.wrong == []
    assert len(reads.times) == CLIENTS * EACH
