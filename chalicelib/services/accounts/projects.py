"""Projects, their members, and the switch of their pool (M6).

make one                      any person; its maker becomes a member
see it                        members and admins; for others it does not exist
rename, delete, its members   its maker while a member, and admins; a member may leave
switch the pool               admins
"""

from dataclasses import dataclass
from typing import Any

from chalicelib.domain.account_drafts import NewMember, NewProject, ProjectEdit
from chalicelib.domain.accounts import Member, Project
from chalicelib.domain.ids import new_id
from chalicelib.domain.pages import Page
from chalicelib.domain.shown_accounts import Shown, show_member, show_project
from chalicelib.errors import ForbiddenError, NotFoundError
from chalicelib.ports import AccountStore
from chalicelib.services.accounts.access import Caller, known, person
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
from chalicelib.services.accounts.lists import listed, page_of
from chalicelib.services.idempotency import Request


@dataclass(frozen=True)
class Projects:
    """The use cases on projects. All raise NotFoundError for a project that the caller may not know of."""

    accounts: AccountStore
    ledger: Ledger

    def create(self, caller: Caller | None, draft: NewProject, request: Request) -> Shown:
        """Make a project, the caller its first member. Answers `{"project": {…}}`.

        Raises ForbiddenError when somebody who is no admin wants it with its pool on.
        """
        who = person(caller)
        if draft.pool:
            _check_pool(who)

        def work() -> Shown:
            project = Project(
                id=new_id("prj"),
                name=draft.name,
                pool=draft.pool,
                created_at=request.now,
                created_by=who.account.id,
            )
            member = Member(project=project.id, account=who.account.id, added_at=request.now)
            deed = Deed(who, "project.create", f"project:{project.id}", {"pool": project.pool})
            self.ledger.commit(deed, [created(project), created(member)], request, _outcome(project.id))
            return {"project": show_project(project)}

        return self.ledger.once(request, self._again, work)

    def get(self, caller: Caller | None, project: str) -> Shown:
        """`{"project": {…}}`."""
        return {"project": show_project(self._visible(known(caller), project))}

    def listed(self, caller: Caller | None, *, limit: int, cursor: str | None) -> Shown:
        """The caller's projects, all of them for an admin; oldest first: `{"items", "next"}`."""
        who = known(caller)

        def read(after: str | None, size: int) -> Page[Project]:
            if who.is_admin:
                return self.accounts.projects(after=after, limit=size)
            own = [
                self.accounts.project(member.project) for member in self.accounts.memberships(who.account.id)
            ]
            return page_of(((project.id, project) for project in own if project is not None), after, size)

        of = {"list": "projects", "account": who.account.id, "all": who.is_admin}
        return listed(of, limit=limit, cursor=cursor, read=read, show=show_project)

    def edit(self, caller: Caller | None, project: str, draft: ProjectEdit, request: Request) -> Shown:
        """Change `name` or `pool`. Answers `{"project": {…}}`.

        With the pool off, its memories stay and nobody reaches them until it is on again.
        Raises ForbiddenError, ConflictError (stale version, with the current state).
        """
        who = person(caller)

        def work() -> Shown:
            before = self._visible(who, project)
            if "pool" in draft.model_fields_set:
                _check_pool(who)
            if "name" in draft.model_fields_set:
                self._check_manager(who, before)
            check_version(draft.version, before, show_project(before))
            after, writes, fields = amended(before, draft.named())
            rights: dict[str, Any] = {"pool": fields["pool"]} if "pool" in fields else {}
            deed = Deed(who, "project.edit", f"project:{project}", {"changed": sorted(fields), **rights})
            self.ledger.commit(deed, writes, request, _outcome(project))
            return {"project": show_project(after)}

        return self.ledger.once(request, self._again, work)

    def delete(
        self, caller: Caller | None, project: str, request: Request, *, version: int | None = None
    ) -> Shown:
        """Delete a project and its memberships. Answers `{"deleted": {"project": …}}`.

        What its pool holds stays stored, and nobody reaches it any more: whoever wants it gone erases it before.
        """
        who = person(caller)

        def work() -> Shown:
            before = self._managed(who, project)
            check_version(version, before, show_project(before))
            members = [removed(member) for member in self.accounts.members(project)]
            deed = Deed(who, "project.delete", f"project:{project}", {})
            self.ledger.commit_all(deed, [*members, removed(before)], request, _outcome(project))
            return _deleted(project)

        return self.ledger.once(request, lambda outcome: _deleted(outcome["id"]), work)

    def members(self, caller: Caller | None, project: str, *, limit: int, cursor: str | None) -> Shown:
        """Who has access: `{"items", "next"}`."""
        self._visible(known(caller), project)

        def read(after: str | None, size: int) -> Page[Member]:
            return page_of(
                ((member.account, member) for member in self.accounts.members(project)), after, size
            )

        of = {"list": "members", "project": project}
        return listed(of, limit=limit, cursor=cursor, read=read, show=show_member)

    def add_member(self, caller: Caller | None, project: str, draft: NewMember, request: Request) -> Shown:
        """Give an account access; one that has it already keeps it. Answers `{"member": {…}}`.

        The project's version counts this too, so that nobody is added to a project while it is being deleted.
        """
        who = person(caller)

        def work() -> Shown:
            before = self._managed(who, project)
            found(self.accounts.account(draft.account), "account")
            kept = self.accounts.member(project, draft.account)
            member = kept or Member(project=project, account=draft.account, added_at=request.now)
            writes = [] if kept else [created(member), changed(before)[1]]
            deed = Deed(who, "project.member.add", f"project:{project}", {"account": draft.account})
            self.ledger.commit(deed, writes, request, {**_outcome(project), "account": draft.account})
            return {"member": show_member(member)}

        def again(outcome: Shown) -> Shown:
            member = self.accounts.member(outcome["id"], outcome["account"])
            return {"member": show_member(found(member, "member any more"))}

        return self.ledger.once(request, again, work)

    def remove_member(self, caller: Caller | None, project: str, account: str, request: Request) -> Shown:
        """Take an account's access away, at once; or leave. Answers `{"deleted": {"project", "account"}}`."""
        who = person(caller)
        answer = {"deleted": {"project": project, "account": account}}

        def work() -> Shown:
            before = self._visible(who, project)
            if account != who.account.id:
                self._check_manager(who, before)
            member = found(self.accounts.member(project, account), "member")
            deed = Deed(who, "project.member.remove", f"project:{project}", {"account": account})
            self.ledger.commit(deed, [removed(member), changed(before)[1]], request, _outcome(project))
            return answer

        return self.ledger.once(request, lambda _: answer, work)

    def _again(self, outcome: Shown) -> Shown:
        return {"project": show_project(found(self.accounts.project(outcome["id"]), "project any more"))}

    def _visible(self, who: Caller, project: str) -> Project:
        """The project, for its members and admins. Raises NotFoundError, the same for a foreign one."""
        there = found(self.accounts.project(project), "project")
        if not who.is_admin and self.accounts.member(project, who.account.id) is None:
            raise NotFoundError("there is no such project")
        return there

    def _managed(self, who: Caller, project: str) -> Project:
        there = self._visible(who, project)
        self._check_manager(who, there)
        return there

    def _check_manager(self, who: Caller, project: Project) -> None:
        if not who.is_admin and project.created_by != who.account.id:
            raise ForbiddenError("this is for the project's maker and for admins")


def _check_pool(who: Caller) -> None:
    if not who.is_admin:
        raise ForbiddenError("a project's pool is switched by admins only", needs="admin")


def _outcome(project: str) -> dict[str, Any]:
    return {"kind": "project", "id": project}


def _deleted(project: str) -> Shown:
    return {"deleted": {"project": project}}
