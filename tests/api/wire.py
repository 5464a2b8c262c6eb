"""`requests` without a network: what it would send goes to a WSGI application in this process, byte for byte."""

import io
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from urllib3 import HTTPResponse

from infra.local.front import Front

BASE = "http://localhost:8340"


class Wire(BaseAdapter):
    """Hands requests over to `front`."""

    def __init__(self, front: Front) -> None:
        super().__init__()
        self.front = front

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        said: dict[str, Any] = {}

        def start(status: str, headers: list[tuple[str, str]]) -> None:
            code, _, reason = status.partition(" ")
            said.update(status=int(code), reason=reason, headers=headers)

        body = b"".join(self.front(_environ(request), start))
        raw = HTTPResponse(
            io.BytesIO(body),
            headers=said["headers"],
            status=said["status"],
            reason=said["reason"],
            preload_content=False,
        )
        response = requests.Response()
        response.status_code = said["status"]
        response.reason = said["reason"]
        response.headers.update(raw.headers)
        response.encoding = "utf-8"
        response.raw, response.url, response.request = raw, request.url or "", request
        _ = response.content
        return response

    def close(self) -> None:
        """Nothing is open."""


class InProcess(requests.Session):
    """A session all of whose requests go to `front`."""

    def __init__(self, front: Front) -> None:
        super().__init__()
        self.trust_env = False
        self.mount(BASE, Wire(front))

    def request(self, *args: Any, app: object = None, **kwargs: Any) -> requests.Response:
        """As its base. `app` is what Schemathesis passes on, and is passed over."""
        return super().request(*args, **kwargs)


def _environ(request: requests.PreparedRequest) -> Mapping[str, Any]:
    url = urlsplit(request.url or "")
    target = f"{url.path}?{url.query}" if url.query else url.path
    body = request.body.encode() if isinstance(request.body, str) else request.body or b""
    named = {
        f"HTTP_{name.upper().replace('-', '_')}": _text(value) for name, value in request.headers.items()
    }
    return {
        "REQUEST_METHOD": request.method,
        "REQUEST_URI": target,
        "PATH_INFO": url.path,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": url.netloc,
        "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": named.pop("HTTP_CONTENT_TYPE", ""),
        "wsgi.input": io.BytesIO(body),
        **named,
    }


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value
