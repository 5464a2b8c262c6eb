"""The layout of the map."""

import random

from chalicelib.domain.plane import lay_out


def test_clusters_stay_together_and_the_layout_is_always_the_same() -> None:
    chance = random.Random(7)
    points = [
        [chance.gauss(centre == axis, 0.05) for axis in range(20)] for centre in (0, 1, 2) for _ in range(300)
    ]
    placed = lay_out(points)
    assert placed == lay_out(points)
    assert max(abs(value) for place in placed for value in place) == 1.0
    centres = [placed[start : start + 300] for start in (0, 300, 600)]
    middles = [(sum(x for x, _ in c) / 300, sum(y for _, y in c) / 300) for c in centres]
    for place, own in zip(placed, [0] * 300 + [1] * 300 + [2] * 300, strict=True):
        distances = [(place[0] - x) ** 2 + (place[1] - y) ** 2 for x, y in middles]
        assert distances.index(min(distances)) == own


def test_nothing_one_and_equal_points() -> None:
    assert lay_out([]) == []
    assert lay_out([[1.0, 2.0]]) == [(0.0, 0.0)]
    assert lay_out([[0.0], [0.0]]) == [(0.0, 0.0), (0.0, 0.0)]
    assert lay_out([[-2.0], [2.0]]) == [(-1.0, 0.0), (1.0, 0.0)]
