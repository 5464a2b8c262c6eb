"""Accounts: people, made and managed by admins; and what each person sees and sets of themselves (M6, S1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.account_drafts import AccountEdit, NewAccount, PersonalSettingsEdit
from chalicelib.domain.accounts import Account, ApiKey, EntityWrite
from chalicelib.domain.api_keys import MintedKey
from chalicelib.domain.ids import new_id
from chalicelib.domain.pages import Page
from chalicelib.domain.personal_settings import PersonalSettings
from chalicelib.domain.shown_accounts import Shown, show_account, show_key
from chalicelib.errors import ConflictError
from chalicelib.ports import AccountStore
from chalicelib.services.accounts.access import Caller, administrator, known, person
from chalicelib.services.accounts.keys import full_scopes, new_key
from chalicelib.services.accounts.ledger import (
    Deed,
    Ledger,
    amended,
    changed,
    check_version,
    created,
    found,
    removed,
)
from chalicelib.services.accounts.lists import listed
from chalicelib.services.idempotency import Request

_PAGE = 100


@dataclass(frozen=True)
class People:
    """The use cases on accounts. All but those on oneself raise ForbiddenError unless the caller is an admin."""

    accounts: AccountStore
    ledger: Ledger

    def create(self, caller: Caller | None, draft: NewAccount, request: Request) -> Shown:
        """Make an account. Answers `{"account": {…}}`, and with `first_key` also `{"key": {…, "key": "plm_…"}}`.

        The first key is how a person without a login at the OIDC provider begins; whoever hands it over has seen
        it, so the person does well to make an own one and to delete it. No other key is ever made for another.
        """
        who = administrator(caller)

        def work() -> Shown:
            account = Account(
                id=new_id("acc"),
                name=draft.name,
                email=draft.email,
                admin=draft.admin,
                created_at=request.now,
            )
            first = (
                new_key(account, "First key", full_scopes(account), request.now) if draft.first_key else None
            )
            details = {"admin": account.admin, "first_key": first[0].id if first else None}
            deed = Deed(who, "account.create", f"account:{account.id}", details)
            writes = [created(account), *([created(first[0])] if first else [])]
            outcome = {"kind": "account", "id": account.id, "key": first[0].id if first else None}
            self.ledger.commit(deed, writes, request, outcome)
            return _with_first_key(account, first)

        return self.ledger.once(request, self._again, work)

    def get(self, caller: Caller | None, account: str) -> Shown:
        """`{"account": {…}}`. Raises NotFoundError."""
        administrator(caller)
        return {"account": show_account(found(self.accounts.account(account), "account"))}

    def listed(self, caller: Caller | None, *, limit: int, cursor: str | None) -> Shown:
        """All accounts, disabled ones too: `{"items", "next"}`."""
        administrator(caller)

        def read(after: str | None, size: int) -> Page[Account]:
            return self.accounts.accounts(after=after, limit=size)

        return listed({"list": "accounts"}, limit=limit, cursor=cursor, read=read, show=show_account)

    def edit(self, caller: Caller | None, account: str, draft: AccountEdit, request: Request) -> Shown:
        """Change name, email, `admin`, `disabled`. Answers `{"account": {…}}`.

        Raises NotFoundError, ConflictError (stale version; the last admin stays one, and enabled).
        """
        who = administrator(caller)

        def work() -> Shown:
            before = found(self.accounts.account(account), "account")
            check_version(draft.version, before, show_account(before))
            after, writes, fields = amended(before, draft.named())
            writes += self._another_admin(who, before, after)
            deed = Deed(who, "account.edit", f"account:{account}", _told(fields))
            self.ledger.commit(deed, writes, request, {"kind": "account", "id": account})
            return {"account": show_account(after)}

        return self.ledger.once(request, self._again, work)

    def delete(
        self, caller: Caller | None, account: str, request: Request, *, version: int | None = None
    ) -> Shown:
        """Close an account: it is disabled and its keys are deleted. Answers `{"account": {…}}`.

        The account itself stays, so that its login cannot make a new one and memories say who recorded them. Its
        personal memories stay too, and nobody can read them; erasing them is a job of its own.
        Raises NotFoundError, ConflictError (stale version; the last admin cannot be deleted).
        """
        who = administrator(caller)

        def work() -> Shown:
            before = found(self.accounts.account(account), "account")
            if not self.ledger.begun(request):
                check_version(version, before, show_account(before))
            after, writes, _ = amended(before, {"disabled": True})
            writes += self._another_admin(who, before, after)
            writes += [removed(key) for key in self.accounts.keys_of(account)]
            deed = Deed(who, "account.delete", f"account:{account}", {})
            self.ledger.commit_all(deed, writes, request, {"kind": "account", "id": account})
            return {"account": show_account(after)}

        return self.ledger.once(request, self._again, work)

    def me(self, caller: Caller | None) -> Shown:
        """The caller: `{"account", "scopes", "acts_as", "key", "settings"}`."""
        who = known(caller)
        return {
            "account": show_account(who.account),
            "scopes": sorted(who.scopes),
            "acts_as": who.acts_as,
            "key": who.key,
            "settings": PersonalSettings.of(who.account).model_dump(),
        }

    def edit_settings(self, caller: Caller | None, draft: PersonalSettingsEdit, request: Request) -> Shown:
        """Change one's own settings (S1). Answers `{"settings": {…}, "version": …}`; the version is the account's."""
        who = person(caller)

        def work() -> Shown:
            before = found(self.accounts.account(who.account.id), "account")
            check_version(draft.version, before, _settings(before))
            after, writes, _ = amended(before, {"settings": {**before.settings, **draft.named()}})
            deed = Deed(who, "account.settings", f"account:{before.id}", draft.named())
            self.ledger.commit(deed, writes, request, {"kind": "settings", "id": before.id})
            return _settings(after)

        return self.ledger.once(request, lambda _: self._settings_again(who), work)

    def _again(self, outcome: Shown) -> Shown:
        account = found(self.accounts.account(outcome["id"]), "account")
        answer = {"account": show_account(account)}
        if outcome.get("key"):
            key = found(self.accounts.key(outcome["key"]), "key any more")
            answer["key"] = {**show_key(key), "key": None}
        return answer

    def _settings_again(self, who: Caller) -> Shown:
        return _settings(found(self.accounts.account(who.account.id), "account"))

    def _another_admin(self, who: Caller, before: Account, after: Account) -> list[EntityWrite]:
        """When `before` stops being an admin who can sign in: a write that holds another one in place, so that two
        admins who remove each other at once cannot both succeed. Raises ConflictError when there is no other."""
        if not _rules(before) or _rules(after):
            return []
        for other in self._admins(who):
            if other.id != before.id:
                return [changed(other)[1]]
        raise ConflictError(
            "the last admin cannot be disabled or made an ordinary account", current=show_account(before)
        )

    def _admins(self, who: Caller) -> Iterator[Account]:
        """Admins who can sign in; the caller first, which is nearly always enough."""
        own = self.accounts.account(who.account.id)
        if own is not None and _rules(own):
            yield own
        after: str | None = None
        while True:
            page = self.accounts.accounts(after=after, limit=_PAGE)
            yield from (account for account in page.items if _rules(account))
            after = page.next
            if after is None:
                return


def _rules(account: Account) -> bool:
    return account.admin and not account.disabled


def _told(fields: dict[str, Any]) -> dict[str, Any]:
    """What the audit tells of a change: which fields, and the rights among their values, never a name."""
    rights: dict[str, Any] = {name: fields[name] for name in ("admin", "disabled") if name in fields}
    return {"changed": sorted(fields), **rights}


def _settings(account: Account) -> Shown:
    return {"settings": PersonalSettings.of(account).model_dump(), "version": account.version}


def _with_first_key(account: Account, first: tuple[ApiKey, MintedKey] | None) -> Shown:
    answer = {"account": show_account(account)}
    if first is not None:
        key, minted = first
        answer["key"] = {**show_key(key), "key": minted.plain}
    return answer
