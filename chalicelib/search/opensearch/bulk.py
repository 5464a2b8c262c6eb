"""Writing: every memory to the words and to the vectors of every model, with its revision as external version.

An entry goes to each model's index even without a vector of that model: what is there of an older revision is
replaced by a tombstone. So a memory whose text changed is never found by the meaning that it no longer has, in
whatever order records arrive.
"""

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.projection import IndexEntry, Leg
from chalicelib.errors import IndexMissingError, IndexUnavailableError
from chalicelib.ports import Analyzer
from chalicelib.search.opensearch import errors
from chalicelib.search.opensearch.client import Client
from chalicelib.search.opensearch.documents import (
    absent_version,
    erased_version,
    tombstone_document,
    vector_document,
    vector_id,
    vector_version,
    words_document,
    words_id,
)
from chalicelib.search.opensearch.layout import Generation

REQUEST_BYTES = 5_000_000
"""Of one request: small engines refuse more than 10 MB."""
LEGS: tuple[Leg, ...] = ("meaning", "context_meaning")
FORGETTING_TRIES, FORGETTING_S = 30, 0.1
"""An engine forgets what was deleted at a refresh, when its clock has gone on."""
_ANSWER = {"filter_path": "items.*.status,items.*.error"}
_VERSIONS = {"stored_fields": "tombstone", "filter_path": "docs._version,docs.found,docs.fields"}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Action:
    """What is to become of one document."""

    place: int
    """Of its entry among the entries."""
    entry: IndexEntry
    leg: Leg | None
    """Of a vector; None for the words."""
    words: str
    """Alias of the words of its generation."""
    alias: str
    """Where it goes."""
    id: str
    version: int
    document: str

    def lines(self, kind: str) -> str:
        """As the engine takes it: `external` (only if newer), `external_gte` (or equal), `delete`."""
        header: dict[str, Any] = {
            "_index": self.alias,
            "require_alias": True,  # or a missing index would be made up, with guessed fields
            "_id": self.id,
            "routing": self.entry.space.key,
        }
        if kind == "delete":
            return f"{json.dumps({'delete': header})}\n"
        header |= {"version": self.version, "version_type": kind}
        return f"{json.dumps({'index': header})}\n{self.document}\n"


