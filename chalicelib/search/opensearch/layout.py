"""Names of indices and aliases, and which of them stand.

    index                                    alias while in use          alias while being built
    <prefix>-words-<generation>              <prefix>-words              <prefix>-words-building
    <prefix>-vectors-<model>-<generation>    <prefix>-vectors-<model>    <prefix>-vectors-<model>-building

All that is known of a rebuild is in these aliases, so every process sees the same, and a crash forgets nothing.
"""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.search.opensearch.mappings import is_ours

_GENERATION = r"g[0-9a-f]{16}"
_MODEL = re.compile(r"[a-z0-9][a-z0-9-]{0,79}")
_PREFIX = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_KINDS = frozenset({"words", "vectors"})


@dataclass(frozen=True, slots=True)
class Names:
    """How the indices and aliases of one installation are called. Two installations may share an engine: no name of
    one is a name of the other. Raises ValueError for a prefix that could break that."""

    prefix: str

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix) or _KINDS.intersection(self.prefix.split("-")):
            raise ValueError(
                "an index prefix is lower case letters, digits, _ and -, without the parts words, vectors"
            )

    def words(self) -> str:
        """Alias of the words in use."""
        return f"{self.prefix}-words"

    def vectors(self, model: str) -> str:
        """Alias of the vectors in use of the model with this fingerprint. Raises ValueError when it is none."""
        if not _MODEL.fullmatch(model):
            raise ValueError("a model's fingerprint is lower case letters, digits and dashes")
        return f"{self.prefix}-vectors-{model}"

    def patterns(self) -> str:
        """What matches all indices (and maybe foreign ones, which `read` leaves out)."""
        return f"{self.prefix}-words-*,{self.prefix}-vectors-*"

    def read(self, answer: Mapping[str, Any]) -> "Layout":
        """What stands, from the engine's list of indices with their aliases and marks. One that bears our name and
        not our mark (of a former format, or made up by somebody else) is in no generation."""
        found = [index for name, body in answer.items() if (index := self._index(name, body))]
        ours = [index for index in found if index.ours]
        return Layout(
            live=self._generation(ours, ""),
            building=self._generation(ours, "-building"),
            indices=tuple(index.name for index in found),
            foreign=tuple(sorted(index.name for index in found if not index.ours)),
        )

    def _index(self, name: str, body: Mapping[str, Any]) -> "_Index | None":
        pattern = rf"{self.prefix}-(?:words|vectors-({_MODEL.pattern}))-({_GENERATION})"
        found = re.fullmatch(pattern, name)
        if not found:
            return None
        return _Index(name, found[1], found[2], frozenset(body.get("aliases", {})), is_ours(body))

    def _generation(self, found: list["_Index"], suffix: str) -> "Generation | None":
        words = next((i for i in found if i.model is None and self.words() + suffix in i.aliases), None)
        if words is None:
            return None
        vectors = {i.model: i.name for i in found if i.model and self.vectors(i.model) + suffix in i.aliases}
        return Generation(self, words.generation, suffix, words.name, vectors)


@dataclass(frozen=True, slots=True)
class _Index:
    name: str
    model: str | None
    generation: str
    aliases: frozenset[str]
    ours: bool


@dataclass(frozen=True, slots=True)
class Generation:
    """The indices that are used, or built, together."""

    names: Names
    id: str
    suffix: str
    """Of its aliases: empty when in use, `-building` when not yet."""
    words_index: str
    vector_indices: Mapping[str, str]
    """By fingerprint of the model."""

    @property
    def words(self) -> str:
        """Alias of its words: what is written to, never the index itself."""
        return self.names.words() + self.suffix

    def vectors(self, model: str) -> str:
        """Alias of its vectors of one model, whether it exists already or not."""
        return self.names.vectors(model) + self.suffix

    def index_for(self, model: str) -> str:
        """Name of the index of its vectors of one model, whether it exists already or not. Alike in all processes,
        so that two of them never make two."""
        return f"{self.names.vectors(model)}-{self.id}"


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands at one moment."""

    live: Generation | None
    """The one in use; None: there is no complete index."""
    building: Generation | None
    indices: tuple[str, ...]
    """All indices of this installation, those of no generation too."""
    foreign: tuple[str, ...] = ()
    """Those of them that do not bear our mark, or that of another format."""

    @property
    def targets(self) -> tuple[Generation, ...]:
        """Where writes go: the one in use first."""
        return tuple(generation for generation in (self.live, self.building) if generation)


def new_generation() -> str:
    """A name that was never used."""
    return f"g{secrets.token_hex(8)}"
