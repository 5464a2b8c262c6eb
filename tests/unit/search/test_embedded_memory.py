"""What the embedded index keeps in memory: always what is on disk, never more than it may, never read again."""

import random
import threading

import pytest

from chalicelib.domain.filters import MemoryFilter, sort_value
from chalicelib.domain.projection import EmbeddedText
from chalicelib.domain.scope import Space
from chalicelib.domain.vitality import Retention
from chalicelib.search import text
from chalicelib.search.embedded import best, index, postings, searching, segment, tables, vectors
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.sqlite_file import Database
from tests.contracts.search import reference
from tests.contracts.search.memories import (
    ALICE,
    LARGE,
    LIVE,
    NOW,
    SMALL,
    entry,
    memory,
    query,
    random_filter,
    random_memory,
    random_text,
    random_unit,
    scope_of,
    tombstone,
    unit,
)

SCOPE = scope_of(ALICE)
ANY = MemoryFilter(states=LIVE)
VECTOR = unit([1] * 8)


@pytest.fixture
def database():
    return Database(":memory:")


def _index(database: Database, **given) -> EmbeddedIndex:
    made = EmbeddedIndex(database, text, **given)
    if not made.ready():
        made.rebuild_finish(made.rebuild_begin())
    return made


def _answers(made: EmbeddedIndex, seed: int):
    rng = random.Random(seed)
    asked = [
        query(
            random_text(rng, 1, 5),
            filter=ANY if rng.random() < 0.5 else random_filter(rng, 60),
            depth=100,
            model=model,
            vector=random_unit(rng, dimension),
        )
        for model, dimension in ((SMALL, 8), (LARGE, 24)) * 4
    ]
    found = [
        {
            hit.number: (
                hit.said,
                *map(_rounded, (hit.words, hit.context_words, hit.meaning, hit.context_meaning)),
            )
            for hit in hits
        }
        for hits in made.search(SCOPE, asked)
    ]
    lists = [
        made.browse(
            SCOPE,
            random_filter(rng, 60),
            sort=sort,
            limit=30,
            text=rng.choice([None, "violin"]),
            now=NOW,
            retention=Retention(),
        )
        for sort in ("newest", "oldest", "updated", "importance", "vitality", "used")
    ]
    return found, lists, made.counts(SCOPE)


def _rounded(score):
    return None if score is None else pytest.approx(score, abs=1e-5)


def _random_entry(rng: random.Random, revisions: dict[int, int]):
    number = rng.randint(1, 60)
    revisions[number] = revisions.get(number, 0) + rng.choice([0, 1, 1, 1])
    if rng.random() < 0.1:
        return tombstone(number, revisions[number])
    kept = random_memory(random.Random(rng.choice([number, rng.random()])), number)
    vectors = {
        model: EmbeddedText(random_unit(seed, size), random_unit(seed, size) if rng.random() < 0.5 else None)
        for model, size in ((SMALL, 8), (LARGE, 24))
        if rng.random() < 0.5 and (seed := random.Random(number))
    }
    return entry(kept.model_copy(update={"revision": max(1, revisions[number])}), **vectors)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_up_to_date_equals_what_is_read_anew(monkeypatch, database, seed):
    """Any sequence of writes, with merges and worn segments on the way: memory never differs from the file."""
    monkeypatch.setattr(postings, "_TAIL_MIN", 5)
    monkeypatch.setattr(segment, "_WORN_FROM", 25)
    made = _index(database)
    rng, revisions = random.Random(seed), {}
    for round_ in range(25):
        entries = [_random_entry(rng, revisions) for _ in range(rng.randint(1, 6))]
        if rng.random() < 0.15:
            made.repair(entries)
        else:
            assert made.apply(entries) == []
        if round_ % 3 == 0:
            assert _answers(made, round_) == _answers(_index(database), round_)


def test_one_write_does_not_read_a_space_again(monkeypatch, database):
    made = _index(database)
    made.apply([entry(memory(n), **{SMALL: EmbeddedText(VECTOR)}) for n in range(1, 50)])
    asked = query("lantern", model=SMALL, vector=VECTOR, depth=100)
    assert len(made.search(SCOPE, [asked])[0]) == 49

    def read_again(*given):
        raise AssertionError

    monkeypatch.setattr(tables, "live_rows", read_again)
    monkeypatch.setattr(tables, "vectors", read_again)
    made.apply([entry(memory(1, "a lantern", revision=2)), entry(memory(50)), tombstone(2, 2)])
    assert len(made.search(SCOPE, [asked])[0]) == 49
    made.browse(SCOPE, ANY, sort="vitality", limit=5, now=NOW, retention=Retention())


def test_a_space_of_which_most_rows_are_dead_is_read_again(monkeypatch, database):
    """Else a space that is edited for years would only grow."""
    monkeypatch.setattr(segment, "_WORN_FROM", 10)
    made = _index(database)
    made.apply([entry(memory(1))])
    made.counts(SCOPE)
    sizes = []
    for revision in range(2, 200):
        made.apply([entry(memory(1, f"a lantern of {revision} lights", revision=revision))])
        made.counts(SCOPE)
        sizes.append(made._cache.nbytes)
    assert max(sizes) < 60_000
    assert [hit.number for hit in made.search(SCOPE, [query("199 lights")])[0]] == [1]