class Writer:
    """Writes entries to generations. Nothing is repeated here: writing again is harmless, and callers decide when."""

    def __init__(
        self, client: Client, analyzer: Analyzer, *, pause: Callable[[float], object] = time.sleep
    ) -> None:
        self._client = client
        self._analyzer = analyzer
        self._pause = pause

    def write(self, targets: Sequence[Generation], entries: Sequence[IndexEntry]) -> list[IndexEntry]:
        """Those of the entries of which any part was refused; they are to be written again.

        A part whose index has it already, or newer, is done (409). Raises IndexMissingError when the words of the
        first target are gone, IndexUnavailableError.
        """
        refused: Counter[int] = Counter()
        reasons: Counter[str] = Counter()
        passed_over: set[tuple[str, int]] = set()
        embedded: list[_Action] = []
        for action, failure in self._outcomes(self._actions(targets, entries), "external"):
            if isinstance(failure, errors.VersionConflictError):
                passed_over.add((action.alias, action.place))
            elif failure is not None:
                if isinstance(failure, IndexMissingError) and action.alias == targets[0].words:
                    raise failure
                refused[action.place] += 1
                reasons[str(failure)] += 1
            elif action.leg:
                embedded.append(action)
        self._mark_outdated([action for action in embedded if (action.words, action.place) in passed_over])
        if refused:
            _log.warning("the index refused %d of %d entries: %s", len(refused), len(entries), dict(reasons))
        return [entries[place] for place in sorted(refused)]

    def _mark_outdated(self, written: Sequence[_Action]) -> None:
        """Put a tombstone over vectors that were written although the words are of a higher revision, or erased.

        That happens only to a model whose index is so new that it has no tombstone of that revision itself.
        """
        if not written:
            return
        wanted = [
            {"_index": action.words, "_id": words_id(action.entry), "routing": action.entry.space.key}
            for action in written
        ]
        answer = self._client.call("POST", "/_mget", {"docs": wanted}, params=_VERSIONS)
        kept = errors.parts(answer, "docs", len(wanted))
        marks = [
            replace(action, version=version, document=tombstone_document(action.entry, action.leg))
            for action, words in zip(written, kept, strict=True)
            if (version := _version_beside(words)) > action.version
        ]
        for _, failure in self._outcomes(marks, "external"):
            if failure is not None and not isinstance(failure, errors.VersionConflictError):
                raise failure

    def overwrite(self, targets: Sequence[Generation], entries: Sequence[IndexEntry]) -> None:
        """Write the entries whatever the index claims to have. Raises IndexMissingError, IndexUnavailableError.

        A higher version cannot be written over: it is deleted, and written once the engine has forgotten it.
        """
        left = self._conflicts(self._actions(targets, entries), "external_gte")
        self._conflicts(left, "delete")
        for _ in range(FORGETTING_TRIES):
            left = self._conflicts(left, "external_gte")
            if not left:
                return
            for alias in {action.alias for action in left}:
                self._client.call("POST", f"/{alias}/_refresh")
            self._pause(FORGETTING_S)
        raise IndexUnavailableError("the search engine keeps a version that it should have forgotten")

    def _conflicts(self, actions: Iterable[_Action], kind: str) -> list[_Action]:
        """Do the actions; those that a higher version stood against. Raises every other failure."""
        left = []
        for action, failure in self._outcomes(actions, kind):
            if isinstance(failure, errors.VersionConflictError):
                left.append(action)
            elif failure is not None:
                raise failure
        return left

    def _outcomes(self, actions: Iterable[_Action], kind: str) -> Iterator[tuple[_Action, Exception | None]]:
        """Each action with what went wrong with it, if anything."""
        for together in _requests((action, action.lines(kind)) for action in actions):
            body = "".join(lines for _, lines in together)
            answer = self._client.call("POST", "/_bulk", body, params=_ANSWER)
            items = errors.parts(answer, "items", len(together))
            for (action, _), item in zip(together, items, strict=True):
                yield action, errors.from_item(next(iter(item.values())))

    def _actions(self, targets: Sequence[Generation], entries: Sequence[IndexEntry]) -> Iterator[_Action]:
        models = sorted({model for target in targets for model in target.vector_indices})
        for place, entry in enumerate(entries):
            words = words_id(entry), entry.revision, words_document(entry, self._analyzer)
            vectors = {(model, leg): _vector(entry, model, leg) for model in models for leg in LEGS}
            for target in targets:
                yield _Action(place, entry, None, target.words, target.words, *words)
                for (model, leg), vector in vectors.items():
                    if model in target.vector_indices:
                        yield _Action(place, entry, leg, target.words, target.vectors(model), *vector)


def _vector(entry: IndexEntry, model: str, leg: Leg) -> tuple[str, int, str]:
    return vector_id(entry, leg), vector_version(entry, model, leg), vector_document(entry, model, leg)


def _version_beside(words: Mapping[str, Any]) -> int:
    """The version of a vector that the words know nothing of; 0 when there are no words."""
    erased = words.get("fields", {}).get("tombstone") == [True]
    revision = words.get("_version", 0)
    return erased_version(revision) if erased else absent_version(revision)


def _requests(actions: Iterable[tuple[_Action, str]]) -> Iterator[list[tuple[_Action, str]]]:
    """The actions, as many together as one request may carry."""
    together: list[tuple[_Action, str]] = []
    size = 0
    for action in actions:
        if together and size + len(action[1]) > REQUEST_BYTES:
            yield together
            together, size = [], 0
        together.append(action)
        size += len(action[1])
    if together:
        yield together
