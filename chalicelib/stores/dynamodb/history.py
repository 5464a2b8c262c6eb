"""Change records: of one target, of the whole space, of one group (M13)."""

from collections.abc import Iterable

from pynamodb.expressions.operand import Path

from chalicelib.domain.change import Change
from chalicelib.domain.ids import is_id
from chalicelib.domain.pages import Page
from chalicelib.domain.scope import Scope
from chalicelib.stores.dynamodb import keys
from chalicelib.stores.dynamodb.database import Database
from chalicelib.stores.dynamodb.items import hides_its_past, to_change
from chalicelib.stores.dynamodb.keys import in_space, partition
from chalicelib.stores.dynamodb.tables import (
    BY_LINK,
    BY_TIME,
    LINK,
    MEMORY,
    SK,
    STATE,
    STRIP_PENDING,
    WHEN,
)
from chalicelib.stores.dynamodb.values import Item, get_text, text

_VERSION_MAX = 10**keys.DIGITS - 1


class History:
    """Reads changes. No image of an erased memory is given, even while its stripping is not finished."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_target(self, scope: Scope, target: str, *, after: int | None, limit: int) -> list[Change]:
        """Changes of a memory (its number as text) or category (its id), newest version first, below `after`."""
        prefix = keys.changes_of(target)
        highest = _VERSION_MAX if after is None else min(after - 1, _VERSION_MAX)
        if prefix is None or highest < 0:
            return []
        versions = Path([SK]).between(text(prefix + keys.padded(0)), text(prefix + keys.padded(highest)))
        found = self._database.query(MEMORY, partition(scope), versions, limit=limit, newest_first=True)
        return self._shown(scope, found)

    def one(self, scope: Scope, target: str, version: int) -> Change | None:
        """One change."""
        prefix = keys.changes_of(target)
        if prefix is None:
            return None
        item = self._database.get(in_space(scope, prefix + keys.padded(version)))
        return None if item is None else self._shown(scope, [item])[0]

    def of_space(self, scope: Scope, *, after: str | None, limit: int) -> Page[Change]:
        """All changes, newest first. `after` is where the page before ended: a change's place in time."""
        if after is not None and not keys.is_cursor(after):
            return Page([], None)
        newest = keys.CHANGED + (keys.LAST if after is None else after)
        until = Path([WHEN]).between(text(keys.CHANGED), text(newest))
        # One more shows whether there is a next page, and one is where the page before ended.
        found = self._database.query(
            MEMORY, partition(scope), until, limit=limit + 2, index=BY_TIME, newest_first=True
        )
        places = [item for item in found if get_text(item, WHEN) != newest]
        page = places[:limit]
        more = len(places) > limit and bool(page)
        end = get_text(page[-1], WHEN).removeprefix(keys.CHANGED) if more else None
        return Page(self._read(scope, page), end)

    def of_group(self, scope: Scope, group: str) -> list[Change]:
        """All changes of one group, in no order."""
        if not is_id(group):
            return []
        members = Path([LINK]) == text(keys.link_of_group(group))
        return self._read(scope, list(self._database.query(MEMORY, partition(scope), members, index=BY_LINK)))

    def _read(self, scope: Scope, places: list[Item]) -> list[Change]:
        """The changes that entries of an index lead to, in the order of the entries."""
        wanted = [in_space(scope, get_text(item, SK)) for item in places]
        found = {get_text(item, SK): item for item in self._database.get_many(wanted)}
        return self._shown(scope, (found[key.sk] for key in wanted if key.sk in found))

    def _shown(self, scope: Scope, found: Iterable[Item]) -> list[Change]:
        """Changes as they may be seen. What hides them is read after them, so an erase in between counts."""
        changes = [to_change(item) for item in found]
        hidden = self._hidden(
            scope, {c.number for c in changes if c.number is not None and c.image is not None}
        )
        return [
            change.model_copy(update={"image": None}) if change.number in hidden else change
            for change in changes
        ]

    def _hidden(self, scope: Scope, numbers: set[int]) -> set[int]:
        wanted = [in_space(scope, keys.memory(number)) for number in sorted(numbers)]
        found = self._database.get_many(wanted, attributes=[SK, STATE, STRIP_PENDING])
        return {keys.number_of(get_text(item, SK)) for item in found if hides_its_past(item)}
