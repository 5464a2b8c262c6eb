"""Records of an export as they are to be written: each thing with those of its changes that came with it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chalicelib.domain.category import Category, folded
from chalicelib.domain.change import Change
from chalicelib.domain.memory import Memory, State
from chalicelib.domain.moving import (
    SLACK,
    Arrival,
    Arrivals,
    CategoryChange,
    CategoryImage,
    CategoryRecord,
    Item,
    MemoryChange,
    MemoryImage,
    MemoryRecord,
    MovedSpace,
)
from chalicelib.domain.scope import Space, SpaceKind
from chalicelib.errors import InvalidError

Thing = Memory | Category

ACTIONS = 80
"""In one transaction, of 100 at most: the rest is for what a store adds."""
CHUNK_BYTES = 1_500_000
_BESIDE_CHANGES = 4
"""Actions that a thing itself may take: a memory and its place; a category, and one of the same name that gives way."""

NUMBERS_MAX = 10**12
"""No number that comes is higher, so that there is room for those that are given out here."""
_WHEN = ("recorded_at", "updated_at", "last_used_at", "reviewed_at")
_COUNTED = frozenset({"revision", "use_count", "last_used_at"})
"""What a memory has beside what its last change made of it."""


@dataclass
class Bundle:
    """Changes of one thing that follow one another, and the thing itself if it came after them."""

    target: str
    changes: list[Change] = field(default_factory=list)
    thing: Thing | None = None

    @property
    def newest(self) -> int:
        """The version that it ends at."""
        return self.thing.version if self.thing is not None else self.changes[-1].version

    @property
    def number(self) -> int | None:
        """The memory's number; None for a category."""
        return int(self.target) if self.target.isdigit() else None


def bundles_of(draft: Arrivals, space: Space) -> list[Bundle]:
    """The page's records as what they are in `space`, in their order. Raises InvalidError, naming record and field, for
    such as contradict one another. What is erased loses the texts that were told of it before."""
    arrival = Arrival(draft.space, space)
    bundles: list[Bundle] = []
    for place, item in enumerate(draft.items):
        _check_item(f"items.{place}", item, draft.space)
        target = _target(item)
        last = bundles[-1] if bundles else None
        if last is None or last.target != target or last.thing is not None:
            last = Bundle(target)
            bundles.append(last)
        if isinstance(item, MemoryChange | CategoryChange):
            if last.changes and item.version != last.newest + 1:
                raise InvalidError(f"items.{place}.version", "does not follow the version before it")
            last.changes.append(arrival.change(item))
        else:
            thing = arrival.memory(item) if isinstance(item, MemoryRecord) else arrival.category(item)
            if last.changes and not made(last.changes[-1], thing):
                raise InvalidError(f"items.{place}", "is not what its last change made of it")
            last.thing = thing
            if is_erased(thing):
                last.changes = [change.model_copy(update={"image": None}) for change in last.changes]
    return bundles


def check_bounds(draft: Arrivals, now: datetime) -> None:
    """That no number is above the export's last one, and nothing was done later than the export's moment, or than now:
    what was erased or recalled while it was read is later than that moment. Raises InvalidError."""
    source = draft.space
    latest = max(source.as_of, now)
    if source.last_number > NUMBERS_MAX:
        raise InvalidError("space.last_number", f"is at most {NUMBERS_MAX:,}")
    _check_moments("space", latest, {"created_at": source.created_at})
    for place, moment in enumerate(source.trashed_at):
        _check_moments("space.trashed_at", latest, {str(place): moment})
    for place, item in enumerate(draft.items):
        where = f"items.{place}"
        if isinstance(item, MemoryRecord | MemoryChange) and item.number > source.last_number:
            raise InvalidError(f"{where}.number", "is above the `last_number` of the space")
        if isinstance(item, MemoryChange | CategoryChange):
            _check_moments(where, latest, {"at": item.at})
            where, image = f"{where}.image", item.image
        else:
            image = item
        if image is not None:
            _check_moments(where, latest, _moments(image))


def _moments(image: MemoryImage | CategoryImage) -> dict[str, datetime | None]:
    """When what was done; not what somebody says of the world, where anything may lie ahead."""
    if isinstance(image, CategoryImage):
        return {"created_at": image.created_at, "updated_at": image.updated_at}
    return {name: getattr(image, name) for name in _WHEN}


def _check_moments(where: str, latest: datetime, moments: dict[str, datetime | None]) -> None:
    for name, moment in moments.items():
        if moment is not None and moment - latest > SLACK:
            raise InvalidError(f"{where}.{name}", "is later than the export, and than now")