def test_words_of_dead_rows_go_with_a_merge(monkeypatch, database):
    """A memory that is edited again and again does not leave its former words in memory."""
    monkeypatch.setattr(postings, "_TAIL_MIN", 50)
    made = _index(database)
    made.apply([entry(memory(1))])
    made.counts(SCOPE)
    for revision in range(2, 402):
        made.apply([entry(memory(1, " ".join(f"w{revision}x{n}" for n in range(50)), revision=revision))])
    kept = made._cache.peek(*next(iter(made._cache._segments)))
    assert kept._words.nbytes < 120 * 50 * 50


def test_memory_holds_the_spaces_used_last_and_the_others_answer_all_the_same(database):
    made = _index(database, memory_limit=200_000)
    rng = random.Random(5)
    spaces = [Space.personal(f"person{number}") for number in range(30)]
    for space in spaces:
        made.apply(
            [
                entry(memory(n, space=space), **{SMALL: EmbeddedText(random_unit(rng, 8))})
                for n in range(1, 101)
            ]
        )
    asked = query("lantern", model=SMALL, vector=VECTOR, depth=200)
    for space in (*spaces, *rng.choices(spaces, k=60)):
        assert len(made.search(scope_of(space), [asked])[0]) == 100
        assert made._cache.nbytes <= 200_000
    assert 1 < len(made._cache._segments) < 30


def test_the_space_that_was_used_longest_ago_goes_first(database):
    made = _index(database)
    first, second, third = (Space.personal(name) for name in ("first", "second", "third"))
    for space in (first, second):
        made.counts(scope_of(space))
    made._cache._limit = made._cache.nbytes
    made.counts(scope_of(first))
    made.counts(scope_of(third))
    assert {space for _generation, space in made._cache._segments} == {first.key, third.key}


def test_a_space_larger_than_the_limit_is_kept_while_it_is_used(database):
    made = _index(database, memory_limit=1)
    made.apply([entry(memory(1))])
    made.counts(SCOPE)
    kept = made._cache.peek(*next(iter(made._cache._segments)))
    made.counts(SCOPE)
    assert made._cache.peek(kept.generation, kept.space) is kept
    made.counts(scope_of(Space.personal("other")))
    assert made._cache.peek(kept.generation, kept.space) is None


def test_a_replaced_index_does_not_stay_in_memory(database):
    made = _index(database)
    made.apply([entry(memory(n), **{SMALL: EmbeddedText(VECTOR)}) for n in range(1, 500)])
    made.counts(SCOPE)
    before = made._cache.nbytes
    made.rebuild_finish(made.rebuild_begin())
    assert made._cache.nbytes == 0
    made.counts(SCOPE)
    assert 0 < made._cache.nbytes < before / 5


def test_what_is_let_go_is_weighed_no_more(database):
    made = _index(database)
    made.counts(SCOPE)
    kept = made._cache.get(*next(iter(made._cache._segments)))
    made._cache.forget(kept)
    made._cache.forget(kept)
    made._cache.weigh(kept)
    assert made._cache.nbytes == 0


def test_legs_that_run_side_by_side_answer_the_same(monkeypatch, database):
    made = _index(database)
    rng, revisions = random.Random(8), {}
    made.apply([_random_entry(rng, revisions) for _ in range(80)])
    alone = _answers(made, 1)
    monkeypatch.setattr(index, "_SIDE_BY_SIDE_FROM", 0)
    assert _answers(made, 1) == alone


@pytest.mark.parametrize("few", [0, 10**9], ids=["picked out", "gone through"])
def test_rows_that_are_picked_out_score_as_when_all_are_gone_through(monkeypatch, database, few):
    made = _index(database)
    rng, revisions = random.Random(21), {}
    for _ in range(20):
        made.apply([_random_entry(rng, revisions) for _ in range(10)])
        made.counts(SCOPE)
    usual = [_answers(made, seed) for seed in range(3)]
    monkeypatch.setattr(searching, "_FEW", few)
    assert [_answers(made, seed) for seed in range(3)] == usual


def test_queries_that_go_through_the_vectors_together_answer_the_same(monkeypatch, database):
    """Whatever parts the vectors are cut into, and however many blocks they were added in."""
    monkeypatch.setattr(vectors, "_SHARED", 7)
    made = _index(database)
    rng = random.Random(22)
    for start in (1, 40, 43, 90):
        made.apply(
            [
                entry(memory(number), **{SMALL: EmbeddedText(random_unit(rng, 8))})
                for number in range(start, start + 47)
            ]
        )
        made.search(SCOPE, [query(model=SMALL, vector=VECTOR)])
    asked = [query(model=SMALL, vector=random_unit(rng, 8), depth=200) for _ in range(11)]
    together = made.search(SCOPE, asked)
    assert {len(hits) for hits in together} == {136}
    assert [sorted(hits) for hits in together] == [sorted(made.search(SCOPE, [one])[0]) for one in asked]


