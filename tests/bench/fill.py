"""Many memories in a data folder, by the product's own use cases but without HTTP and without the time of embedding.

The service makes the folder (owner, first category); then `Remember` stores the texts, and the stream's function
tells the index, as in a running service. Only one thing is left out: new texts are not compared with those before
them for similar ones, which takes most of the time and leaves no trace in what is stored.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from chalicelib.bootstrap import Services, build, parts_of, use, utc_now
from chalicelib.domain.account_drafts import NewProject
from chalicelib.domain.drafts import NewMemory
from chalicelib.domain.projection import IndexEntry
from chalicelib.domain.recall_limits import Thresholds
from chalicelib.domain.scope import Right, Scope
from chalicelib.services.accounts.access import Caller
from chalicelib.services.idempotency import Request
from chalicelib.services.memory.similar import Alike, Similar
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.outbox import Outbox
from infra.local.loops import stream_turn
from tests.bench.corpus import Corpus
from tests.bench.instant import InstantEmbedder
from tests.bench.served import served

AT_ONCE = 512


@dataclass(frozen=True)
class Speed:
    """How fast a fill was: memories a second that the table took, and that the index took."""

    stored: float
    indexed: float


@dataclass(frozen=True)
class _Unlike(Similar):
    """Finds nothing alike."""

    def find(
        self, scope: Scope, entries: Sequence[IndexEntry], thresholds: Thresholds, *, by_meaning: bool
    ) -> tuple[list[list[Alike]], str | None]:
        return [[] for _ in entries], None


class Filling:
    """A data folder that is open for filling."""

    def __init__(self, services: Services, outbox: Outbox) -> None:
        self._services = services
        self._outbox = outbox
        owner = services.parts.accounts.accounts(after=None, limit=1).items[0]
        self._owner = Caller(
            account=owner,
            scopes=frozenset({"read", "write", "admin"}),
            acts_as="person",
            key=None,
            place="cli",
        )

    def fill(self, space: str, corpus: Corpus, count: int, *, start: int = 0) -> Speed:
        """Add `count` memories to the space of this name (`personal`, `project:<id>`)."""
        scope = self._services.access.open_space(self._owner, space, Right.WRITE)
        stored = indexed = 0.0
        drafts = [NewMemory.model_validate(draft) for draft in corpus.drafts(count, start=start)]
        for begin in range(0, count, AT_ONCE):
            began = time.perf_counter()
            self._services.remember.add_many(scope, drafts[begin : begin + AT_ONCE], self._request())
            middle = time.perf_counter()
            self._tell_index()
            stored, indexed = stored + middle - began, indexed + time.perf_counter() - middle
        return Speed(count / stored, count / indexed)

    def pool(self, name: str) -> str:
        """The name of a new space."""
        made = self._services.projects.create(self._owner, NewProject(name=name, pool=True), self._request())
        return f"project:{made['project']['id']}"

    def _request(self) -> Request:
        return Request(owner=self._owner.account.id, key=None, hash="", now=utc_now())

    def _tell_index(self) -> None:
        while self._outbox.next_try() is not None:
            stream_turn(self._outbox, utc_now)


@contextmanager
def filling(folder: Path, environment: Mapping[str, str]) -> Iterator[Filling]:
    """The folder of a service (`served(folder=…)`), open for filling while that does not run; made if it is new."""
    if not (folder / "data").exists():
        with served(environment, folder=folder, module="tests.bench.instant"):
            pass
    settings = Settings.from_environment({**environment, "PALIMPSEST_DATA": str(folder / "data")})
    database = Database(folder / "data" / "palimpsest.sqlite")
    try:
        parts = replace(parts_of(settings, database), embedder=InstantEmbedder())
        services = build(settings, parts)
        unlike = _Unlike(**vars(services.remember.similar))
        services = replace(services, remember=replace(services.remember, similar=unlike))
        use(services)
        yield Filling(services, Outbox(database, clock=utc_now))
    finally:
        database.close()
