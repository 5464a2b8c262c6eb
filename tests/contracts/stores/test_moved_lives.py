"""Whole lives move from each store to each: nothing that one keeps is lost in another."""

import json

import pytest

from chalicelib import bootstrap
from tests.fakes.engines import Engine, world_on
from tests.fakes.moving import MEMORIES, Installation, Life, bring, export, told

WAYS: list[tuple[Engine, Engine]] = [("sqlite", "sqlite"), ("sqlite", "moto"), ("moto", "sqlite")]


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_a_life_moves_between_stores(source: Engine, target: Engine) -> None:
    with world_on(source, admin=True) as here, world_on(target, admin=True) as there:
        life = Life(here, 21)
        life.live(25)
        records = export(life.client, 40)
        there.now = here.now
        client = Installation(there)
        bring(client, records[:30])  # and then the line broke
        bring(client, records, 33)
        assert set(bring(client, records)["written"].values()) == {0}
        arrived = export(client, 45)
        assert told(arrived) == told(records)
        assert not [word for word in life.erased if word in json.dumps(arrived)]
        there.settle()
        assert there.services.reconciler.compare(there.scope().space).count == 0
        number = client.post(MEMORIES, {"text": "Snow is white."}).json["memory"]["number"]
        assert number == records[0]["last_number"] + 1
