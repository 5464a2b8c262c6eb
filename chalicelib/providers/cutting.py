"""How much of a text a model is given. Words beyond it are still found by the other leg of search."""

from collections.abc import Callable

WORD = 40
"""A cut is moved back by at most so many characters to fall between words; scripts without spaces are cut as is."""


def octets(text: str) -> int:
    """Bytes of UTF-8. No tokenizer in use makes more tokens than bytes, so this bounds tokens for any of them."""
    return len(text.encode("utf-8", "replace"))


def utf16_units(text: str) -> int:
    """Characters as Java and JavaScript count them; what services mean by a limit of characters."""
    return len(text.encode("utf-16-le", "replace")) // 2


def cut(text: str, limit: int, size: Callable[[str], int], *, characters: int | None = None) -> str:
    """The beginning of `text` whose `size` is at most `limit`, ending at a word where there are words.

    At most `characters` (default: `limit`) are looked at, so the cost does not grow with the text. What no model
    takes (NUL, lone surrogates) becomes a space or a question mark; an empty text becomes a space.
    """
    start = text[: limit if characters is None else characters]
    if len(start) < len(text):
        start = _at_word(start)
    start = start.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    while (measured := size(start)) > limit and len(start) > 1:
        start = _at_word(start[: min(len(start) - 1, max(1, len(start) * limit // measured))])
    return start or " "


def _at_word(text: str) -> str:
    """`text` without its last word, which may be cut in two; `text` itself if that word is very long."""
    if text[-1:].isspace():
        return text.rstrip() or text
    words, _, last = text.rpartition(" ")
    return words if words and len(last) <= WORD else text
