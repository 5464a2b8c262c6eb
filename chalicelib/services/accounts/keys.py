"""API keys: each person makes, lists and deletes their own. A key is shown once; a deleted one is dead at once."""

from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.account_drafts import NewKey
from chalicelib.domain.accounts import Account, ApiKey, KeyScope
from chalicelib.domain.api_keys import MintedKey, mint
from chalicelib.domain.pages import Page
from chalicelib.domain.shown_accounts import Shown, show_key
from chalicelib.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from chalicelib.ports import AccountStore
from chalicelib.services.accounts.access import Caller, known, person
from chalicelib.services.accounts.ledger import Deed, Ledger, created, found, removed
from chalicelib.services.accounts.lists import listed, page_of
from chalicelib.services.idempotency import Request

KEYS_MAX = 100
"""Keys that one account may have."""


def full_scopes(account: Account) -> frozenset[KeyScope]:
    """All scopes that an account may use."""
    return frozenset({"read", "write", "admin"} if account.admin else {"read", "write"})


def new_key(
    account: Account, name: str, scopes: frozenset[KeyScope], now: datetime
) -> tuple[ApiKey, MintedKey]:
    """A fresh key of `account`, not yet stored, and its plain text; it acts as a person and does not expire."""
    minted = mint()
    key = ApiKey(
        id=minted.id,
        account=account.id,
        name=name,
        secret_hash=minted.secret_hash,
        scopes=scopes,
        created_at=now,
    )
    return key, minted


@dataclass(frozen=True)
class Keys:
    """The use cases on keys."""

    accounts: AccountStore
    ledger: Ledger

    def create(self, caller: Caller | None, draft: NewKey, request: Request) -> Shown:
        """Make a key for oneself. Answers `{"key": {…, "key": "plm_…"}}`; a repeat of the request answers the same
        facts with `"key": null`, for the key itself is not kept.

        It has no right that the caller lacks, and does not outlive the key that made it.
        Raises InvalidError (`scopes`, `expires_at`), ForbiddenError, ConflictError (too many keys).
        """
        who = person(caller)

        def work() -> Shown:
            _check_scopes(who, draft)
            expires_at = self._expiry(who, draft, request.now)
            if len(self.accounts.keys_of(who.account.id)) >= KEYS_MAX:
                raise ConflictError(f"an account has at most {KEYS_MAX} keys: delete one first", max=KEYS_MAX)
            key, minted = new_key(who.account, draft.name, draft.scopes, request.now)
            key = key.model_copy(update={"acts_as": draft.acts_as, "expires_at": expires_at})
            details = {"account": key.account, "scopes": sorted(key.scopes), "acts_as": key.acts_as}
            deed = Deed(who, "key.create", f"key:{key.id}", details)
            self.ledger.commit(deed, [created(key)], request, {"kind": "key", "id": key.id})
            return {"key": {**show_key(key), "key": minted.plain}}

        return self.ledger.once(request, self._again, work)

    def listed(self, caller: Caller | None, *, limit: int, cursor: str | None) -> Shown:
        """The caller's own keys, oldest first: `{"items", "next"}`."""
        who = known(caller)

        def read(after: str | None, size: int) -> Page[ApiKey]:
            return page_of(((key.id, key) for key in self.accounts.keys_of(who.account.id)), after, size)

        of = {"list": "keys", "account": who.account.id}
        return listed(of, limit=limit, cursor=cursor, read=read, show=show_key)

    def delete(self, caller: Caller | None, key: str, request: Request) -> Shown:
        """Revoke a key of one's own, or (an admin) anyone's; it is refused from now on. Answers `{"deleted": {…}}`.

        Raises NotFoundError, also for a key of another.
        """
        who = person(caller)

        def work() -> Shown:
            kept = found(self.accounts.key(key), "key")
            if kept.account != who.account.id and not who.is_admin:
                raise NotFoundError("there is no such key")
            deed = Deed(who, "key.delete", f"key:{key}", {"account": kept.account})
            self.ledger.commit(deed, [removed(kept)], request, {"kind": "key", "id": key})
            return _deleted(key)

        return self.ledger.once(request, lambda outcome: _deleted(outcome["id"]), work)

    def _again(self, outcome: Shown) -> Shown:
        return {"key": {**show_key(found(self.accounts.key(outcome["id"]), "key any more")), "key": None}}

    def _expiry(self, who: Caller, draft: NewKey, now: datetime) -> datetime | None:
        """When the new key ends: as asked, but not after the key that makes it. Raises InvalidError."""
        parent = self.accounts.key(who.key) if who.key is not None else None
        latest = parent.expires_at if parent is not None else None
        if draft.expires_at is None:
            return latest
        if draft.expires_at <= now:
            raise InvalidError("expires_at", "must be in the future")
        if latest is not None and draft.expires_at > latest:
            raise InvalidError("expires_at", "must not be after the expiry of the key that makes it")
        return draft.expires_at


def _check_scopes(who: Caller, draft: NewKey) -> None:
    if "write" in draft.scopes and "read" not in draft.scopes:
        raise InvalidError("scopes", "write needs read, since each write answers what it found")
    if "admin" in draft.scopes and draft.acts_as == "model":
        raise InvalidError("scopes", "a model is never an admin")
    lacking = draft.scopes - who.scopes
    if lacking or ("admin" in draft.scopes and not who.is_admin):
        raise ForbiddenError(
            "a key cannot have a right that its maker lacks", needs=sorted(lacking or {"admin"})
        )


def _deleted(key: str) -> Shown:
    return {"deleted": {"key": key}}
