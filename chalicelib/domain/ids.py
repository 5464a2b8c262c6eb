"""Identifiers: what they look like, how they are made.

An id never contains `#`, `:`, `/`, `%` or white space, so ids can be joined into keys without escaping
and no id can reach into another's partition (CASES: mem0 PR#6892).
"""

import re
import secrets
import time
from typing import Annotated

from pydantic import StringConstraints

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
ID_PATTERN = r"^[A-Za-z0-9-][A-Za-z0-9_.-]{0,127}$"
_ID = re.compile(ID_PATTERN)

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN, min_length=1, max_length=128)]


def is_id(text: object) -> bool:
    """Whether `text` may serve as an id: a non-empty string of at most 128 harmless characters."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def new_id(prefix: str) -> str:
    """A fresh id `<prefix>_<26 characters>`, sortable by the millisecond of its making; never repeats in practice."""
    value = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    digits = []
    for _ in range(26):
        digits.append(_ALPHABET[value & 31])
        value >>= 5
    return f"{prefix}_{''.join(reversed(digits))}"
