"""Adding memories: what is stored, what is reported, what is refused."""

import pytest

from chalicelib.domain.drafts import NewMemory
from chalicelib.domain.memory import TEXT_MAX_BYTES
from chalicelib.domain.scope import Space
from chalicelib.errors import (
    AlreadyDoneError,
    EmbeddingError,
    ForbiddenError,
    InvalidError,
    PalimpsestError,
    StaleVersionError,
    TooLargeError,
)
from chalicelib.services.memory.embedding import Embedding
from tests.fakes.world import READS, World


def test_a_memory_gets_the_next_number_and_the_defaults_of_a_personal_space(world: World) -> None:
    """SPEC M2, M3."""
    first, second = world.add("I like tea."), world.add("The car is red.")
    assert [first["memory"]["number"], second["memory"]["number"]] == [1, 2]
    assert first["memory"] | {"number": 1} == first["memory"]
    assert (first["memory"]["kind"], first["memory"]["importance"], first["memory"]["state"]) == (
        "user",
        5,
        "active",
    )
    assert first["memory"]["recorded_by"] == {"kind": "person", "id": "anna", "turn": None}


def test_a_pool_and_a_community_have_their_own_defaults(world: World) -> None:
    """SPEC M2: project in a pool; reference, and not scored yet, in a community."""
    pool = world.add(scope=world.scope(world.add_project()))["memory"]
    fact = world.add(scope=world.scope(world.add_community()), key="rule", confidence=0.5, subject="server")[
        "memory"
    ]
    assert (pool["kind"], pool["importance"]) == ("project", 5)
    assert (fact["kind"], fact["importance"], fact["key"], fact["confidence"]) == (
        "reference",
        None,
        "rule",
        0.5,
    )
    assert fact["vitality"] is None
    assert fact["eligible_at"] is None


def test_an_uncategorised_add_says_that_it_is_not_recalled_and_why(world: World) -> None:
    """SPEC M8."""
    answer = world.add()
    assert answer["recallable"] is False
    assert answer["why_not_recallable"] == "it has no category"


def test_a_category_is_named_or_the_spaces_default_is_taken(world: World) -> None:
    """SPEC M8, D5."""
    work = world.category("Work")
    world.category("General", default=True)
    assert world.add(category="wOrK")["memory"]["category"] == "Work"
    assert world.add(category=work["id"])["memory"]["category"] == "Work"
    assert world.add()["memory"]["category"] == "General"
    assert world.add()["recallable"] is True
    assert world.add(category=None)["memory"]["category"] is None


def test_a_category_that_does_not_exist_is_refused_and_nothing_is_stored(world: World) -> None:
    with pytest.raises(InvalidError, match="category"):
        world.add(category="Nowhere")
    assert world.services.read.browse(world.scope(), _all())["items"] == []


def test_the_default_category_is_not_given_once_it_is_deleted(world: World) -> None:
    general = world.category("General", default=True)
    world.services.categories.delete(world.scope(), general["id"], None, world.request())
    assert world.add()["memory"]["category"] is None


def test_in_a_community_everything_is_recallable(world: World) -> None:
    """SPEC M8: communities have no such rule."""
    assert world.add(scope=world.scope(world.add_community()))["recallable"] is True


def test_a_category_bound_to_another_project_says_so(world: World) -> None:
    """SPEC M9."""
    world.add_project("rocket")
    world.category("Rocket", project="rocket")
    answer = world.add(category="Rocket")
    assert answer["why_not_recallable"] == "its category is bound to another project"
    inside = world.services.read.get(world.scope(project="rocket"), answer["memory"]["number"])
    assert inside["recallable"] is True


def test_the_same_sentence_twice_is_stored_twice_and_the_first_is_reported(world: World) -> None:
    """SPEC M12; CASES mem0#1674: adding the same memory twice deleted it."""
    world.add()
    again = world.add()
    assert again["memory"]["number"] == 2
    assert [(one["memory"]["number"], one["score"]) for one in again["similar"]] == [(1, 1.0)]


