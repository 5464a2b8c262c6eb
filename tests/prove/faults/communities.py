"""Programs over communities and the teams that own them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tests.prove.faults.register import Place

if TYPE_CHECKING:
    from tests.prove.faults.people import People


class Communities:
    """An admin's use cases, each by chance."""

    def __init__(self, people: People) -> None:
        self._people = people
        self.steps: Sequence[tuple[int, Callable[[], None]]] = (
            (2, self.community), (2, self.edit_community), (3, self.team), (2, self.edit_team), (1, self.leave_team),
            (1, self.delete_community),
        )  # fmt: skip

    def community(self) -> None:
        """A server becomes known."""
        identifier = f"{self._people.number()}"
        body = {"platform": "discord", "id": identifier, "name": self._people.name("Den")}
        place = ("community", "discord", identifier)
        self._people.deed(
            "POST", "/v1/communities", body, "community.create", place=place, answer="community"
        )

    def edit_community(self) -> None:
        """Another name."""
        if place := self._people.one("community"):
            body = {
                "name": self._people.name("Den"),
                "version": self._people.register.known[place]["version"],
            }
            path = f"/v1/communities/{place[1]}/{place[2]}"
            self._people.deed("PATCH", path, body, "community.edit", place=place, answer="community")

    def team(self) -> None:
        """One more on the team."""
        community, account = self._people.one("community"), self._people.one("account")
        if community and account and ("team", *community[1:], account[1]) not in self._people.register.known:
            path = f"/v1/communities/{community[1]}/{community[2]}/team"
            self._of_team("POST", path, {"account": account[1]}, "community.team.add", community, account[1])

    def edit_team(self) -> None:
        """May change things, or not."""
        if place := self._people.one("team"):
            body = {"configure": not self._people.register.known[place]["configure"]}
            path = f"/v1/communities/{place[1]}/{place[2]}/team/{place[3]}"
            self._of_team("PATCH", path, body, "community.team.edit", ("community", *place[1:3]), place[3])

    def leave_team(self) -> None:
        """Off the team."""
        if place := self._people.one("team"):
            path = f"/v1/communities/{place[1]}/{place[2]}/team/{place[3]}"
            self._of_team("DELETE", path, None, "community.team.remove", ("community", *place[1:3]), place[3])

    def _of_team(self, method: str, path: str, body: Any, deed: str, community: Place, account: str) -> None:
        place = ("team", *community[1:], account)
        answer = None if method == "DELETE" else "member"
        self._people.deed(
            method, path, body, deed, place=place, answer=answer, target=":".join(community), also=[community]
        )

    def delete_community(self) -> None:
        """With its team."""
        if place := self._people.one("community"):
            team = [at for at in self._people.some("team") if at[1:3] == place[1:]]
            self._people.deed(
                "DELETE",
                f"/v1/communities/{place[1]}/{place[2]}",
                None,
                "community.delete",
                place=place,
                also=team,
            )
