"""Who may do what, and where. The only place that makes the scope of a caller (M24).

                               READ  WRITE  CONFIGURE
    personal, its own account   yes   yes    yes                     nobody else, no admin either (M6)
    pool, member                yes   yes    admins that are people  only while the pool is on
    pool, admin not a member    -     -      yes                     orders its categories, reads no memory
    community, on the team      yes   -      -
      ... with `configure`      yes   yes    people                  (C6)
    everything else             not found: a caller may not learn that it exists

A key narrows this by its scopes: READ needs `read`, WRITE and CONFIGURE need `write`. An admin is one only with the
scope `admin`, and never while acting as a model. A missing identity refuses; there is no default.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from chalicelib.domain.account_drafts import Platform
from chalicelib.domain.accounts import Account, Community, KeyScope, Member, Project, TeamMember
from chalicelib.domain.ids import Id, is_id
from chalicelib.domain.scope import Actor, Place, Right, Scope, Space, SpaceKind
from chalicelib.errors import ForbiddenError, InvalidError, NotFoundError, UnauthenticatedError
from chalicelib.ports import AccountStore

_PLATFORMS: frozenset[str] = frozenset(get_args(Platform))
_NOBODY: frozenset[Right] = frozenset()


class Caller(BaseModel):
    """Who asks, as its credential says it; made by `sign_in`. Nothing here has a default that lets anyone in."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    account: Account
    scopes: frozenset[KeyScope]
    acts_as: Literal["person", "model"]
    key: Id | None
    """The API key it came with; None for a token of the OIDC provider."""
    place: Place

    @property
    def actor(self) -> Actor:
        """Who its changes are recorded as: the account, as itself or through a model."""
        return Actor(kind=self.acts_as, id=self.account.id)

    @property
    def is_admin(self) -> bool:
        """Whether it may do what admins do."""
        return self.account.admin and "admin" in self.scopes and self.acts_as == "person"


@dataclass(frozen=True)
class OpenSpace:
    """A space that the caller may use, and what people call it."""

    scope: Scope
    title: str


def known(caller: Caller | None) -> Caller:
    """The caller itself. Raises UnauthenticatedError for anything that is not a caller with an enabled account
    (CASES: moorcheh-ai/memanto PR#1873; CortexReach/memory-lancedb-pro#10)."""
    account = getattr(caller, "account", None)
    if not isinstance(caller, Caller) or not isinstance(account, Account):
        raise UnauthenticatedError("nobody is signed in")
    if account.disabled or not is_id(account.id):
        raise UnauthenticatedError("this account cannot be used")
    return caller


def administrator(caller: Caller | None) -> Caller:
    """The caller, an admin with the scope `admin`. Raises ForbiddenError."""
    who = known(caller)
    if not who.is_admin:
        raise ForbiddenError("this is for admins, with a key that has the scope admin", needs="admin")
    return who


def person(caller: Caller | None) -> Caller:
    """The caller, a person who may write. Raises ForbiddenError for keys that only read, and for models: what a
    model read opens no doors to accounts, keys, projects and settings."""
    who = known(caller)
    if who.acts_as != "person":
        raise ForbiddenError(
            "a model's key cannot change accounts, keys, projects or settings", needs="person"
        )
    if "write" not in who.scopes:
        raise ForbiddenError("this key lacks the scope write", needs="write")
    return who


def space_named(name: object, account: str) -> Space:
    """The space that `name` addresses for `account`: `personal`, `project:<id>`, `community:<platform>:<id>`.
    Raises InvalidError naming `space` for anything else."""
    match name.split(":") if isinstance(name, str) else []:
        case ["personal"]:
            return Space.personal(account)
        case ["project", project] if is_id(project):
            return Space.pool(project)
        case ["community", platform, community] if platform in _PLATFORMS and is_id(community):
            return Space.community(platform, community)
    raise InvalidError(
        "space", "is one of personal, project:<id>, community:discord:<id>, community:telegram:<id>"
    )


