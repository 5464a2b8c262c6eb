"""What a query names: days and people, in three languages (SPEC M23)."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.query_facts import Day, QueryFacts, days_in, fold, query_facts

MAY_8 = Day(2023, 5, 8)


@pytest.mark.parametrize(
    "text",
    [
        "What did she say on 2023-05-08?",
        "2023/5/8",
        "2023.05.08",
        "on 8 May 2023",
        "on 8 May, 2023",
        "the 8th of May, 2023",
        "the 8th day of May 2023",
        "May 8th, 2023",
        "May 8 2023",
        "8. května 2023",
        "8. kvetna 2023",
        "8. 5. 2023",
        "8.5.2023",
        "08.05.2023",
        "8 мая 2023 года",
        "8-го мая 2023",
    ],
)
def test_a_full_date_is_read_however_it_is_written(text: str) -> None:
    assert days_in(text) == (MAY_8,)


@pytest.mark.parametrize("text", ["8 May", "May 8", "8. května", "8. 5.", "8 мая", "on May the 8th"])
def test_a_date_without_a_year_is_that_day_of_any_year(text: str) -> None:
    (day,) = days_in(text)
    assert day == Day(None, 5, 8)
    assert day.is_on(datetime(2019, 5, 8, tzinfo=UTC))
    assert not day.is_on(datetime(2019, 5, 9, tzinfo=UTC))


@pytest.mark.parametrize(
    ("month", "names"),
    [
        (1, "January Jan leden ledna lednu январь января"),
        (2, "February Feb únor února феврале февраля"),
        (3, "March Mar březen března марта марте"),
        (4, "April Apr duben dubna апреля апрель"),
        (5, "May květen května мая май мае"),
        (6, "June Jun červen června červnu июня июнь"),
        (7, "July Jul červenec července červenci июля июль"),
        (8, "August Aug srpen srpna августа авг"),
        (9, "September Sept Sep září сентября сентябрь"),
        (10, "October Oct říjen října октября октябрь"),
        (11, "November Nov listopad listopadu ноября ноябрь"),
        (12, "December Dec prosinec prosince декабря декабрь"),
    ],
)
def test_every_month_is_known_in_three_languages_and_their_cases(month: int, names: str) -> None:
    for name in names.split():
        assert days_in(f"3. {name} 2021") == (Day(2021, month, 3),), name


def test_a_slashed_date_is_read_both_ways_because_nobody_can_tell() -> None:
    assert days_in("5/8/2023") == (Day(2023, 8, 5), MAY_8)


@pytest.mark.parametrize(
    "text",
    [
        "May 2023",
        "in July",
        "31 February",
        "2023-13-01",
        "version 3.5.1",
        "12:30",
        "10.5 percent",
        "",
        "8",
        "Mayor 8",
    ],
)
def test_what_is_not_a_day_is_left_alone(text: str) -> None:
    assert days_in(text) == ()


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("What did I say yesterday?", Day(2024, 2, 29)),
        ("co bylo včera", Day(2024, 2, 29)),
        ("что было позавчера", Day(2024, 2, 28)),
        ("the day before yesterday", Day(2024, 2, 28)),
        ("dnes", Day(2024, 3, 1)),
    ],
)
def test_relative_days_need_a_now(text: str, day: Day) -> None:
    assert days_in(text) == ()
    assert days_in(text, datetime(2024, 3, 1, 12, tzinfo=UTC)) == (day,)


def test_a_day_named_twice_is_one_day() -> None:
    assert days_in("8 May 2023, that is 2023-05-08") == (MAY_8,)


def test_facts_say_whether_something_was_said_on_a_named_day() -> None:
    facts = query_facts("What happened on 8 May 2023?")
    assert facts.on_day(datetime(2023, 5, 8, 23, 59, tzinfo=UTC))
    assert not facts.on_day(datetime(2023, 5, 9, tzinfo=UTC))
    assert not facts.on_day(datetime(2022, 5, 8, tzinfo=UTC))
    assert not facts.on_day(None)


@pytest.mark.parametrize(
    ("query", "author"),
    [
        ("What did Caroline's sister do?", "Caroline"),
        ("what did caroline say", "Caroline Smith"),
        ("What does Smith like?", "caroline_smith"),
        ("Kde bydlí Zofie?", "Žofie"),
        ("Co říkala Žofii?", "Zofie"),
        ("Co má Petr rád, a co Petrovi vadí?", "Petr Novák"),
        ("Komu patří Petrova kočka?", "Petr"),
        ("Co se stalo Katce?", "Katka"),
        ("S Olgou v Brně", "Olga"),
        ("O Olze", "Olga"),
        ("Pavlův pes", "Pavel"),
        ("Что любит Алена?", "Алёна"),
        ("Спроси у Сергея", "Сергей"),
        ("Где живёт брат Марии?", "Мария"),
        ("Маринин кот", "Марина"),
        ("С Игорем", "Игорь"),
    ],
)
def test_an_author_is_recognised_by_any_part_of_the_name_and_in_any_case(query: str, author: str) -> None:
    assert query_facts(query).names_author(author)


@pytest.mark.parametrize(
    ("query", "author"),
    [
        ("What did Caroline say?", "Melanie"),
        ("It is the same thing", "Sam"),
        ("Same thing again?", "Sam"),
        ("petrovi", "Petr"),
        ("Al is here", "Albert"),
        ("What happened in 2023?", "2023"),
        ("Ala", "Al"),
        ("A b c", "A"),
        ("", "Sam"),
        ("Sam", None),
        ("Sam", ""),
    ],
)
def test_other_words_are_no_author(query: str, author: str | None) -> None:
    assert not query_facts(query).names_author(author)


def test_a_query_that_names_nothing_has_no_facts() -> None:
    assert query_facts("?!") == QueryFacts()


def test_folding_drops_case_and_marks() -> None:
    assert [fold(word) for word in ("Žofie", "Алёна", "ＡＢＣ", "plain")] == [
        "zofie",
        "алена",
        "abc",
        "plain",
    ]


@given(st.text(), st.text())
def test_no_text_is_too_odd(query: str, author: str) -> None:
    facts = query_facts(query, datetime(2024, 3, 1, tzinfo=UTC))
    assert facts.names_author(author) in (True, False)


@given(st.dates())
def test_every_iso_date_is_read(day: date) -> None:
    assert days_in(f"on {day}") == (Day(day.year, day.month, day.day),)
