"""Generations of indices: how one is begun beside the one in use, takes its place, and how models join."""

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from chalicelib.domain.diagnosis import IndexSeen
from chalicelib.domain.projection import IndexEntry
from chalicelib.errors import IndexMissingError
from chalicelib.search.opensearch import mappings
from chalicelib.search.opensearch.client import Client
from chalicelib.search.opensearch.errors import AlreadyThereError
from chalicelib.search.opensearch.layout import Generation, Layout, Names, new_generation

FLOAT_BYTES = 4
_LAYOUT_ONLY = {"expand_wildcards": "all", "filter_path": "*.aliases,*.mappings._meta"}
"""Closed indices too: they are there, and must not be built anew."""


class Generations:
    """The indices of one installation as a whole. Raises IndexMissingError, IndexUnavailableError."""

    def __init__(self, client: Client, names: Names, *, shards: int, replicas: str) -> None:
        self._client = client
        self._names = names
        self._shards = shards
        self._replicas = replicas

    def layout(self) -> Layout:
        """What stands now; asked anew each time, for another process may have changed it."""
        path = f"/{self._names.patterns()}"
        return self._names.read(self._client.call("GET", path, params=_LAYOUT_ONLY, waiting=True))

    def seen(self) -> IndexSeen:
        """What an operator must know of it. Raises IndexUnavailableError."""
        layout = self.layout()
        return IndexSeen(
            complete=layout.live is not None,
            foreign=layout.foreign,
            dimensions=self._dimensions(layout.live),
        )

    def refreshed(self) -> Generation:
        """The generation in use, with all that was written to it visible. Raises IndexMissingError."""
        live = self.layout().live
        if live is None:
            raise IndexMissingError("there is no search index: it was never built, or was dropped")
        self._refresh(live)
        return live

    def begin(self) -> str:
        """Make the indices of a new generation, empty, and give its name. What else was begun is dropped.

        A model whose vectors are all gone is left behind, and so is an index that is not ours. The words come last:
        only with them a generation is seen,
        so nobody writes to a half of it.
        """
        layout = self.layout()
        self._delete(set(layout.indices) - set(_indices(layout.live)))
        generation = Generation(self._names, new_generation(), "-building", "", {})
        for model, dimension in self._dimensions(layout.live).items():
            self._create_vectors(generation, model, dimension)
        words = mappings.words_index(self._shards, self._replicas)
        self._create(f"{self._names.words()}-{generation.id}", generation.words, words)
        return generation.id

    def begun(self, name: str) -> Generation:
        """The generation that is being built. Raises IndexMissingError when it is another one, or none."""
        return _begun(self.layout(), name)

    def with_models(
        self, generations: Iterable[Generation], entries: Iterable[IndexEntry]
    ) -> list[Generation]:
        """The same generations, with an index for each model of which the entries have vectors."""
        dimensions = {m: len(v.text) // FLOAT_BYTES for entry in entries for m, v in entry.vectors.items()}
        return [self._with_models(generation, dimensions) for generation in generations]

    def finish(self, name: str) -> None:
        """Put the generation in the place of the one in use, words and all vectors at one stroke; then drop the old.

        Not in the same stroke, although the engine can: it closes an index before it stops sending searches there.
        """
        layout = self.layout()
        building = _begun(layout, name)
        self._refresh(building)
        actions: list[dict[str, Any]] = []
        for generation in layout.targets:
            actions += [{"remove": {"index": i, "alias": a}} for i, a in _aliases(generation)]
        for index, alias in _aliases(replace(building, suffix="")):
            actions.append({"add": {"index": index, "alias": alias, "is_write_index": True}})
        self._client.call("POST", "/_aliases", {"actions": actions})
        self._delete(_indices(layout.live))

    def drop(self) -> None:
        """Delete every index of this installation."""
        self._delete(self.layout().indices)

    def _refresh(self, generation: Generation) -> None:
        for index in _indices(generation):
            self._client.call("POST", f"/{index}/_refresh")

    def _with_models(self, generation: Generation, dimensions: dict[str, int]) -> Generation:
        missing = [model for model in dimensions if model not in generation.vector_indices]
        for model in missing:
            self._create_vectors(generation, model, dimensions[model])
        made = {model: generation.index_for(model) for model in missing}
        return replace(generation, vector_indices={**generation.vector_indices, **made})

    def _create_vectors(self, generation: Generation, model: str, dimension: int) -> None:
        body = mappings.vectors_index(self._shards, self._replicas, dimension)
        self._create(generation.index_for(model), generation.vectors(model), body)

    def _create(self, index: str, alias: str, body: dict[str, Any]) -> None:
        """Make an index with its alias, unless another process was faster.

        As the alias's write index: then the engine refuses a second one behind the same alias.
        """
        with contextlib.suppress(AlreadyThereError):
            self._client.call("PUT", f"/{index}", {**body, "aliases": {alias: {"is_write_index": True}}})

    def _dimensions(self, generation: Generation | None) -> dict[str, int]:
        """By model, the dimension of the vectors that a generation holds; models without any are left out."""
        used = {
            m: i for m, i in (generation.vector_indices if generation else {}).items() if self._has_vectors(i)
        }
        return {model: self._dimension(index) for model, index in used.items()}

    def _dimension(self, index: str) -> int:
        answer = self._client.call("GET", f"/{index}/_mapping")
        return int(answer[index]["mappings"]["properties"]["meaning"]["dimension"])

    def _has_vectors(self, index: str) -> bool:
        living = {"query": {"term": {"tombstone": False}}}
        answer = self._client.call("POST", f"/{index}/_count", living, params={"terminate_after": "1"})
        return bool(answer["count"])

    def _delete(self, indices: Iterable[str]) -> None:
        for index in indices:
            self._client.call("DELETE", f"/{index}", params={"ignore_unavailable": "true"})


def _begun(layout: Layout, name: str) -> Generation:
    if layout.building is None or layout.building.id != name:
        raise IndexMissingError("this rebuild is over: another was begun, or the index was dropped")
    return layout.building


def _indices(generation: Generation | None) -> list[str]:
    return [generation.words_index, *generation.vector_indices.values()] if generation else []


def _aliases(generation: Generation) -> list[tuple[str, str]]:
    """Each index with its alias."""
    vectors = [(index, generation.vectors(model)) for model, index in generation.vector_indices.items()]
    return [(generation.words_index, generation.words), *vectors]
