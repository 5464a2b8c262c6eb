"""What a server may do instead of its work, as values: on the wire, in its status, in what it says."""

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from tests.prove.degradation.gateway import Fault, Forward, Reply, Request

LONG_S = 30.0
JSON = {"Content-Type": "application/json"}
PAGE = b"<!doctype html><html><body><h1>Sign in to the network</h1></body></html>"
Edit = Callable[[Any], Any]
"""Takes the JSON of an answer and gives what is said instead."""


def says(status: int, body: bytes | str | dict[str, Any] | list[Any] = b"", **headers: str) -> Fault:
    """Always this."""
    raw = (
        body.encode()
        if isinstance(body, str)
        else body
        if isinstance(body, bytes)
        else json.dumps(body).encode()
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _request, _forward, _closing: Reply(status, raw, {**JSON, **named})


def html(status: int = 200) -> Fault:
    """A page for people, as captive portals and load balancers send it."""
    return says(status, PAGE, Content_Type="text/html; charset=utf-8")


def hangs_up(_request: Request, _forward: Forward, _closing: threading.Event) -> Reply:
    """The connection ends without an answer."""
    return Reply(sent=None)


def silent(_request: Request, _forward: Forward, closing: threading.Event) -> Reply:
    """No answer comes for longer than anybody waits."""
    closing.wait(LONG_S)
    return Reply(sent=None)


def silent_when_done(_request: Request, forward: Forward, closing: threading.Event) -> Reply:
    """The work is done, and its answer never comes."""
    forward()
    closing.wait(LONG_S)
    return Reply(sent=None)


def slow(seconds: float) -> Fault:
    """The server's own answer, late."""

    def wait(_request: Request, forward: Forward, closing: threading.Event) -> Reply:
        closing.wait(seconds)
        return forward()

    return wait


def trickles(_request: Request, _forward: Forward, _closing: threading.Event) -> Reply:
    """An answer that goes on and on."""
    return Reply(body=b"{", trickle=True)


def breaks_off(_request: Request, forward: Forward, _closing: threading.Event) -> Reply:
    """The connection ends in the middle of the answer."""
    reply = forward()
    return replace(reply, sent=len(reply.body) // 2)


def cut_short(_request: Request, forward: Forward, _closing: threading.Event) -> Reply:
    """JSON that ends in its middle, sent as if it were whole."""
    reply = forward()
    return replace(_plain(reply), body=reply.body[: max(1, len(reply.body) // 2)])


def huge(megabytes: int) -> Fault:
    """Well-formed JSON of this size."""
    body = b'{"data": [' + b"1," * (megabytes * 512 * 1024) + b"1]}"
    return lambda _request, _forward, _closing: Reply(body=body)


def edited(edit: Edit) -> Fault:
    """The server's own answer, changed."""

    def change(_request: Request, forward: Forward, _closing: threading.Event) -> Reply:
        reply = forward()
        try:
            said = json.loads(reply.body)
        except ValueError:
            return reply
        return replace(_plain(reply), body=json.dumps(edit(said)).encode())

    return change


def only(wanted: Callable[[Request], bool], fault: Fault) -> Fault:
    """The fault for such requests; all others are served."""
    return lambda request, forward, closing: (
        fault(request, forward, closing) if wanted(request) else forward()
    )


def every_second(fault: Fault) -> Fault:
    """The fault for the first, third, fifth … request."""
    turn = count()
    return lambda request, forward, closing: (
        fault(request, forward, closing) if next(turn) % 2 == 0 else forward()
    )


def path_has(*pieces: str) -> Callable[[Request], bool]:
    """Requests to a path that holds one of these."""
    return lambda request: any(piece in request.path for piece in pieces)


def calls(*operations: str) -> Callable[[Request], bool]:
    """Requests for these operations of DynamoDB."""
    return lambda request: request.headers.get("x-amz-target", "").rpartition(".")[2] in operations


def _plain(reply: Reply) -> Reply:
    """Without what vouches for the body that it no longer has."""
    kept = {
        name: value for name, value in reply.headers.items() if name.lower() not in {"x-amz-crc32", "etag"}
    }
    return replace(reply, headers=kept)
