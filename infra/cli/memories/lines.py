"""Many memories as lines: one a line, plain text or a JSON object with a memory's fields."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from infra.cli.failures import CommandError

Lines = Literal["text", "json"]
TOLD = 5


@dataclass(frozen=True)
class Line:
    """A memory to be stored: the number of its line, what the API is sent, and how many bytes that takes."""

    number: int
    draft: Mapping[str, Any]
    size: int


def read_lines(content: bytes, form: Lines, said: Mapping[str, Any]) -> list[Line]:
    """Every line that is not blank; `said` are fields for all, and a JSON line's own come first.

    All are read before any is sent. Raises CommandError that names the lines which cannot be read."""
    lines: list[Line] = []
    wrong: list[str] = []
    for number, raw in enumerate(content.splitlines(), 1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if text:
                draft = {**said, **({"text": text} if form == "text" else _object(text))}
                size = len(json.dumps(draft, ensure_ascii=False, allow_nan=False).encode())
                lines.append(Line(number, draft, size))
        except UnicodeDecodeError:
            wrong.append(f"line {number} is not UTF-8")
        except (ValueError, RecursionError):
            wrong.append(f"line {number} is not a JSON object")
    if wrong:
        more = f" and {len(wrong) - TOLD} more" if len(wrong) > TOLD else ""
        raise CommandError(f"Nothing was stored: {', '.join(wrong[:TOLD])}{more}.")
    return lines


def _object(text: str) -> dict[str, Any]:
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("not an object")  # noqa: TRY004 - as json does for what cannot be read
    return values
