"""A door in front of a server: what passes through it can be stopped, as an outage stops it."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Passes bytes on between `port` and a server. Frozen, it takes connections and answers nothing; shut, it refuses
    and ends them."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._open = threading.Event()
        self._open.set()
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._serve()

    def freeze(self) -> None:
        """From now on nothing passes."""
        self._open.clear()

    def shut(self) -> None:
        """From now on there is no server."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for pair in self._pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
        self._pairs.clear()

    def reopen(self) -> None:
        """The server is there again."""
        self._open.set()
        if self._listening.fileno() < 0:
            self._listening = socket.create_server(("127.0.0.1", self.port))
            self._serve()

    def _serve(self) -> None:
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(self._server)
                self._pairs.append((client, server))
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError), source, target:
            while data := source.recv(65_536):
                self._open.wait()
                target.sendall(data)


@contextmanager
def gate(host: str, port: int) -> Iterator[Gate]:
    """A gate before a server, shut at the end."""
    made = Gate(host, port)
    try:
        yield made
    finally:
        made.reopen()
        made.shut()
