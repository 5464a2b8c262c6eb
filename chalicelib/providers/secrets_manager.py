"""Settings that are secrets, kept in AWS Secrets Manager: one secret, whose value is a JSON object of settings by their
names, `{"opensearch_password": "…"}`. So they are in no template and in no function's environment."""

import json
from collections.abc import Callable, Mapping
from typing import Any

CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 3.0
ATTEMPTS = 3


class SecretUnreadableError(Exception):
    """The secret cannot be had, or is no JSON object of texts. The message never has its value."""


def kept_secrets(secret: str, region: str, *, client: Callable[[], Any] | None = None) -> Mapping[str, str]:
    """What the secret (its name or ARN) holds. Raises SecretUnreadableError."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        made = client() if client is not None else secrets_client(region)
        answer = made.get_secret_value(SecretId=secret)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        raise SecretUnreadableError(f"Secrets Manager refused: {code}") from None
    except BotoCoreError as error:
        raise SecretUnreadableError(f"Secrets Manager does not answer: {type(error).__name__}") from None
    try:
        held = json.loads(answer["SecretString"])
    except (KeyError, ValueError):
        held = None
    if not isinstance(held, dict) or not all(isinstance(value, str) for value in held.values()):
        raise SecretUnreadableError(
            'the secret must be a JSON object of texts, such as {"embedding_key": "…"}'
        )
    return held


def secrets_client(
    region: str,
    *,
    endpoint: str | None = None,
    connect_s: float = CONNECT_TIMEOUT_S,
    read_s: float = READ_TIMEOUT_S,
) -> Any:
    """A client with time-outs, in seconds. `endpoint`: URL of Secrets Manager, if it is not AWS's own."""
    from boto3 import Session
    from botocore.config import Config

    config = Config(
        connect_timeout=connect_s,
        read_timeout=read_s,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
    )
    return Session().client("secretsmanager", region_name=region, endpoint_url=endpoint, config=config)
