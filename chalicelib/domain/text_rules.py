"""Texts that may be stored: no NUL, no lone surrogate, not blank. Everything else round-trips unchanged.

What may be seen is decided by code point and not by the Unicode data of this Python: a text of nothing but the newest
emoji is a text everywhere, and the patterns that the contract (`openapi.json`) states are the rules that hold here.
(But for the invisible tags of plane 14, which patterns of JSON Schema have no common way to write.)
"""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_UNSEEN = r"\x00-\x20\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
"""Controls, blanks, and marks that only shape what is beside them."""
_BREAKS = r"\x00-\x1f\x7f\x85\u2028\u2029"
_SEEN = re.compile(rf"[^{_UNSEEN}\U000e0000-\U000e0fff]")
_BREAK = re.compile(f"[{_BREAKS}]")


def storable(text: str) -> str:
    """`text` itself. Raises ValueError when it holds NUL or a lone surrogate, which no store keeps faithfully."""
    if "\x00" in text:
        raise ValueError("must not contain the NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("must not contain a lone surrogate (invalid Unicode)") from error
    return text


def not_blank(text: str) -> str:
    """`text` itself. Raises ValueError when nothing in it can be seen."""
    if _SEEN.search(text) is None:
        raise ValueError("must not be empty or blank")
    return text


def one_line(text: str) -> str:
    """`text` itself. Raises ValueError when it holds a control character or a line break."""
    if _BREAK.search(text) is not None:
        raise ValueError("must be one line without control characters")
    return text


Storable = Annotated[str, AfterValidator(storable), Field(json_schema_extra={"pattern": r"^[^\x00]*$"})]
Prose = Annotated[
    str,
    AfterValidator(storable),
    AfterValidator(not_blank),
    Field(json_schema_extra={"pattern": rf"^[^\x00]*[^{_UNSEEN}][^\x00]*$", "minLength": 1}),
]
Line = Annotated[
    str,
    AfterValidator(storable),
    AfterValidator(not_blank),
    AfterValidator(one_line),
    Field(json_schema_extra={"pattern": rf"^[^{_BREAKS}]*[^{_UNSEEN}][^{_BREAKS}]*$", "minLength": 1}),
]
