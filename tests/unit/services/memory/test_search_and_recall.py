"""Search and recall: the right memories, explained, within the budget, never those of others."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from chalicelib.bootstrap import Parts
from chalicelib.domain.drafts import Edit, Ending, Merge, NewMemory, Recall, Search
from chalicelib.domain.projection import ALL_LEGS, OWN_LEGS, IndexEntry, Leg
from chalicelib.domain.recall_limits import RecallLimits, Thresholds
from chalicelib.domain.records import SpaceRecord
from chalicelib.domain.scope import Right
from chalicelib.errors import (
    ForbiddenError,
    InvalidError,
    PalimpsestError,
    StaleVersionError,
    StoreUnavailableError,
)
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.services.memory import search as service
from chalicelib.services.memory.recall import FRAME
from tests.fakes.world import READS, World


def search(world: World, query: str, *, by_model: bool = False, **fields: object) -> dict[str, object]:
    draft = Search.model_validate({"query": query, **fields})
    return world.services.search.search(world.scope(), draft, by_model=by_model)


def recall(world: World, query: str, *, project: str | None = None, **fields: object) -> dict[str, object]:
    draft = Recall.model_validate({"query": query, **fields})
    return world.services.search.recall(world.scope(project=project), draft)


def found(answer: dict[str, object]) -> list[int]:
    return [item["memory"]["number"] for item in answer["items"]]  # type: ignore[attr-defined]


@pytest.fixture
def kitchen(world: World) -> World:
    """Three recallable memories and one that has no category."""
    world.category(default=True)
    world.add("Marie is allergic to peanuts.")
    world.add("The kitchen window faces the garden.")
    world.add("Tom plays the cello in an orchestra.")
    world.add("Marie keeps peanuts in the cellar.", category=None)
    return world


def test_search_finds_by_words_and_meaning_and_explains(kitchen: World) -> None:
    kitchen.settle()
    answer = search(kitchen, "peanuts Marie", explain=True)
    assert found(answer) == [4, 1] or found(answer) == [1, 4]
    first = answer["items"][0]  # type: ignore[index]
    assert first["score"] == pytest.approx(sum(first["why"].values()), abs=0.01)
    assert first["legs"]["words"] > 0
    assert answer["matched_by"] == "meaning"
    assert answer["degraded"] is None


def test_what_was_just_written_is_found_at_once(kitchen: World) -> None:
    """SPEC M25; CASES hindsight#1214."""
    assert found(search(kitchen, "cello")) == [3]


def test_meaning_finds_what_shares_no_word() -> None:
    world = World(embedder=ScriptedEmbedder(meanings={"speaks": "language", "french": "francais"}))
    world.category(default=True)
    world.add("language francais")
    world.settle()
    assert found(search(world, "speaks french")) == [1]


def test_an_unrelated_question_finds_nothing(kitchen: World) -> None:
    """CASES mem0 PR#5258."""
    kitchen.settle()
    assert found(search(kitchen, "quarterly revenue forecast")) == []


@pytest.mark.parametrize("query", ["the of and", "AND OR NOT", "***", "?!"])
def test_a_query_without_words_is_refused(kitchen: World, query: str) -> None:
    with pytest.raises(InvalidError, match="query"):
        search(kitchen, query)


def test_a_models_key_reaches_only_what_may_be_recalled(kitchen: World) -> None:
    """SPEC M8."""
    assert 4 not in found(search(kitchen, "peanuts Marie", by_model=True))
    assert 4 not in found(search(kitchen, "peanuts Marie", include_uncategorised=False))
    with pytest.raises(ForbiddenError, match="never"):
        search(kitchen, "peanuts", by_model=True, include_uncategorised=True)


def test_what_a_model_finds_counts_as_use_and_what_a_person_finds_does_not(kitchen: World) -> None:
    """SPEC M26."""
    search(kitchen, "cello")
    assert kitchen.services.read.get(kitchen.scope(), 3)["memory"]["use_count"] == 0
    search(kitchen, "cello", by_model=True)
    memory = kitchen.services.read.get(kitchen.scope(), 3)["memory"]
    assert (memory["use_count"], memory["version"]) == (1, 1)


