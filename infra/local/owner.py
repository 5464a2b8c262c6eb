"""The person whose laptop it is: an account, a key, and a category to begin with."""

from chalicelib.bootstrap import Services
from chalicelib.domain.accounts import Account
from chalicelib.domain.drafts import NewCategory
from chalicelib.domain.scope import Right
from chalicelib.errors import UnauthenticatedError
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.keys import full_scopes
from chalicelib.services.idempotency import Request
from infra.local.cannot_start import CannotStartError
from infra.local.data_folder import DataFolder

FIRST_CATEGORY = "General"


def key_of_owner(services: Services, folder: DataFolder) -> tuple[str, bool]:
    """The owner's key, and whether this is the first start. Raises StoreError, DataFolderError, CannotStartError.

    The key is kept in the folder. One that is lost, or no longer holds, is replaced. A start that was interrupted
    before the key was kept is made up for.
    """
    first = not services.founding.founded()
    kept = None if first else folder.read_key()
    if kept is not None and _holds(services, kept):
        return kept, False
    now = services.clock()
    if first:
        account, minted = services.founding.found("Owner", now)
    else:
        account = _first_admin(services)
        minted = services.founding.new_key(account, "Key of a later start", now)
    _give_first_category(services, account)
    folder.keep_key(minted.plain)
    return minted.plain, first


def _holds(services: Services, key: str) -> bool:
    try:
        services.sign_in.authenticate(f"Bearer {key}", services.clock())
    except UnauthenticatedError:
        return False
    return True


def _first_admin(services: Services) -> Account:
    after = None
    while True:
        page = services.parts.accounts.accounts(after=after, limit=100)
        for account in page.items:
            if account.admin and not account.disabled:
                return account
        if page.next is None:
            raise CannotStartError(
                "No admin's account is enabled, so no key can be made. Choose another data folder with PALIMPSEST_DATA."
            )
        after = page.next


def _give_first_category(services: Services, account: Account) -> None:
    """So that what is added at once can be recalled at once (SPEC M8). Not where there ever was a category."""
    owner = Caller(account=account, scopes=full_scopes(account), acts_as="person", key=None, place="cli")
    scope = services.access.open_space(owner, "personal", Right.WRITE)
    if services.parts.memories.categories(scope):
        return
    draft = NewCategory(name=FIRST_CATEGORY, description="Whatever has no better place.", default=True)
    request = Request(owner=account.id, key=None, hash="", now=services.clock())
    services.categories.create(scope, draft, request)
