"""Lists of accounts, keys, projects, communities: pages with a cursor."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from chalicelib.domain.pages import Page
from chalicelib.domain.shown_accounts import Shown
from chalicelib.services.cursors import Place, read_cursor, write_cursor

Item = TypeVar("Item")


def listed(
    of: Mapping[str, Any],
    *,
    limit: int,
    cursor: str | None,
    read: Callable[[str | None, int], Page[Item]],
    show: Callable[[Item], Shown],
) -> Shown:
    """`{"items", "next"}`: a page of the list that `of` describes, read by `read(after, limit)`.

    Raises InvalidError for a cursor of another list.
    """
    place = read_cursor(of, cursor)
    page = read(place.text if place is not None else None, limit)
    following = None if page.next is None else write_cursor(of, Place(by="text", text=page.next))
    return {"items": [show(item) for item in page.items], "next": following}


def page_of(placed: Iterable[tuple[str, Item]], after: str | None, limit: int) -> Page[Item]:
    """Of a list that is whole because it is short: up to `limit` items in order of their place (a text, different for
    each) beyond `after`; `next` is the last one's place, or None when no more follow."""
    beyond = sorted((one for one in placed if after is None or one[0] > after), key=lambda one: one[0])
    here, more = beyond[:limit], beyond[limit:]
    return Page(items=[item for _, item in here], next=here[-1][0] if more and here else None)
