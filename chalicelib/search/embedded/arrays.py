"""Arrays that grow at their end."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", bound=np.generic)


def grown(array: NDArray[Item], size: int) -> NDArray[Item]:
    """`array`, or a copy with room for at least `size` items and an eighth to spare; new ones are zero.

    Who holds the old array keeps what was there: readers are never disturbed.
    """
    if size <= len(array):
        return array
    larger = np.zeros(max(16, size + size // 8), array.dtype)
    larger[: len(array)] = array
    return larger
