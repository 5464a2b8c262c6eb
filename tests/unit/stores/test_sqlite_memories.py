"""What the file's store does beyond the contract of all stores."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.records import Commit, SpaceWrite
from chalicelib.domain.scope import Space
from chalicelib.errors import DataFolderError
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from chalicelib.stores.sqlite.schema import PART, STEPS
from tests.contracts.stores.given import add, scope_of, space_record


@pytest.mark.parametrize("at_once", [1, 2, 3, 6, 7, 8, 500])
def test_spaces_are_all_found_however_many_are_read_at_once(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("chalicelib.stores.sqlite.memories._SPACES_AT_ONCE", at_once)
    database = Database()
    store = SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
    wanted = [Space.personal(f"acc_{n}") for n in range(7)]
    for n, space in enumerate(wanted):
        if n % 3:
            add(store, 1, scope=scope_of(space))
        if n % 3 != 1:
            record = space_record(scope_of(space))
            store.commit(scope_of(space), Commit(spaces=(SpaceWrite(record=record, expected=None),)))
    assert list(store.spaces()) == wanted
    database.close()


def test_the_tables_of_a_newer_version_are_refused() -> None:
    database = Database()
    database.migrate(PART, (*STEPS, ("CREATE TABLE of_tomorrow (x)",)))
    with pytest.raises(DataFolderError, match="newer version"):
        SqliteMemoryStore(database, clock=lambda: datetime.now(UTC))
    database.close()
