"""The first start of an installation, interrupted at every call that it makes, again and again."""

from chalicelib.bootstrap import Parts, build
from chalicelib.domain.scope import Space
from chalicelib.errors import StoreError
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.search import text
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.services.memory.project import pass_scope
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.accounts import SqliteAccountStore
from chalicelib.stores.sqlite.inbox import SqliteInboxStore
from chalicelib.stores.sqlite.inspection import SqliteStorage
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from infra.founding import FIRST_CATEGORY
from infra.local.owner import key_of_owner
from tests.fakes.world import START
from tests.prove.faults.injector import Injector, KilledError

STARTS = 8


class Folder:
    """What of the data folder a first start needs: the place of the owner's key."""

    def __init__(self) -> None:
        self.key: str | None = None

    def read_key(self) -> str | None:
        """The key that was kept."""
        return self.key

    def keep_key(self, key: str) -> None:
        """Keep it."""
        self.key = key


def found(injector: Injector) -> list[str]:
    """What is wrong after a first start was tried until it succeeded: one owner, one category, a key that holds."""
    database, folder = Database(), Folder()

    def clock() -> object:
        return START

    truth = Parts(
        memories=SqliteMemoryStore(database, clock=clock),  # type: ignore[arg-type]
        accounts=SqliteAccountStore(database),
        inbox=SqliteInboxStore(database),
        index=EmbeddedIndex(database, text),
        analyzer=text,
        embedder=None,
        queue=SqliteQueue(database, clock=clock),  # type: ignore[arg-type]
        storage=SqliteStorage(database),
    )
    try:
        for faults in (*[1] * STARTS, 0):
            services = build(Settings(), injector.around(truth), clock)  # type: ignore[arg-type]
            try:
                with injector.armed(faults):
                    key, _ = key_of_owner(services, folder)  # type: ignore[arg-type]
                    break
            except (StoreError, KilledError):
                continue
        return list(_wrong(truth, key, folder, key_of_owner(services, folder)))  # type: ignore[arg-type]
    finally:
        database.close()


def _wrong(truth: Parts, key: str, folder: Folder, later: tuple[str, bool]) -> "list[str]":
    wrong = []
    accounts = truth.accounts.accounts(after=None, limit=9).items
    if [account.admin for account in accounts] != [True]:
        return [f"after the first start there are the accounts {accounts}"]
    categories = truth.memories.categories(pass_scope(Space.personal(accounts[0].id), "witness"))
    if [category.name for category in categories] != [FIRST_CATEGORY]:
        wrong.append(f"after the first start there are the categories {categories}")
    if folder.key != key or later != (key, False):
        wrong.append("the key of the first start does not hold at the second")
    return wrong