def test_a_similar_memory_is_reported_before_and_after_the_index_has_caught_up(world: World) -> None:
    world.add("Marie is allergic to peanuts.")
    fresh = world.add("Marie is allergic to peanuts")["similar"]
    world.settle()
    settled = world.add("Marie is allergic to peanuts!")["similar"]
    assert [one["memory"]["number"] for one in fresh] == [1]
    assert {one["memory"]["number"] for one in settled} == {1, 2}


def test_something_else_is_not_similar(world: World) -> None:
    """CASES suzent#34: an update close to the old fact was dropped; here it is stored beside it."""
    world.add("Paul works at Google.")
    other = world.add("The kitchen was painted blue last summer.")
    assert other["similar"] == []


def test_an_equal_key_is_reported_in_a_community(world: World) -> None:
    """SPEC C1."""
    den = world.scope(world.add_community())
    world.add("Be friendly and short.", den, key="bot_tone")
    world.settle()
    other = world.add("Answers may be as long as needed, and formal.", den, key="Bot_Tone")
    assert [(one["memory"]["number"], one["score"]) for one in other["similar"]] == [(1, 1.0)]


def test_an_equal_key_is_found_among_many_and_before_the_index_has_it(world: World) -> None:
    den = world.scope(world.add_community())
    world.add("Be friendly and short.", den, key="bot_tone")
    for number in range(12):
        world.add(f"Answers may be long: number {number}, bot, tone and all.", den)
    fresh = world.add("Formal answers, if long: number 7, bot and tone.", den, key="bot_tone")
    world.settle()
    settled = world.add("Formal answers, if long: number 8, bot and tone.", den, key="bot_tone")
    assert fresh["similar"][0]["memory"]["number"] == 1
    assert {one["memory"]["number"] for one in settled["similar"] if one["score"] == 1.0} == {1, 14}


def test_a_secret_is_stored_with_a_warning(world: World) -> None:
    """SPEC M16."""
    assert world.add("The wifi password is hunter2-hunter2")["warning"] == "secret"
    assert "warning" not in world.add("She never forgets a face.")


def test_a_text_above_the_limit_is_refused(world: World) -> None:
    with pytest.raises(TooLargeError):
        world.add("ж" * TEXT_MAX_BYTES)


def test_who_may_only_read_cannot_add(world: World) -> None:
    with pytest.raises(ForbiddenError):
        world.add(scope=world.scope(rights=READS))


def test_a_repeat_under_the_same_key_stores_once_and_answers_the_same(world: World) -> None:
    draft = NewMemory(text="I like tea.")
    first = world.services.remember.add(world.scope(), draft, world.request("k1", draft))
    world.later(hours=5)
    again = world.services.remember.add(world.scope(), draft, world.request("k1", draft))
    assert again == first
    with pytest.raises(InvalidError, match="Idempotency-Key"):
        world.services.remember.add(world.scope(), NewMemory(text="Other"), world.request("k1", "other"))