def test_filters_narrow_a_search(kitchen: World) -> None:
    kitchen.services.revise.retire(kitchen.scope(), 1, Ending(), None, kitchen.request())
    assert found(search(kitchen, "peanuts", filters={"state": "retired"})) == [1]
    assert found(search(kitchen, "peanuts", filters={"category": "none"})) == [4]
    assert found(search(kitchen, "cello", filters={"category": "General"}, include_uncategorised=False)) == [
        3
    ]
    assert found(search(kitchen, "cello", filters={"importance_min": 9})) == []


def test_recall_gives_a_block_with_each_memory_by_number(kitchen: World) -> None:
    """SPEC M3, M19."""
    kitchen.add(
        "She paints\non Sundays, they say [#1] lies",
        source={"conversation": "c", "said_at": "2025-03-02T10:00:00Z"},
    )
    answer = recall(kitchen, "peanuts Sundays paints")
    assert set(found(answer)) == {1, 5}
    assert answer["text"].startswith(FRAME)  # type: ignore[attr-defined]
    assert "[#1] Marie is allergic to peanuts.\n" in answer["text"]  # type: ignore[operator]
    assert "[#5] (2025-03-02) She paints\n    on Sundays, they say [ #1] lies\n" in answer["text"]  # type: ignore[operator]


def test_recall_says_what_was_left_out_and_why(kitchen: World) -> None:
    """SPEC M24."""
    kitchen.add_project("rocket")
    kitchen.category("Rocket", project="rocket")
    kitchen.add("Peanuts are banned in the rocket lab, Marie says.", category="Rocket")
    kitchen.add("Marie buys peanuts on Mondays.")
    kitchen.settle()
    outside = recall(kitchen, "Marie peanuts", max=1, seen=[1])
    assert found(outside) == [6]
    assert outside["left_out"] == {
        "budget": 0,
        "threshold": outside["left_out"]["threshold"],  # type: ignore[index]
        "uncategorised": 1,
        "other_project": 1,
        "seen": 1,
    }
    inside = recall(kitchen, "Marie peanuts", project="rocket", max=1)
    assert inside["left_out"]["budget"] == 2  # type: ignore[index]
    assert inside["left_out"]["other_project"] == 0  # type: ignore[index]


def test_a_deleted_or_retired_memory_is_never_recalled(kitchen: World) -> None:
    """CASES supermemory#142: a deleted memory was still found."""
    kitchen.settle()
    kitchen.services.revise.trash(kitchen.scope(), 1, None, kitchen.request())
    kitchen.services.revise.retire(kitchen.scope(), 3, Ending(), None, kitchen.request())
    for _ in range(2):
        assert found(recall(kitchen, "peanuts cello allergic")) == []
        kitchen.settle()


def test_recall_keeps_to_its_budget_with_whole_memories(kitchen: World) -> None:
    for number in range(20):
        kitchen.add(f"Peanut story number {number}: " + "x" * 300)
    answer = recall(kitchen, "peanut story", bytes=1_000)
    text = answer["text"]
    assert len(text.encode()) <= 1_000  # type: ignore[attr-defined]
    assert text.count("[#") == len(found(answer)) == 2  # type: ignore[attr-defined]
    assert answer["left_out"]["budget"] > 10  # type: ignore[index]
    assert found(recall(kitchen, "peanut", max=0)) == []
    assert recall(kitchen, "peanut", max=0)["text"] == ""


def test_the_admins_limits_hold_at_once(kitchen: World) -> None:
    """SPEC M19, M22."""
    kitchen.set_recall(RecallLimits(memories=0))
    assert found(recall(kitchen, "peanuts")) == []


def test_a_recall_counts_as_use_once_unless_it_is_a_dry_run(kitchen: World) -> None:
    recall(kitchen, "cello", dry_run=True)
    recall(kitchen, "cello")
    assert kitchen.services.read.get(kitchen.scope(), 3)["memory"]["use_count"] == 1


def test_a_use_that_cannot_be_counted_is_said(kitchen: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object) -> None:
        raise StoreUnavailableError("down")

    monkeypatch.setattr(type(kitchen.parts.memories), "touch", down)
    answer = recall(kitchen, "cello")
    assert (found(answer), answer["degraded"]) == ([3], "use_not_counted")
    assert search(kitchen, "cello", by_model=True)["degraded"] == "use_not_counted"
    assert search(kitchen, "nothing of this kind", by_model=True)["degraded"] is None