@dataclass(frozen=True)
class Access:
    """Opens spaces. Memberships are read anew each time, so a removed member is out at once."""

    accounts: AccountStore

    def open_space(self, caller: Caller | None, name: str, right: Right, project: str | None = None) -> Scope:
        """The scope of `caller` in the space `name`, with all rights that it has there.

        `project`: the project in which the caller works; it must be a member (M9).
        Raises UnauthenticatedError, InvalidError (`space`, `project`), NotFoundError (does not exist, or is not for
        this caller to know of), ForbiddenError (may use the space, but not hold `right` in it).
        """
        who = known(caller)
        space = space_named(name, who.account.id)
        allowed = self._allowed(who, space)
        if not allowed:
            raise NotFoundError("there is no such space")
        rights = allowed & _granted(who)
        if right not in rights:
            raise _refusal(right, by_key=right in allowed)
        return _scope(who, space, rights, self._project(who, space, project))

    def openable(self, caller: Caller | None) -> list[OpenSpace]:
        """All spaces in which the caller may do something: its own first, then pools and communities by title."""
        who = known(caller)
        own = [(Space.personal(who.account.id), who.account.name)]
        open_spaces = []
        for space, title in (
            own + sorted(self._pools(who), key=_by_title) + sorted(self._teams(who), key=_by_title)
        ):
            rights = self._allowed(who, space) & _granted(who)
            if rights:
                open_spaces.append(OpenSpace(_scope(who, space, rights, None), title))
        return open_spaces

    def _pools(self, who: Caller) -> list[tuple[Space, str]]:
        memberships = self.accounts.memberships(who.account.id)
        projects = [self.accounts.project(membership.project) for membership in memberships]
        return [(Space.pool(project.id), project.name) for project in projects if project is not None]

    def _teams(self, who: Caller) -> list[tuple[Space, str]]:
        teams = self.accounts.teams_of(who.account.id)
        communities = [self.accounts.community(team.platform, team.community) for team in teams]
        return [(Space.community(one.platform, one.id), one.name) for one in communities if one is not None]

    def _allowed(self, who: Caller, space: Space) -> frozenset[Right]:
        """What the account may do in this space, whatever its key says."""
        if space.kind is SpaceKind.PERSONAL:
            return frozenset(Right)
        if space.kind is SpaceKind.PROJECT:
            project = self.accounts.project(space.id)
            return _in_pool(who, project, self.accounts.member(space.id, who.account.id))
        platform = space.platform or ""
        community = self.accounts.community(platform, space.id)
        return _in_community(who, community, self.accounts.team_member(platform, space.id, who.account.id))

    def _project(self, who: Caller, space: Space, project: str | None) -> str | None:
        if project is None:
            return None
        if not is_id(project):
            raise InvalidError("project", "is the id of a project")
        if space.kind is SpaceKind.PROJECT and project != space.id:
            raise InvalidError("project", "a pool is used inside its own project")
        if self.accounts.member(project, who.account.id) is None or self.accounts.project(project) is None:
            raise NotFoundError("there is no such project")
        return project


def _in_pool(who: Caller, project: Project | None, member: Member | None) -> frozenset[Right]:
    if project is None or not project.pool:
        return _NOBODY
    rights = {Right.READ, Right.WRITE} if member is not None else set()
    return frozenset(rights | ({Right.CONFIGURE} if who.is_admin else set()))


def _in_community(who: Caller, community: Community | None, member: TeamMember | None) -> frozenset[Right]:
    if community is None or member is None:
        return _NOBODY
    if not member.configure:
        return frozenset({Right.READ})
    return frozenset(Right) if who.acts_as == "person" else frozenset({Right.READ, Right.WRITE})


def _granted(who: Caller) -> frozenset[Right]:
    reading = {Right.READ} if "read" in who.scopes else set()
    return frozenset(reading | ({Right.WRITE, Right.CONFIGURE} if "write" in who.scopes else set()))


def _refusal(right: Right, *, by_key: bool) -> ForbiddenError:
    if by_key:
        return ForbiddenError(f"this key lacks the scope to {right.value} here", right=right.value)
    return ForbiddenError(f"you may not {right.value} in this space", right=right.value)


def _scope(who: Caller, space: Space, rights: frozenset[Right], project: str | None) -> Scope:
    return Scope(actor=who.actor, space=space, rights=rights, place=who.place, project=project)


def _by_title(space: tuple[Space, str]) -> tuple[str, str]:
    return space[1].casefold(), space[0].key
