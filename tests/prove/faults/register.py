"""What was acknowledged of people, keys, projects, communities and settings; compared with what is stored."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from chalicelib.domain.shown_accounts import (
    show_account,
    show_community,
    show_installation,
    show_key,
    show_member,
    show_project,
    show_team_member,
)
from chalicelib.ports import AccountStore
from tests.prove.faults.customer import Customer

Place = tuple[str, ...]
"""What an entity is, and its ids."""
Shown = dict[str, Any]
MORE = 200


class Register:
    """Every difference from the store is a finding."""

    def __init__(self, customer: Customer) -> None:
        self.customer = customer
        self.findings = customer.findings
        self.known = self.stored()
        self.deeds = self.audited()

    @property
    def accounts(self) -> AccountStore:
        """The store itself, whose calls never fail."""
        return self.customer.stage.truth.accounts

    def keep(self, place: Place, shown: Shown | None, deed: str, target: str, also: set[Place]) -> None:
        """An answer says that what is at `place` is stored so, or (None) is gone; and what else it may have changed.
        What was done is in the audit once."""
        self.customer.acknowledge(deed)
        stored = self.stored()
        if stored.get(place) != (None if shown is None else _lasting(shown)):
            self.findings.lost.append(f"{deed} of {place}: answered {shown}, stored {stored.get(place)}")
        self.adopt({place, *also}, deed, stored)
        self.deeds[deed, target] += 1
        self._compare_audit()

    def adopt(
        self, places: set[Place], deed: str, stored: dict[Place, Shown] | None = None, name: str = ""
    ) -> None:
        """Nothing but `places`, each at most one version on, and at most one new entity called `name`, has changed."""
        stored = self.stored() if stored is None else stored
        born = {
            place for place in stored.keys() - self.known.keys() if name and stored[place].get("name") == name
        }
        families = {place[-1] for place in born} if len(born) == 1 else set()
        for place in sorted(stored.keys() | self.known.keys()):
            before, after = self.known.get(place), stored.get(place)
            steps = (after or {}).get("version", 1) - (before or {}).get("version", 0)
            one_step = before is None or after is None or steps <= 1
            if (
                before == after
                or (place in places and one_step)
                or (before is None and families & set(place))
            ):
                continue
            self.findings.phantom.append(f"{deed}: {place} was {before}, and is {after}")
        self.known = stored

    def recount(self, deed: str) -> None:
        """One more deed of this kind may be in the audit, or not: nobody was told."""
        audited = self.audited()
        extra = audited - self.deeds
        if extra.total() > 1 or any(op != deed for op, _ in extra):
            self.findings.doubled.append(f"{deed}: the audit has {dict(extra)}")
        self.deeds = audited

    def compare(self) -> None:
        """At the end, when all is quiet."""
        stored = self.stored()
        for place in self.known.keys() | stored.keys():
            if stored.get(place) != self.known.get(place):
                self.findings.lost.append(
                    f"{place}: {self.known.get(place)} is due, {stored.get(place)} is stored"
                )
        self._compare_audit()

    def _compare_audit(self) -> None:
        audited = self.audited()
        if audited != self.deeds:
            self.findings.doubled += [f"the audit has {one} too often" for one in audited - self.deeds]
            self.findings.lost += [f"the audit lacks {one}" for one in self.deeds - audited]
            self.deeds = audited

    def audited(self) -> Counter[tuple[str, str]]:
        return Counter((entry.op, entry.target) for entry in self._paged(self.accounts.audit))

    def stored(self) -> dict[Place, Shown]:
        """All that there is."""
        return {place: _lasting(shown) for place, shown in self._all()}

    def _all(self) -> Iterator[tuple[Place, Shown]]:
        store = self.accounts
        for account in self._paged(store.accounts):
            yield ("account", account.id), show_account(account)
            for key in store.keys_of(account.id):
                yield ("key", key.id), show_key(key)
        for project in self._paged(store.projects):
            yield ("project", project.id), show_project(project)
            for member in store.members(project.id):
                yield ("member", project.id, member.account), show_member(member)
        for community in self._paged(store.communities):
            yield ("community", community.platform, community.id), show_community(community)
            for one in store.team(community.platform, community.id):
                yield ("team", community.platform, community.id, one.account), show_team_member(one)
        yield ("settings",), show_installation(store.installation())

    @staticmethod
    def _paged(listed: Any) -> Iterator[Any]:
        after = None
        while True:
            page = listed(after=after, limit=MORE)
            yield from page.items
            after = page.next
            if after is None:
                return


def _lasting(shown: Shown) -> Shown:
    """Without what is shown once (a key itself), and what any request changes (when a key was last used)."""
    return {name: value for name, value in shown.items() if name not in ("key", "last_used_at")}
