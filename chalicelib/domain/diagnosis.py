"""What may be wrong with an installation, as whoever looks after it is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Severity = Literal["fault", "warning"]
Part = Literal["table", "index", "embedder", "stream", "queue", "clock"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. `message` is one plain sentence; `fix` the command that mends it."""

    severity: Severity
    part: Part
    message: str
    fix: str


@dataclass(frozen=True, slots=True)
class TablesSeen:
    """What the tables look like from outside."""

    missing: tuple[str, ...] = ()
    """Full names of those that are not there."""
    streamless: tuple[str, ...] = ()
    """Full names of those that hand on no changes, and should."""
    clock: datetime | None = None
    """Now, as those who keep the tables say; None where this machine keeps them itself."""


@dataclass(frozen=True, slots=True)
class IndexSeen:
    """What the index looks like from outside."""

    complete: bool
    foreign: tuple[str, ...] = ()
    """Names that are ours of what is no index of ours: of another format, or made by somebody else."""
    dimensions: Mapping[str, int] = field(default_factory=dict)
    """By fingerprint of the model: how long the vectors are that the index in use holds of it."""


@dataclass(frozen=True, slots=True)
class Fixes:
    """The commands that mend an installation of this kind."""

    tables: str
    streams: str
    index: str
    engine: str
    """Where the search engine does not answer."""
    rebuild: str
    """Where the index lacks what nobody will bring it any more."""
    reindex: str
    embedder: str
    dimension: str
    """Where the embedder's vectors are not as long as its settings say; `{}` is how long they are."""
    stream: str
    queue: str
    clock: str
