"""HTTP in front of the Chalice app: WSGI requests become the events that API Gateway would send, and back.

Path parts go on as they came (still encoded): one decoder of ours reads them, here as in the cloud.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote

from chalice.app import Chalice

from chalicelib.errors import (
    ForbiddenError,
    MalformedError,
    MethodError,
    NotFoundError,
    PalimpsestError,
    TooLargeError,
)
from chalicelib.web.problems import problem
from infra.local.hosts import Hosts
from infra.local.router import Router

StartResponse = Callable[[str, list[tuple[str, str]]], object]
Environ = Mapping[str, Any]

_MAX_PARAMS = 100
_ASCII = "".join(map(chr, range(0x21, 0x7F)))


class Front:
    """The WSGI application. `hosts`: under which names it may be called; None = under any."""

    def __init__(self, app: Chalice, max_body_bytes: int, hosts: Hosts | None = None) -> None:
        self._app = app
        self._router = Router(app.routes)
        self._limit = max_body_bytes
        self._hosts = hosts

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
        """The event that API Gateway would send. Raises ForbiddenError (a foreign host), NotFoundError, MethodError,
        TooLargeError, MalformedError."""
        authority, path, query = _target(environ)
        self._check_host(environ, authority)
        found = self._router.match(path)
        if found is None:
            raise NotFoundError("there is nothing at this path")
        asked, allowed = str(environ["REQUEST_METHOD"]), self._router.methods(found.resource)
        if asked not in allowed:
            raise MethodError(f"{asked} is not possible here", allowed=allowed)
        method = "GET" if asked == "HEAD" else asked
        body, encoded = self._body(environ)
        return {
            "resource": found.resource,
            "path": path,
            "httpMethod": method,
            "headers": _headers(environ),
            "multiValueQueryStringParameters": _query(query),
            "pathParameters": found.parts or None,
            "stageVariables": None,
            "requestContext": {"resourcePath": found.resource, "httpMethod": method, "path": path},
            "body": body,
            "isBase64Encoded": encoded,
        }

    def _check_host(self, environ: Environ, authority: str | None) -> None:
        """A target's own authority counts, not the header beside it (RFC 9112, 3.2.2)."""
        if self._hosts is None:
            return
        stated = environ.get("HTTP_HOST") if authority is None else authority
        if stated is None:
            if environ.get("SERVER_PROTOCOL") == "HTTP/1.1":
                raise MalformedError("the request has no Host header")
        elif not self._hosts.admit(str(stated)):
            raise ForbiddenError(
                "this service answers to localhost and loopback addresses only; PALIMPSEST_ALLOW_REMOTE=true changes that"
            )

    def _body(self, environ: Environ) -> tuple[str | None, bool]:
        length = str(environ.get("CONTENT_LENGTH") or "0")
        if not length.isascii() or not length.isdigit():
            raise MalformedError("Content-Length is not a number")
        raw: bytes = b"" if int(length) > self._limit else environ["wsgi.input"].read(self._limit + 1)
        if max(int(length), len(raw)) > self._limit:
            raise TooLargeError(f"the body is larger than {self._limit:,} bytes", max=self._limit)
        if not raw:
            return None, False
        try:
            return raw.decode("utf-8"), False
        except UnicodeDecodeError:
            return base64.b64encode(raw).decode("ascii"), True


def _target(environ: Environ) -> tuple[str | None, str, str]:
    """What is asked for: the authority where the target is a whole URL (as proxies get it), the raw path, the query.

    WSGI gives bytes as characters of Latin-1; those beyond ASCII become what they should have been sent as.
    """
    target, _, query = str(environ.get("REQUEST_URI") or environ["PATH_INFO"]).partition("?")
    authority = None
    if not target.startswith("/") and "://" in target:
        authority, slash, path = target.partition("://")[2].partition("/")
        target = slash + path or "/"
    return authority, _encoded(target), _encoded(query)


def _encoded(text: str) -> str:
    return text if text.isascii() else quote(text.encode("latin-1"), safe=_ASCII)


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
    start_response(f"{status} {HTTPStatus(status).phrase}", headers)
    return [b"" if head else body]