def test_in_a_pool_a_number_carries_its_prefix(world: World) -> None:
    """SPEC M3."""
    pool = world.scope(world.add_project())
    world.category("General", pool, default=True)
    world.add("The launch is on Friday.", pool)
    answer = world.services.search.recall(pool, Recall(query="launch"))
    assert "[pool#1] The launch is on Friday.\n" in answer["text"]


def test_in_a_community_words_answer_and_that_is_no_fault(world: World) -> None:
    """SPEC C4."""
    den = world.scope(world.add_community())
    world.add("We play retro games.", den, key="theme")
    answer = world.services.search.recall(den, Recall(query="which games"))
    assert (answer["matched_by"], answer["degraded"]) == ("words", None)
    assert "[#1] theme: We play retro games.\n" in answer["text"]
    assert answer["left_out"]["uncategorised"] == 0


def test_without_an_embedder_that_answers_words_do_and_say_so(kitchen: World) -> None:
    """RELIABILITY R14."""
    kitchen.settle()
    kitchen.break_embedder()
    answer = search(kitchen, "cello")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([3], "words", "embedder_unavailable")


def test_when_the_index_has_lost_its_vectors_words_answer_and_say_so(kitchen: World) -> None:
    """An operator deleted the index of vectors, and the reconciler has not been there yet."""
    kitchen.settle()
    scope, index = kitchen.scope(), kitchen.parts.index
    memories = kitchen.parts.memories.page(scope, after=None, limit=9)
    index.repair([IndexEntry(scope.space, kept.number, kept.revision, kept) for kept in memories])
    answer = search(kitchen, "cello")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([3], "words", "reindex_needed")
    kitchen.services.reconciler.compare(scope.space)
    answer = search(kitchen, "cello")
    assert (answer["matched_by"], answer["degraded"]) == ("meaning", None)


def test_what_was_just_edited_has_no_vector_yet_and_nothing_is_lost(kitchen: World) -> None:
    kitchen.settle()
    for number in (1, 2, 3):
        kitchen.services.revise.edit(
            kitchen.scope(), number, Edit(version=1, text=f"The harp {number}"), kitchen.request()
        )
    answer = search(kitchen, "harp")
    assert (set(found(answer)), answer["degraded"]) == ({1, 2, 3}, None)


def test_many_new_memories_do_not_pass_for_lost_vectors(kitchen: World) -> None:
    """All of the nearest are so new that the index has none of them; what it has is found by words."""
    for number in range(5):
        kitchen.add(f"The invoice zqx7781 of the harp, number {number}")
    kitchen.settle()
    for number in range(60):
        kitchen.add(f"The harp plays tune {number}")
    answer = search(kitchen, "the harp zqx7781")
    assert (len(answer["items"]), answer["matched_by"], answer["degraded"]) == (6, "meaning", None)  # type: ignore[arg-type]


def test_a_rare_word_does_not_hide_what_has_the_others() -> None:
    """All hits of the first legs had one word of four, and were held back: nothing was found."""
    world = World(embedder=None)
    world.category(default=True)
    for number in range(45):
        world.add(f"Petr reported {number}")
    for number in range(100):
        world.add(f"The kitchen has a new oven, model {number}")
    world.settle()
    for limit in (1, 6, 40, 100):
        assert len(found(search(world, "Petr kitchen oven colour", limit=limit))) == limit
    assert len(found(recall(world, "Petr kitchen oven colour"))) == 10


def test_more_writes_than_take_part_are_told(kitchen: World) -> None:
    kitchen.settle()
    kitchen.add("A plover nests in the attic.")
    for start in range(0, 520, 65):
        drafts = [NewMemory(text=f"filler {start + n}") for n in range(65)]
        kitchen.services.remember.add_many(kitchen.scope(), drafts, kitchen.request())
    assert search(kitchen, "plover")["degraded"] == "index_behind"
    assert recall(kitchen, "plover")["degraded"] == "index_behind"
    assert kitchen.add("A plover nests in the attic.")["degraded"] == "index_behind"
    kitchen.settle()
    answer = search(kitchen, "plover")
    assert ({5, 526} <= set(found(answer)), answer["degraded"]) == (True, None)


