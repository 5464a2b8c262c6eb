"""Vectors as the port promises them: float32, little endian, of unit length and of the model's dimension."""

import math
import struct

from chalicelib.errors import EmbedderUnavailableError, EmbeddingDimensionError


def unit_vector(numbers: object, dimension: int) -> bytes:
    """`numbers` (a list, as it came in an answer of JSON) as bytes of `ports.Embedder`.

    Raises EmbedderUnavailableError when it is no list of finite numbers, or all of them are zero;
    EmbeddingDimensionError when there are not `dimension` of them.
    """
    if not isinstance(numbers, list) or not numbers:
        raise EmbedderUnavailableError("The embedding model answered something that is not a vector.")
    if len(numbers) != dimension:
        raise EmbeddingDimensionError(
            f"The embedding model answers vectors of {len(numbers)} numbers, not {dimension}: "
            "set PALIMPSEST_EMBEDDING_DIMENSION to what it answers.",
            answered=len(numbers),
        )
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
        raise EmbedderUnavailableError("The embedding model answered a vector that is not all numbers.")
    try:
        length = math.hypot(*numbers)
    except OverflowError:
        length = math.inf
    if not math.isfinite(length) or length == 0:
        raise EmbedderUnavailableError("The embedding model answered a vector of no length.")
    return struct.pack(f"<{dimension}f", *(one / length for one in numbers))
