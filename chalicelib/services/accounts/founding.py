"""The first account of an installation: without it nobody could make the others."""

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.accounts import Account, AccountCommit, AuditEntry
from chalicelib.domain.api_keys import MintedKey
from chalicelib.domain.ids import new_id
from chalicelib.errors import ConflictError
from chalicelib.ports import AccountStore
from chalicelib.services.accounts.keys import full_scopes, new_key
from chalicelib.services.accounts.ledger import created


@dataclass(frozen=True)
class Founding:
    """For the operator of the machine, not for callers: it asks nobody for a credential."""

    accounts: AccountStore

    def founded(self) -> bool:
        """Whether there is an account."""
        return bool(self.accounts.accounts(after=None, limit=1).items)

    def found(self, name: str, now: datetime) -> tuple[Account, MintedKey]:
        """Make the first account, an admin, and a key of it with all scopes. Raises ConflictError when there is one.

        Two at the same moment are not told apart: the operator runs one.
        """
        if self.founded():
            raise ConflictError("there is an account already")
        account = Account(id=new_id("acc"), name=name, admin=True, created_at=now)
        return account, self._issue(account, "account.found", now, new=True)

    def new_key(self, account: Account, name: str, now: datetime) -> MintedKey:
        """Another key of `account` with all its scopes, for an operator who lost the first one."""
        return self._issue(account, "key.issue", now, new=False, name=name)

    def _issue(
        self, account: Account, op: str, now: datetime, *, new: bool, name: str = "First key"
    ) -> MintedKey:
        key, minted = new_key(account, name, full_scopes(account), now)
        entry = AuditEntry(
            id=new_id("aud"),
            at=now,
            by=account.id,
            op=op,
            target=f"account:{account.id}",
            details={"key": key.id},
        )
        writes = (created(account), created(key)) if new else (created(key),)
        self.accounts.commit(AccountCommit(writes=writes, audit=(entry,)))
        return minted
