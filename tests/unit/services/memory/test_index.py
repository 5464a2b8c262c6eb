"""From the table to the index: projecting, rebuilding, comparing, reindexing; and health."""

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.drafts import Edit, NewJob
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.scope import Space
from chalicelib.errors import (
    ConflictError,
    ForbiddenError,
    IndexUnavailableError,
    NotFoundError,
    StaleVersionError,
    StoreError,
    StoreUnavailableError,
)
from chalicelib.providers.scripted import ScriptedEmbedder
from tests.fakes.world import READS, World

ANNA = Space.personal("anna")


def test_a_text_is_embedded_once_whatever_happens_to_it_later(world: World) -> None:
    """SPEC M23, A6: unchanged text is embedded once, even when the index is lost."""
    world.add("I like tea.", importance=2)
    world.settle()
    world.services.revise.edit(world.scope(), 1, Edit(version=1, importance=9), world.request())
    world.settle()
    world.parts.index.drop()
    world.services.rebuild.rebuild()
    texts = [text for asked in world.embedder.asked if asked.kind == "passages" for text in asked.texts]  # type: ignore[union-attr]
    assert texts == ["I like tea."]
    assert world.find("tea") == [1]


def test_vectors_that_could_not_be_made_are_made_later(world: World) -> None:
    world.break_embedder()
    world.add("I like tea.")
    assert world.services.projector.project(ANNA, [1]) == [1]
    assert world.find("tea") == [1]
    world.break_embedder(times=0)
    assert world.services.projector.project(ANNA, [1]) == []
    assert world.services.reconciler.compare(ANNA).count == 0


def test_projecting_in_any_order_and_twice_is_harmless(world: World) -> None:
    world.add("one")
    for number in (1, 1, 7):
        assert world.services.projector.project(ANNA, [number]) == []
    assert world.services.projector.project(ANNA, []) == []
    assert world.find("one") == [1]


def test_what_the_index_refuses_is_to_be_tried_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add("one")
    monkeypatch.setattr(type(world.parts.index), "apply", lambda _self, entries: list(entries))
    assert world.services.projector.project(ANNA, [1]) == [1]


def test_an_erased_memory_does_not_come_back_with_a_rebuild(world: World) -> None:
    """CASES cognee#3526: forgotten facts came back because their vectors stayed."""
    world.add("The code word is heron.")
    world.add("Something else about tea.")
    world.settle()
    world.services.revise.erase(world.scope(), 1, None, world.request())
    world.parts.index.drop()
    assert world.services.rebuild.rebuild() == 2
    assert world.find("heron") == []
    assert world.find("tea") == [2]


def test_a_rebuild_tries_again_what_the_index_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add("tea")
    real = type(world.parts.index).rebuild_apply
    calls: list[int] = []

    def flaky(index: object, name: str, entries: list[IndexEntry]) -> list[IndexEntry]:
        calls.append(len(entries))
        return list(entries) if len(calls) == 1 else real(index, name, entries)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.index), "rebuild_apply", flaky)
    world.services.rebuild.rebuild()
    assert calls == [1, 1]
    world.settle()
    assert world.find("tea") == [1]
    calls.clear()
    monkeypatch.setattr(type(world.parts.index), "rebuild_apply", lambda _s, _n, entries: list(entries))
    with pytest.raises(IndexUnavailableError, match="refused"):
        world.services.rebuild.rebuild()
    assert world.find("tea") == [1]


def test_every_difference_is_found_and_repaired(world: World) -> None:
    """RELIABILITY R5."""
    world.add_facts(300)
    world.settle()
    index, store, scope = world.parts.index, world.parts.memories, world.scope()
    entries = world.services.projector.entries(
        scope, list(store.get_many(scope, [5, 200, 250, 299]).values())
    )[0]
    five, stale, hollow, ahead = entries
    index.repair([replace(five, memory=None)])
    index.repair([replace(stale, memory=stale.memory.model_copy(update={"text": "wrong"}))])  # type: ignore[union-attr]
    index.repair([replace(hollow, vectors={})])
    index.repair([replace(ahead, revision=99)])
    index.repair([IndexEntry(ANNA, 9_999, 3, five.memory.model_copy(update={"number": 9_999}), {})])  # type: ignore[union-attr]
    found = world.services.reconciler.compare(ANNA)
    assert (sorted(found.stale), found.unembedded, found.extra, found.checked) == (
        [5, 200, 299],
        [250],
        [9_999],
        300,
    )
    assert world.services.reconciler.compare(ANNA).count == 0
    world.services.revise.edit(scope, 299, Edit(version=1, text="fact renewed"), world.request())
    world.settle()
    assert world.find("renewed") == [299]


