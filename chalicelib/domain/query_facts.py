"""What a query says of a source: the days and the people that it names (SPEC M23; DESIGN, Search).

Days and months in English, Czech and Russian, in any case and inflection, with or without diacritics. Names are
compared by any part of them, whatever their case and diacritics; Czech and Russian endings are tolerated.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple


class Day(NamedTuple):
    """A calendar day; without `year` it is that day of any year."""

    year: int | None
    month: int
    day: int

    def is_on(self, moment: datetime | date) -> bool:
        """Whether `moment` is on this day, by the calendar that the moment carries."""
        return (self.month, self.day) == (moment.month, moment.day) and self.year in (None, moment.year)


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What ranking knows of a query besides its words and vector."""

    days: tuple[Day, ...] = ()
    """Days that the query names, each once, in order."""
    names: frozenset[str] = frozenset()
    """Its words, folded: an author's name is looked for among them."""
    capitalised: frozenset[str] = frozenset()
    """Those of `names` written with a capital: only they may be a name with an ending."""

    def on_day(self, said_at: datetime | None) -> bool:
        """Whether the query names the day on which something was said."""
        return said_at is not None and any(day.is_on(said_at) for day in self.days)

    def names_author(self, author: str | None) -> bool:
        """Whether the query names this author by any part of the name (at least two letters)."""
        if not author or not self.names:
            return False
        return any(self._names(part) for part in _name_parts(author))

    def _names(self, part: str) -> bool:
        return part in self.names or any(_is_form_of(word, part) for word in self.capitalised)


def query_facts(query: str, now: datetime | None = None) -> QueryFacts:
    """The facts of a query. Relative days (`yesterday`, `včera`, `вчера`) are read only when `now` is given.

    Never fails; a text that names nothing has no facts.
    """
    written = _WORD.findall(query)
    return QueryFacts(
        days=days_in(query, now),
        names=frozenset(fold(word) for word in written if not word[0].isdigit()),
        capitalised=frozenset(fold(word) for word in written if word[0].isupper()),
    )


def days_in(text: str, now: datetime | None = None) -> tuple[Day, ...]:
    """The days that a text names, each once: ISO dates first, then numeric ones, then those with a month's name.

    `5/8/2023` is read both ways. Days that no calendar has, and months without a day, are left out.
    """
    plain = fold(text)
    found = [day for day in _days(plain) if _exists(day)]
    if now is not None:
        today = now.date()
        found.extend(_day(today + timedelta(days=_RELATIVE[word])) for word in _RELATIVE_WORD.findall(plain))
    return tuple(dict.fromkeys(found))


def fold(text: str) -> str:
    """Lower case without marks: `Žofie` → `zofie`, `Алёна` → `алена`, `й` → `и`."""
    lower = unicodedata.normalize("NFKC", text).lower()
    if lower.isascii():
        return lower
    return "".join(c for c in unicodedata.normalize("NFD", lower) if not unicodedata.combining(c))


_WORD = re.compile(r"[^\W_]+")

_MONTHS = (
    r"jan(?:uary)?|led(?:en|na|nu|nem)|янв(?:ар[ьяюе]|арем)?",
    r"feb(?:ruary)?|unor(?:a|u|em)?|фев(?:рал[ьяюе]|ралем)?",
    r"mar(?:ch)?|brez(?:en|na|nu|nem)|март(?:а|у|е|ом)?",
    r"apr(?:il)?|dub(?:en|na|nu|nem)|апр(?:ел[ьяюе]|елем)?",
    r"may|kvet(?:en|na|nu|nem)|ма(?:и|я|ю|е|ем)",
    r"june?|cerv(?:en|na|nu|nem)|июн(?:[ьяюе]|ем)",
    r"july?|cerven(?:ec|ce|ci|cem)|июл(?:[ьяюе]|ем)",
    r"aug(?:ust)?|srp(?:en|na|nu|nem)|авг(?:уст[ауе]?|устом)?",
    r"sept?(?:ember)?|zari(?:m)?|сен(?:тябр[ьяюе]|тябрем)?",
    r"oct(?:ober)?|rij(?:en|na|nu|nem)|окт(?:ябр[ьяюе]|ябрем)?",
    r"nov(?:ember)?|listopad(?:u|em)?|ноя(?:бр[ьяюе]|брем)?",
    r"dec(?:ember)?|prosin(?:ec|ce|ci|cem)|дек(?:абр[ьяюе]|абрем)?",
)
_MONTH_NUMBERS = tuple(re.compile(f"(?:{names})") for names in _MONTHS)
_MONTH = f"(?P<month>{'|'.join(_MONTHS)})"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_NUMBER = r"(?<![\d.,:/-])(?P<day>\d{1,2})"

