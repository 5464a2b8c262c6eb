"""Projects over HTTP: the project, its members, its pool (SPEC M6)."""

from collections.abc import Mapping
from typing import Any

from chalicelib.domain.account_drafts import NewMember, NewProject, ProjectEdit
from chalicelib.domain.drafts import Versioned
from chalicelib.web import account_answers as answers
from chalicelib.web.call import Call
from chalicelib.web.memories_api import PageQuery, VersionQuery
from chalicelib.web.operations import Door

door = Door.of("projects")

PROJECTS = "/v1/projects"
PROJECT = f"{PROJECTS}/{{project}}"
MEMBERS = f"{PROJECT}/members"
POOL = f"{PROJECT}/pool"


@door.operation("GET", PROJECTS, query=PageQuery, answer=answers.Projects)
def list_projects(call: Call) -> Mapping[str, Any]:
    """The projects of which the caller is a member; all of them for an admin."""
    query = call.query(PageQuery)
    return call.services.projects.listed(call.caller, limit=query.limit, cursor=query.cursor)


@door.operation("POST", PROJECTS, status=201, body=NewProject, answer=answers.OneProject)
def create_project(call: Call) -> Mapping[str, Any]:
    """Make a project, oneself its first member. With its pool on: for admins."""
    return call.services.projects.create(call.caller, call.body(NewProject), call.write())


@door.operation("GET", PROJECT, answer=answers.OneProject)
def get_project(call: Call) -> Mapping[str, Any]:
    """One project, for its members and admins."""
    return call.services.projects.get(call.caller, call.identifier("project"))


@door.operation("PATCH", PROJECT, body=ProjectEdit, answer=answers.OneProject)
def edit_project(call: Call) -> Mapping[str, Any]:
    """Rename a project (its maker, admins), or switch its pool (admins)."""
    project = call.identifier("project")
    return call.services.projects.edit(call.caller, project, call.body(ProjectEdit), call.write())


@door.operation("DELETE", PROJECT, query=VersionQuery, answer=answers.DeletedAnswer)
def delete_project(call: Call) -> Mapping[str, Any]:
    """Delete a project (its maker, admins). What its pool holds stays stored, and nobody reaches it any more."""
    version = call.query(VersionQuery).version
    return call.services.projects.delete(
        call.caller, call.identifier("project"), call.write(), version=version
    )


@door.operation("POST", POOL, body=Versioned, answer=answers.OneProject)
def open_pool(call: Call) -> Mapping[str, Any]:
    """Switch the project's pool on, for admins (SPEC M6)."""
    draft = ProjectEdit(pool=True, version=call.body(Versioned).version)
    return call.services.projects.edit(call.caller, call.identifier("project"), draft, call.write())


@door.operation("DELETE", POOL, query=VersionQuery, answer=answers.OneProject)
def close_pool(call: Call) -> Mapping[str, Any]:
    """Switch the project's pool off, for admins. Its memories stay, and are there again when it is on."""
    draft = ProjectEdit(pool=False, version=call.query(VersionQuery).version)
    return call.services.projects.edit(call.caller, call.identifier("project"), draft, call.write())


@door.operation("GET", MEMBERS, query=PageQuery, answer=answers.Members)
def list_members(call: Call) -> Mapping[str, Any]:
    """Who has access to the project."""
    query = call.query(PageQuery)
    project = call.identifier("project")
    return call.services.projects.members(call.caller, project, limit=query.limit, cursor=query.cursor)


@door.operation("POST", MEMBERS, status=201, body=NewMember, answer=answers.OneMember)
def add_member(call: Call) -> Mapping[str, Any]:
    """Give an account access (the project's maker, admins)."""
    project = call.identifier("project")
    return call.services.projects.add_member(call.caller, project, call.body(NewMember), call.write())


@door.operation("DELETE", f"{MEMBERS}/{{account}}", answer=answers.DeletedAnswer)
def remove_member(call: Call) -> Mapping[str, Any]:
    """Take an account's access away, at once (the project's maker, admins); or leave."""
    project, account = call.identifier("project"), call.identifier("account")
    return call.services.projects.remove_member(call.caller, project, account, call.write())
