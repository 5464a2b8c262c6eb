"""Programs over people: accounts, keys, projects, settings, and those who sign in with a token."""

import random
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from chalicelib.domain.accounts import Account, AccountCommit, ApiKey, EntityWrite, Member
from tests.prove.faults.communities import Communities
from tests.prove.faults.customer import Customer
from tests.prove.faults.register import Place, Register
from tests.prove.faults.stage import ISSUER, TOKEN

FEW = 25
CROWD = 35
"""More than one transaction removes."""


class People:
    """An admin's use cases, each by chance."""

    def __init__(self, customer: Customer, chance: random.Random) -> None:
        self.customer = customer
        self.chance = chance
        self.register = Register(customer)
        self._names = count(1)
        self._visitors: dict[str, str] = {}
        self.steps: Sequence[tuple[int, Callable[[], None]]] = (
            (4, self.account), (3, self.edit_account), (1, self.delete_account), (3, self.key), (2, self.delete_key),
            (3, self.project), (3, self.edit_project), (4, self.member), (2, self.leave), (1, self.delete_project),
            (2, self.settings), (2, self.own_settings), (5, self.sign_in), (10, self.look), (1, self.crowd),
            *Communities(self).steps,
        )  # fmt: skip

    def number(self) -> int:
        """One that was not used before."""
        return next(self._names)

    def name(self, what: str) -> str:
        """A name that nobody has."""
        return f"{what} {self.number()}"

    def some(self, kind: str) -> list[Place]:
        """Entities of a kind that are there, the oldest first."""
        known = self.register.known
        of_kind = [place for place in known if place[0] == kind and not known[place].get("disabled")]
        return sorted(of_kind, key=lambda place: (known[place].get("name") or "", place))

    def one(self, kind: str) -> Place | None:
        """One of them; never the account that asks."""
        some = [place for place in self.some(kind) if place != ("account", "anna")]
        return self.chance.choice(some) if some else None

    def deed(
        self,
        method: str,
        path: str,
        body: Any,
        deed: str,
        *,
        place: Place | None = None,
        answer: str | None = None,
        target: str = "",
        also: Sequence[Place] = (),
    ) -> Any:
        """One write. `place`: what it changes; None = what it makes, which the answer names by `answer`; an answer that
        names nothing has removed it."""
        written = self.customer.write(method, path, body, _without_secret)
        name = (body or {}).get("name", "")
        if not written.done:
            if written.refused:
                self.customer.findings.wrong.append(f"{method} {path} {body}: {written.reply}")
            self.register.adopt({*([place] if place else []), *also}, deed, name=name)
            self.register.recount(deed)
            return None
        shown = written.json[answer] if answer else None
        if place is None:
            assert shown is not None
            place = (answer or "", shown["id"])
        where = target or ":".join(place)
        made = {
            found
            for found in self.register.stored()
            if found not in self.register.known and shown is not None
        }
        theirs = {found for found in made if place[-1] in found} if deed.endswith("create") else set()
        self.register.keep(place, shown, deed, where, {*also, *theirs})
        return shown

    # -------------------------------------------------------------- accounts and keys

    def account(self) -> None:
        """A person."""
        self.deed("POST", "/v1/accounts", {"name": self.name("Person")}, "account.create", answer="account")

    def edit_account(self) -> None:
        """Another name."""
        if place := self.one("account"):
            body = {"name": self.name("Person"), "version": self.register.known[place]["version"]}
            self.deed(
                "PATCH", f"/v1/accounts/{place[1]}", body, "account.edit", place=place, answer="account"
            )

    def delete_account(self) -> None:
        """Closed, its keys gone; the version is named. (A crowd's needs several transactions, each with an audit entry.)"""
        place = self.one("account")
        if place and not place[1].startswith("crowd"):
            version = self.register.known[place]["version"]
            keys = [at for at in self.some("key") if self.register.known[at]["account"] == place[1]]
            path = f"/v1/accounts/{place[1]}?version={version}"
            self.deed("DELETE", path, None, "account.delete", place=place, answer="account", also=keys)

    def key(self) -> None:
        """A key for oneself; not too many."""
        if len(self.some("key")) < 60:
            self.deed("POST", "/v1/keys", {"name": self.name("key")}, "key.create", answer="key")

    def delete_key(self) -> None:
        """Revoked."""
        own = [at for at in self.some("key") if self.register.known[at]["name"].startswith("key ")]
        if own:
            place = self.chance.choice(own)
            self.deed("DELETE", f"/v1/keys/{place[1]}", None, "key.delete", place=place)

    def sign_in(self) -> None:
        """Somebody comes with a token, for the first time or again: one account each."""
        known = [at[1] for at in self.some("account")]
        again = sorted(name for name, account in self._visitors.items() if account in known)
        visitor = self.chance.choice(again) if again and self.chance.random() < 0.6 else self.name("Visitor")
        subject = visitor.replace(" ", "-")
        answers = set()
        for faults in (2, 2, 1, 0):
            reply, _ = self.customer.ask("GET", "/v1/me", key=f"{TOKEN}{subject}", faults=faults)
            if reply is not None and reply.status == 200:
                answers.add(reply.json["account"]["id"])
        login = self.register.accounts.login(ISSUER, subject)
        account = self._visitors.setdefault(visitor, login.account if login else "")
        self.customer.tally.ops["account.sign_up"] += visitor not in again
        if answers != {account}:
            self.customer.findings.doubled.append(f"{visitor} is {account}, and was answered as {answers}")
        self.register.adopt({("account", account)}, "account.sign_up")
        self.register.recount("account.sign_up")

    def crowd(self) -> None:
        """A person with many keys, or a project with many members, goes: more than fits into one transaction."""
        store, now = self.register.accounts, self.customer.stage.world.now
        maker = Account(id=f"crowd{self.number()}", name=self.name("Crowd"), created_at=now)
        keys = [
            ApiKey(id=f"{maker.id}k{n:02}", account=maker.id, name="k", secret_hash="x", scopes=frozenset({"read"}), created_at=now)
            for n in range(CROWD)
        ]  # fmt: skip
        writes = tuple(EntityWrite(entity=one, expected=None) for one in (maker, *keys))
        for start in range(0, len(writes), 20):
            store.commit(AccountCommit(writes=writes[start : start + 20]))
        self.register.known = self.register.stored()
        shown = self.deed(
            "POST", "/v1/projects", {"name": self.name("Crowded")}, "project.create", answer="project"
        )
        if self.chance.random() < 0.5 and shown:
            self._delete_crowded_project(shown["id"], [key.id for key in keys], now)
        path = f"/v1/accounts/{maker.id}?version=1"
        self._crowded(
            path, ("account", maker.id), {"disabled": True, "version": 2}, [("key", key.id) for key in keys]
        )

    def _delete_crowded_project(self, project: str, names: Sequence[str], now: Any) -> None:
        members = [Member(project=project, account=name, added_at=now) for name in names]
        for start in range(0, len(members), 20):
            some = tuple(EntityWrite(entity=one, expected=None) for one in members[start : start + 20])
            self.register.accounts.commit(AccountCommit(writes=some))
        places = [("member", project, name) for name in (*names, "anna")]
        self._crowded(f"/v1/projects/{project}?version=1", ("project", project), None, places)

    def _crowded(self, path: str, place: Place, left: dict[str, Any] | None, gone: Sequence[Place]) -> None:
        """Deleted as a whole when it is acknowledged. Each of its transactions is in the audit."""
        written = self.customer.write("DELETE", path, None)
        stored = self.register.stored()
        if written.refused:
            self.customer.findings.wrong.append(f"DELETE {path}: {written.reply}")
        if written.done:
            self.customer.acknowledge("crowd")
            there = stored.get(place)
            kept = there is None if left is None else there is not None and left.items() <= there.items()
            if not kept or any(one in stored for one in gone):
                self.customer.findings.lost.append(
                    f"DELETE {path} was acknowledged, and is not done: {there}"
                )
        self.register.known = stored
        self.register.deeds = self.register.audited()

    # -------------------------------------------------------------- projects

    def project(self) -> None:
        """A project, oneself its first member."""
        self.deed("POST", "/v1/projects", {"name": self.name("Project")}, "project.create", answer="project")

    def edit_project(self) -> None:
        """Another name; its pool on or off."""
        if place := self._one_project():
            before = self.register.known[place]
            body = {"name": self.name("Project"), "pool": not before["pool"], "version": before["version"]}
            self.deed(
                "PATCH", f"/v1/projects/{place[1]}", body, "project.edit", place=place, answer="project"
            )

    def _one_project(self) -> Place | None:
        """One that no space of memories depends on."""
        some = [place for place in self.some("project") if self.register.known[place]["name"] != "pool"]
        return self.chance.choice(some) if some else None

    def member(self) -> None:
        """Access for one more."""
        project, account = self._one_project(), self.one("account")
        if project and account and ("member", project[1], account[1]) not in self.register.known:
            place, path = ("member", project[1], account[1]), f"/v1/projects/{project[1]}/members"
            body = {"account": account[1]}
            self.deed(
                "POST", path, body, "project.member.add", place=place, answer="member", target=":".join(project), also=[project]
            )  # fmt: skip

    def leave(self) -> None:
        """Access ends."""
        others = [at for at in self.some("member") if at[2] != "anna"]
        if others:
            place = self.chance.choice(others)
            project: Place = ("project", place[1])
            path = f"/v1/projects/{place[1]}/members/{place[2]}"
            self.deed(
                "DELETE",
                path,
                None,
                "project.member.remove",
                place=place,
                target=":".join(project),
                also=[project],
            )

    def delete_project(self) -> None:
        """With all its memberships, when one transaction removes them."""
        if place := self._one_project():
            members = [at for at in self.some("member") if at[1] == place[1]]
            if len(members) > FEW:
                return
            version = self.register.known[place]["version"]
            path = f"/v1/projects/{place[1]}?version={version}"
            self.deed("DELETE", path, None, "project.delete", place=place, also=members)

    # -------------------------------------------------------------- settings

    def settings(self) -> None:
        """What holds for all."""
        known = self.register.known["settings",]
        body = {
            "version": known["version"],
            "retention": {"grace_days": known["retention"]["grace_days"] % 20 + 1},
        }
        self.deed(
            "PATCH",
            "/v1/settings",
            body,
            "settings.edit",
            place=("settings",),
            answer="settings",
            target="settings",
        )

    def own_settings(self) -> None:
        """What holds for oneself: only the version shows."""
        place: Place = ("account", "anna")
        before = self.register.known[place]["version"]
        body = {"maintenance": before % 2 == 0, "version": before}
        written = self.customer.write("PATCH", "/v1/me/settings", body)
        stored = self.register.stored()
        if written.done:
            self.customer.acknowledge("account.settings")
            if stored[place]["version"] != written.json["version"]:
                self.customer.findings.lost.append(f"own settings: {written.json}, stored {stored[place]}")
        self.register.adopt({place}, "account.settings", stored)
        self.register.recount("account.settings")

    # -------------------------------------------------------------- looking

    def look(self) -> None:
        """Lists and single ones."""
        paths = ["/v1/me", "/v1/settings", "/v1/audit?limit=5"]
        paths += [f"/v1/{what}?limit=50" for what in ("accounts", "keys", "projects", "communities")]
        if project := self.one("project"):
            paths += [f"/v1/projects/{project[1]}", f"/v1/projects/{project[1]}/members"]
        if community := self.one("community"):
            one = f"/v1/communities/{community[1]}/{community[2]}"
            paths += [one, f"{one}/team"]
        self.customer.read("GET", self.chance.choice(paths), None, _without_secret)


def _without_secret(answer: Any) -> Any:
    """A key is shown once, and when it was last used changes with each request."""
    if isinstance(answer, dict):
        return {
            name: _without_secret(value)
            for name, value in answer.items()
            if name not in ("key", "last_used_at")
        }
    return [_without_secret(one) for one in answer] if isinstance(answer, list) else answer
