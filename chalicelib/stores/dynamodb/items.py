"""What is kept of each thing, and back: a body in JSON, and beside it only what conditions, counts and indexes need.

The text of a memory is beside its body too: JSON would double the size of quotes and line breaks, and a text that
may be stored (M2) must fit into an item.
"""

from typing import TypeVar

from pydantic import BaseModel

from chalicelib.domain.change import Change
from chalicelib.domain.clock import rfc3339
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.records import Vector
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.dynamodb.tables import (
    BODY,
    DATA,
    IMAGE,
    IMAGE_TEXT,
    LAST_USED_AT,
    LINK,
    PLACE,
    REVISION,
    SK,
    STATE,
    STRIP_PENDING,
    TEXT,
    TEXT_HASH,
    USE_COUNT,
    VERSION,
    WHEN,
)
from chalicelib.stores.dynamodb.values import (
    Item,
    binary,
    document,
    get_binary,
    get_document,
    get_text,
    get_whole,
    text,
    whole,
)

_APART = {"text", "revision", "use_count", "last_used_at"}

Kept = TypeVar("Kept", bound=BaseModel)


def place(memory: Memory) -> str | None:
    """The sort key of the place where it was said, when conversation and position are known."""
    if memory.source is None or memory.source.position is None:
        return None
    return keys.source(memory.source.conversation, memory.source.position)


def content(memory: Memory, when: str) -> Item:
    """What a write of a memory sets. Counts of its use are apart, so that no write loses a recall (M26)."""
    item = {
        BODY: text(memory.model_dump_json(exclude=_APART)),
        TEXT: text(memory.text),
        VERSION: whole(memory.version),
        STATE: text(memory.state),
        WHEN: text(when),
    }
    if memory.context_from is not None:
        item[LINK] = text(keys.link_of_context(memory.context_from))
    said = place(memory)
    if said is not None:
        item[PLACE] = text(said)
    return item


def counts(memory: Memory) -> Item:
    """What only a new memory brings along and recalls change."""
    item = {REVISION: whole(memory.revision), USE_COUNT: whole(memory.use_count)}
    if memory.last_used_at is not None:
        item[LAST_USED_AT] = text(rfc3339(memory.last_used_at))
    return item


def to_memory(item: Item) -> Memory:
    """The memory that was kept."""
    used = get_text(item, LAST_USED_AT) if LAST_USED_AT in item else None
    return Memory.model_validate(
        get_document(item, BODY)
        | {
            "text": get_text(item, TEXT),
            "revision": get_whole(item, REVISION),
            "use_count": get_whole(item, USE_COUNT),
            "last_used_at": used,
        }
    )


def hides_its_past(item: Item) -> bool:
    """Whether a memory's earlier texts must not be seen: it is erased, or its past is about to be stripped (M13)."""
    return get_text(item, STATE) == State.ERASED or STRIP_PENDING in item


def of_change(change: Change) -> Item:
    """A change. Its image is apart, so that it can be taken away."""
    sort_key = keys.change(change.target, change.version)
    item = {
        BODY: text(change.model_dump_json(exclude={"image"})),
        WHEN: text(keys.when_changed(change.at, sort_key)),
        LINK: text(keys.link_of_group(change.group)),
    }
    if change.image is not None:
        image = dict(change.image)
        if isinstance(image.get("text"), str):
            item[IMAGE_TEXT] = text(image.pop("text"))
        item[IMAGE] = document(image)
    return item


def to_change(item: Item) -> Change:
    """The change that was kept."""
    image = get_document(item, IMAGE) if IMAGE in item else None
    if image is not None and IMAGE_TEXT in item:
        image["text"] = get_text(item, IMAGE_TEXT)
    return Change.model_validate(get_document(item, BODY) | {"image": image})


def of_vector(vector: Vector) -> Item:
    """A vector."""
    return {TEXT_HASH: text(vector.text_hash), DATA: binary(vector.data)}


def to_vector(item: Item) -> Vector:
    """The vector that was kept."""
    _, number, model, role = get_text(item, SK).split("#")
    return Vector.model_validate(
        {
            "number": int(number),
            "model": model,
            "role": role,
            "text_hash": get_text(item, TEXT_HASH),
            "data": get_binary(item, DATA),
        }
    )


def versioned(thing: BaseModel, version: int) -> Item:
    """Anything that is written whole at a version."""
    return {BODY: text(thing.model_dump_json()), VERSION: whole(version)}


def to(kind: type[Kept], item: Item) -> Kept:
    """What was kept by `versioned`."""
    return kind.model_validate(get_document(item, BODY))
