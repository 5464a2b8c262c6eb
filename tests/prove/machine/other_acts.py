"""What is done beside memories: categories, memberships, time, repeats, the index."""

from typing import Any

from chalicelib.services.memory.project import pass_scope
from tests.fakes.client import Reply
from tests.prove.machine import shown
from tests.prove.machine.finding import Finding
from tests.prove.machine.model import Row
from tests.prove.machine.people import PROJECT, SPACES, Caller
from tests.prove.machine.program import STORED, Past
from tests.prove.machine.refusing import refuse

NAMES = ("Work", "Home", "Tea", "Travel")
FAITHFUL_DAYS = 6
"""So long a repeat answers the first outcome, at least."""


class Acts(Finding):
    """Everything that the machine does."""

    # ------------------------------------------------------------------ categories

    def create_category(self, who: Caller, space: str, name: int, shape: int) -> None:
        """By a name that may be taken; maybe bound to the project, maybe the default."""
        said = {"name": NAMES[name % len(NAMES)], **self._binding(shape)}
        self._shelve(who, space, "add", "", None, said, ("POST", "/categories", said))

    def edit_category(self, who: Caller, space: str, pick: int, shape: int, stale: int) -> None:
        """Rename, bind, unbind, make it the default or take that from it."""
        key = self.category(space, pick)
        if key is None:
            return
        said: dict[str, Any] = self._binding(shape) if shape % 3 else {"name": NAMES[shape // 3 % len(NAMES)]}
        if not said:
            said = {"project": None}
        version = self.version(space, key, stale)
        asked = ("PATCH", f"/categories/{key}", {"version": version, **said})
        self._shelve(who, space, "edit", key, version, said, asked)

    def delete_category(self, who: Caller, space: str, pick: int) -> None:
        """What it holds stays, uncategorised."""
        key = self.category(space, pick)
        if key is not None:
            self._shelve(who, space, "delete", key, None, {}, ("DELETE", f"/categories/{key}", None))

    def _binding(self, shape: int) -> dict[str, Any]:
        bound = {"project": PROJECT} if shape // 2 % 3 == 0 else {}
        return bound | ({"default": bool(shape % 4)} if shape % 2 else {})

    def _shelve(
        self,
        who: Caller,
        space: str,
        op: str,
        key: str,
        version: int | None,
        said: Row,
        asked: tuple[str, str, Any],
    ) -> None:
        model = self.models[space]
        kept = {name: value for name, value in said.items() if name != "default"}

        def work(reply: Reply) -> Row:
            made = key or str(reply.json.get("category", {"id": "cat_none"})["id"])
            row = model.add(who, made, kept) if op == "add" else model.change(who, op, made, version, kept)
            if said.get("default") or (said.get("default") is False and model.default == made):
                model.default = made if said["default"] else ""
            return row

        reply, row = self.write(who, space, f"{op} category", asked, work)
        if row is not None:
            told = reply.json["category"]
            shown.category(model, told["id"], told)

    # ------------------------------------------------------------------ people

    def membership(self, what: str) -> None:
        """One of them joins or leaves the project, the pool is switched, or the team changes; by an admin."""
        self.tick()
        method, path, body = self._membership(what)
        reply = self.client.ask(method, path, body)
        self.judge("membership", reply, lambda: True)

    def _membership(self, what: str) -> tuple[str, str, Any]:
        at, project, team = self.at, f"/v1/projects/{PROJECT}", "/v1/communities/discord/1001/team"
        if what == "pool":
            at.pool = not at.pool
            return ("POST" if at.pool else "DELETE", f"{project}/pool", None)
        whose, who = what.split()
        if whose == "member":
            at.members ^= {who}
            if who in at.members:
                return "POST", f"{project}/members", {"account": who}
            return "DELETE", f"{project}/members/{who}", None
        before = at.team.get(who)
        if before is None:
            at.team[who] = False
            return "POST", team, {"account": who}
        if before:
            del at.team[who]
            return "DELETE", f"{team}/{who}", None
        at.team[who] = True
        return "PATCH", f"{team}/{who}", {"configure": True}

    # ------------------------------------------------------------------ time

    def pass_time(self, days: float) -> None:
        """Nothing is done for so long."""
        self.tally.acts["let time pass"] += 1
        self.tick(days=days, seconds=7)

    def clean_up(self) -> None:
        """The daily cleanup of every space, when the index has all."""
        self.tick()
        self.world.settle()
        for space in SPACES:
            trashed = self.world.services.retain.clean(STORED[space])
            before = len(self.models[space].changes)
            self.models[space].cleanup()
            due = [change["key"] for change in self.models[space].changes[before:]]
            assert trashed == due, f"cleanup of {space} trashed {trashed}, not {due}"
            self.tally.acts["clean up some"] += bool(due)
        self.follow()

    # ------------------------------------------------------------------ repeats

    def repeat(self, pick: int, other_body: bool) -> None:
        """A write is asked for once more under its key: the first outcome again, and nothing else."""
        young = [one for one in self.past if (self.world.now - one.at).days < FAITHFUL_DAYS]
        if not young:
            return
        self.tick()
        past = young[-1 - pick % min(len(young), 20)]
        method, path, body = past.asked
        if other_body:
            path, body = (
                (path, {**body, "text": "tea"}) if "text" in (body or {}) else (f"{path}?version=9", body)
            )
            if method != "DELETE" and "text" not in (past.asked[2] or {}):
                return
        reply = self.ask(past.who, past.space, method, path, body, headers={"Idempotency-Key": past.key})
        expected = lambda: self._first_outcome(past, reply, other_body)  # noqa: E731
        self.judge("other body" if other_body else "replay", reply, expected)

    def _first_outcome(self, past: Past, reply: Reply, other_body: bool) -> bool:
        model = self.models[past.space]
        refuse(404, not model.rights(past.who))
        orders = past.op.endswith(" category") and past.op != "undo category"
        model.check(past.who, "write", past.op if orders else 0)
        refuse(422, other_body)
        if past.op in ("batch", "bulk"):
            for item, first in zip(reply.json["items"], past.answer["items"], strict=True):
                self._judge_again(past, item, first)
            return True
        erased = [number for number in _numbers(past.answer) if model.items[number]["state"] == "erased"]
        refuse(404, erased and past.op != "erase")
        again, first = _outcome(reply.json), _outcome(past.answer)
        assert again == first, f"a repeat of {past.op} answers {again}, not {first}"
        return True

    def _judge_again(self, past: Past, item: dict[str, Any], first: dict[str, Any]) -> None:
        gone = any(self.models[past.space].items[number]["state"] == "erased" for number in _numbers(first))
        if gone and "erased" not in first:
            assert item["status"] == 404, f"a repeat of {past.op} shows what was erased: {item}"
        else:
            assert _outcome(item) == _outcome(first), f"a repeat of {past.op} answers {item}, not {first}"

    # ------------------------------------------------------------------ the index

    def project_some(self, pick: int) -> None:
        """A projector that is behind does some of its work, in any order."""
        waiting = self.world.waiting()
        if waiting:
            self.world.project([waiting[pick % len(waiting)], waiting[-1]])
            self.tally.acts["project some"] += 1

    def reindex(self, who: Caller, space: str) -> None:
        """The owner's job that embeds anew, to its end."""
        self.tick()
        reply = self.ask(who, space, "POST", "/jobs", {"kind": "reindex"})

        def expected() -> bool:
            self.models[space].check(who, "write")
            refuse(409, not self.embedded or space == "community")
            return True

        if self.judge("reindex", reply, expected):
            scope, job = pass_scope(STORED[space], "reindex"), reply.json["job"]["id"]
            while not self.world.services.jobs.run(scope, job, lambda: True):
                pass
            state = self.ask(who, space, "GET", f"/jobs/{job}").json["job"]["state"]
            assert state == "done", state
        self.follow()

    def reconcile(self) -> None:
        """Index and table are compared: nothing differs but what the projector has yet to do."""
        self.tally.acts["reconcile"] += 1
        for space in SPACES:
            found = self.world.services.reconciler.compare(STORED[space])
            assert found.count == 0, f"the index of {space} differs: {found}"

    def rebuild(self) -> None:
        """The whole index is built anew."""
        self.tally.acts["rebuild"] += 1
        self.world.services.rebuild.rebuild()


def _numbers(answer: dict[str, Any]) -> list[int]:
    shown_ones = [
        answer.get("memory"),
        answer.get("erased"),
        *answer.get("merged", []),
        *answer.get("memories", []),
    ]
    return [one["number"] for one in shown_ones if one]


def _outcome(answer: dict[str, Any]) -> Any:
    """What a repeat must say again: which memories, at which version, in which state, with which text."""
    shown_ones = [answer.get("memory"), *answer.get("merged", []), *answer.get("memories", [])]
    told = [(one["number"], one["version"], one["state"], one["text"]) for one in shown_ones if one]
    named = answer.get("category") or {}
    return (
        told,
        answer.get("erased"),
        answer.get("undone"),
        named.get("id"),
        named.get("version"),
        answer.get("status"),
    )
