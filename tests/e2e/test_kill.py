"""`kill -9` while clients write, a small slice of `python -m tests.bench kill` (RELIABILITY R1)."""

import random

import pytest

from tests.bench.kill import Damage, rounds
from tests.bench.served import served

CLIENTS, WRITES = 4, 300


@pytest.mark.slow
def test_what_was_acknowledged_to_four_clients_outlives_kill_9_once_and_unchanged() -> None:
    with served({"PALIMPSEST_EMBEDDER": "none"}) as service:
        outcome = rounds(service, 1, CLIENTS, WRITES, random.Random(7))

    assert outcome.damage == Damage()
    assert outcome.acknowledged >= WRITES
