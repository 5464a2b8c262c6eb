"""Texts of every shape: what has broken stores elsewhere, by name, and whatever Hypothesis draws from all of Unicode."""

import unicodedata

from hypothesis import strategies as st

from chalicelib.domain.memory import TEXT_MAX_BYTES
from chalicelib.domain.text_rules import not_blank

CATEGORIES = (
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
    "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn",
)  # fmt: skip
"""All general categories but that of surrogates, which are no characters."""

SHAPES = {
    "right to left": "הילדה אלרגית לבוטנים ושרה בגן",
    "arabic, shaped": "البنت تحب الشاي \u200f(أخضر)\u200e مع \u0644\u0640\u0627",
    "directions forced": "ab\u202ecd\u202c \u2066ef\u2069 \u200egh\u200f",
    "emoji family joined by ZWJ": "the \U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 came",
    "emoji of a skin, a flag, a keycap": "\U0001f44d\U0001f3fd \U0001f1e8\U0001f1ff 1\ufe0f\u20e3 \u2764\ufe0f",
    "flag of invisible tags": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f wins",
    "NFC": unicodedata.normalize("NFC", "Příliš žluťoučký kůň, Ångström, 한글, ﬁ"),
    "NFD": unicodedata.normalize("NFD", "Příliš žluťoučký kůň, Ångström, 한글, ﬁ"),
    "compatibility forms": "ﬁ ① Ａ ㎏ ſ K Å",
    "marks upon marks": "Z\u0351\u036b\u0343\u032a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031ea\u0301\u0301\u0301",
    "a mark at the beginning": "\u0301 before any letter",
    "Turkish and Greek cases": "İstanbul ıssız ΣΊΣΥΦΟΣ ςσ ẞß",
    "beside the surrogates": "\ud7ff\ue000 \ufffd \U00010000 \U0010fffd",
    "noncharacters": "a\ufffe\uffff\ufdd0\U0001ffff\U0010ffff b",
    "a byte order mark": "\ufeffbegins with one\ufeff",
    "private use": "logo \uf8ff and \U000f0000",
    "control characters": "bell \x07 escape \x1b[31m back \x08 delete \x7f next \x85 unit \x1f",
    "CRLF": "first\r\nsecond\rthird\nfourth\r\n",
    "line and paragraph separators": "a\u2028b\u2029c\x0bd\x0ce",
    "tabs": "\tname\tvalue\t\n",
    "blanks at both ends": "   in the middle  \n ",
    "odd blanks": "\u00a0no\u2003break\u3000here\u200b\u2060",
    "soft hyphens": "Donau\u00addampf\u00adschiff",
    "Thai, Khmer, Devanagari, Tamil": "น้ำชา ទឹកតែ क्षत्रिय தேநீர்",
    "Chinese, Japanese, Korean": "她喜欢绿茶。ボールペンと紙がある。한국어 문장",
    "historic scripts": "𐎠𐎢𐎼𐎶 𒀀𒈾 𓀀𓂀 𐌰𐌱",
    "a very long word": "Donaudampfschifffahrt" * 200,
    "one character": "茶",
    "JSON": '{"text": "x", "number": 1, "nested": [null, true, 1e999], "\\u0000": "\\ud800"}',
    "JSON that never ends": '{"a":[[[[',
    "SQL": "'; DROP TABLE memory; -- \" ` \\' OR 1=1 /* %_ */ \x1a",
    "a format": "%s %n %d %(x)s {0} {} {text!r} ${HOME} $(id) `id` #{x} <%= x %> {{x}} %%",
    "a path and a URL": "../../etc/passwd C:\\temp\\new http://a/b?c=%00&d=%2e%2e#e",
    "markup": "<script>alert('x')</script> &amp;&#0;&lt; <!-- --> ]]> <![CDATA[x]]>",
    "operators of searches": '+tea -coffee "green tea"~2 (a OR b) NOT c* tea^5 field:value _exists_:x /re.*/',
    "keys of our tables": "account#anna memory#0000000001 [#12] [pool#3] image_text \x00".rstrip("\x00"),
    "a literal escape": "\\u0000 \\ud83d \\n \\x00 &#0;",
    "the words null, nan, true": "null",
    "a number": "0012.50",
    "a date": "2026-02-30T25:61:61Z",
    "base64": "AAECAwQFBgc=",
    "our word for the erased": "(erased)",
}
"""By name: what stores, drivers, serialisers, normalisers and search engines get wrong."""

WIDTHS = {1: "x", 2: "é", 3: "語", 4: "😀"}
"""A character of as many bytes of UTF-8."""


def largest(width: int) -> str:
    """The largest text that may be stored, in characters of `width` bytes behind a word to find it by."""
    return _filled("edge ", width, TEXT_MAX_BYTES)


def too_large(width: int) -> str:
    """One byte more than the largest."""
    return _filled("edge ", width, TEXT_MAX_BYTES + 1)


def _filled(begin: str, width: int, size: int) -> str:
    room = size - len(begin)
    return begin + "." * (room % width) + WIDTHS[width] * (room // width)


LARGE = {
    **{f"{width} bytes a character, as large as may be": largest(width) for width in WIDTHS},
    "quotes, which JSON doubles": "edge " + '"' * (TEXT_MAX_BYTES - 5),
    "controls, which JSON makes six times as long": "edge " + "\x01" * (TEXT_MAX_BYTES - 5),
    "newlines": "edge " + "\n" * (TEXT_MAX_BYTES - 5),
    "one word": "edge " + "ab" * (TEXT_MAX_BYTES // 2 - 3),
}
"""Texts at the edge of what an item of 400 KB takes, by name."""


def can_be_seen(text: str) -> bool:
    """Whether anything in a text can be seen; others are not taken."""
    try:
        not_blank(text)
    except ValueError:
        return False
    return True


_ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
_OF_ONE_CATEGORY = st.sampled_from(CATEGORIES).flatmap(
    lambda category: st.text(
        st.characters(categories=[category], exclude_characters="\x00"),
        min_size=1,
        max_size=20,  # type: ignore[list-item]
    )
)
_PIECES = st.one_of(st.sampled_from(sorted(SHAPES.values())), _OF_ONE_CATEGORY, st.text(_ANY, max_size=8))

TEXTS = st.one_of(
    st.text(_ANY, min_size=1, max_size=300),
    st.lists(_PIECES, min_size=1, max_size=6).map("".join),
    _OF_ONE_CATEGORY,
).filter(can_be_seen)
"""Any text that may be stored."""
