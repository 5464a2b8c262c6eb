"""One HTTP request, read: path parts, query, body, caller. Everything a view may know of it comes from here."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import unquote

from chalice.app import Request as ChaliceRequest
from pydantic import BaseModel, ValidationError

from chalicelib.bootstrap import Services, services
from chalicelib.domain.ids import is_id, new_id
from chalicelib.domain.scope import Right, Scope
from chalicelib.errors import InvalidError, MalformedError, TooLargeError
from chalicelib.services.accounts.access import Caller
from chalicelib.services.idempotency import KEY_MAX_CHARS, Request
from chalicelib.web.problems import of_fields

Model = TypeVar("Model", bound=BaseModel)

_NUMBER = re.compile(r"[1-9][0-9]{0,14}")
_HARMFUL = re.compile(r"[%/\x00-\x1f\x7f]")
_EXACT = 2**53
"""Up to here every whole number has a float of its own."""
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]+")


def _number(written: str) -> float:
    """A number with a point or an exponent; `5.0` is a whole number, as JSON Schema has it."""
    number = float(written)
    return int(number) if number.is_integer() and abs(number) <= _EXACT else number


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose fields are given once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidError(twice, "is given more than once")
    return found


class Call:
    """What was asked. Raises PalimpsestError's kinds as it is read; nothing is read twice."""

    def __init__(self, request: ChaliceRequest, params: Mapping[str, str]) -> None:
        self._request = request
        self._params = params
        given = request.headers.get("x-correlation-id") or ""
        self.correlation_id: str = given if is_id(given) else new_id("req")

    @cached_property
    def services(self) -> Services:
        """The use cases."""
        return services()

    @cached_property
    def now(self) -> datetime:
        """When the request came."""
        return self.services.clock()

    def admit(self, *, public: bool, takes_query: bool, takes_body: bool) -> None:
        """Check what every request must satisfy: the caller is known, the body is not too large, and nothing is said
        that this operation would pass over.

        Raises UnauthenticatedError, TooLargeError, MalformedError, InvalidError."""
        if not public:
            _ = self.caller
        limit = self.services.settings.max_body_bytes
        if len(self._raw) > limit:
            raise TooLargeError(f"the body is larger than {limit:,} bytes", max=limit)
        if not takes_query and not public and self._request.query_params:
            raise InvalidError(next(iter(self._request.query_params)), "is not a parameter here")
        if not takes_body and self._raw and self.json != {}:
            raise InvalidError("body", "is not taken here")

    @cached_property
    def caller(self) -> Caller:
        """Who asks. Raises UnauthenticatedError."""
        return self.services.sign_in.authenticate(self._request.headers.get("authorization"), self.now)

    def part(self, name: str) -> str:
        """A path part, decoded once. Raises InvalidError naming it when `%`, `/` or control characters remain."""
        value = unquote(self._params[name], errors="replace")
        if not value or "\ufffd" in value or _HARMFUL.search(value):
            raise InvalidError(name, "holds characters that cannot be part of it")
        return value

    def identifier(self, name: str) -> str:
        """A path part that is an id. Raises InvalidError."""
        value = self.part(name)
        if not is_id(value):
            raise InvalidError(name, "is not an id")
        return value

    @property
    def number(self) -> int:
        """The memory's number in the path. Raises InvalidError."""
        text = self.part("number")
        if not _NUMBER.fullmatch(text):
            raise InvalidError("number", "is a whole number from 1 on")
        return int(text)

    def scope(self, right: Right, project: str | None = None) -> Scope:
        """The caller's scope in the space of the path. Raises NotFoundError, ForbiddenError, InvalidError."""
        return self.services.access.open_space(self.caller, self.part("space"), right, project)

    def query(self, model: type[Model]) -> Model:
        """The query string as `model`. Raises InvalidError; a parameter given twice is one of its reasons."""
        params = self._request.query_params
        given: dict[str, str] = {}
        for name in params or {}:
            values = params.getlist(name)  # type: ignore[union-attr]
            if len(values) > 1:
                raise InvalidError(name, "is given more than once")
            given[name] = values[0]
        try:
            return model.model_validate(given)
        except ValidationError as error:
            raise of_fields(error) from error

    @cached_property
    def _raw(self) -> bytes:
        raw = self._request.raw_body
        return raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw

    @cached_property
    def json(self) -> Any:
        """The body as JSON values. Raises MalformedError."""
        try:
            return json.loads(self._raw.decode("utf-8"), parse_float=_number, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise MalformedError("the body is not JSON in UTF-8") from error

    def body(self, model: type[Model]) -> Model:
        """The body as `model`; an empty one counts as `{}`. Raises MalformedError, InvalidError."""
        values = self.json if self._raw else {}
        if not isinstance(values, dict):
            raise InvalidError("body", "is a JSON object")
        return self.parse(model, values)

    def parse(self, model: type[Model], values: Any, prefix: str = "") -> Model:
        """JSON values as `model`. Raises InvalidError with every wrong field."""
        try:
            return model.model_validate(values)
        except ValidationError as error:
            raise of_fields(error, prefix) from error

    def write(self) -> Request:
        """This write as one that can be repeated (`Idempotency-Key`). Raises InvalidError for a key that is none."""
        key = self._request.headers.get("idempotency-key")
        if key is not None and (len(key) > KEY_MAX_CHARS or not _IDEMPOTENCY_KEY.fullmatch(key)):
            raise InvalidError("Idempotency-Key", f"is 1 to {KEY_MAX_CHARS} visible ASCII characters")
        return Request(
            owner=self.caller.account.id,
            key=key,
            hash=self._hash(),
            now=self.now,
            keep_days=self.services.settings.idempotency_days,
        )

    def _hash(self) -> str:
        """A hash of what is asked: as a person or a model, method, path with its parts, query and body, however the
        JSON is spaced. A model does not repeat what a person did: it would be shown what it may not read (M8).

        Raises MalformedError."""
        try:
            body = json.dumps(self.json, sort_keys=True) if self._raw else ""
        except RecursionError as error:
            raise MalformedError("the body is nested too deeply") from error
        query = sorted((name, str(value)) for name, value in (self._request.query_params or {}).items())
        asked = [
            self.caller.acts_as,
            self._request.method,
            self._request.path,
            sorted(self._params.items()),
            query,
            body,
        ]
        return hashlib.sha256(json.dumps(asked).encode("utf-8", "surrogatepass")).hexdigest()
