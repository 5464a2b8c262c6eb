"""An embedding model under which two texts are alike exactly when they have the same word of their own."""

import re
import struct

from chalicelib.providers.scripted import ScriptedEmbedder

OWN_WORD = re.compile(r"kq(\d{6})zz")
"""A word that one text has and no other: `kq000012zz`."""
_PLACES = 256


def own_word(number: int) -> str:
    """The word of that number."""
    return f"kq{number:06}zz"


class OneWordEmbedder(ScriptedEmbedder):
    """Each own word is a direction by itself (of 255 words), all texts without one share another."""

    def __init__(self) -> None:
        super().__init__(name="own-words", dimension=_PLACES)

    def _vector(self, text: str) -> bytes:
        found = OWN_WORD.search(text)
        numbers = [0.0] * _PLACES
        numbers[int(found[1]) % (_PLACES - 1) if found else _PLACES - 1] = 1.0
        return struct.pack(f"<{_PLACES}f", *numbers)
