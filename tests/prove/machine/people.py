"""Who acts in the programs: two people, each with a second key that may do less. `anna` is an admin."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

ALL = frozenset({"read", "write", "configure"})


class Caller(NamedTuple):
    """A key: whose it is, and what it may do where that person may do everything."""

    account: str
    admin: bool = False
    model: bool = False
    may: frozenset[str] = ALL

    @property
    def name(self) -> str:
        """Under which its changes are recorded."""
        return f"{'model' if self.model else 'person'} {self.account}"


CALLERS = {
    "anna": Caller("anna", admin=True),
    "bert": Caller("bert"),
    "robot": Caller("anna", model=True),
    "reader": Caller("bert", may=frozenset({"read"})),
}
"""By the name of the key. `robot` acts as a model for anna; `reader` may only read what bert may."""

SPACES = ("anna", "bert", "pool", "community")
PROJECT = "rocket"
ADDRESSES = {"pool": f"project:{PROJECT}", "community": "community:discord:1001"}
NOWHERE = {"pool": "project:nothing", "community": "community:discord:9"}
"""How HTTP addresses the shared spaces, and such as are not there; one's own is `personal` for each person."""


def address(space: str) -> str:
    """How HTTP addresses the space for one who may use it."""
    return ADDRESSES.get(space, "personal")


@dataclass
class Moment:
    """What time it is, and who belongs where: members of the project, the team (who on it may configure)."""

    now: datetime
    pool: bool = True
    members: set[str] = field(default_factory=lambda: {"anna", "bert"})
    team: dict[str, bool] = field(default_factory=lambda: {"anna": True, "bert": False})