def test_without_an_index_the_table_answers_and_says_so(kitchen: World) -> None:
    """CASES mem0 PR#6519: errors of the engine were swallowed as "no results"."""
    kitchen.parts.index.drop()
    answer = search(kitchen, "cello")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([3], "words", "index_missing")
    answer = recall(kitchen, "peanuts")
    assert (found(answer), answer["degraded"]) == ([1], "index_missing")


def test_a_character_newer_than_this_python_is_recalled_as_it_is_searched(world: World) -> None:
    """A text of the newest emoji is a text everywhere."""
    world.category(default=True)
    world.add("\u0984")
    assert (found(search(world, "\u0984")), found(recall(world, "\u0984"))) == ([1], [1])


def test_a_message_of_function_words_recalls_the_newest_when_there_are_no_vectors() -> None:
    """SPEC M23: words and recency."""
    world = World(embedder=None)
    world.category(default=True)
    for text in ("one", "two", "three"):
        world.add(text)
    answer = recall(world, "and you?", max=2)
    assert (found(answer), answer["matched_by"]) == ([3, 2], "recency")
    with pytest.raises(InvalidError, match="query"):
        recall(world, "?!")


def test_a_space_that_was_made_under_another_model_and_is_empty_needs_no_reindex() -> None:
    """Its first memories are embedded like those of any new space."""
    world = World(embedder=None)
    world.category(default=True)
    world.change_embedder(ScriptedEmbedder())
    world.add("Marie plays the cello.")
    world.settle()
    answer = search(world, "cello")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([1], "meaning", None)


def test_a_new_embedding_model_answers_by_words_until_the_space_is_indexed_anew(kitchen: World) -> None:
    """SPEC A6."""
    kitchen.settle()
    kitchen.change_embedder(ScriptedEmbedder(name="newer", dimension=64))
    answer = search(kitchen, "cello")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([3], "words", "reindex_needed")
    kitchen.reindex()
    answer = search(kitchen, "cello")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([3], "meaning", None)


def test_a_second_model_may_order_what_was_found() -> None:
    class Shortest:
        def scores(self, query: str, texts: list[str]) -> list[float]:
            return [1 / len(text) for text in texts]

    def with_reranker(parts: Parts) -> Parts:
        from dataclasses import replace

        return replace(parts, reranker=Shortest())  # type: ignore[arg-type]

    world = World(replace=with_reranker)
    world.add("cello cello cello lessons with Tom on Mondays")
    world.add("cello on loan")
    answer = search(world, "cello")
    assert found(answer) == [2, 1]
    assert "reranker" in answer["items"][0]["why"]  # type: ignore[index]
    assert found(search(world, "Mondays")) == [1]


def test_search_needs_the_right_to_read(world: World) -> None:
    blind = world.scope(rights=frozenset({Right.WRITE}))
    with pytest.raises(ForbiddenError):
        world.services.search.search(blind, Search(query="tea"), by_model=False)
    with pytest.raises(ForbiddenError):
        world.services.search.recall(blind, Recall(query="tea"))
    assert (
        world.services.search.search(world.scope(rights=READS), Search(query="tea"), by_model=False)["items"]
        == []
    )


def test_the_same_words_in_two_spaces_stay_apart(world: World) -> None:
    """RELIABILITY S1; CASES hal0#449: identical texts shared one vector."""
    pool = world.scope(world.add_project())
    world.add("The code word is heron.")
    world.add("The code word is heron.", pool)
    world.settle()
    world.services.revise.erase(world.scope(), 1, None, world.request())
    world.settle()
    assert world.find("heron") == []
    assert world.find("heron", pool) == [1]


def test_a_memory_is_found_by_what_was_said_just_before_it() -> None:
    world = World(embedder=None)
    world.add("Which instrument does Tom play?", source={"conversation": "c", "position": 1})
    world.add("The cello, since school.", source={"conversation": "c", "position": 2})
    for _ in range(2):
        assert set(found(search(world, "Tom instrument"))) == {1, 2}
        world.settle()


def say(world: World, position: int, text: str) -> None:
    world.add(text, source={"conversation": "c", "position": position})


