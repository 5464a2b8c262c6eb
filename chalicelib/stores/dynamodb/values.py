"""Attribute values as DynamoDB types them. Texts, whole numbers, bytes, flags: no float ever becomes a number there,
bodies are JSON (CASES: boto3#369)."""

import json
from collections.abc import Iterable
from typing import Any

Value = dict[str, Any]
Item = dict[str, Value]


def text(value: str) -> Value:
    """A text."""
    return {"S": value}


def whole(value: int) -> Value:
    """A whole number."""
    return {"N": str(value)}


def wholes(values: Iterable[int]) -> Value:
    """A set of whole numbers; not empty."""
    return {"NS": sorted({str(value) for value in values})}


def binary(value: bytes) -> Value:
    """Bytes."""
    return {"B": value}


TRUE: Value = {"BOOL": True}


def document(value: Any) -> Value:
    """JSON as text. Raises ValueError for NaN and infinity."""
    return text(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def get_text(item: Item, name: str) -> str:
    """The text in `name`; KeyError when there is none."""
    return str(item[name]["S"])


def get_whole(item: Item, name: str) -> int:
    """The whole number in `name`; KeyError when there is none."""
    return int(item[name]["N"])


def get_wholes(item: Item, name: str) -> set[int]:
    """The set of whole numbers in `name`, empty when there is none."""
    return {int(value) for value in item.get(name, {}).get("NS", ())}


def get_binary(item: Item, name: str) -> bytes:
    """The bytes in `name`; KeyError when there are none."""
    return bytes(item[name]["B"])


def get_document(item: Item, name: str) -> Any:
    """What the JSON in `name` says; KeyError when there is none."""
    return json.loads(get_text(item, name))


def size_of(item: Item) -> int:
    """Bytes that DynamoDB counts for an item, rounded up: names, and values."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _size(value: Value) -> int:
    kind, content = next(iter(value.items()))
    if kind == "S":
        return len(content.encode())
    if kind == "B":
        return len(content)
    if kind == "NS":
        return sum(21 for _ in content) + 3
    return 21 if kind == "N" else 1
