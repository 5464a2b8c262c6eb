"""Every error that Palimpsest raises on purpose.

    PalimpsestError                     what went wrong, as an HTTP answer would say it
    ├── MalformedError            400   the body is not JSON, a path part cannot be decoded
    ├── UnauthenticatedError      401   no credential, or one that does not hold
    ├── ForbiddenError            403   known, but not allowed
    ├── NotFoundError             404   not there, or not for this caller to know of
    ├── MethodError               405   the path exists, the method does not
    ├── ConflictError             409   a stale version, a state that does not allow it; carries the current state
    ├── TooLargeError             413   body, text or item above the limit
    ├── InvalidError              422   a field is wrong: which one, and why
    ├── TooManyRequestsError      429   try again after so many seconds
    └── UnavailableError          503   a part is down: which one

Adapters raise these three kinds of their own, which services turn into one of the above or into `degraded`:

    StoreError ── StaleVersionError, AlreadyDoneError (idempotency), ItemTooLargeError, StoreUnavailableError
    SearchIndexError ── IndexMissingError, IndexUnavailableError
    EmbeddingError ── EmbedderUnavailableError, EmbeddingDimensionError

DataFolderError stops a laptop's start: the file with the data cannot be used, and the message says what to do.
IdentityProviderUnavailableError: tokens cannot be checked now; sign-in turns it into UnavailableError.
"""

from typing import Any, ClassVar


class PalimpsestError(Exception):
    """An error with a stable code, a status and details that are safe to show (never a secret, never a text)."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class MalformedError(PalimpsestError):
    """400: the request could not be read."""

    code = "malformed"
    status = 400


class UnauthenticatedError(PalimpsestError):
    """401: no credential was given, or it does not hold."""

    code = "unauthenticated"
    status = 401


class ForbiddenError(PalimpsestError):
    """403: the caller is known, and may not do this."""

    code = "forbidden"
    status = 403


class NotFoundError(PalimpsestError):
    """404: it does not exist, or the caller may not know that it does."""

    code = "not_found"
    status = 404


class MethodError(PalimpsestError):
    """405: the path exists, the method does not."""

    code = "method_not_allowed"
    status = 405


class ConflictError(PalimpsestError):
    """409: the version is stale or the state does not allow it; `details["current"]` is the state now (M15)."""

    code = "conflict"
    status = 409


class TooLargeError(PalimpsestError):
    """413: above a size limit; refused before anything was written."""

    code = "too_large"
    status = 413


class InvalidError(PalimpsestError):
    """422: a field is wrong. `details["fields"]` is `[{"field": "importance", "message": "..."}]`."""

    code = "invalid"
    status = 422

    def __init__(self, field: str, message: str, **details: Any) -> None:
        super().__init__(f"{field}: {message}", fields=[{"field": field, "message": message}], **details)

    @classmethod
    def of(cls, fields: list[dict[str, str]]) -> "InvalidError":
        """One error for several wrong fields; `fields` is not empty."""
        error = cls(fields[0]["field"], fields[0]["message"])
        error.details["fields"] = fields
        return error


class TooManyRequestsError(PalimpsestError):
    """429: try again after `details["retry_after"]` seconds."""

    code = "too_many_requests"
    status = 429


class UnavailableError(PalimpsestError):
    """503: `details["part"]` (table, index, embedder, queue) is down; nothing was changed, or it says so."""

    code = "unavailable"
    status = 503


HTTP_ERRORS: tuple[type[PalimpsestError], ...] = (
    MalformedError,
    UnauthenticatedError,
    ForbiddenError,
    NotFoundError,
    MethodError,
    ConflictError,
    TooLargeError,
    InvalidError,
    TooManyRequestsError,
    UnavailableError,
)


class StoreError(Exception):
    """What a store adapter raises; nothing of the transaction was written."""


class StaleVersionError(StoreError):
    """An item is not at the version that the commit expected. `targets` names those items when known."""

    def __init__(self, targets: tuple[str, ...] = ()) -> None:
        super().__init__(f"stale version: {', '.join(targets) or 'unknown item'}")
        self.targets = targets


class AlreadyDoneError(StoreError):
    """The idempotency record of this commit exists already: the first outcome stands."""


class ItemTooLargeError(StoreError):
    """An item would be larger than the store can keep (400 KB), or a transaction above 4 MB or 100 actions."""


class StoreUnavailableError(StoreError):
    """The store did not answer in time, or throttled beyond our retries. The write may or may not have happened
    only if `unknown` is true; a repeat with the same idempotency key tells."""

    def __init__(self, message: str, *, unknown: bool = False) -> None:
        super().__init__(message)
        self.unknown = unknown


class DataFolderError(Exception):
    """The data file of a laptop cannot be opened. Raised at start only; the message is for the person who runs it:
    one plain sentence of what is wrong and what to do."""


class SearchIndexError(Exception):
    """What a search adapter raises."""

    degraded = "index_unavailable"
    """What an answer says that does without the index."""


class IndexMissingError(SearchIndexError):
    """There is no complete index to read or write: it was dropped, or a rebuild is not finished."""

    degraded = "index_missing"


class IndexUnavailableError(SearchIndexError):
    """The search engine did not answer, or answered with an error."""


class EmbeddingError(Exception):
    """What an embedder raises."""


class EmbedderUnavailableError(EmbeddingError):
    """The embedder did not answer in time, throttled, or answered nonsense."""


class EmbeddingDimensionError(EmbeddingError):
    """The embedder's vectors do not have the dimension that its settings, or the index, state. `answered`: how long they
    are, where that is known."""

    def __init__(self, message: str, *, answered: int | None = None) -> None:
        super().__init__(message)
        self.answered = answered


class IdentityProviderUnavailableError(Exception):
    """The keys of the OIDC provider, without which no token can be checked, cannot be had now."""
