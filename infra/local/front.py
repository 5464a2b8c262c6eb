"""HTTP in front of the Chalice app: WSGI requests become the events that API Gateway would send, and back.

Path parts go on as they came (still encoded): one decoder of ours reads them, here as in the cloud.
"""

import base64
import io
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from chalice.app import Chalice

from chalicelib.errors import MalformedError, MethodError, NotFoundError, PalimpsestError, TooLargeError
from chalicelib.web.problems import problem

log = logging.getLogger("palimpsest.front")

StartResponse = Callable[[str, list[tuple[str, str]]], object]
Environ = Mapping[str, Any]

_REASONS = {200: "OK", 201: "Created", 202: "Accepted", 204: "No Content"}
_MAX_PARAMS = 100


class Match(NamedTuple):
    """The route of a path, and its parts as they came."""

    resource: str
    parts: dict[str, str]


class Router:
    """Finds the route of a path; a fixed part wins over a parameter, as in API Gateway."""

    def __init__(self, routes: Mapping[str, Mapping[str, object]]) -> None:
        self.methods = {path: frozenset(methods) for path, methods in routes.items()}
        split = {path: tuple(path.strip("/").split("/")) for path in routes}
        self._routes = sorted(split.items(), key=lambda item: [part.startswith("{") for part in item[1]])

    def match(self, path: str) -> Match | None:
        """The route of a raw path, or None."""
        parts = tuple(path.strip("/").split("/"))
        for resource, wanted in self._routes:
            if len(wanted) == len(parts) and all(
                w.startswith("{") or w == p for w, p in zip(wanted, parts, strict=True)
            ):
                named = {w[1:-1]: p for w, p in zip(wanted, parts, strict=True) if w.startswith("{")}
                return Match(resource, named)
        return None


class Front:
    """The WSGI application."""

    def __init__(self, app: Chalice, max_body_bytes: int) -> None:
        self._app = app
        self._router = Router(app.routes)
        self._limit = max_body_bytes

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        try:
            response = self._app(self._event(environ), None)
        except PalimpsestError as error:
            response = problem(error).to_dict()
            if isinstance(error, MethodError):
                response["headers"]["Allow"] = ", ".join(error.details["allowed"])
        return _answer(response, start_response, head=environ["REQUEST_METHOD"] == "HEAD")

    def _event(self, environ: Environ) -> dict[str, Any]:
        """The event that API Gateway would send. Raises NotFoundError, MethodError, TooLargeError, MalformedError."""
        raw_path, _, query = str(environ.get("REQUEST_URI") or environ["PATH_INFO"]).partition("?")
        if "://" in raw_path.split("/", 1)[0] + "://" and raw_path.startswith("http"):
            raw_path = "/" + raw_path.split("://", 1)[1].partition("/")[2]
        found = self._router.match(raw_path)
        if found is None:
            raise NotFoundError("there is nothing at this path")
        method = "GET" if environ["REQUEST_METHOD"] == "HEAD" else str(environ["REQUEST_METHOD"])
        allowed = sorted(self._router.methods[found.resource])
        if method not in allowed:
            raise MethodError(f"{method} is not possible here", allowed=allowed)
        body, encoded = self._body(environ)
        return {
            "resource": found.resource,
            "path": raw_path,
            "httpMethod": method,
            "headers": _headers(environ),
            "multiValueQueryStringParameters": _query(query),
            "pathParameters": found.parts or None,
            "stageVariables": None,
            "requestContext": {"resourcePath": found.resource, "httpMethod": method, "path": raw_path},
            "body": body,
            "isBase64Encoded": encoded,
        }

    def _body(self, environ: Environ) -> tuple[str | None, bool]:
        length = str(environ.get("CONTENT_LENGTH") or "0")
        if not length.isascii() or not length.isdigit():
            raise MalformedError("Content-Length is not a number")
        if int(length) > self._limit:
            raise TooLargeError(f"the body is larger than {self._limit:,} bytes", max=self._limit)
        stream: io.BufferedIOBase = environ["wsgi.input"]
        raw = stream.read(self._limit + 1)
        if len(raw) > self._limit:
            raise TooLargeError(f"the body is larger than {self._limit:,} bytes", max=self._limit)
        if not raw:
            return None, False
        try:
            return raw.decode("utf-8"), False
        except UnicodeDecodeError:
            return base64.b64encode(raw).decode("ascii"), True


def _headers(environ: Environ) -> dict[str, str]:
    headers = {
        name[5:].replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    if environ.get("CONTENT_TYPE"):
        headers["content-type"] = str(environ["CONTENT_TYPE"])
    return headers


def _query(query: str) -> dict[str, list[str]] | None:
    if not query:
        return None
    try:
        return parse_qs(query, keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMS)
    except ValueError as error:
        raise MalformedError("the query string cannot be read") from error


def _answer(response: Mapping[str, Any], start_response: StartResponse, *, head: bool) -> Iterable[bytes]:
    body = str(response["body"]).encode("utf-8")
    if response.get("isBase64Encoded"):
        body = base64.b64decode(body)
    status = int(response["statusCode"])
    headers = [(str(name), str(value)) for name, value in response["headers"].items()]
    headers.append(("Content-Length", str(len(body))))
    start_response(f"{status} {_REASONS.get(status, 'Error')}", headers)
    return [b"" if head else body]
