"""The tokenizer that both search adapters share (SPEC M23; DESIGN, Search)."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.search.text import coverage, overlap, stems


@pytest.mark.parametrize(
    "forms",
    [
        "kolo kola kole kolem kolech",
        "kočka kočky kočce kočkám kocka kocky",
        "autobus autobusu autobusem autobusy",
        "Petr Petra Petře Petrovi Petrem",
        "město města městem mesto mesta",
        "žena ženy ženou ženě zena",
        "Melanie Melanii Melanií",
        "кошка кошки кошкой кошку",
        "ёлка елка ёлку елки",
        "Мария Марии Марию",
        "story stories",
        "run running runs",
        "camp camping camped camps",
        "Caroline Caroline's CAROLINE",
        "Haus Häuser",
        "8 8th",
        "José jose JOSÉ",
        "Straße strasse",
    ],
)
def test_forms_of_a_word_meet(forms: str) -> None:
    met = [stems(form) for form in forms.split()]
    kinds = {tuple(stem) for stem in met}
    assert len(kinds) == 1, met


def test_a_word_has_one_stem_whatever_stands_around_it() -> None:
    long = stems(
        "The committee discussed at length whether kola should be painted, ale barvu kola nikdo neznal."
    )
    assert set(stems("barva kola")) <= set(long)


def test_function_words_go_and_negations_stay() -> None:
    assert stems("The cat is on the mat and it was not in a hat") == stems("cat mat not hat")
    assert stems("Kočka je na stole, ale ne u nás") == stems("kočka stole ne")
    assert stems("Кошка была на столе и не у нас") == stems("кошка столе не")
    assert stems("I don't, we didn't, they can’t") == ["not", "not", "not"]


def test_words_that_mean_something_in_another_language_are_kept() -> None:
    assert stems("ten May will die war la") != []
    assert "ten" in stems("ten dogs")


def test_repetition_and_order_are_kept() -> None:
    assert stems("tea, coffee, tea") == [*stems("tea"), *stems("coffee"), *stems("tea")]


def test_languages_without_spaces_are_found_by_parts() -> None:
    assert coverage(stems("猫"), stems("我有一只猫")) == 1.0
    assert coverage(stems("日本語"), stems("私は日本語を話します")) == 1.0
    assert coverage(stems("สวัสดี"), stems("สวัสดีครับ")) == 1.0
    assert coverage(stems("서울"), stems("나는 서울에서 산다")) == 1.0


def test_other_scripts_have_words_too() -> None:
    assert stems("אני אוהב קפה") == ["אני", "אוהב", "קפה"]
    assert stems("मुझे चाय पसंद है")
    assert stems("القطط")
    assert stems("ΑΘΗΝΑ") == stems("Αθήνα")
    assert stems("گربه")
    assert stems("Љубав")
    assert stems("தமிழ்")
    assert stems("հայերեն")


def test_nothing_to_find_is_an_empty_list() -> None:
    assert stems("") == stems("  \n\t") == stems("🎂 … !?") == []


@pytest.mark.parametrize(
    "text", ["a" * 400_000, "猫" * 130_000, "kočka má psa " * 30_000, "🎂" * 100_000, "ا" * 200_000]
)
def test_the_longest_text_that_can_be_stored_is_no_trouble(text: str) -> None:
    began = time.process_time()
    found = stems(text)
    assert time.process_time() - began < 5
    assert all(len(stem.encode()) < 512 for stem in found)


@given(st.text())
def test_no_text_fails_and_stems_are_plain_terms(text: str) -> None:
    for stem in stems(text):
        assert stem
        assert not any(sign.isspace() for sign in stem)


@given(st.text(), st.text())
def test_overlap_is_symmetric_and_bounded(one: str, other: str) -> None:
    a, b = stems(one), stems(other)
    assert overlap(a, b) == overlap(b, a)
    assert 0 <= overlap(a, b) <= 1
    assert overlap(a, a) == (1.0 if a else 0.0)


def test_coverage_is_the_share_of_the_query_that_is_found() -> None:
    text = stems("Marek keeps two cats in Prague")
    assert coverage(stems("cats of Marek"), text) == 1.0
    assert coverage(stems("dogs of Marek"), text) == 0.5
    assert coverage(stems("Marek Marek dogs"), text) == 0.5
    assert coverage([], text) == 0.0
    assert coverage(stems("cats"), []) == 0.0


def test_texts_that_differ_only_in_a_number_are_not_alike() -> None:
    same = overlap(stems("The meeting is on Tuesday at 10"), stems("On Tuesday at 10 is the meeting"))
    moved = overlap(stems("The meeting is on Tuesday at 10"), stems("The meeting is on Tuesday at 14"))
    more = overlap(stems("The meeting is on Tuesday at 10"), stems("The meeting is on Tuesday"))
    assert same == 1.0
    assert moved < 0.5 < more


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Tom drinks coffee", "Tom does not drink coffee"),
        ("Petr má psa", "Petr nemá psa"),
        ("Petr pracuje v bance", "Petr nepracuje v bance"),
        ("Виктор курит", "Виктор не курит"),
        ("We can deploy on Friday", "We never deploy on Friday"),
    ],
)
def test_a_denial_is_not_alike(said: str, denied: str) -> None:
    assert overlap(stems(said), stems(denied)) <= 0.5


def test_two_denials_of_the_same_are_alike() -> None:
    assert overlap(stems("Tom does not drink coffee"), stems("Tom never drinks coffee")) > 0.6


@pytest.mark.parametrize("length", [3, 3_000])
def test_what_a_caller_does_with_the_stems_is_not_remembered(length: int) -> None:
    said = "violin " * length
    stems(said).clear()
    assert stems(said) == stems("violin") * length


def test_threads_do_not_disturb_each_other() -> None:
    words = [f"{stem}{ending}" for stem in ("walk", "pracov", "kočk", "jump", "работ") for ending in
             [f"{a}{b}ing" for a in "abcdefghij" for b in "klmnopqrst"]]  # fmt: skip
    found: list[list[list[str]]] = []

    def work() -> None:
        found.append([stems(word) for word in words])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one == found[0] for one in found)


def test_short_texts_are_fast_when_their_words_are_known() -> None:
    texts = [
        f"Caroline: I went to the support group in place {n % 50} yesterday and it was powerful"
        for n in range(2000)
    ]
    for text in texts:
        stems(text)
    began = time.process_time()
    for text in texts:
        stems(text)
    assert len(texts) / (time.process_time() - began) > 2_000  # 36,000 on a quiet machine
