"""What HTTP offers: each operation said once, with its shapes, for Chalice and for the contract (`openapi.json`).

    door = Door("memories")

    @door.operation("POST", "/v1/spaces/{space}/memories", status=201, body=NewMemory, answer=AddedMemory)
    def add_memory(call: Call) -> dict: ...

Every view goes through one wrapper, which reads the request, runs the function and turns errors into answers: the
boundary of this door, and the one place here where an unknown error is caught (and logged).
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal

from chalice.app import Blueprint, Response
from pydantic import BaseModel

from chalicelib.errors import PalimpsestError, SearchIndexError, StoreError
from chalicelib.observability import count, observed_request
from chalicelib.web.call import Call
from chalicelib.web.problems import answer, of_adapter, problem

log = logging.getLogger("palimpsest.web")

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
View = Callable[[Call], Mapping[str, Any] | Response]


@dataclass(frozen=True)
class Operation:
    """One operation of the contract."""

    method: Method
    path: str
    name: str
    summary: str
    description: str
    tag: str
    status: int
    body: type[BaseModel] | None
    query: type[BaseModel] | None
    answer: type[BaseModel] | None
    public: bool

    @property
    def writes(self) -> bool:
        """Whether it takes an `Idempotency-Key`: all but reads, searches and recalls."""
        return self.method != "GET" and not self.name.startswith(("search", "recall"))


@dataclass(frozen=True)
class Door:
    """The operations of one resource, as a Chalice blueprint."""

    tag: str
    blueprint: Blueprint
    operations: list[Operation]

    @classmethod
    def of(cls, tag: str) -> "Door":
        """A door without operations yet."""
        return cls(tag, Blueprint(f"chalicelib.web.{tag}"), [])

    def operation(
        self,
        method: Method,
        path: str,
        *,
        status: int = 200,
        body: type[BaseModel] | None = None,
        query: type[BaseModel] | None = None,
        answer: type[BaseModel] | None = None,
        public: bool = False,
    ) -> Callable[[View], View]:
        """Register a view. Its docstring's first line is the summary, the rest the description."""

        def register(view: View) -> View:
            summary, _, rest = (view.__doc__ or "").strip().partition("\n")
            details = (
                method,
                path,
                view.__name__,
                summary,
                rest.strip(),
                self.tag,
                status,
                body,
                query,
                answer,
            )
            operation = Operation(*details, public=public)
            self.operations.append(operation)
            guarded = _guarded(self.blueprint, operation, view)
            self.blueprint.route(path, methods=[method], content_types=[], name=view.__name__)(guarded)
            return view

        return register


def _guarded(blueprint: Blueprint, operation: Operation, view: View) -> Callable[..., Response]:
    @wraps(view)
    def serve(**params: str) -> Response:
        started = time.perf_counter()
        call = Call(blueprint.current_request, params)
        with observed_request(call.correlation_id):
            response = _served(operation, view, call)
            taken = round((time.perf_counter() - started) * 1000, 1)
            log.info(
                "served",
                extra={"operation": operation.name, "status": response.status_code, "milliseconds": taken},
            )
        response.headers["X-Correlation-Id"] = call.correlation_id
        return response

    return serve


def _served(operation: Operation, view: View, call: Call) -> Response:
    try:
        return _answered(operation, view, call)
    except Exception:  # the boundary: an unknown error is logged whole and told in one sentence
        log.exception("an unexpected error", extra={"operation": operation.name})
        count("failures", part="code")
        shown = {"code": "internal", "message": "an unexpected error; it was logged", "details": {}}
        return answer(500, {"error": shown})


def _answered(operation: Operation, view: View, call: Call) -> Response:
    begun = False
    try:
        call.admit(
            public=operation.public,
            takes_query=operation.query is not None,
            takes_body=operation.body is not None,
        )
        begun = True
        result = view(call)
    except PalimpsestError as error:
        return problem(error)
    except (StoreError, SearchIndexError) as error:
        return problem(of_adapter(error, may_have_written=begun and operation.writes))
    return result if isinstance(result, Response) else answer(operation.status, result)