_ISO = re.compile(
    r"(?<![\d-])(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?![\d])"
)
_DOTTED = re.compile(rf"{_NUMBER}\.\s?(?P<month>\d{{1,2}})\.(?:\s?{_YEAR}|(?!\s?\d))")
_SLASHED = re.compile(rf"{_NUMBER}/(?P<month>\d{{1,2}})/{_YEAR}")
_DAY_MONTH = re.compile(
    rf"{_NUMBER}(?:st|nd|rd|th|\.|-?го|-?е)?\s*(?:of\s+|day of\s+)?{_MONTH}\b\.?(?:,?\s*(?:of\s+)?{_YEAR})?"
)
_MONTH_DAY = re.compile(
    rf"\b{_MONTH}\.?\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])(?:,?\s+{_YEAR})?"
)

_RELATIVE = {
    "today": 0, "dnes": 0, "dneska": 0, "сегодня": 0,
    "yesterday": -1, "vcera": -1, "вчера": -1,
    "day before yesterday": -2, "predevcirem": -2, "позавчера": -2,
}  # fmt: skip
_RELATIVE_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_RELATIVE, key=len, reverse=True))})\b")


def _days(plain: str) -> Iterator[Day]:
    for match in _ISO.finditer(plain):
        yield Day(int(match["year"]), int(match["month"]), int(match["day"]))
    for match in _DOTTED.finditer(plain):
        yield Day(_year(match), int(match["month"]), int(match["day"]))
    for match in _SLASHED.finditer(plain):
        yield Day(_year(match), int(match["month"]), int(match["day"]))
        yield Day(_year(match), int(match["day"]), int(match["month"]))
    for pattern in (_DAY_MONTH, _MONTH_DAY):
        for match in pattern.finditer(plain):
            yield Day(_year(match), _month(match["month"]), int(match["day"]))


def _year(match: re.Match[str]) -> int | None:
    return int(match["year"]) if match["year"] else None


@lru_cache(maxsize=256)
def _month(name: str) -> int:
    return next(number for number, names in enumerate(_MONTH_NUMBERS, 1) if names.fullmatch(name))


def _day(of: date) -> Day:
    return Day(of.year, of.month, of.day)


def _exists(day: Day) -> bool:
    try:
        date(day.year or 2000, day.month, day.day)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1024)
def _name_parts(author: str) -> tuple[str, ...]:
    return tuple(part for part in _WORD.findall(fold(author)) if len(part) > 1 and not part.isdigit())


_ENDINGS = frozenset(
    "a e i o u y ou uv em im ovi ove ova ovo ovu ovy ovou in ina ine iny inu um"
    " а е и о у ы ю я ом ем ои еи ою ею ии ин ина ино ину ины ов ова ово ову овы ев ева ево".split()
)
"""Endings that Czech and Russian give to names (folded, so `й` is `и`), possessive ones included."""

_SOFTENED = {"k": "kc", "g": "gz", "h": "hz", "r": "r", "к": "кч", "г": "гж"}
"""A name's last consonant, and what it may become before an ending: Katka, Katce; Olga, Olze."""


@lru_cache(maxsize=4096)
def _is_form_of(word: str, name: str) -> bool:
    """Whether a word is a name in another case: the name's stem and an ending that names take."""
    if len(name) < 3:
        return False
    return any(_has_ending(word, stem, name) for stem in _name_stems(name))


def _has_ending(word: str, stem: str, name: str) -> bool:
    ending = word[len(stem) :]
    if ending == "e" and stem == name:  # Sam is not in "Same"
        return False
    return word.startswith(stem) and ending in _ENDINGS


def _name_stems(name: str) -> tuple[str, ...]:
    """What stays of a name before an ending: `olga` → `olg`, `olz`; `pavel` → `pavel`, `pavl`."""
    stem = name[:-1] if name[-1] in "aeiouyаеиоуыэюяьй" else name
    softened = tuple(stem[:-1] + letter for letter in _SOFTENED.get(stem[-1], "")) if stem else ()
    shortened = (stem[:-2] + stem[-1],) if len(stem) > 3 and stem[-2] in "eе" else ()
    return (stem, *softened, *shortened)