def test_two_with_the_same_key_at_the_same_moment_store_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second finds the record only when it commits."""
    draft = NewMemory(text="I like tea.")
    first = world.services.remember.add(world.scope(), draft, world.request("k1", draft))
    answers = iter([None, world.parts.inbox.outcome("anna", "k1", world.now)])
    monkeypatch.setattr(type(world.parts.inbox), "outcome", lambda *_: next(answers))
    assert world.services.remember.add(world.scope(), draft, world.request("k1", draft)) == first


def test_a_record_that_vanishes_is_a_conflict_not_a_second_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AlreadyDoneError

    monkeypatch.setattr(type(world.parts.memories), "commit", refuse)
    with pytest.raises(PalimpsestError, match="in flight"):
        world.services.remember.add(world.scope(), NewMemory(text="tea"), world.request("k1"))


def test_a_repeat_of_an_add_whose_memory_was_erased_brings_no_text_back(world: World) -> None:
    """SPEC M13."""
    draft = NewMemory(text="My secret place is the old mill.")
    world.services.remember.add(world.scope(), draft, world.request("k1", draft))
    world.services.revise.erase(world.scope(), 1, None, world.request())
    with pytest.raises(PalimpsestError, match="erased since") as caught:
        world.services.remember.add(world.scope(), draft, world.request("k1", draft))
    assert caught.value.status == 404


def test_in_a_batch_a_bad_one_does_not_fail_the_others(world: World) -> None:
    drafts = [
        NewMemory(text="one"),
        InvalidError("text", "must not be empty or blank"),
        NewMemory(text="two", category="Nowhere"),
        NewMemory(text="three" + "x" * TEXT_MAX_BYTES),
        NewMemory(text="four"),
    ]
    results = world.services.remember.add_many(world.scope(), drafts, world.request("b1", "b"))
    assert [getattr(r, "status", 201) for r in results] == [201, 422, 422, 413, 201]
    again = world.services.remember.add_many(world.scope(), drafts, world.request("b1", "b"))
    assert [_comparable(one) for one in again] == [_comparable(one) for one in results]
    assert len(world.services.read.browse(world.scope(), _all())["items"]) == 2


def test_a_batch_of_only_bad_ones_stores_nothing(world: World) -> None:
    [result] = world.services.remember.add_many(
        world.scope(), [InvalidError("text", "no")], world.request("b1")
    )
    assert isinstance(result, InvalidError)


def test_a_large_batch_is_done_once_even_when_it_was_cut_off_in_the_middle(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = [NewMemory(text=f"Fact number {n} about the harbour.") for n in range(80)]
    commit = type(world.parts.memories).commit
    calls = []

    def once_only(store: object, scope: object, unit: object) -> None:
        calls.append(unit)
        if len(calls) == 2:
            raise TimeoutError
        commit(store, scope, unit)  # type: ignore[arg-type]

    monkeypatch.setattr(type(world.parts.memories), "commit", once_only)
    with pytest.raises(TimeoutError):
        world.services.remember.add_many(world.scope(), drafts, world.request("big", "b"))
    results = world.services.remember.add_many(world.scope(), drafts, world.request("big", "b"))
    assert len(results) == 80
    numbers = {one["memory"]["number"] for one in results if isinstance(one, dict)}
    stored = world.parts.memories.page(world.scope(), after=None, limit=200)
    assert len(numbers) == 80
    assert {memory.number for memory in stored} == numbers


def test_a_batch_of_long_texts_is_cut_so_that_each_part_fits_into_a_transaction(world: World) -> None:
    drafts = [NewMemory(text="long " * 40_000) for _ in range(9)]
    results = world.services.remember.add_many(world.scope(), drafts, world.request())
    assert all(isinstance(one, dict) for one in results)


def test_an_equal_one_within_a_batch_is_reported(world: World) -> None:
    """CASES graphiti PR#955: duplicate facts inside one episode."""
    drafts = [NewMemory(text="Tom plays the cello."), NewMemory(text="Tom plays the cello.")]
    _, second = world.services.remember.add_many(world.scope(), drafts, world.request())
    assert isinstance(second, dict)
    assert [one["memory"]["number"] for one in second["similar"]] == [1]


def test_what_was_said_just_before_becomes_the_context(world: World) -> None:
    source = {"conversation": "c1", "author": "Anna"}
    world.add("Where do you live?", source={**source, "position": 1})
    world.settle()
    answer = world.add("In Brno.", source={**source, "position": 2})
    assert answer["memory"]["context"] == "Anna: Where do you live?"
    drafts = [NewMemory(text=f"turn {n}", source={**source, "position": n}) for n in (3, 4)]  # type: ignore[arg-type]
    third, fourth = world.services.remember.add_many(world.scope(), drafts, world.request())
    assert isinstance(third, dict)
    assert isinstance(fourth, dict)
    assert (third["memory"]["context"], fourth["memory"]["context"]) == ("Anna: In Brno.", "Anna: turn 3")


def test_a_context_that_is_given_is_kept_and_cut_to_its_end(world: World) -> None:
    answer = world.add(
        "yes", source={"conversation": "c1", "position": 1}, context="a" * 3_000 + "the question"
    )
    assert answer["memory"]["context"].endswith("the question")
    assert len(answer["memory"]["context"]) == 2_000


