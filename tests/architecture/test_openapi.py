"""The committed description of the API is the one that the code generates, and covers every route."""

import json
import re

import openapi_spec_validator
import pytest

from tests.architecture.rules import PROJECT


@pytest.fixture(scope="module")
def generated() -> dict:
    from chalicelib.web.openapi import document

    return json.loads(json.dumps(document()))


def test_the_committed_description_is_current(generated: dict) -> None:
    committed = json.loads((PROJECT / "chalicelib" / "web" / "openapi.json").read_text())
    assert committed == generated, "generate chalicelib/web/openapi.json anew"


def test_the_description_is_valid(generated: dict) -> None:
    openapi_spec_validator.validate(generated)


def test_the_description_covers_the_routes_and_no_others(generated: dict) -> None:
    from app import app

    def shape(path: str) -> str:
        return re.sub(r"\{\w+\}", "{}", path)

    served = {(method, shape(path)) for path, methods in app.routes.items() for method in methods}
    described = {
        (method.upper(), shape(path))
        for path, methods in generated["paths"].items()
        for method in methods
        if method in {"get", "put", "post", "patch", "delete"}
    }
    assert described - served == set(), "described and not served"
    assert {one for one in served - described if one[1].startswith("/v1/")} == set(), (
        "served and not described"
    )