def test_a_repeated_word_of_the_query_counts_as_often(database):
    made = _index(database)
    rng = random.Random(3)
    kept = {number: random_text(rng) for number in range(1, 60)}
    made.apply([entry(memory(number, words)) for number, words in kept.items()])
    hits = made.search(SCOPE, [query("violin violin harbour", depth=99)])[0]
    expected = reference.bm25("violin violin harbour", kept)
    assert {hit.number: hit.words for hit in hits} == pytest.approx(expected, rel=1e-4)


def test_the_erased_and_the_edited_do_not_count_in_the_statistics(database):
    made = _index(database)
    rng = random.Random(3)
    kept = {number: random_text(rng) for number in range(1, 60)}
    made.apply([entry(memory(number, "violin harbour " * 9)) for number in range(1, 100)])
    made.counts(SCOPE)
    made.apply([entry(memory(number, words, revision=2)) for number, words in kept.items()])
    made.apply([tombstone(number, 2) for number in range(60, 100)])
    hits = made.search(SCOPE, [query("violin harbour", depth=99)])[0]
    assert {hit.number: hit.words for hit in hits} == pytest.approx(
        reference.bm25("violin harbour", kept), rel=1e-4
    )


@pytest.mark.parametrize("depth", [0, 1, 7, 50, 199, 5_000])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.5, 1.0])
def test_the_best_are_the_best_of_those_allowed(depth, share):
    import numpy as np

    rng = np.random.default_rng(depth)
    for scores in (
        rng.standard_normal(20_000).astype(np.float32),
        np.sort(rng.standard_normal(20_000).astype(np.float32)),
        rng.integers(0, 3, 20_000).astype(np.float32),
        np.zeros(20_000, np.float32),
    ):
        allowed = rng.random(20_000) < share
        places, of_places = best.best(scores, allowed, depth)
        assert len(set(places.tolist())) == len(places)
        assert allowed[places].all()
        assert (scores[places] == of_places).all()
        assert sorted(of_places, reverse=True) == sorted(scores[allowed], reverse=True)[:depth]
        above = best.best(scores, allowed, depth, above=0.0)[1]
        assert sorted(above, reverse=True) == sorted(scores[allowed & (scores > 0)], reverse=True)[:depth]


def test_readers_beside_a_writer_see_every_memory_once_and_whole(database):
    """Each revision has its own word and vector: no answer mixes two, none lacks a memory."""
    made = _index(database)
    words = ["violin", "harbour", "saddle", "glacier"]
    vectors = [unit([1.0 if place == kind else 0.0 for place in range(8)]) for kind in range(4)]

    def of_revision(number: int, revision: int):
        kind = revision % 4
        kept = memory(
            number, f"lantern {words[kind]}", revision=revision, subject=words[kind], use_count=revision
        )
        return entry(kept, **{SMALL: EmbeddedText(vectors[kind])})

    made.apply([of_revision(number, 1) for number in range(1, 41)])
    wrong: list[object] = []
    stop = threading.Event()

    def read_on(kind: int) -> None:
        rng = random.Random(kind)
        while not stop.is_set():
            kind = rng.randrange(4)
            everything, mine = made.search(
                SCOPE,
                [
                    query("lantern", depth=99),
                    query(
                        words[kind],
                        depth=99,
                        model=SMALL,
                        vector=vectors[kind],
                        filter=MemoryFilter(subject=words[kind]),
                    ),
                ],
            )
            if sorted(hit.number for hit in everything) != list(range(1, 41)):
                wrong.append(("missing", len(everything)))
            wrong.extend(
                hit for hit in mine if hit.words is None or hit.meaning != pytest.approx(1, abs=1e-3)
            )
            page = made.browse(SCOPE, ANY, sort="used", limit=50, now=NOW, retention=Retention())
            if sorted(page.numbers) != list(range(1, 41)):
                wrong.append(page)

    readers = [threading.Thread(target=read_on, args=(kind,)) for kind in range(8)]
    for reader in readers:
        reader.start()
    try:
        rng = random.Random(0)
        for revision in range(2, 40):
            made.apply([of_revision(number, revision) for number in rng.sample(range(1, 41), 10)])
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert wrong == []


def test_a_cursor_made_from_the_table_fits_the_list(database):
    """`sort_value` and the list's own values are the same whole numbers."""
    made = _index(database)
    rng = random.Random(2)
    kept = [random_memory(rng, number) for number in range(1, 200)]
    made.apply([entry(each) for each in kept])
    for sort in ("newest", "updated", "importance", "used", "vitality", "oldest"):
        for each in rng.sample(kept, 20):
            after = (sort_value(each, sort, NOW, Retention()), each.number)
            beyond = made.browse(
                SCOPE, ANY, sort=sort, limit=500, after=after, now=NOW, retention=Retention()
            )
            assert each.number not in beyond.numbers
            before = (after[0], after[1] + (-1 if sort == "oldest" else 1))
            at = made.browse(SCOPE, ANY, sort=sort, limit=1, after=before, now=NOW, retention=Retention())
            assert at.numbers[0] == each.number
