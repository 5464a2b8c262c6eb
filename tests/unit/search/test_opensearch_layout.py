"""Names of indices, and what they say of a rebuild."""

import pytest

from chalicelib.search.opensearch.layout import Names, new_generation
from chalicelib.search.opensearch.mappings import FORMAT

NAMES = Names("pal")
MODEL = "openai-text-embedding-3-small-1536-0a1b2c3d"
OLD, NEW, STRAY = "g" + "0" * 16, "g" + "1" * 16, "g" + "2" * 16


def _ours(*aliases):
    return {"aliases": {alias: {} for alias in aliases}, "mappings": {"_meta": {"palimpsest": FORMAT}}}


def test_the_layout_is_read_from_the_aliases():
    layout = NAMES.read(
        {
            f"pal-words-{OLD}": _ours("pal-words"),
            f"pal-vectors-{MODEL}-{OLD}": _ours(f"pal-vectors-{MODEL}"),
            f"pal-words-{NEW}": _ours("pal-words-building"),
            f"pal-vectors-{MODEL}-{NEW}": _ours(f"pal-vectors-{MODEL}-building"),
            f"pal-vectors-{MODEL}-{STRAY}": _ours(),
        }
    )
    live, building = layout.targets
    assert (live.id, live.words, live.vectors(MODEL)) == (OLD, "pal-words", f"pal-vectors-{MODEL}")
    assert (building.id, building.words) == (NEW, "pal-words-building")
    assert building.vectors(MODEL) == f"pal-vectors-{MODEL}-building"
    assert building.vector_indices == {MODEL: f"pal-vectors-{MODEL}-{NEW}"}
    assert building.index_for("other-8") == f"pal-vectors-other-8-{NEW}"
    assert len(layout.indices) == 5


def test_vectors_without_words_are_no_generation():
    """A rebuild that crashed before its words were made is none."""
    layout = NAMES.read({f"pal-vectors-{MODEL}-{NEW}": _ours(f"pal-vectors-{MODEL}-building")})
    assert (layout.live, layout.building, layout.targets) == (None, None, ())
    assert layout.indices == (f"pal-vectors-{MODEL}-{NEW}",)


@pytest.mark.parametrize(
    "foreign",
    [
        "pal-words", f"pal2-words-{OLD}", f"pal-x-words-{OLD}", f"pal-words-x-{OLD}", f"pal-vectors-{OLD}",
        f"pal-words-{OLD}0", f"pal-words-{OLD}-x", f"xpal-words-{OLD}", "pal-words-reindexed", f"pal-words-{OLD}\n",
    ],
)  # fmt: skip
def test_what_is_not_ours_is_left_alone(foreign):
    assert NAMES.read({foreign: _ours("pal-words")}).indices == ()


@pytest.mark.parametrize("mark", [{}, {"mappings": {}}, {"mappings": {"_meta": {"palimpsest": FORMAT - 1}}}])
def test_an_index_of_another_format_is_in_no_generation_but_can_be_dropped(mark):
    """Made by a former version, or by somebody's restore under our name: its fields are not what is asked for."""
    layout = NAMES.read({f"pal-words-{OLD}": {"aliases": {"pal-words": {}}, **mark}})
    assert (layout.live, layout.indices) == (None, (f"pal-words-{OLD}",))


@pytest.mark.parametrize(
    "prefix",
    ["", "Pal", "-pal", "_pal", "pal*", "pal,other", "pal-words", "words", "pal-vectors-x", "pal words", "p" * 101],
)  # fmt: skip
def test_a_prefix_that_could_reach_others_is_refused(prefix):
    with pytest.raises(ValueError, match="prefix"):
        Names(prefix)


@pytest.mark.parametrize("prefix", ["p", "palimpsest", "palimpsest-prod", "pal_2-eu-central-1", "pal-", "9"])
def test_a_plain_prefix_is_taken(prefix):
    assert Names(prefix).words() == f"{prefix}-words"


@pytest.mark.parametrize("model", ["", "*", "a,b", "A", "a#b", "../a", "-a", "a" * 99])
def test_a_model_that_could_reach_others_is_refused(model):
    with pytest.raises(ValueError, match="fingerprint"):
        NAMES.vectors(model)


def test_names_of_indices_are_as_short_as_engines_want():
    names = Names("p" * 100)
    assert len(f"{names.vectors('m' * 80)}-{new_generation()}") <= 255


def test_no_generation_is_named_twice():
    assert len({new_generation() for _ in range(100)}) == 100
