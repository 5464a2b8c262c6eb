"""Points of many dimensions laid out in the plane, near ones near (M17): principal components by power iteration.

Pure Python, so that it runs wherever the service does; the axes are found from a sample, and all points are projected.
"""

import math
from collections.abc import Sequence
from operator import mul

SAMPLE = 400
ROUNDS = 24

Point = Sequence[float]


def lay_out(points: Sequence[Point]) -> list[tuple[float, float]]:
    """(x, y) of each point, both from -1 to 1. The same points always give the same plane; all points are of one
    dimension. None for no points; the middle for a single one or for equal ones."""
    if not points:
        return []
    step = max(1, len(points) // SAMPLE)
    middle = _mean(points[::step])
    sample = [_minus(point, middle) for point in points[::step]]
    first = _axis(sample, [])
    second = _axis(sample, [first])
    centred = [_minus(point, middle) for point in points]
    xs = [_dot(point, first) for point in centred]
    ys = [_dot(point, second) for point in centred]
    reach = max((abs(value) for value in (*xs, *ys)), default=0.0)
    scale = 1 / reach if reach > 1e-9 else 0.0
    return [(round(x * scale, 4) + 0.0, round(y * scale, 4) + 0.0) for x, y in zip(xs, ys, strict=True)]


def _axis(sample: Sequence[Point], known: Sequence[Point]) -> Point:
    """The direction in which `sample` differs most, at right angles to `known`; its largest part is positive."""
    size = len(sample[0])
    axis = _unit([math.cos(1.0 + 3 * place) for place in range(size)])
    for _ in range(ROUNDS):
        turned = [0.0] * size
        for point in sample:
            weight = _dot(point, axis)
            turned = [value + weight * part for value, part in zip(turned, point, strict=True)]
        for other in known:
            share = _dot(turned, other)
            turned = [value - share * part for value, part in zip(turned, other, strict=True)]
        axis = _unit(turned)
    largest = max(axis, key=abs)
    return axis if largest >= 0 else [-value for value in axis]


def _mean(points: Sequence[Point]) -> Point:
    return [sum(values) / len(points) for values in zip(*points, strict=True)]


def _minus(a: Point, b: Point) -> Point:
    return [x - y for x, y in zip(a, b, strict=True)]


def _dot(a: Point, b: Point) -> float:
    return float(sum(map(mul, a, b)))


def _unit(vector: Point) -> Point:
    length = math.sqrt(_dot(vector, vector))
    return [value / length for value in vector] if length > 1e-12 else [0.0] * len(vector)