def test_a_memory_that_is_written_while_the_reconciler_looks_stays_in_the_index(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RELIABILITY R5, R6: it was taken for one that the table does not have, and was found no more."""
    world.add_facts(3)
    page = type(world.parts.memories).page
    added: list[int] = []

    def page_before_a_write(store: Any, *asked: Any, **how: Any) -> Any:
        found = page(store, *asked, **how)
        if not found and not added:
            added.append(world.add("a lantern")["memory"]["number"])
            world.settle()
        return found

    monkeypatch.setattr(type(world.parts.memories), "page", page_before_a_write)
    assert world.services.reconciler.compare(ANNA).count == 0
    assert world.find("lantern") == added


def test_a_repair_takes_nothing_back_that_was_written_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RELIABILITY R5: the projector's newer state was written over by the older one, and stayed lost."""
    world.add("a violin")
    world.settle()
    scope, repair = world.scope(), type(world.parts.index).repair
    [entry], _ = world.services.projector.entries(
        scope, list(world.parts.memories.get_many(scope, [1]).values())
    )
    world.parts.index.repair([replace(entry, vectors={})])
    edits = iter(["a kettle"])

    def repair_after_an_edit(index: Any, entries: Any) -> None:
        for edit in edits:
            world.services.revise.edit(scope, 1, Edit(version=1, text=edit), world.request())
            world.settle()
        repair(index, entries)

    monkeypatch.setattr(type(world.parts.index), "repair", repair_after_an_edit)
    assert world.services.reconciler.compare(ANNA).unembedded == [1]
    assert world.services.reconciler.compare(ANNA).count == 0
    assert (world.find("kettle"), world.find("violin")) == ([1], [])


@pytest.mark.parametrize("left", ["a memory", "a tombstone"])
def test_a_number_that_the_index_had_by_mistake_is_free_for_the_next_memory(world: World, left: str) -> None:
    """As after the table was set back to a backup: what stood there kept the next memory out of the index."""
    world.add("a violin")
    world.settle()
    [entry], _ = world.services.projector.entries(
        world.scope(), list(world.parts.memories.get_many(world.scope(), [1]).values())
    )
    memory = entry.memory.model_copy(update={"number": 2}) if left == "a memory" and entry.memory else None
    world.parts.index.repair([IndexEntry(ANNA, 2, 7, memory)])
    assert world.services.reconciler.compare(ANNA).extra == [2]
    assert world.services.reconciler.compare(ANNA).count == 0
    assert world.add("a kettle")["memory"]["number"] == 2
    world.settle()
    assert world.find("kettle") == [2]


def test_what_the_index_never_got_is_found(world: World) -> None:
    for number in range(1, 4):
        world.add(f"fact {number}")
    world.outbox.done([record.seq for record in world.outbox.pending(2)])
    found = world.services.reconciler.compare(ANNA)
    assert found.missing == [1, 2]  # the third is on its way
    assert world.services.reconciler.compare(ANNA).count == 0


def test_a_sample_looks_at_some(world: World) -> None:
    world.add_facts(399)
    world.settle()
    chance = random.Random(3)
    assert world.services.reconciler.compare(ANNA, sample=100, chance=chance).checked in range(100, 229)
    assert world.services.reconciler.compare(Space.personal("nobody"), sample=10).checked == 0


def test_a_sample_of_a_small_space_is_all_of_it_wherever_it_begins(world: World) -> None:
    """What is lost is found by the next comparison, not by luck."""
    world.add_facts(17)
    world.settle()
    index, reconciler = world.parts.index, world.services.reconciler
    first = world.parts.memories.get_many(world.scope(), [1])[1]
    [entry], _ = world.services.projector.entries(world.scope(), [first])
    for seed in range(12):
        extra = 20 + seed
        index.repair([replace(entry, vectors={})])
        index.repair([IndexEntry(ANNA, extra, 3, first.model_copy(update={"number": extra}))])
        found = reconciler.compare(ANNA, sample=100, chance=random.Random(seed))
        assert (found.unembedded, found.extra, found.checked) == ([1], [extra], 17), seed


def test_a_community_is_complete_without_vectors(world: World) -> None:
    den = world.add_community()
    world.add("fact", world.scope(den))
    world.settle()
    assert world.services.reconciler.compare(den).count == 0


def test_a_job_is_started_once_and_shows_its_progress(world: World) -> None:
    """SPEC A6: starting one that runs returns it."""
    world.add_facts(199)
    world.settle()
    world.change_embedder(ScriptedEmbedder(name="newer", dimension=64))
    jobs, draft = world.services.jobs, NewJob(kind="reindex")
    first = jobs.start(world.scope(), draft, world.request("j"))["job"]
    assert jobs.start(world.scope(), draft, world.request("j"))["job"] == first
    assert jobs.start(world.scope(), draft, world.request())["job"]["id"] == first["id"]
    jobs.wake(ANNA, first["id"])
    assert world.parts.queue.depth() == 1
    assert jobs.run(world.scope(), first["id"], lambda: False) is False
    shown = jobs.get(world.scope(), first["id"])["job"]
    assert (shown["state"], shown["done"], shown["failed"]) == ("running", 128, 0)
    assert jobs.run(world.scope(), first["id"], lambda: True) is True
    shown = jobs.get(world.scope(), first["id"])["job"]
    assert (shown["state"], shown["done"], shown["total"]) == ("done", 199, 199)
    assert jobs.run(world.scope(), first["id"], lambda: True) is True
    assert [job["id"] for job in jobs.listed(world.scope())] == [first["id"]]
    jobs.wake(ANNA, first["id"])
    jobs.wake(ANNA, "job_nowhere")
    with pytest.raises(NotFoundError):
        jobs.get(world.scope(), "job_nowhere")


def test_a_job_whose_embedder_fails_says_so_and_the_space_stays_with_words(world: World) -> None:
    world.add("tea")
    world.settle()
    world.change_embedder(ScriptedEmbedder(name="newer"))
    world.break_embedder()
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    world.services.jobs.run(world.scope(), job, lambda: True)
    shown = world.services.jobs.get(world.scope(), job)["job"]
    assert (shown["state"], shown["failed"]) == ("failed", 1)


def test_a_job_whose_index_fails_says_so(world: World) -> None:
    world.add("tea")
    world.change_embedder(ScriptedEmbedder(name="newer"))
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    world.parts.index.drop()
    world.services.jobs.run(world.scope(), job, lambda: True)
    shown = world.services.jobs.get(world.scope(), job)["job"]
    assert shown["state"] == "failed"
    assert "IndexMissingError" in shown["error"]


def test_a_space_nobody_wrote_to_can_be_reindexed(world: World) -> None:
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    world.services.jobs.run(world.scope(), job, lambda: True)
    assert world.services.jobs.get(world.scope(), job)["job"]["state"] == "done"
    again = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    world.services.jobs.run(world.scope(), again, lambda: True)
    assert world.services.jobs.get(world.scope(), again)["job"]["state"] == "done"


def test_another_worker_that_has_the_job_is_left_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]

    def busy(*_: object) -> None:
        raise StaleVersionError((job,))

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    assert world.services.jobs.run(world.scope(), job, lambda: True) is True


