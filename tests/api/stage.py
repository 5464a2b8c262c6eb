"""An installation with something of everything, so that generated requests meet what they ask for."""

import random
from collections.abc import Mapping
from typing import Any

from schemathesis import Case

from app import app
from chalicelib.domain.accounts import TeamMember
from infra.local.front import Front
from tests.api.wire import BASE, InProcess
from tests.fakes.client import MAX_BODY, Client
from tests.fakes.world import World

FRONT = Front(app, MAX_BODY)
MEMORIES = 12
EMPTY = "project:garden"
"""A space that holds nothing."""
SPACES = ("personal", "project:rocket", "community:discord:1001")


class Stage:
    """Anna, an admin, with a space of each kind, and others whom she may rename and remove."""

    def __init__(self) -> None:
        self.world = World(admin=True)
        for name in ("berta", "carl"):
            self.world.add_account(name)
        self.world.add_project("rocket", "anna", "berta")
        self.world.add_project("garden", "anna")
        self._join_team(self.world.add_community("1001").id, "berta")
        self.client = Client(self.world)
        self._categories = {name: self._furnish(name) for name in SPACES}
        self.world.settle()
        self._job = self.client.post("/v1/spaces/personal/jobs", {"kind": "reindex"}).json["job"]["id"]
        self._keys = [self._make_key(name) for name in ("phone", "tablet")]
        self.http = InProcess(FRONT)
        self.headers = {"Authorization": f"Bearer {self.client.key}"}

    def close(self) -> None:
        """Let everything go."""
        self.http.close()
        self.world.database.close()

    def how(self) -> dict[str, Any]:
        """How a case is sent: as Anna, to this stage, as `requests` writes it (`app`: not as Schemathesis would)."""
        return {"base_url": BASE, "session": self.http, "headers": self.headers, "app": None}

    def meet(self, case: Case, chance: random.Random) -> None:
        """Let a case that says something valid say it of what is here, more often than not; never of Anna's own
        rights, without which nothing further could be asked."""
        meta = case.meta
        assert meta is not None
        valid = {place.value for place, part in meta.components.items() if part.mode.is_positive}
        space = chance.choice(SPACES)
        if "path" in valid and chance.random() < 0.85:
            here = self._here(space, chance)
            case.path_parameters = {**case.path_parameters, **_known(case.path_parameters, here)}
        if "query" in valid and chance.random() < 0.7:
            case.query = {**case.query, **_known(case.query, {"version": 1, "category": "General"})}
            case.query.pop("cursor", None)
        if case.operation.path.endswith("/import") and {"body", "path"} <= valid:
            case.path_parameters = {"space": EMPTY}
            case.body = _about_an_empty_space(case.body)
        elif "body" in valid and isinstance(case.body, dict) and chance.random() < 0.7:
            case.body = self._body(dict(case.body), space, chance)
        self.spare(case)

    def spare(self, case: Case) -> None:
        """Turn what would take Anna's rights away upon somebody else."""
        own = {"account": ("anna", "berta"), "key": (self.client.key[4:30], self._keys[0])}
        for name, (mine, other) in own.items():
            if mine in str(case.path_parameters.get(name, "")):
                case.path_parameters[name] = other

    def _here(self, space: str, chance: random.Random) -> dict[str, Any]:
        number = chance.randint(1, MEMORIES)
        return {
            "space": space,
            "number": number,
            "category": chance.choice(self._categories[space]),
            "change": f"{number}-1",
            "job": self._job,
            "account": "berta",
            "key": chance.choice(self._keys),
            "project": "rocket",
            "platform": "discord",
            "community": "1001",
        }

    def _body(self, body: dict[str, Any], space: str, chance: random.Random) -> dict[str, Any]:
        """The body, about what is here, as far as the schema cannot say what that is."""
        numbers = chance.sample(range(1, MEMORIES + 1), 2)
        fitting: dict[str, Any] = {
            "version": 1,
            "numbers": numbers,
            "versions": {str(number): 1 for number in numbers},
            "category": chance.choice(("General", None)),
            "replaced_by": None,
            "project": "rocket" if space == "personal" else None,
            "account": "carl",
        }
        if "op" in body and body["op"] != "categorise":
            body.pop("category", None)
        if "op" in body and body["op"] != "retire":
            body.pop("replaced_by", None)
            body.pop("reason", None)
        return {**body, **_known(body, fitting)}

    def _furnish(self, name: str) -> list[str]:
        path = f"/v1/spaces/{name}"
        made = [
            self.client.post(f"{path}/categories", {"name": title, "default": title == "General"})
            for title in ("General", "Work")
        ]
        items = [{"text": f"fact {number} about {name}, told in brief"} for number in range(1, MEMORIES + 1)]
        assert self.client.post(f"{path}/memories/batch", {"items": items}).status == 200
        self.client.delete(f"{path}/memories/1")
        self.client.post(f"{path}/memories/2/retire", {"version": 1})
        return [str(one.json["category"]["id"]) for one in made]

    def _make_key(self, name: str) -> str:
        made = self.client.post("/v1/keys", {"name": name, "scopes": ["read"]})
        return str(made.json["key"]["id"])

    def _join_team(self, community: str, account: str) -> None:
        member = TeamMember(
            platform="discord", community=community, account=account, configure=False, added_at=self.world.now
        )
        self.world._write(member)


def _about_an_empty_space(body: Any) -> Any:
    """What was exported of a space of the kind that is empty here; and now and then nothing but that."""
    if not isinstance(body, dict) or not isinstance(body.get("space"), dict):
        return body
    items = body["items"] if len(body["items"]) % 2 else []
    return {**body, "items": items, "space": {**body["space"], "kind": "project"}}


def _known(said: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Any]:
    return {name: here[name] for name in said if name in here}
