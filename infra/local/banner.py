"""What `make run` prints: where it is, with which key, and three things to try."""

import json

from chalicelib.ports import Embedder
from infra.local.service import Running


def banner(running: Running, data: str, embedder: Embedder | None) -> str:
    """The text for the person at the terminal; the three commands work as pasted."""
    space = f"{running.url}/v1/spaces/personal"
    meaning = (
        f"by meaning, with {embedder.model.name} on this machine (PALIMPSEST_EMBEDDER=none: by words only)"
        if embedder is not None
        else "by words and recency (PALIMPSEST_EMBEDDER names an embedding model)"
    )
    lines = [
        "",
        f"Palimpsest is at {running.url}   (docs: {running.url}/v1/docs)",
        f"Key    {running.key}",
        f"Data   {data}" + ("   (new)" if running.first_start else ""),
        f"Finds  {meaning}",
        "",
        "Add a memory:",
        _curl(running.key, f"{space}/memories", {"text": "Marie is allergic to peanuts."}),
        "",
        "Find it in another language:",
        _curl(running.key, f"{space}/search", {"query": "Na co má Marie alergii?"}),
        "",
        "Recall what a model should know for a message:",
        _curl(running.key, f"{space}/recall", {"query": "What can I cook when Marie comes for dinner?"}),
        "",
        "Ctrl-C stops it; the data stay.",
        "",
    ]
    return "\n".join(lines)


def _curl(key: str, url: str, body: dict[str, str]) -> str:
    text = json.dumps(body, ensure_ascii=False).replace("'", "'\\''")
    return f"curl -s {url} -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{text}'"