def test_a_spaces_record_that_others_keep_changing_is_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add("tea")
    world.change_embedder(ScriptedEmbedder(name="newer"))
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    commit = type(world.parts.memories).commit

    def busy(store: object, scope: object, unit: object) -> None:
        if unit.spaces:  # type: ignore[attr-defined]
            raise StaleVersionError(("space",))
        commit(store, scope, unit)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    with pytest.raises(StoreError, match="by others"):
        world.services.jobs.run(world.scope(), job, lambda: True)


def test_a_job_that_was_begun_with_another_model_begins_anew(world: World) -> None:
    """Else its first memories would have no vectors of the model that it says is complete."""
    world.add_facts(3)
    world.change_embedder(ScriptedEmbedder(name="second"))
    jobs = world.services.jobs
    job = jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    assert jobs.run(world.scope(), job, lambda: False) is False
    third = ScriptedEmbedder(name="third")
    world.change_embedder(third)
    assert world.services.jobs.run(world.scope(), job, lambda: True) is True
    shown = world.services.jobs.get(world.scope(), job)["job"]
    assert (shown["state"], shown["done"], shown["total"]) == ("done", 3, 3)
    states = world.parts.index.indexed(world.scope(), after=0, limit=9)
    assert [third.model.fingerprint in state.models for state in states] == [True] * 3


