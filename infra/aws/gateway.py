"""What the gateway answers by itself, in the form of all our errors: `{"error": {"code", "message", "details"}}`.

They are a part of the API's definition, not resources beside it: the gateway answers as it was deployed, and only a
definition that changed is deployed anew.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """One kind of answer that never reaches the function."""

    kind: str
    status: int | None
    """None: as the gateway itself has it."""
    code: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> str:
        """The template of its body; the request's id is filled in by the gateway."""
        error = {"code": self.code, "message": self.message, "details": {"request": "$context.requestId"}}
        return json.dumps({"error": error})

    def definition(self) -> dict[str, Any]:
        """As the API's definition holds it."""
        return {
            **({} if self.status is None else {"statusCode": str(self.status)}),
            "responseParameters": {
                f"gatewayresponse.header.{name}": f"'{value}'" for name, value in self.headers.items()
            },
            "responseTemplates": {"application/json": self.body()},
        }


GATEWAY_RESPONSES = (
    GatewayResponse("DEFAULT_4XX", None, "malformed", "the request was not understood"),
    GatewayResponse("DEFAULT_5XX", None, "unavailable", "the service does not answer now; try again"),
    GatewayResponse("ACCESS_DENIED", 403, "forbidden", "this is not allowed"),
    GatewayResponse("BAD_REQUEST_BODY", 400, "malformed", "the body could not be read"),
    GatewayResponse("BAD_REQUEST_PARAMETERS", 400, "malformed", "the parameters could not be read"),
    GatewayResponse("INTEGRATION_FAILURE", 503, "unavailable", "the service does not answer now; try again"),
    GatewayResponse("INTEGRATION_TIMEOUT", 504, "unavailable", "the service did not answer in time; what was asked may be done"),
    # API Gateway says so of paths that it does not know, and of malformed authorization headers.
    GatewayResponse("MISSING_AUTHENTICATION_TOKEN", 404, "not_found", "there is no such path"),
    GatewayResponse("QUOTA_EXCEEDED", 429, "too_many_requests", "too many requests; try again later"),
    GatewayResponse("REQUEST_TOO_LARGE", 413, "too_large", "the request is too large"),
    GatewayResponse("RESOURCE_NOT_FOUND", 404, "not_found", "there is no such path"),
    GatewayResponse("THROTTLED", 429, "too_many_requests", "too many requests; try again later", {"Retry-After": "1"}),
    GatewayResponse("UNAUTHORIZED", 401, "unauthenticated", "no credential was given, or it does not hold"),
    GatewayResponse("UNSUPPORTED_MEDIA_TYPE", 415, "malformed", "the body must be JSON"),
    GatewayResponse("WAF_FILTERED", 403, "forbidden", "this is not allowed"),
)  # fmt: skip


def defined() -> dict[str, Any]:
    """All of them, as the extension of the API's definition that holds them."""
    return {
        "x-amazon-apigateway-gateway-responses": {one.kind: one.definition() for one in GATEWAY_RESPONSES}
    }