def check_categories(draft: Arrivals, known: Iterable[str]) -> None:
    """That memories are in categories that are there (`known`: their ids), or come before them on this page; the
    default one too. Raises InvalidError."""
    there = set(known)
    default = draft.space.default_category
    for place, item in enumerate(draft.items):
        if isinstance(item, MemoryRecord | MemoryChange) and default is not None:
            _check_category("space.default_category", default, there)
        where, image = f"items.{place}.category", item
        if isinstance(item, CategoryRecord):
            there.add(item.id)
        elif isinstance(item, MemoryRecord):
            _check_category(where, item.category, there)
        elif isinstance(image, MemoryChange) and image.image is not None:
            _check_category(f"items.{place}.image.category", image.image.category, there)


def _check_category(field_name: str, category: str | None, there: set[str]) -> None:
    if category is not None and category not in there:
        raise InvalidError(field_name, "there is no such category in this space")


def _target(item: Item) -> str:
    if isinstance(item, MemoryRecord | MemoryChange):
        return str(item.number)
    return item.category if isinstance(item, CategoryChange) else item.id


def _check_item(place: str, item: Item, source: MovedSpace) -> None:
    if isinstance(item, CategoryChange):
        _check_category_image(f"{place}.image", item.image, source)
    elif isinstance(item, CategoryRecord):
        _check_category_image(place, item, source)


def _check_category_image(place: str, image: CategoryImage, source: MovedSpace) -> None:
    if folded(image.name) == "none":
        raise InvalidError(f"{place}.name", "`none` means uncategorised in filters; choose another name")
    if image.project is not None and source.kind is SpaceKind.COMMUNITY:
        raise InvalidError(f"{place}.project", "a community has no projects")
    if source.kind is SpaceKind.PROJECT and image.project not in (None, source.id):
        raise InvalidError(f"{place}.project", "a pool's category can be bound to its own project only")


# ---------------------------------------------------------------------------- transactions


def chunks_of(bundles: Iterable[Bundle]) -> Iterator[list[Bundle]]:
    """Bundles as they fit into a transaction, each thing once in each."""
    chunk: list[Bundle] = []
    actions = size = 0
    for bundle in (part for whole in bundles for part in _parts(whole)):
        more, weight = len(bundle.changes) + _BESIDE_CHANGES, _weight(bundle)
        repeated = any(one.target == bundle.target for one in chunk)
        if chunk and (repeated or actions + more > ACTIONS or size + weight > CHUNK_BYTES):
            yield chunk
            chunk, actions, size = [], 0, 0
        chunk.append(bundle)
        actions += more
        size += weight
    if chunk:
        yield chunk


def _parts(bundle: Bundle) -> Iterator[Bundle]:
    """A bundle that is more than a transaction takes, in parts; the thing itself is in the last."""
    part = Bundle(bundle.target)
    size = 0
    for change in bundle.changes:
        weight = _bytes(change)
        full = len(part.changes) == ACTIONS - _BESIDE_CHANGES or size + weight > CHUNK_BYTES
        if part.changes and full:
            yield part
            part, size = Bundle(bundle.target), 0
        part.changes.append(change)
        size += weight
    part.thing = bundle.thing
    yield part


def _weight(bundle: Bundle) -> int:
    return sum(map(_bytes, bundle.changes)) + (_bytes(bundle.thing) if bundle.thing is not None else 0)


def _bytes(thing: Change | Thing) -> int:
    return len(thing.model_dump_json().encode())


# ---------------------------------------------------------------------------- what is the same


def is_erased(thing: Thing | None) -> bool:
    """Whether it is the mark of an erased memory."""
    return isinstance(thing, Memory) and thing.state is State.ERASED


def same(stored: Change, change: Change) -> bool:
    """Whether the change that is there is the one that comes; when the thing is erased, here or there, as far as that
    can be told."""
    if None in (stored.image, change.image):
        stored, change = (one.model_copy(update={"image": None}) for one in (stored, change))
    return stored == change


def made(change: Change, thing: Thing, now: Thing | None = None) -> bool:
    """Whether the change made this thing what it is; when it is erased by `now`, as far as that can be told."""
    if change.version != thing.version:
        return False
    if change.image is None:
        return is_erased(thing) or is_erased(now)
    return not is_erased(thing) and _of_change(change.image, thing) == _of_change(
        thing.model_dump(mode="json"), thing
    )


def _of_change(image: dict[str, Any], thing: Thing) -> dict[str, Any]:
    """What a change tells of the thing; of a context that belongs to another memory nothing."""
    left_out = _COUNTED if getattr(thing, "context_from", None) is None else _COUNTED | {"context"}
    return {name: value for name, value in image.items() if name not in left_out}
