"""Stored text of every shape comes back as it was said: a seeded slice of R9 (RELIABILITY R9; SPEC M2; CASES: texts
that were normalised, trimmed, cut, re-escaped). `python -m tests.prove.shapes` is the full size.

That the proof would find a text that came back otherwise is shown by stores that change some.
"""

import json
import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.bootstrap import Parts
from chalicelib.domain import drafts
from chalicelib.domain.records import Commit, MemoryWrite
from chalicelib.domain.scope import Scope
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from tests.fakes.engines import Servers, world_on
from tests.fakes.world import World
from tests.prove.shapes import prove, refusals
from tests.prove.shapes.prove import Proof
from tests.prove.shapes.refusals import refuse
from tests.prove.shapes.texts import LARGE, SHAPES, largest
from tests.prove.shapes.trips import Readings, Traveller

SEED = 1
DRAFTS = (drafts.NewMemory, drafts.Edit, drafts.Merge, drafts.Retire, drafts.Bulk, drafts.NewCategory)


@pytest.fixture(autouse=True)
def _no_services_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_services", None)


def here() -> AbstractContextManager[World]:
    return world_on("sqlite", admin=True)


def test_texts_of_every_shape_come_back_unchanged_by_every_way() -> None:
    proof = Proof("sqlite", SEED)
    prove.named_shapes(proof, here)
    prove.drawn_texts(proof, here, 15)
    assert proof.found == []
    assert proof.untried() == []


def test_the_largest_texts_come_back_unchanged() -> None:
    proof = Proof("sqlite", SEED)
    prove.large_texts(proof, here)
    assert proof.found == []
    assert proof.texts == len(LARGE)


def test_they_do_on_dynamodb() -> None:
    def moto() -> AbstractContextManager[World]:
        return world_on("moto", admin=True)

    proof = Proof("moto", SEED)
    with moto() as world:
        traveller = Traveller(world, proof.readings)
        traveller.store("\n".join(["edge", *SHAPES.values()]))
        traveller.store(largest(4), edits=False)
        traveller.read_all()
    assert proof.found == []


@pytest.mark.opensearch
@pytest.mark.ministack
@pytest.mark.xdist_group("opensearch")
def test_they_do_on_a_server_of_dynamodb_with_a_real_opensearch(
    ministack_url: str, opensearch_url: str
) -> None:
    def cloud() -> AbstractContextManager[World]:
        return world_on("cloud", Servers(ministack_url, opensearch_url), admin=True)

    proof = Proof("cloud", SEED)
    with cloud() as world:
        traveller = Traveller(world, proof.readings)
        traveller.send("\n".join(SHAPES.values()), " ".join(SHAPES.values()))
        traveller.store(largest(4))
        traveller.read_all()
    assert proof.found == []


def test_what_cannot_be_kept_is_refused_by_its_field_and_changes_nothing() -> None:
    readings = Readings()
    with here() as world:
        assert refuse(world, readings) > 400
    assert readings.found == []


# ------------------------------------------------------------------ texts that are changed on purpose


class Changing(SqliteMemoryStore):
    """A store that writes texts otherwise than they were said, as careless drivers and columns do."""

    careless: Callable[[str], str]

    def commit(self, scope: Scope, commit: Commit) -> None:
        def changed(write: MemoryWrite) -> MemoryWrite:
            text = self.careless(write.memory.text)
            return write.model_copy(update={"memory": write.memory.model_copy(update={"text": text})})

        writes = tuple(changed(write) for write in commit.memories)
        super().commit(scope, commit.model_copy(update={"memories": writes}))


CARELESS: dict[str, Callable[[str], str]] = {
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "trimmed": str.strip,
    "newlines made alike": lambda text: text.replace("\r\n", "\n"),
    "no joiners": lambda text: text.replace("\u200d", ""),
    "no byte order mark": lambda text: text.removeprefix("\ufeff"),
    "three bytes a character at most": lambda text: "".join(c if ord(c) < 0x10000 else "?" for c in text),
    "no control characters": lambda text: "".join(c for c in text if c >= " " or c in "\t\r\n"),
    "escapes resolved": lambda text: text.replace("\\n", "\n"),
}


@pytest.mark.parametrize("careless", sorted(CARELESS))
def test_a_store_that_changes_texts_is_found(careless: str) -> None:
    def plant(parts: Parts) -> Parts:
        store = parts.memories
        store.__class__ = type("Careless", (Changing,), {"careless": staticmethod(CARELESS[careless])})
        return parts

    proof = Proof("sqlite", SEED)
    concerned = [text for text in SHAPES.values() if CARELESS[careless](text) != text]
    prove.named_shapes(proof, lambda: world_on("sqlite", admin=True, replace=plant), concerned[:1])
    assert any("get" in one for one in proof.found)


def test_a_store_that_cuts_large_texts_is_found() -> None:
    def plant(parts: Parts) -> Parts:
        cut = type("Cut", (Changing,), {"careless": staticmethod(lambda text: text[:65_535])})
        parts.memories.__class__ = cut
        return parts

    proof = Proof("sqlite", SEED)
    prove.large_texts(proof, lambda: world_on("sqlite", admin=True, replace=plant), [largest(1)])
    assert proof.found != []


def test_a_refusal_that_was_forgotten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bodies that are cleaned before they are checked: what cannot be kept is stored as something else."""
    ask = refusals.Client.ask

    def cleaned(self: Any, method: str, path: str, body: Any = None, **how: Any) -> Any:
        said = body | {"text": body["text"].replace("\x00", "")} if body and "text" in body else body
        return ask(self, method, path, said, **how)

    monkeypatch.setattr(refusals.Client, "ask", cleaned)
    readings = Readings()
    with here() as world:
        refuse(world, readings)
    assert any("refusal" in one for one in readings.found)
    assert any("left a trace" in one for one in readings.found)


def test_every_field_that_takes_a_text_is_tried() -> None:
    """A new field of a draft is a new place where a text may be said."""
    tried = {place.field.split(".")[-1] for place in refusals.REFUSED}
    taken = {
        name
        for draft in DRAFTS
        for name, schema in draft.model_json_schema()["properties"].items()
        if '"type": "string"' in (told := json.dumps(schema))
        and "enum" not in told
        and "date-time" not in told
    }
    assert {"text", "reason", "description"} <= taken
    assert taken - {"project"} <= tried  # an id, no text
