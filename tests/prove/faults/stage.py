"""The whole service on its stores: asked over HTTP, worked in the background, started again after a kill."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from chalicelib import bootstrap
from chalicelib.bootstrap import Parts, build
from chalicelib.domain.memory import Memory
from chalicelib.domain.scope import Scope, Space
from chalicelib.errors import SearchIndexError, StoreError
from chalicelib.jobs import schedules
from chalicelib.ports import Embedder
from chalicelib.providers.scripted import ScriptedEmbedder
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.search import text
from chalicelib.search.embedded.index import EmbeddedIndex
from chalicelib.services.memory.project import pages, pass_scope
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.accounts import SqliteAccountStore
from chalicelib.stores.sqlite.inbox import SqliteInboxStore
from chalicelib.stores.sqlite.inspection import SqliteStorage
from chalicelib.stores.sqlite.memories import SqliteMemoryStore
from chalicelib.stores.sqlite.outbox import Outbox
from infra.local.loops import queue_turn, stream_turn
from tests.fakes.client import Client
from tests.fakes.world import World
from tests.prove.faults.engines import failing_transactions
from tests.prove.faults.injector import Attempt, Injector, KilledError

ISSUER = "https://people.example"
SETTINGS = Settings(
    oidc_issuer=ISSUER,
    oidc_audience="palimpsest",
    oidc_jwks_url=f"{ISSUER}/keys",
    oidc_create_accounts=True,
)
TOKEN = "oidc-"
QUIET_ROUNDS = 20

Plant = Callable[[Parts], Parts]


class Tokens:
    """`ports.TokenVerifier` of a provider whose tokens say who their owner is."""

    def claims(self, token: str, _now: object) -> Mapping[str, object] | None:
        subject = token.removeprefix(TOKEN)
        return {"sub": subject, "name": subject} if token != subject else None


class Stage:
    """One installation. `plant` puts a mistake of ours in front of the parts; `file`: on disk, else in memory."""

    watched: frozenset[str] = frozenset()
    """Parts that fail only inside their engine."""
    often: frozenset[str] = frozenset()
    """Steps that are to come more often than by chance, for what only they call."""

    def __init__(
        self, injector: Injector, plant: Plant = lambda parts: parts, file: Path | None = None
    ) -> None:
        self.injector = injector
        self._plant = plant
        self._file = file
        self.world = World(admin=True, file=file)
        self._embedders = (ScriptedEmbedder(), ScriptedEmbedder(name="later"))
        self._embedder: Embedder = self._embedders[0]
        self.starts = 0
        self.restart()
        self._give_accounts()
        self.client = Client(self.world)

    def _give_accounts(self) -> None:
        """For stores that the world did not set up."""

    def restart(self) -> None:
        """Start again on what the stores keep: nothing that was in memory is left."""
        world = self.world
        self.starts += 1
        if self._file is not None:
            world.database.close()
            world.database = Database(self._file)
        self.truth = self._adapters()
        write = failing_transactions(partial(Database.write, world.database), self.injector)
        world.database.write = write  # type: ignore[method-assign]
        world.outbox = Outbox(world.database, clock=world.clock)
        self.queue: SqliteQueue = self.truth.queue  # type: ignore[assignment]
        self.queue.reclaim()
        world.parts = self._plant(self.injector.around(self.truth, self.watched))
        world.services = build(SETTINGS, world.parts, world.clock)
        bootstrap.use(world.services)

    def _adapters(self) -> Parts:
        database, clock = self.world.database, self.world.clock
        return Parts(
            memories=SqliteMemoryStore(database, clock=clock),
            accounts=SqliteAccountStore(database),
            inbox=SqliteInboxStore(database),
            index=EmbeddedIndex(database, text),
            analyzer=text,
            embedder=self._embedder,
            queue=SqliteQueue(database, clock=clock),
            storage=SqliteStorage(database),
            tokens=Tokens(),
        )

    def close(self) -> None:
        """Let go of the stores."""
        self.world.database.close()

    def change_model(self) -> None:
        """Go on with the other embedding model, as after a change of settings."""
        self._embedder = self._embedders[self._embedder is self._embedders[0]]
        self.restart()

    def scope(self, space: Space) -> Scope:
        """For looking at the truth."""
        return pass_scope(space, "witness")

    def memories(self, space: Space) -> Iterator[Memory]:
        """All memories of a space, as the table has them."""
        for page in pages(self.truth.memories, self.scope(space)):
            yield from page

    def findable(self, _memory: Memory) -> bool:
        """Whether a search must find it by its words."""
        return True

    # -------------------------------------------------------------- the background

    def work(self, turn: Callable[[], object], faults: int = 2) -> tuple[bool, Attempt]:
        """Do something in the background as its loop would, with faults; whether it ended by itself."""
        with self.injector.armed(faults) as attempt:
            try:
                turn()
                return True, attempt
            except (StoreError, SearchIndexError):
                return False, attempt
            except KilledError:
                pass
        self.restart()
        return False, attempt

    def stream(self) -> bool:
        """Hand the stream what waits for the index; whether there was any."""
        return stream_turn(self.world.outbox, self.world.clock)

    def work_off(self) -> bool:
        """Hand on one message of the queue; whether there was one."""
        return queue_turn(self.queue)

    def reconcile(self) -> None:
        """What the clock does: compare all; build the index anew if there is none."""
        schedules.reconcile({"whole": True}, None)

    def quiet(self) -> None:
        """All that happens by itself when nothing fails any more, and nobody asks."""
        for _ in range(QUIET_ROUNDS):
            self.world.later(minutes=6)
            self.world.outbox.retry_now()
            while self.stream():
                pass
            schedules.sweep({"all": True}, None)
            while self.work_off():
                pass
            if not self.world.outbox.pending(1) and not self.queue.waiting():
                return

    def ready(self) -> bool:
        """Whether there is an index; when it was lost, the clock builds one."""
        return self.truth.index.ready()

    def everything(self) -> str:
        """All that is stored anywhere, as text."""
        return "\n".join(self.world.database_dump())
