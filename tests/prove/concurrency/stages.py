"""A service over one of the stores, and many threads that ask it at once, as its front on a laptop does."""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from chalicelib import bootstrap
from chalicelib.bootstrap import Parts
from tests import shared_services
from tests.contracts.stores.dynamodb_stores import ministack_stores, moto_stores
from tests.fakes.client import Client
from tests.fakes.world import World

STORES = ("sqlite", "moto", "ministack")
JOIN_S = 1_800.0

Change = Callable[[Parts], Parts]
"""Puts another adapter in the place of one: a broken one, to see that it is found."""


def _as_it_is(parts: Parts) -> Parts:
    return parts


@contextmanager
def stage(store: str, *, change: Change = _as_it_is, url: str = "", admin: bool = False) -> Iterator[Client]:
    """A service over `store`, and its HTTP front. `url`: of MiniStack, which is started here if none is given."""
    before = bootstrap._services
    with ExitStack() as stack:
        stack.callback(setattr, bootstrap, "_services", before)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="palimpsest-prove-")))
        replaced = change if store == "sqlite" else _on_dynamodb(stack, store, url, change)
        world = World(admin=admin, embedder=None, replace=replaced, file=folder / "palimpsest.sqlite")
        stack.callback(world.database.close)
        yield Client(world)


def _on_dynamodb(stack: ExitStack, store: str, url: str, change: Change) -> Change:
    if store == "moto":
        opened = stack.enter_context(moto_stores())
    else:
        opened = stack.enter_context(ministack_stores(url or _ministack(stack)))
    memories, accounts, inbox = opened
    return lambda parts: change(replace(parts, memories=memories, accounts=accounts, inbox=inbox))


def _ministack(stack: ExitStack) -> str:
    folder = shared_services.begin_run()
    stack.callback(shared_services.end_run, folder)
    return shared_services.ministack(folder)


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Let so many threads do it, all from the same moment on. Raises the first error of any."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(place: int) -> None:
        try:
            start.wait()
            work(place)
        except BaseException as error:  # noqa: BLE001 - told by the thread that waits for all
            errors.append(error)

    threads = [threading.Thread(target=run, args=[place], daemon=True) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_S)
    if errors:
        raise errors[0]
    if any(thread.is_alive() for thread in threads):
        raise TimeoutError("some never came to an end")
