"""People and spaces whose ids look alike, each space with a canary of its own in everything that can be said there.

    canary      `zq…c0ffee`: in texts, contexts, keys, subjects, sources, reasons
    label       `zl…c0ffee`: in names and descriptions of categories

All spaces hold the same sentences beside, so that whatever finds one could find them all. Numbers 1-4 are used in
every space; those from FAR on are used in one space only.
"""

import re
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.accounts import Community, TeamMember
from chalicelib.domain.drafts import NewCategory
from chalicelib.domain.scope import Actor, Right, Scope, Space
from tests.fakes.client import Client, Reply
from tests.fakes.world import World

MARK = re.compile(r"z[ql][0-9a-f]{2}c0ffee")
FAR = 100_000
PEOPLE = ("anna", "anna1", "ann", "Anna", "rocket", "root")
PROJECTS = {"rocket": ("anna1", "ann"), "rocket1": ("anna",), "anna": ("Anna", "rocket")}
COMMUNITIES = {
    ("discord", "1001"): ("anna1",),
    ("telegram", "1001"): ("anna",),
    ("discord", "100"): ("ann", "rocket"),
}
"""Each with its members; one who is on a team may change things there."""


@dataclass
class Tenant:
    """One space: who may read it, and what is there to be found."""

    space: Space
    readers: tuple[str, ...]
    canary: str
    label: str
    numbers: list[int] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)

    @property
    def scope(self) -> Scope:
        """What the first reader sees."""
        return Scope(
            actor=Actor(kind="person", id=self.readers[0]),
            space=self.space,
            rights=frozenset(Right),
            place="http",
        )


class Tenants:
    """The installation. `root` is an admin, who is on no team and a member of nothing."""

    settles = True
    """Whether the index catches up between the attempts of two people."""

    def __init__(self, world: World | None = None, *, settled: bool = True) -> None:
        """`settled`: the index has caught up with all of it."""
        self.world = world or World()
        self.client = Client(self.world)
        for name in PEOPLE[1:]:
            self.world.add_account(name, admin=name == "root")
        self.keys = {name: self._key(name) for name in PEOPLE}
        self.all: list[Tenant] = []
        for name in PEOPLE:
            self._furnish(Space.personal(name), (name,))
        for project, members in PROJECTS.items():
            self._furnish(self.world.add_project(project, *members), members)
        for (platform, community), team in COMMUNITIES.items():
            self._furnish(self._community(platform, community, team), team)
        if settled:
            self.world.settle()

    def close(self) -> None:
        """Let it go."""
        self.world.database.close()

    def allowed(self, person: str) -> set[str]:
        """The marks that a person may see; an admin orders the categories of every pool."""
        marks = set()
        for tenant in self.all:
            if person in tenant.readers:
                marks |= {tenant.canary, tenant.label}
            elif self._orders(person, tenant):
                marks.add(tenant.label)
        return marks

    def ask(self, person: str, method: str, path: str, body: object = None, **how: Any) -> Reply:
        """One request of a person."""
        return self.client.ask(method, path, body, key=self.keys[person], **how)

    def closed_to(self, person: str) -> dict[str, str]:
        """All that is stored in the spaces that are closed to a person, uses of memories too."""
        store = self.world.parts.memories
        stored = {}
        for tenant in self.all:
            if person in tenant.readers:
                continue
            kept: list[Any] = [
                store.page(tenant.scope, after=None, limit=10_000, newest_first=True),
                store.jobs(tenant.scope, 1_000),
                [store.history(tenant.scope, str(n), after=None, limit=99) for n in tenant.numbers],
            ]
            if not self._orders(person, tenant):
                kept += [store.categories(tenant.scope), store.changes(tenant.scope, after=None, limit=9_999)]
            stored[tenant.space.key] = repr(kept)
        return stored

    def _orders(self, person: str, tenant: Tenant) -> bool:
        return person == "root" and tenant.space.kind == "project"

    def _key(self, name: str) -> str:
        account = self.world.parts.accounts.account(name)
        assert account is not None
        return self.world.services.founding.new_key(account, name, self.world.now).plain

    def _community(self, platform: Any, community: str, team: tuple[str, ...]) -> Space:
        place = {"platform": platform, "created_at": self.world.now}
        self.world._write(Community(id=community, name="Den", **place))
        for account in team:
            self.world._write(
                TeamMember(
                    platform=platform,
                    community=community,
                    account=account,
                    configure=True,
                    added_at=self.world.now,
                )
            )
        return Space.community(platform, community)

    def _furnish(self, space: Space, readers: tuple[str, ...]) -> None:
        """Fill a space: categories, memories in each state, changes, a job."""
        index = len(self.all)
        tenant = Tenant(space, readers, f"zq{index:02x}c0ffee", f"zl{index:02x}c0ffee")
        self.all.append(tenant)
        for name in ("", " more"):
            tenant.categories.append(self._category(tenant, name))
        for number in range(1, 13):
            if number == 5:  # from here on numbers are this space's alone
                self.world.parts.memories.reserve(tenant.scope, FAR * (index + 1))
            tenant.numbers.append(self._memory(tenant, number))
        *_, retired, trashed = tenant.numbers
        owner, path = readers[0], f"/v1/spaces/{space.name}"
        told = {"version": 1, "reason": f"outgrown {tenant.canary}"}
        assert self.ask(owner, "POST", f"{path}/memories/{retired}/retire", told).status == 200
        assert self.ask(owner, "DELETE", f"{path}/memories/{trashed}").status == 200
        changes = self.ask(owner, "GET", f"{path}/audit?limit=200").json["items"]
        tenant.changes = [change["id"] for change in changes]
        started = self.ask(owner, "POST", f"{path}/jobs", {"kind": "reindex"})
        tenant.jobs = [started.json["job"]["id"]] if started.status == 202 else []

    def _category(self, tenant: Tenant, name: str) -> str:
        draft = NewCategory(
            name=f"{tenant.label}{name}", description=f"about {tenant.label}", default=not name
        )
        made = self.world.services.categories.create(tenant.scope, draft, self.world.request())
        return str(made["category"]["id"])

    def _memory(self, tenant: Tenant, place: int) -> int:
        """Every second one has shared words in each place beside those that are its own."""
        own = tenant.canary if place % 2 else "shared"
        body = {
            "text": f"The lantern in the harbour, {tenant.canary}, as told {place} times",
            "key": f"lantern {own}",
            "subject": f"member-{own}",
            "context": f"What of the lantern? {tenant.canary}",
            "source": {"conversation": f"talk-{own}", "position": place, "author": f"author {own}"},
            "importance": place % 10 + 1,
        }
        path = f"/v1/spaces/{tenant.space.name}/memories"
        headers = {"Idempotency-Key": f"{tenant.space.name}-{place}"}  # `personal-1` is everybody's
        added = self.ask(tenant.readers[0], "POST", path, body, headers=headers)
        assert added.status == 201, added.text
        return int(added.json["memory"]["number"])
