"""Texts that cannot be kept faithfully are refused by their field, wherever they are said, and change nothing."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from chalicelib.domain.scope import Space
from chalicelib.services.memory.project import pass_scope
from tests.fakes.client import Client, Reply
from tests.fakes.world import World
from tests.prove.shapes.texts import WIDTHS, too_large
from tests.prove.shapes.trips import MEMORIES, SPACE, Readings

UNSTORABLE = (
    "\x00", "\x00tea", "te\x00a", "tea\x00", "\ud800", "\udfff", "tea\ud83d", "\ude00tea", "te\ude00\ud83da",
)  # fmt: skip
"""NUL, and halves of surrogate pairs, alone or in the wrong order."""
UNSEEN = (
    "",
    " ",
    "\t\r\n",
    "\u00a0\u3000",
    "\u200b\u200d\ufeff",
    "\u2028\u2029",
    "\u202e\u2066",
    "\x01\x1f\x7f\x85",
)
BROKEN = (
    "two\nlines",
    "two\rlines",
    "two\u2028lines",
    "two\u2029lines",
    "two\x85lines",
    "a\tb",
    "a\x1b[0m",
    "a\x7f",
)


class Place(NamedTuple):
    """Somewhere that a text may be said: how it is asked, and under which name it is refused."""

    method: str
    path: str
    field: str
    body: Callable[[str], Any]
    texts: tuple[str, ...]


_PROSE = UNSTORABLE + UNSEEN
_LINE = UNSTORABLE + UNSEEN + BROKEN
_ANYTHING = UNSTORABLE


def _source(**said: Any) -> Any:
    return {"text": "tea", "source": {"conversation": "talk", **said}}


REFUSED = (
    Place("POST", MEMORIES, "text", lambda text: {"text": text}, _PROSE),
    Place("POST", MEMORIES, "context", lambda text: {"text": "tea", "context": text}, _PROSE),
    Place("POST", MEMORIES, "key", lambda text: {"text": "tea", "key": text}, _LINE),
    Place("POST", MEMORIES, "subject", lambda text: {"text": "tea", "subject": text}, _LINE),
    Place("POST", MEMORIES, "category", lambda text: {"text": "tea", "category": text}, _LINE),
    Place("POST", MEMORIES, "source.conversation", lambda text: _source(conversation=text), _LINE),
    Place("POST", MEMORIES, "source.author", lambda text: _source(author=text), _LINE),
    Place("POST", f"{MEMORIES}/batch", "text", lambda text: {"items": [{"text": text}]}, _PROSE),
    Place("PATCH", f"{MEMORIES}/1", "text", lambda text: {"version": 1, "text": text}, _PROSE),
    Place("PATCH", f"{MEMORIES}/1", "key", lambda text: {"version": 1, "key": text}, _LINE),
    Place("PATCH", f"{MEMORIES}/1", "subject", lambda text: {"version": 1, "subject": text}, _LINE),
    Place("POST", f"{MEMORIES}/1/retire", "reason", lambda text: {"version": 1, "reason": text}, _ANYTHING),
    Place("POST", f"{MEMORIES}/bulk", "reason",
          lambda text: {"op": "retire", "numbers": [1], "reason": text}, _ANYTHING),
    Place("POST", f"{MEMORIES}/bulk", "category",
          lambda text: {"op": "categorise", "numbers": [1], "category": text}, _LINE),
    Place("POST", f"{MEMORIES}/merge", "text",
          lambda text: {"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": text}, _PROSE),
    Place("POST", f"{SPACE}/search", "query", lambda text: {"query": text}, _PROSE),
    Place("POST", f"{SPACE}/search", "filters.subject",
          lambda text: {"query": "tea", "filters": {"subject": text}}, _LINE),
    Place("POST", f"{SPACE}/recall", "query", lambda text: {"query": text}, _PROSE),
    Place("POST", f"{SPACE}/categories", "name", lambda text: {"name": text}, _LINE),
    Place("POST", f"{SPACE}/categories", "description",
          lambda text: {"name": "Work", "description": text}, _ANYTHING),
    Place("POST", "/v1/projects", "name", lambda text: {"name": text}, _LINE),
    Place("POST", "/v1/keys", "name", lambda text: {"name": text, "scopes": ["read"]}, _LINE),
    Place("POST", "/v1/accounts", "name", lambda text: {"name": text}, _LINE),
    Place("POST", "/v1/communities", "name",
          lambda text: {"platform": "discord", "id": "77", "name": text}, _LINE),
)  # fmt: skip
"""Every place that takes a text."""

TOO_LARGE = (
    Place("POST", MEMORIES, "text", lambda text: {"text": text}, ()),
    Place("POST", f"{MEMORIES}/batch", "text", lambda text: {"items": [{"text": text}]}, ()),
    Place("PATCH", f"{MEMORIES}/1", "text", lambda text: {"version": 1, "text": text}, ()),
    Place("POST", f"{MEMORIES}/merge", "text",
          lambda text: {"numbers": [1, 2], "versions": {"1": 1, "2": 1}, "text": text}, ()),
)  # fmt: skip


def refuse(world: World, readings: Readings) -> int:
    """Say every refused text in every place; how many were said. What is not refused by its field, or leaves a trace,
    is noted in `readings`."""
    world.category(default=True)
    client = Client(world)
    for text in ("green tea", "black tea"):
        assert client.post(MEMORIES, {"text": text}).status == 201
    before = _kept(world)
    count = 0
    for place, text, statuses in _attempts():
        reply = client.ask(place.method, place.path, place.body(text))
        count += 1
        refused_by = _field(reply)
        if _status(reply) not in statuses or refused_by != place.field:
            readings.found.append(
                f"refusal of {ascii(text)[:60]} as {place.field} by {place.method} {place.path}: "
                f"{_status(reply)} naming {refused_by}"
            )
        if (after := _kept(world)) != before:
            readings.found.append(
                f"{ascii(text)[:60]} as {place.field} left a trace: {place.method} {place.path}"
            )
            before = after
    return count


def _attempts() -> Iterator[tuple[Place, str, tuple[int, ...]]]:
    for place in REFUSED:
        for text in place.texts:
            yield place, text, (422,)
    for place in TOO_LARGE:
        for width in WIDTHS:
            yield place, too_large(width), (413,)


def _error(reply: Reply) -> dict[str, Any]:
    """The error of an answer, or of the one item in it."""
    said = reply.json
    if "items" in said and len(said["items"]) == 1:
        said = said["items"][0]
    return dict(said.get("error", {}))


def _status(reply: Reply) -> int:
    items = reply.json.get("items")
    return int(items[0].get("status", reply.status)) if items else reply.status


def _field(reply: Reply) -> str | None:
    details = _error(reply).get("details", {})
    fields = [one["field"] for one in details.get("fields", [])] or [details.get("field")]
    return fields[0] if len(fields) == 1 else repr(fields)


def _kept(world: World) -> str:
    """All that is kept of Anna's space, and what was ever done to accounts."""
    scope, store = pass_scope(Space.personal("anna"), "look"), world.parts.memories
    return repr(
        (
            store.page(scope, after=None, limit=100),
            store.changes(scope, after=None, limit=100),
            store.categories(scope),
            store.space(scope),
            store.jobs(scope, 10),
            world.parts.accounts.audit(after=None, limit=100),
        )
    )
