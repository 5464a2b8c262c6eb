"""The contract, made from the doors themselves: `python -m chalicelib.web.openapi` writes `openapi.json`.

The committed file is what `/v1/openapi.json` serves; a test holds it equal to what is generated here.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema

from chalicelib import __version__
from chalicelib.domain.account_drafts import Platform
from chalicelib.domain.ids import ID_PATTERN
from chalicelib.web.answers import ErrorAnswer
from chalicelib.web.doors import operations
from chalicelib.web.operations import Operation

FILE = Path(__file__).with_name("openapi.json")

_PARAM = re.compile(r"\{(\w+)\}")
_ID = ID_PATTERN.strip("^$")
_AN_ID = {"type": "string", "pattern": ID_PATTERN, "maxLength": 128}
_PLATFORMS = get_args(Platform)
_SPACE = f"^(personal|project:{_ID}|community:({'|'.join(_PLATFORMS)}):{_ID})$"
_PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "space": (
        "`personal`, `project:<id>` or `community:<platform>:<id>`, url-encoded",
        {"type": "string", "pattern": _SPACE},
    ),
    "number": ("the memory's number", {"type": "integer", "minimum": 1, "maximum": 10**15 - 1}),
    "platform": ("where the community is", {"type": "string", "enum": list(_PLATFORMS)}),
    "change": ("the id of a change, from the history", _AN_ID),
}
_ERRORS = {
    "400": "not JSON",
    "401": "no credential, or one that does not hold",
    "403": "known, but not allowed",
    "404": "not there, or not for this caller to know of",
    "409": "stale version, or a state that does not allow it (with the current state); request in flight",
    "413": "too large",
    "422": "a field is wrong: which, and why",
    "429": "too many requests (with Retry-After)",
    "503": "a part is down: which",
}
_SAID = "the request's `X-Correlation-Id` if it is an id, else a new one; log lines carry it"
_CORRELATION = {"X-Correlation-Id": {"description": _SAID, "required": True, "schema": _AN_ID}}
_CORRELATION_OF_ERRORS = {"X-Correlation-Id": {"description": _SAID, "schema": _AN_ID}}
"""What stands before the app (a gateway, a front) refuses some requests by itself."""
_SECONDS = {
    "Retry-After": {"description": "seconds", "required": True, "schema": {"type": "integer", "minimum": 1}}
}
_HEADERS: dict[str, dict[str, Any]] = {
    "401": {
        "WWW-Authenticate": {
            "required": True,
            "schema": {"type": "string", "const": 'Bearer realm="palimpsest"'},
        }
    },
    "429": _SECONDS,
    "503": _SECONDS,
}
_KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "a repeat answers the first outcome; another request under the same key is refused",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"},
}


def document() -> dict[str, Any]:
    """The whole contract as OpenAPI 3.1, as JSON values."""
    listed = operations()
    places, definitions = _schemas(listed)
    paths: dict[str, dict[str, Any]] = {}
    for operation in listed:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, places)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Palimpsest",
            "version": __version__,
            "description": "A long-term memory for assistants and communities.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "an API key, or an OIDC token"}
            },
            "responses": _error_responses(places),
            "schemas": definitions,
        },
    }


Places = Mapping[tuple[Any, Any], dict[str, Any]]
"""(model, mode) -> where its schema is."""


def _schemas(listed: list[Operation]) -> tuple[Places, dict[str, Any]]:
    read: list[type[BaseModel]] = []
    shown: list[type[BaseModel]] = [ErrorAnswer]
    for operation in listed:
        read += [model for model in (operation.body, operation.query) if model is not None]
        shown += [operation.answer] if operation.answer is not None else []
    wanted: list[tuple[type[BaseModel], Any]] = [(model, "validation") for model in dict.fromkeys(read)]
    wanted += [(model, "serialization") for model in dict.fromkeys(shown)]
    places, schema = models_json_schema(wanted, ref_template="#/components/schemas/{model}")
    _close(schema["$defs"])
    return places, schema["$defs"]


def _close(schema: Any) -> None:
    """State, wherever keys must have a pattern, that others are refused."""
    for one in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _close(one)
    if isinstance(schema, dict) and "patternProperties" in schema:
        schema.setdefault("additionalProperties", False)


def _operation(operation: Operation, places: Places) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "parameters": _parameters(operation),
        "responses": _responses(operation, places),
    }
    if operation.description:
        described["description"] = " ".join(operation.description.split())
    if operation.public:
        described["security"] = []
    if operation.body is not None:
        described["requestBody"] = {
            "required": not _may_be_empty(operation.body),
            "content": {"application/json": {"schema": places[operation.body, "validation"]}},
        }
    return described


def _may_be_empty(body: type[BaseModel]) -> bool:
    try:
        body.model_validate({})
    except ValidationError:
        return False
    return True


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    parameters = []
    for name in _PARAM.findall(operation.path):
        description, schema = _PARTS.get(name, (f"the id of the {name}", _AN_ID))
        parameters.append(
            {"name": name, "in": "path", "required": True, "description": description, "schema": schema}
        )
    if operation.query is not None:
        for name, field in operation.query.model_json_schema()["properties"].items():
            schema = {key: value for key, value in field.items() if key not in ("title", "description")}
            parameters.append({"name": name, "in": "query", "required": False, "schema": _plain(schema)})
    if operation.writes:
        parameters.append(_KEY_HEADER)
    return parameters


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A query parameter is there or not, never null."""
    options = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
    if len(options) == 1:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return {**rest, **options[0]}
    return schema


def _responses(operation: Operation, places: Places) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "done"}
    if operation.answer is not None:
        good["content"] = {"application/json": {"schema": places[operation.answer, "serialization"]}}
    elif operation.name == "get_docs":
        good["content"] = {"text/html": {"schema": {"type": "string"}}}
    else:
        good["content"] = {"application/json": {"schema": {"type": "object"}}}
    good["headers"] = _CORRELATION
    errors = {status: {"$ref": f"#/components/responses/Error{status}"} for status in _ERRORS}
    return {str(operation.status): good, **errors}


def _error_responses(places: Places) -> dict[str, Any]:
    content = {"application/json": {"schema": places[ErrorAnswer, "serialization"]}}
    return {
        f"Error{status}": {
            "description": text,
            "headers": {**_CORRELATION_OF_ERRORS, **_HEADERS.get(status, {})},
            "content": content,
        }
        for status, text in _ERRORS.items()
    }


def main() -> None:
    """Write the contract to its file."""
    FILE.write_text(json.dumps(document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
