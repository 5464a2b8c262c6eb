"""What was erased is in no table of DynamoDB and in no index of OpenSearch (SPEC M13; RELIABILITY S5; CASES mem0 PR#3610,
PR#4505, PR#5541: vector, graph or message rows were left behind).

A short life on each; `python -m tests.security.erasure` is the full size. That remains would be found is shown by
leaving some.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from chalicelib import bootstrap
from chalicelib.domain.projection import IndexEntry, Leg
from chalicelib.search.opensearch import bulk
from chalicelib.services.memory import remember
from chalicelib.stores.dynamodb.erasure import Erasure
from chalicelib.stores.dynamodb.vectors import Vectors
from tests.fakes.engines import Servers, world_on
from tests.security.erasure import live_erase_and_look, looks
from tests.security.kept import look_at_index, look_at_tables
from tests.security.life import MEMORIES, Life, Remains

ON_SERVERS = (
    pytest.mark.opensearch,
    pytest.mark.ministack,
    pytest.mark.xdist_group("opensearch"),
)


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


@pytest.fixture
def on_moto(tmp_path: Path) -> Iterator[Life]:
    """A person without memories, on DynamoDB in this process."""
    with world_on("moto", file=tmp_path / "palimpsest.sqlite") as world:
        yield Life(tmp_path, 1, world)


@pytest.fixture
def in_the_cloud(tmp_path: Path, ministack_url: str, opensearch_url: str) -> Iterator[Life]:
    """A person without memories, on a server of DynamoDB and a real OpenSearch."""
    servers = Servers(ministack_url, opensearch_url)
    with world_on("cloud", servers, file=tmp_path / "palimpsest.sqlite") as world:
        yield Life(tmp_path, 1, world)


def erase_one_of_three(life: Life) -> None:
    """Three memories, the last two said one after the other; the second is edited, and goes."""
    life._add()
    for canary, position in (("kq000900zz", 1), ("kq000901zz", 2)):
        body = {"text": life._words(canary), "source": {"conversation": "talk", "position": position}}
        life._note(life._write("POST", MEMORIES, body), {canary})
    life.world.settle()
    edit = {"version": 1, "text": life._words("kq000902zz"), "subject": "kq000903zz"}
    life._keep(life._write("PATCH", f"{MEMORIES}/2", edit).json["memory"], {"kq000902zz", "kq000903zz"})
    life.world.settle()
    life.vectors = life.vectors_of([2])
    assert len(life.vectors) == 2
    assert life._write("POST", f"{MEMORIES}/2/erase").status == 200
    life.told[2].erased = True


def test_it_is_in_no_item_of_dynamodb(tmp_path: Path) -> None:
    remains = live_erase_and_look(tmp_path, 1, 2, "moto")
    assert (remains.found, remains.lost) == ([], [])
    assert remains.canaries >= remains.erased > 0


class TestInTheCloud:
    pytestmark: ClassVar = list(ON_SERVERS)

    def test_it_is_in_no_item_and_no_index(self, in_the_cloud: Life) -> None:
        erase_one_of_three(in_the_cloud)
        remains = Remains()
        for look in looks("cloud"):
            look(in_the_cloud, remains)
            assert in_the_cloud.seen_alive > 0
            in_the_cloud.seen_alive_no_more()
        assert remains.found == []

    def test_a_vector_that_the_index_keeps_is_found(
        self, in_the_cloud: Life, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Its tombstone comes with a version that is older than the vector's."""
        version = bulk.vector_version

        def outdated(entry: IndexEntry, model: str, leg: Leg) -> int:
            gone = entry.memory is None or entry.memory.state == "erased"
            return 1 if gone else version(entry, model, leg)

        monkeypatch.setattr(bulk, "vector_version", outdated)
        erase_one_of_three(in_the_cloud)
        remains = Remains()
        look_at_index(in_the_cloud, remains)
        assert any("vectors in" in one for one in remains.found)
        assert any("kq000903zz" in one for one in remains.found)
        assert not any("is a word in" in one and "words" in one for one in remains.found)

    def test_words_that_the_index_keeps_are_found(
        self, in_the_cloud: Life, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        erase_one_of_three(in_the_cloud)
        in_the_cloud.world.settle = lambda: in_the_cloud.world.parts.index.refresh()  # type: ignore[method-assign, attr-defined]
        remains = Remains()
        look_at_index(in_the_cloud, remains)
        assert any("kq000902zz is a word in" in one for one in remains.found)


def test_nothing_is_found_where_nothing_was_left(on_moto: Life) -> None:
    erase_one_of_three(on_moto)
    remains = Remains()
    look_at_tables(on_moto, remains)
    assert remains.found == []
    assert on_moto.seen_alive > 0


def test_a_history_that_is_not_stripped_is_found(on_moto: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Erasure, "_strip_changes", lambda *_: None)
    erase_one_of_three(on_moto)
    remains = Remains()
    look_at_tables(on_moto, remains)
    assert any("change#" in one for one in remains.found)


def test_a_vector_that_the_table_keeps_is_found(on_moto: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Vectors, "delete_all", lambda *_: None)
    erase_one_of_three(on_moto)
    remains = Remains()
    look_at_tables(on_moto, remains)
    assert any("1 of 2 vectors in" in one for one in remains.found)


def test_a_text_in_an_idempotency_record_is_found(on_moto: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = remember._outcome

    def telling(planned: Any, *more: Any) -> Any:
        return {**outcome(planned, *more), "texts": [plan.text for plan in planned]}

    monkeypatch.setattr(remember, "_outcome", telling)
    erase_one_of_three(on_moto)
    remains = Remains()
    look_at_tables(on_moto, remains)
    assert any("table inbox" in one for one in remains.found)