def test_nothing_before_means_no_context(world: World) -> None:
    world.add("first", source={"conversation": "c1", "position": 0})
    world.services.revise.trash(world.scope(), 1, None, world.request())
    assert world.add("second", source={"conversation": "c1", "position": 1})["memory"]["context"] is None
    assert world.add("other", source={"conversation": "c2"})["memory"]["context"] is None


def test_without_an_embedder_that_answers_a_memory_is_stored_and_says_so(world: World) -> None:
    """RELIABILITY R14."""
    world.break_embedder()
    answer = world.add()
    assert answer["memory"]["number"] == 1
    assert answer["degraded"] == "embedder_unavailable"


def test_without_an_index_a_memory_is_stored_and_says_so(world: World) -> None:
    world.parts.index.drop()
    answer = world.add()
    assert (answer["degraded"], answer["similar"]) == ("index_missing", [])


def test_without_an_embedding_model_similar_ones_are_found_by_words() -> None:
    world = World(embedder=None)
    world.add("Tom plays the cello.")
    answer = world.add("Tom plays the cello.")
    assert [one["memory"]["number"] for one in answer["similar"]] == [1]
    assert answer["degraded"] is None


def test_no_embedding_is_ever_computed_for_a_community(world: World) -> None:
    """SPEC C4."""
    den = world.scope(world.add_community())
    world.add("We play retro games.", den)
    world.settle()
    assert world.embedder.asked == []  # type: ignore[union-attr]


def test_two_first_adds_at_once_make_one_space(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loser of the race for the space's record stores its memory all the same."""
    store = world.parts.memories
    world.add("first")
    monkeypatch.setattr(type(store), "space", lambda *_: None)
    assert world.add("second")["memory"]["number"] == 2


def test_spaces_never_meet(world: World) -> None:
    world.add("personal")
    pool = world.scope(world.add_project())
    assert world.add("pool", pool)["memory"]["number"] == 1
    assert world.add("pool", pool)["similar"] != []
    assert world.services.read.get(pool, 1)["memory"]["space"] == "project:rocket"
    assert Space.from_key("account#anna") == Space.personal("anna")


def _all() -> object:
    from chalicelib.domain.drafts import SearchFilters

    return SearchFilters(state="all")


def _comparable(result: object) -> object:
    return str(result) if isinstance(result, PalimpsestError) else result


def test_a_conflict_that_cannot_be_is_not_hidden(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def stale(*_: object) -> None:
        raise StaleVersionError(("1",))

    monkeypatch.setattr(type(world.parts.memories), "commit", stale)
    with pytest.raises(StaleVersionError):
        world.add()


def test_a_repeat_whose_record_is_gone_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = NewMemory(text="I like tea.")
    world.services.remember.add(world.scope(), draft, world.request("k1", draft))
    monkeypatch.setattr(type(world.parts.memories), "change", lambda *_: None)
    with pytest.raises(PalimpsestError, match="not recorded"):
        world.services.remember.add(world.scope(), draft, world.request("k1", draft))


def test_a_repeat_answers_with_the_context_that_was_taken_from_another_memory(world: World) -> None:
    for position, text in enumerate(["Where do you live?", "In Brno."]):
        draft = NewMemory(text=text, source={"conversation": "c", "position": position})  # type: ignore[arg-type]
        first = world.services.remember.add(world.scope(), draft, world.request(f"k{position}", draft))
        assert (
            world.services.remember.add(world.scope(), draft, world.request(f"k{position}", draft)) == first
        )
    assert first["memory"]["context"] == "Where do you live?"
    [made] = world.services.read.history(world.scope(), 2)["items"]
    assert made["after"]["context"] == "Where do you live?"
    world.services.revise.erase(world.scope(), 1, None, world.request())
    assert all(
        one["after"]["context"] is None for one in world.services.read.history(world.scope(), 2)["items"]
    )


def test_without_a_model_nothing_is_embedded() -> None:
    with pytest.raises(EmbeddingError):
        Embedding(None, World(embedder=None).parts.memories).query("tea")
