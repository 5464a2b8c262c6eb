"""Texts that may be stored: no NUL, no lone surrogate, not blank. Everything else round-trips unchanged."""

from typing import Annotated

from pydantic import AfterValidator


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
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise ValueError("must not be empty or blank")
    return text


def one_line(text: str) -> str:
    """`text` itself. Raises ValueError when it holds a control character or a line break."""
    if any(
        ord(character) < 32 or ord(character) == 127 or character in "\u2028\u2029\x85" for character in text
    ):
        raise ValueError("must be one line without control characters")
    return text


Storable = Annotated[str, AfterValidator(storable)]
Prose = Annotated[str, AfterValidator(storable), AfterValidator(not_blank)]
Line = Annotated[str, AfterValidator(storable), AfterValidator(not_blank), AfterValidator(one_line)]
