"""What cases ask again and again, over HTTP."""

from typing import Any

from tests.fakes.client import Client, Reply

SPACE = "/v1/spaces/personal"
MEMORIES = f"{SPACE}/memories"


def add(client: Client, text: str, space: str = SPACE, **more: Any) -> int:
    """Store a memory; its number."""
    key = more.pop("key_of", None)
    reply = client.post(f"{space}/memories", {"text": text, **more}, key=key)
    assert reply.status == 201, reply.text
    return int(reply.json["memory"]["number"])


def found(client: Client, query: str, space: str = SPACE, **more: Any) -> list[int]:
    """Numbers that a search finds, best first."""
    key = more.pop("key_of", None)
    reply = client.post(f"{space}/search", {"query": query, "limit": 100, **more}, key=key)
    assert reply.status == 200, reply.text
    return [item["memory"]["number"] for item in reply.json["items"]]


def recalled(client: Client, query: str, space: str = SPACE) -> list[int]:
    """Numbers that a model is given for a message."""
    reply = client.post(f"{space}/recall", {"query": query, "max": 50, "dry_run": True})
    assert reply.status == 200, reply.text
    return [item["memory"]["number"] for item in reply.json["items"]]


def listed(client: Client, query: str = "", space: str = SPACE, **how: Any) -> list[int]:
    """Numbers of a whole list, page by page."""
    numbers: list[int] = []
    cursor = ""
    while True:
        page = client.get(f"{space}/memories?limit=50{query}{cursor}", **how).json
        numbers += [memory["number"] for memory in page["items"]]
        if page["next"] is None:
            return numbers
        cursor = f"&cursor={page['next']}"


def ops(client: Client, number: int) -> list[str]:
    """What was ever done to a memory, oldest first."""
    return [change["op"] for change in reversed(client.get(f"{MEMORIES}/{number}/history").json["items"])]


def memory(client: Client, number: int, space: str = SPACE) -> dict[str, Any]:
    """A memory as it is now."""
    reply: Reply = client.get(f"{space}/memories/{number}")
    assert reply.status == 200, reply.text
    return dict(reply.json["memory"])
