"""Each dependency down, slow or talking nonsense: writes are taken, answers say so, health tells, and it mends itself.

A slice of the matrix; `python -m tests.prove.degradation` is all of it. That it would find a fault is shown by
planting some.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.domain.projection import Hit
from chalicelib.errors import EmbeddingError, SearchIndexError, StoreUnavailableError
from chalicelib.providers.openai_compatible import OpenAiEmbedder
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.services.health import Health
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from chalicelib.stores.sqlite.outbox import Outbox
from tests.prove.degradation import trial
from tests.prove.degradation.matrix import CASES
from tests.prove.degradation.trial import Row, run

HERE = [
    "embedder: a page with 200",
    "embedder: breaks off",
    "embedder: NaN",
    "embedder: fewer vectors than texts",
    "embedder: redirect",
    "file: index dropped",
    "file: the disk has a quota",
    "file: full to the last page",
    "file: read-only",
    "file: locked for a moment",
    "file: damaged pages",
]
OF_OPENSEARCH = ["opensearch: timed out inside"]
OF_DYNAMODB = ["dynamodb: a page with 200"]


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


def tried(name: str, folder: Path, **servers: str) -> Row:
    return run(CASES[name], folder / "data", servers, random.Random(f"1 {name}"))


@pytest.mark.parametrize("name", HERE)
def test_what_is_promised_holds_while_a_part_of_the_laptop_fails(tmp_path: Path, name: str) -> None:
    row = tried(name, tmp_path)
    assert row.found == []
    assert row.acknowledged > trial.BEFORE


@pytest.mark.opensearch
@pytest.mark.xdist_group("opensearch")
@pytest.mark.parametrize("name", OF_OPENSEARCH)
def test_what_is_promised_holds_while_opensearch_fails(
    tmp_path: Path, name: str, opensearch_url: str
) -> None:
    assert tried(name, tmp_path, opensearch=opensearch_url).found == []


@pytest.mark.ministack
@pytest.mark.parametrize("name", OF_DYNAMODB)
def test_what_is_promised_holds_while_dynamodb_fails(tmp_path: Path, name: str, ministack_url: str) -> None:
    assert tried(name, tmp_path, dynamodb=ministack_url).found == []


def test_the_matrix_has_every_part_and_no_case_twice() -> None:
    assert len(CASES) >= 60
    assert {case.part for case in CASES.values()} == {"embedder", "index", "table"}


# ------------------------------------------------------------------ planted faults


def test_a_model_whose_failure_is_swallowed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = OpenAiEmbedder.passages

    def passages(embedder: OpenAiEmbedder, texts: Sequence[str]) -> list[bytes]:
        try:
            return genuine(embedder, texts)
        except EmbeddingError:
            return [bytes(4 * embedder.model.dimension) for _ in texts]

    monkeypatch.setattr(OpenAiEmbedder, "passages", passages)
    found = tried("embedder: a page with 200", tmp_path).found
    assert "add says degraded None, not embedder_unavailable" in found


def test_an_index_that_answers_nothing_when_it_is_gone_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = EmbeddedIndex.search

    def search(index: EmbeddedIndex, scope: Any, queries: Sequence[Any]) -> list[list[Hit]]:
        try:
            return genuine(index, scope, queries)
        except SearchIndexError:
            return [[] for _ in queries]

    monkeypatch.setattr(EmbeddedIndex, "search", search)
    assert any("search does not find" in one for one in tried("file: index dropped", tmp_path).found)


def test_a_write_that_failed_and_was_acknowledged_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = SqliteMemoryStore.commit

    def commit(store: SqliteMemoryStore, scope: Any, wanted: Any) -> None:
        try:
            genuine(store, scope, wanted)
        except StoreUnavailableError:
            return

    monkeypatch.setattr(SqliteMemoryStore, "commit", commit)
    reserve = SqliteMemoryStore.reserve
    numbers = iter(range(1_000, 2_000))

    def reserved(store: SqliteMemoryStore, scope: Any, count: int) -> int:
        try:
            return reserve(store, scope, count)
        except StoreUnavailableError:
            return next(numbers)

    monkeypatch.setattr(SqliteMemoryStore, "reserve", reserved)
    found = tried("file: read-only", tmp_path).found
    assert any(one.startswith("add: accepted, not refused") for one in found)
    assert any(one.startswith("lost or changed") for one in found)


def test_a_health_that_is_always_green_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = Health.look

    def look(health: Health) -> dict[str, Any]:
        said = genuine(health)
        return {**said, "status": "ok", "parts": dict.fromkeys(said["parts"], "ok")}

    monkeypatch.setattr(Health, "look", look)
    assert "health says ok, all ok" in tried("file: read-only", tmp_path).found


def test_what_is_never_tried_again_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outbox, "failed", lambda outbox, seqs, at: outbox.done(seqs))
    monkeypatch.setattr(trial, "MENDED_S", 20)
    assert any(one.startswith("not whole after") for one in tried("embedder: NaN", tmp_path).found)


def test_an_answer_without_a_body_of_ours_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that no adapter turned into one of ours."""

    def broken(*_: Any) -> Any:
        raise KeyError("hits")

    monkeypatch.setattr(EmbeddedIndex, "browse", broken)
    monkeypatch.setattr(trial, "MENDED_S", 1)
    found = tried("file: index dropped", tmp_path).found
    assert any("500" in one for one in found)
    assert any(one.startswith("logged:") for one in found)
