"""Health and the contract itself, which need no authorization; and for admins, what is wrong."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from chalice.app import Response

from chalicelib.services.accounts.access import administrator
from chalicelib.web import answers
from chalicelib.web.call import Call
from chalicelib.web.operations import Door

door = Door.of("health")

_FOLDER = Path(__file__).parent


@door.operation("GET", "/v1/health", answer=answers.Health, public=True)
def get_health(call: Call) -> Mapping[str, Any]:
    """Whether all parts work: table, index, embedder, helper model, queue."""
    return call.services.health.look()


@door.operation("GET", "/v1/diagnosis", answer=answers.Diagnosis)
def get_diagnosis(call: Call) -> Mapping[str, Any]:
    """What is wrong with the installation, and which command mends it, for admins.

    Looks at tables, index, embedder and queue, and whether the index has what was written.
    """
    administrator(call.caller)
    return call.services.diagnosis.look()


@door.operation("GET", "/v1/openapi.json", public=True)
def get_contract(_call: Call) -> Response:
    """This contract, as OpenAPI 3.1."""
    return Response(_file("openapi.json"), {"Content-Type": "application/json"}, 200)


@door.operation("GET", "/v1/docs", public=True)
def get_docs(_call: Call) -> Response:
    """A page that shows this contract. It may run its own script and style, and ask for nothing but the contract."""
    page = _file("docs.html")
    headers: dict[str, str | list[str]] = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": f"default-src 'none'; style-src {_hash_of(page, 'style')}; "
        f"script-src {_hash_of(page, 'script')}; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(page, headers, 200)


@cache
def _hash_of(page: str, element: str) -> str:
    """The one `element` of the page, as a source of a content security policy."""
    content = page.split(f"<{element}>", 1)[1].split(f"</{element}>", 1)[0]
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


@cache
def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