def test_an_admin_starts_reindexing_everywhere_it_is_needed(world: World) -> None:
    world.add("tea")
    world.add("pool", world.scope(world.add_project()))
    world.add("fact", world.scope(world.add_community()))
    assert world.services.jobs.start_everywhere(world.scope(), world.request()) == 0
    world.change_embedder(ScriptedEmbedder(name="newer"))
    assert world.services.jobs.start_everywhere(world.scope(), world.request("k-1")) == 2
    world.reindex()
    assert world.services.jobs.start_everywhere(world.scope(), world.request("k-1")) == 2
    assert world.services.jobs.start_everywhere(world.scope(), world.request("k-2")) == 1


def test_without_an_embedding_model_there_is_nothing_to_index_anew(world: World) -> None:
    with pytest.raises(ConflictError):
        World(embedder=None).services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())
    with pytest.raises(ConflictError):
        world.services.jobs.start(world.scope(world.add_community()), NewJob(kind="reindex"), world.request())
    with pytest.raises(ForbiddenError):
        world.services.jobs.start(world.scope(rights=READS), NewJob(kind="reindex"), world.request())


def test_health_names_the_part_that_is_down(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """CASES Synapse PR#107: writes failed for two days while health said OK."""
    health = world.services.health
    assert health.look()["status"] == "ok"
    world.parts.index.drop()
    world.break_embedder()
    answer = health.look()
    assert (answer["status"], answer["parts"]["index"], answer["parts"]["embedder"]) == (
        "degraded",
        "missing",
        "down",
    )

    def down(*_: object) -> None:
        raise StoreUnavailableError("down")

    def engine_down(*_: object) -> None:
        raise IndexUnavailableError("down")

    monkeypatch.setattr(type(world.parts.accounts), "installation", down)
    monkeypatch.setattr(type(world.parts.queue), "depth", down)
    monkeypatch.setattr(type(world.parts.index), "ready", engine_down)
    parts = health.look()["parts"]
    assert (parts["table"], parts["queue"], parts["index"]) == ("down", "down", "down")
    assert World(embedder=None).services.health.look()["parts"]["embedder"] == "off"


def test_a_table_that_can_only_be_read_is_down(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """CASES Synapse PR#107: writes failed for two days while health said OK."""

    def refuse(*_: object) -> None:
        raise StoreUnavailableError("throttled")

    before = world.database_dump()
    assert world.services.health.look()["parts"]["table"] == "ok"
    assert world.database_dump() == before
    monkeypatch.setattr(type(world.parts.memories), "touch", refuse)
    assert world.services.health.look()["parts"]["table"] == "down"


def test_an_index_that_is_there_and_does_not_answer_is_down(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise IndexUnavailableError("a part of its shards only")

    monkeypatch.setattr(type(world.parts.index), "counts", fail)
    assert world.services.health.look()["parts"]["index"] == "down"


def test_a_model_that_remembers_its_queries_is_asked_for_something_else(world: World) -> None:
    """What was answered once says nothing of now."""
    world.services.health.look()
    assert isinstance(world.embedder, ScriptedEmbedder)
    assert [asked.kind for asked in world.embedder.asked] == ["passages"]


def test_memories_cannot_be_sorted_by_themselves_without_a_helper_model(world: World) -> None:
    """SPEC M10."""
    with pytest.raises(ConflictError, match="helper model"):
        world.services.jobs.start(world.scope(), NewJob(kind="recategorise"), world.request())


def test_after_a_change_of_model_the_reconciler_leaves_vectors_to_the_job(world: World) -> None:
    world.add("tea")
    world.settle()
    newer = ScriptedEmbedder(name="newer")
    world.change_embedder(newer)
    assert world.services.reconciler.compare(ANNA).count == 0
    assert newer.asked == []


def test_the_messages_of_jobs_that_nobody_works_on_are_sent_again(world: World) -> None:
    job = world.services.jobs.start(world.scope(), NewJob(kind="reindex"), world.request())["job"]["id"]
    idle = timedelta(minutes=2)
    assert world.services.jobs.wake_unfinished(ANNA, idle) == 0
    world.later(minutes=3)
    assert world.services.jobs.wake_unfinished(ANNA, idle) == 1
    assert world.parts.queue.depth() == 1
    world.services.jobs.run(world.scope(), job, lambda: True)
    world.later(minutes=3)
    assert world.services.jobs.wake_unfinished(ANNA, idle) == 0
