"""Servers on this machine that take what is sent, and never give a whole answer."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
DRIP_S = 0.05
BACKLOG = 0

Behaviour = Callable[[socket.socket], object]


def silent(connection: socket.socket) -> None:
    """Reads, and says nothing."""
    while connection.recv(1 << 16):
        continue


def stuck(connection: socket.socket) -> None:
    """Begins an answer, and says no more."""
    connection.recv(1 << 16)
    connection.sendall(HEADERS)
    silent(connection)


def dripping(connection: socket.socket) -> None:
    """Answers one byte at a time, without end: never silent for as long as a time-out."""
    connection.recv(1 << 16)
    connection.sendall(HEADERS)
    while True:
        time.sleep(DRIP_S)
        connection.sendall(b" ")


@contextmanager
def hole(behaviour: Behaviour) -> Iterator[str]:
    """The URL of a server that behaves so."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        open_ones: list[socket.socket] = []

        def take() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    open_ones.append(connection)
                    threading.Thread(target=_served, args=[behaviour, connection], daemon=True).start()

        threading.Thread(target=take, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            for connection in open_ones:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()


@contextmanager
def closed_gate() -> Iterator[str]:
    """The URL of a server whose queue of connections is full: nobody gets as far as being connected."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=BACKLOG))
        address = listening.getsockname()
        for _ in range(BACKLOG + 4):  # those that fill the queue; the last ones wait as our clients will
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(address)
        yield f"http://127.0.0.1:{address[1]}"


def _served(behaviour: Behaviour, connection: socket.socket) -> None:
    with suppress(OSError):
        behaviour(connection)
