"""Settings that an admin makes for all, and the record of what was done to accounts (S3, M19, M23, M29)."""

from dataclasses import dataclass
from typing import Any

from chalicelib.domain.account_drafts import InstallationEdit
from chalicelib.domain.accounts import AuditEntry, Installation
from chalicelib.domain.drafts import said
from chalicelib.domain.pages import Page
from chalicelib.domain.shown_accounts import Shown, show_audit_entry, show_installation
from chalicelib.ports import AccountStore
from chalicelib.services.accounts.access import Caller, administrator
from chalicelib.services.accounts.ledger import Deed, Ledger, amended, check_version
from chalicelib.services.accounts.lists import listed
from chalicelib.services.idempotency import Request
from chalicelib.services.memory.thresholds import ThresholdsInForce


@dataclass(frozen=True)
class InstallationSettings:
    """The use cases on what holds for all. All raise ForbiddenError unless the caller is an admin."""

    accounts: AccountStore
    ledger: Ledger
    thresholds: ThresholdsInForce

    def get(self, caller: Caller | None) -> Shown:
        """`{"settings": {"version", "recall", "retention", "thresholds"}, "in_force": {model: thresholds}}`.

        `in_force`: the thresholds that hold now, for the embedding model in use (by fingerprint) and for `words`:
        those saved, else the measured defaults (M23).
        """
        administrator(caller)
        return self._shown(self.accounts.installation())

    def _shown(self, installation: Installation) -> Shown:
        in_force = {name: of.model_dump() for name, of in self.thresholds.listed(installation).items()}
        return {"settings": show_installation(installation), "in_force": in_force}

    def edit(self, caller: Caller | None, draft: InstallationEdit, request: Request) -> Shown:
        """Change what is named, leave the rest. Answers as `get`.

        A change holds from the next request on (M22, M29). Raises ConflictError (stale version).
        """
        who = administrator(caller)

        def work() -> Shown:
            before = self.accounts.installation()
            check_version(draft.version, before, show_installation(before))
            after, writes, fields = amended(before, _wanted(before, draft))
            deed = Deed(who, "settings.edit", "settings", after.model_dump(mode="json", include=set(fields)))
            self.ledger.commit(deed, writes, request, {"kind": "settings", "id": "installation"})
            return self._shown(after)

        return self.ledger.once(request, lambda _: self.get(who), work)

    def audit(self, caller: Caller | None, *, limit: int, cursor: str | None) -> Shown:
        """What was done to accounts, keys, projects, communities and settings, newest first: `{"items", "next"}`."""
        administrator(caller)

        def read(after: str | None, size: int) -> Page[AuditEntry]:
            return self.accounts.audit(after=after, limit=size)

        return listed({"list": "audit"}, limit=limit, cursor=cursor, read=read, show=show_audit_entry)


def _wanted(before: Installation, draft: InstallationEdit) -> dict[str, Any]:
    """The parts that the draft names, as they are to be."""
    parts: dict[str, Any] = {}
    if draft.recall is not None:
        parts["recall"] = before.recall.model_copy(update=said(draft.recall))
    if draft.retention is not None:
        parts["retention"] = before.retention.model_copy(update=said(draft.retention))
    if draft.thresholds is not None:
        merged = {**before.thresholds, **draft.thresholds}
        parts["thresholds"] = {model: limits for model, limits in merged.items() if limits is not None}
    return parts
