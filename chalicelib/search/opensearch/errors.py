"""Every way in which the search engine or its library fails, in our words.

Reasons that the engine gives quote documents ("Preview of field's value: …"), so no text of it is ever passed on:
only the status and the type of the error, which are safe to log.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from chalicelib.errors import IndexMissingError, IndexUnavailableError, SearchIndexError


class AlreadyThereError(IndexUnavailableError):
    """An index of this name exists: another process made it first."""


class VersionConflictError(IndexUnavailableError):
    """The index has this version of a document already, or a higher one."""


_TYPE = re.compile(r"[a-z0-9_]{1,80}")
_MISSING = frozenset({"index_not_found_exception", "aliases_not_found_exception"})
RETRIED = frozenset({429, 503})
"""Statuses by which the engine asks for patience."""
UNREADABLE = "the search engine gave an answer that cannot be read"


def from_answer(status: int, error: object) -> SearchIndexError:
    """The error that an answer of the engine stands for: of a whole request, or of one part of a bundle.

    `error` is the `error` of the answer: an object, a text, or None when the answer was not JSON. Memory that ran
    out is told from a broken document although both may come as 400 (CASES: k-NN#1424).
    """
    kind = type_of(error)
    if kind in _MISSING:
        return IndexMissingError("the search index does not exist")
    if kind == "resource_already_exists_exception":
        return AlreadyThereError("another process makes the same index")
    if kind == "version_conflict_engine_exception":
        return VersionConflictError("the index has this version or a higher one")
    if _circuit_broken(error):
        return IndexUnavailableError(f"the search engine is short of memory ({status} {kind})")
    if status == 429:
        return IndexUnavailableError(f"the search engine is overloaded ({status} {kind})")
    if status in {401, 403} and kind != "cluster_block_exception":
        return IndexUnavailableError(f"the search engine does not accept our credentials ({status} {kind})")
    return IndexUnavailableError(f"the search engine answered with an error ({status} {kind})")


def from_item(result: Mapping[str, Any]) -> SearchIndexError | None:
    """What went wrong with one document of a bundle, if anything."""
    status = result["status"]
    return None if status < 300 or "error" not in result else from_answer(status, result["error"])


def parts(answer: Mapping[str, Any], name: str, count: int) -> list[Any]:
    """The `count` parts of a bundle's answer. Raises IndexUnavailableError when it is no such answer."""
    found = answer.get(name)
    if not isinstance(found, list) or len(found) != count:
        raise IndexUnavailableError(UNREADABLE)
    return found


@contextmanager
def reading() -> Iterator[None]:
    """Around what reads an answer: one of another form raises IndexUnavailableError."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise IndexUnavailableError(UNREADABLE) from error


def from_library(error: Exception) -> SearchIndexError:
    """The error that an exception of opensearch-py stands for."""
    from opensearchpy import exceptions as library

    if isinstance(error, library.ConnectionTimeout) or _connect_timed_out(error):
        return IndexUnavailableError("the search engine did not answer in time")
    if isinstance(error, library.SSLError):
        return IndexUnavailableError("the search engine cannot be reached: TLS failed")
    if isinstance(error, library.ConnectionError):
        return IndexUnavailableError("the search engine cannot be reached")
    if isinstance(error, library.SerializationError):
        return IndexUnavailableError(UNREADABLE)
    if isinstance(error, library.TransportError):
        return from_answer(_status(error), _body(error))
    return IndexUnavailableError(f"the search engine's client failed ({type(error).__name__})")


def is_worth_a_retry(error: Exception) -> bool:
    """Whether the same call may succeed in a moment: nothing was reached, or the engine asks for patience.

    Time-outs are not repeated: whoever waits has waited long enough.
    """
    from opensearchpy import exceptions as library

    if isinstance(error, library.ConnectionTimeout | library.SSLError) or _connect_timed_out(error):
        return False
    if isinstance(error, library.ConnectionError):
        return True
    return isinstance(error, library.TransportError) and error.status_code in RETRIED


def type_of(error: object) -> str:
    """The type that the engine gives an error, made safe to show; `unknown` when it gives none."""
    kind = error.get("type") if isinstance(error, Mapping) else None
    return kind if isinstance(kind, str) and _TYPE.fullmatch(kind) else "unknown"


def _status(error: Any) -> int:
    return error.status_code if isinstance(error.status_code, int) else 0


def _body(error: Any) -> object:
    answer = error.info
    return answer.get("error") if isinstance(answer, Mapping) else None


def _connect_timed_out(error: Exception) -> bool:
    """urllib3 counts a refused connection among the time-outs; only a real one is one."""
    from opensearchpy import exceptions as library
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    if not isinstance(error, library.ConnectionError):
        return False
    return isinstance(error.info, ConnectTimeoutError) and not isinstance(error.info, NewConnectionError)


def _circuit_broken(error: object) -> bool:
    return any(
        cause.get("type") == "circuit_breaking_exception"
        or "circuit breaker" in str(cause.get("reason")).lower()
        for cause in _causes(error)
    )


def _causes(error: object) -> Iterator[Mapping[str, Any]]:
    """An error and what it says caused it, outermost first."""
    while isinstance(error, Mapping):
        yield error
        roots = error.get("root_cause")
        if isinstance(roots, list):
            yield from (root for root in roots if isinstance(root, Mapping))
        error = error.get("caused_by")
