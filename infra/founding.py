"""The first person of an installation: an account, a key, and a category to begin with. For a laptop's first start and
for the first deployment."""

from chalicelib.bootstrap import Services
from chalicelib.domain.accounts import Account
from chalicelib.domain.drafts import NewCategory
from chalicelib.domain.scope import Right
from chalicelib.services.accounts.access import Caller
from chalicelib.services.accounts.keys import full_scopes
from chalicelib.services.idempotency import Request

FIRST_CATEGORY = "General"


def key_of_first_admin(services: Services, name: str) -> str | None:
    """A new key, called `name`, of the first admin, who is made if there is nobody yet; None when every admin's account
    is disabled. Raises StoreError."""
    now = services.clock()
    if not services.founding.founded():
        account, minted = services.founding.found("Owner", now)
    else:
        known = _first_admin(services)
        if known is None:
            return None
        account, minted = known, services.founding.new_key(known, name, now)
    _give_first_category(services, account)
    return minted.plain


def _first_admin(services: Services) -> Account | None:
    after = None
    while True:
        page = services.parts.accounts.accounts(after=after, limit=100)
        for account in page.items:
            if account.admin and not account.disabled:
                return account
        if page.next is None:
            return None
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
