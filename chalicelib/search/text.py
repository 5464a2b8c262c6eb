"""The one tokenizer: text to stems, alike for every search adapter and for every comparison by words.

A word's stem depends on the word alone, never on the text around it: so a word of a two-word query is stemmed as
in a long text. Latin words are not sorted by language, for plain letters do not tell it: all go through the Czech
stemmer (or that of the language their letters tell), lose their diacritics, then go through the English and once
more through the Czech one, so that inflections of either meet (measured: English search loses nothing by it).
Other scripts have the stemmer of their language; scripts without spaces give pairs of characters.
"""

import re
import threading
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from chalicelib.search.languages import FUNCTION_WORDS, LETTERS, NEGATIONS, NEGATIVE_PREFIXES

LONGEST_WORD = 64
"""Code points of a word that are kept: what is longer is no word, and an index refuses terms of 32 KB."""
_REMEMBERED = 2_500
"""Characters up to which a text's stems are remembered for a while: a memory's words are compared again and again
(with the new ones, with each query that finds it, and when it goes into the index)."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
_TOKEN = re.compile(f"[{_UNSPACED}]+|(?:[^\\W_{_UNSPACED}]|[{_MARKS}])+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_FOLDED_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NOT = re.compile(r"n['’]t\b")
_SUFFIX = re.compile(r"['’](?:s|re|ve|ll|d|m)\b")
_PLAIN = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)
_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")
_SCRIPTS = (
    (re.compile("[ђјљњћџ]"), "serbian"),
    (re.compile("[\u0400-\u04ff]"), "russian"),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (re.compile("[پچژگ]"), "persian"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0900-\u097f]"), "hindi"),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
    (re.compile("[\u0530-\u058f]"), "armenian"),
)

_stemmers: dict[str, Any] = {}
_stemming = threading.Lock()


def stems(text: str) -> list[str]:
    """The stems of a text's content words, in order and with repetition (SPEC M23).

    Never fails; empty for a text without words. Function words are left out, negations are not. Both adapters
    index and query exactly these, so BM25 means the same on both.
    """
    return list(_remembered(text)) if len(text) <= _REMEMBERED else _taken_apart(text)


@lru_cache(maxsize=1 << 12)
def _remembered(text: str) -> tuple[str, ...]:
    return tuple(_taken_apart(text))


def _taken_apart(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).lower().replace("ё", "е")
    if "'" in plain or "’" in plain:
        plain = _SUFFIX.sub("", _NOT.sub(" not", plain))
    found: list[str] = []
    for token in _TOKEN.findall(plain):
        if token[0] >= "\u0e00" and _IS_UNSPACED.match(token):
            found.extend(_pairs(token))
        elif stem := _stem(token[:LONGEST_WORD]):
            found.append(stem)
    return found


def coverage(query: Sequence[str], text: Collection[str]) -> float:
    """Share (0 to 1) of the query's distinct stems that the text has; 0 when the query has none (SPEC M23)."""
    asked = set(query)
    return len(asked.intersection(text)) / len(asked) if asked else 0.0


def overlap(a: Sequence[str], b: Sequence[str]) -> float:
    """How alike two texts are by their stems, 0 to 1, symmetric; 0 when either has none (SPEC M12, C4).

    The share of distinct stems that both have (Dice). Each of these halves it, however many words they share:
    both have a number that the other lacks; one of them negates and the other does not.
    """
    first, second = set(a), set(b)
    shared = len(first & second)
    if not shared:
        return 0.0
    alike = 2 * shared / (len(first) + len(second))
    only_first, only_second = first - second, second - first
    if any(map(_is_number, only_first)) and any(map(_is_number, only_second)):
        alike /= 2
    if _negates(only_first, second) != _negates(only_second, first):
        alike /= 2
    return alike


@lru_cache(maxsize=1 << 16)
def _stem(token: str) -> str:
    """The stem of one lower-case token; empty for a function word."""
    if token[0].isdecimal():
        return _ORDINAL.sub(r"\1", token)
    plain = _fold(token)
    if plain in FUNCTION_WORDS or token in FUNCTION_WORDS:
        return ""
    if not _LATIN.search(token):
        language = next((name for script, name in _SCRIPTS if script.search(token)), None)
        return _fold(_stem_in(language, token)) if language else plain
    own = next((LETTERS[letter] for letter in token if letter in LETTERS), "czech")
    stem = _fold(_stem_in(own, token))
    return _stem_in("czech", _stem_in("english", stem))


def _stem_in(language: str, token: str) -> str:
    """One token's stem. The stemmers keep state while they work: one at a time (only what no cache has)."""
    with _stemming:
        stemmer = _stemmers.get(language)
        if stemmer is None:
            from Stemmer import Stemmer  # on first use, not on import

            stemmer = _stemmers[language] = Stemmer(language, 0)
        return str(stemmer.stemWord(token)) or token


@lru_cache(maxsize=1 << 12)
def _fold(token: str) -> str:
    """Plain letters: marks of Latin, Greek, Cyrillic, Hebrew and Arabic letters removed, those of others kept."""
    if token.isascii():
        return token
    apart = unicodedata.normalize("NFD", token.translate(_PLAIN))
    return unicodedata.normalize("NFC", _FOLDED_MARKS.sub("", apart)) or token


def _pairs(run: str) -> list[str]:
    """Overlapping pairs of a run of characters without spaces, and each Han character by itself."""
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)] + _HAN.findall(run)


def _is_number(stem: str) -> bool:
    return stem[0].isdecimal()


@lru_cache(maxsize=1)
def _negations() -> frozenset[str]:
    return frozenset(map(_stem, NEGATIONS))


def _negates(only: set[str], others: set[str]) -> bool:
    """Whether among the stems that one text alone has is a negation, or a word of the other with a negative prefix."""
    negations = _negations()
    return any(
        stem in negations or (stem.startswith(NEGATIVE_PREFIXES) and stem[2:] in others) for stem in only
    )