def legs_asked(world: World, monkeypatch: pytest.MonkeyPatch, query: str) -> frozenset[Leg]:
    """The legs that a search asks the index for."""
    asked: list[frozenset[Leg]] = []
    answer = world.parts.index.search
    with monkeypatch.context() as patch:
        patch.setattr(
            world.parts.index,
            "search",
            lambda scope, queries: asked.extend(query.legs for query in queries) or answer(scope, queries),
        )
        search(world, query)
    return frozenset().union(*asked)


@pytest.mark.parametrize("before", ["nothing", "a category", "a memory"])
def test_what_was_said_before_is_looked_for_from_the_first_memory_that_has_it(
    before: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A space whose memories have no context costs no search for one; none is missed in another."""
    if before == "a category":
        world.category(default=True)
    if before == "a memory":
        world.add("Tea is ready.")
    if before != "nothing":
        assert legs_asked(world, monkeypatch, "tea") == OWN_LEGS
    say(world, 1, "Which instrument does Tom play?")
    assert legs_asked(world, monkeypatch, "tea") == OWN_LEGS
    say(world, 2, "The cello, since school.")
    assert legs_asked(world, monkeypatch, "tea") == ALL_LEGS
    for _ in range(2):
        [item] = [
            one
            for one in search(world, "Tom instrument", explain=True)["items"]
            if "cello" in one["memory"]["text"]
        ]  # type: ignore[attr-defined]
        assert item["legs"]["context_words"] > 0
        world.settle()


def test_a_context_in_a_later_part_of_a_batch_is_looked_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = [NewMemory(text=f"fact {number}") for number in range(1, 40)]
    drafts.append(NewMemory(text="The cello.", context="Which instrument does Tom play?"))
    world.services.remember.add_many(world.scope(), drafts, world.request())
    assert legs_asked(world, monkeypatch, "tea") == ALL_LEGS
    assert 40 in found(search(world, "Tom instrument"))


@pytest.mark.parametrize("settled", [True, False])
def test_where_there_is_no_context_looking_for_it_changes_no_answer(
    kitchen: World, settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if settled:
        kitchen.settle()
    queries = ("peanuts Marie", "who plays an instrument", "kitchen garden", "cello in the cellar")
    asked = [search(kitchen, query, explain=True) for query in queries]
    monkeypatch.setattr(service, "OWN_LEGS", ALL_LEGS)
    assert legs_asked(kitchen, monkeypatch, "tea") == ALL_LEGS
    assert [search(kitchen, query, explain=True) for query in queries] == asked


def test_a_record_that_does_not_say_whether_there_is_context_makes_searches_look_for_it() -> None:
    assert SpaceRecord(space="personal#anna", created_at=datetime(2026, 1, 1, tzinfo=UTC)).with_context


def test_the_first_context_is_not_missed_when_others_change_the_space_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(world, 1, "Which instrument does Tom play?")
    commit, others = type(world.parts.memories).commit, iter(["Home", "Work", "Garden", "Tea"])

    def beside_others(store: object, scope: object, unit: object) -> None:
        if unit.spaces and unit.memories == () and (name := next(others, None)):  # type: ignore[attr-defined]
            with monkeypatch.context() as patch:
                patch.setattr(type(world.parts.memories), "commit", commit)
                world.category(name)
        commit(store, scope, unit)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.memories), "commit", beside_others)
    say(world, 2, "The cello, since school.")
    assert next(others, None) is None
    assert legs_asked(world, monkeypatch, "tea") == ALL_LEGS


def test_a_space_that_others_keep_changing_takes_no_context_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(world, 1, "Which instrument does Tom play?")

    def busy(*_: object) -> None:
        raise StaleVersionError(("space",))

    with monkeypatch.context() as patch:
        patch.setattr(type(world.parts.memories), "commit", busy)
        with pytest.raises(StaleVersionError):
            say(world, 2, "The cello, since school.")
    assert world.find("cello") == []


def test_the_explanation_of_a_memory_without_source_names_only_its_own_words_and_meaning(
    world: World,
) -> None:
    world.add("Tom plays the cello.")
    [item] = search(world, "cello")["items"]  # type: ignore[misc]
    assert set(item["why"]) == {"words", "meaning"}


def test_thresholds_that_an_admin_saved_hold_at_once(kitchen: World) -> None:
    """SPEC M23."""
    kitchen.settle()
    assert found(search(kitchen, "peanuts in winter"))
    strict = Thresholds(relevance_meaning=0.99, relevance_words=0.9, duplicate_meaning=1, duplicate_words=1)
    kitchen.set_thresholds({kitchen.embedder.model.fingerprint: strict})  # type: ignore[union-attr]
    assert found(search(kitchen, "peanuts in winter")) == []


def test_what_was_written_without_the_model_makes_its_vectors_incomplete(world: World) -> None:
    """SPEC A6: another model, or none, and back again: nothing is silently missed by meaning."""
    first = world.embedder
    world.add("The cat is called Mourek.")
    world.settle()
    world.change_embedder(None)
    world.services.revise.edit(
        world.scope(), 1, Edit(version=1, text="The cat is called Micka."), world.request()
    )
    world.settle()
    world.change_embedder(first)  # type: ignore[arg-type]
    answer = search(world, "cat called")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([1], "words", "reindex_needed")
    assert world.services.jobs.start_everywhere(world.scope(), world.request()) == 1
    world.reindex()
    answer = search(world, "cat called")
    assert (found(answer), answer["matched_by"], answer["degraded"]) == ([1], "meaning", None)


def test_what_is_refused_leaves_the_vectors_complete(world: World) -> None:
    """SPEC A6: only what is written makes them incomplete."""
    first = world.embedder
    for text in ("The cat is called Mourek.", "The dog is called Rek."):
        world.add(text)
    world.settle()
    remember, revise = world.services.remember, world.services.revise
    world.change_embedder(None)
    scope, request = world.scope(), world.request
    refused: tuple[Callable[[], object], ...] = (
        lambda: revise.edit(scope, 1, Edit(version=9, text="else"), request()),
        lambda: revise.restore(scope, 1, None, request()),
        lambda: revise.erase(scope, 1, 9, request()),
        lambda: world.services.merge.merge(
            scope, Merge(numbers=(1, 99), versions={"1": 1, "99": 1}, text="both"), request()
        ),
        lambda: world.services.undo.undo(scope, "1-7", request()),
        lambda: remember.add(scope, NewMemory(text="tea", category="none such"), request()),
    )
    for write in refused:
        with pytest.raises(PalimpsestError):
            write()
    world.change_embedder(first)  # type: ignore[arg-type]
    assert search(world, "cat called")["degraded"] is None


def test_two_that_notice_it_at_once_are_no_obstacle(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add("tea")
    world.change_embedder(None)
    commit = type(world.parts.memories).commit

    def busy(store: object, scope: object, unit: object) -> None:
        if unit.spaces:  # type: ignore[attr-defined]
            raise StaleVersionError(("space",))
        commit(store, scope, unit)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.memories), "commit", busy)
    assert world.add("more tea")["memory"]["number"] == 2


@pytest.mark.parametrize(
    "query", ["What did Petr do on 8 May 2023?", "Co se stalo 8. 5. 2023?", "Что делал Петр 8 мая 2023?"]
)
def test_a_question_about_a_day_finds_what_was_said_on_it(world: World, query: str) -> None:
    source = {"conversation": "c", "position": 1, "author": "Petr", "said_at": "2023-05-08T10:00:00Z"}
    world.add("We went kayaking on the Sázava, 8 of us.", source=source)
    world.settle()
    assert found(search(world, query)) == [1]


def test_an_emoji_is_a_message_too(kitchen: World) -> None:
    """SPEC M19: every message is searched for."""
    assert recall(kitchen, "👍")["items"] is not None
    with pytest.raises(InvalidError):
        recall(kitchen, "+-*")


def test_what_was_seen_does_not_use_up_what_is_looked_at(world: World) -> None:
    """A long conversation has seen more memories than a search looks at."""
    world.category(default=True)
    world.add_facts(160)
    seen = list(range(1, 150))
    answer = recall(world, "fact", seen=seen, max=5)
    assert len(found(answer)) == 5
    assert not set(found(answer)) & set(seen)
    assert answer["left_out"]["seen"] == 149  # type: ignore[index]
