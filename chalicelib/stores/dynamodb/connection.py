"""PynamoDB's connection, and any other client of botocore, made to believe only answers that are answers.

botocore takes what is no JSON (a page of a proxy with status 200, an answer that was broken off) for an empty answer:
a memory that is there would not be found, and a write that never was would be acknowledged.
"""

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import HTTPClientError
from botocore.session import Session
from pynamodb.connection import Connection

_BEFORE_IT_IS_READ = "before-parse.*.*"


class UnreadableAnswerError(HTTPClientError):
    """What came is not what DynamoDB says. What was asked may have been done."""

    fmt = "the answer is not JSON"


def refuse_unreadable(**event: Any) -> None:
    """Raise UnreadableAnswerError for an answer without an error that is no JSON object. `event` is botocore's."""
    answer: Mapping[str, Any] = event["response_dict"]
    if answer["status_code"] >= 300:
        return
    try:
        whole = isinstance(json.loads(answer["body"]), dict)
    except ValueError:
        whole = False
    if not whole:
        raise UnreadableAnswerError


def believing_only_json(client: Any) -> Any:
    """The same client of botocore, which refuses unreadable answers from now on."""
    client.meta.events.register(_BEFORE_IT_IS_READ, refuse_unreadable)
    return client


class CarefulConnection(Connection):
    """As PynamoDB's own, with clients that refuse unreadable answers, however often they are made anew."""

    @property
    def session(self) -> Session:
        """What its clients are made by."""
        session = super().session
        session.register(_BEFORE_IT_IS_READ, refuse_unreadable, unique_id="refuse-unreadable")
        return session
