"""What `make run` prints: where it is, with which key, and three things to try."""

import json
import shlex

from chalicelib.ports import Embedder
from chalicelib.settings import Settings


def banner(url: str, key: str, settings: Settings, embedder: Embedder | None, *, new: bool) -> str:
    """The text for the person at the terminal; the three commands work as pasted. `new`: this is the first start."""
    space = f"{url}/v1/spaces/personal"
    lines = [
        "",
        f"Palimpsest is at {url}   (docs: {url}/v1/docs)",
        f"Key    {key}",
        f"Data   {settings.data}{'   (new)' if new else ''}",
        *_elsewhere(settings),
        f"Finds  {_meaning(settings, embedder)}",
        "",
        "Add a memory:",
        _curl(key, f"{space}/memories", {"text": "Marie is allergic to peanuts."}),
        "",
        "Find it in another language:" if embedder else "Find it:",
        _curl(key, f"{space}/search", {"query": "Na co má Marie alergii?" if embedder else "Marie"}),
        "",
        "Recall what a model should know for a message:",
        _curl(key, f"{space}/recall", {"query": "What can I cook when Marie comes for dinner?"}),
        "",
        "Ctrl-C stops it; the data stay.",
        "",
    ]
    return "\n".join(lines)


def _elsewhere(settings: Settings) -> list[str]:
    """What is not in the data folder."""
    lines = []
    if settings.store == "dynamodb":
        where = settings.dynamodb_endpoint or f"AWS, {settings.region}"
        lines.append(f"Tables {settings.table_prefix}* of DynamoDB ({where})")
    if settings.search == "opensearch":
        lines.append(f"Index  {settings.opensearch_prefix}-* of OpenSearch ({settings.opensearch_url})")
    return lines


def _meaning(settings: Settings, embedder: Embedder | None) -> str:
    if embedder is None:
        return "by words and recency (PALIMPSEST_EMBEDDER names an embedding model)"
    where = "on this machine" if settings.embedder == "bundled" else f"from {settings.embedder}"
    return f"by meaning, with {embedder.model.name} {where} (PALIMPSEST_EMBEDDER=none: by words only)"


def _curl(key: str, url: str, body: dict[str, str]) -> str:
    text = json.dumps(body, ensure_ascii=False)
    quoted = [shlex.quote(part) for part in (url, f"Authorization: Bearer {key}", text)]
    return f"curl -s -w '\\n' {quoted[0]} -H {quoted[1]} -H 'Content-Type: application/json' -d {quoted[2]}"
