"""Serving the page on this machine, with the standard library."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from urllib.parse import unquote, urlsplit

from memory_v2.errors import InvalidSetting, SilicaError
from memory_v2.serving import collect_often
from memory_v2.view.app import answer, headers_of, static
from memory_v2.view.gate import Gate, form_secret, refusal
from memory_v2.view.live import GREETING, LOOK_SECONDS, Changes
from memory_v2.view.visit import Subject, Visit
from memory_v2.view.web import Request, Response, fields

HOST = "127.0.0.1"
DEFAULT_PORT = 7337
REQUEST_SECONDS = 30.0
"""How long a browser may take to send a request, in seconds."""
MOST_BYTES = 8_000_000
"""Bytes of a form: a page of 1 MB in any script takes three bytes for each."""
MOST_STREAMS = 64
"""Streams of events at a time: a browser opens one for each tab."""

logger = logging.getLogger(__name__)


class PageServer(ThreadingHTTPServer):
    """Serves a subject to whoever has the link. Each request has a thread, as the memory is synchronous."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, subject: Subject, port: int) -> None:
        """Listens on a port of this machine; 0 is any free one. Raises `InvalidSetting`."""
        self.subject = subject
        self.is_over = threading.Event()
        self._watching = threading.Lock()
        self.streams = threading.BoundedSemaphore(MOST_STREAMS)
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InvalidSetting(f"cannot listen on {HOST}, port {port}: {reason}; choose another --port") from error
        self.gate = Gate(self.server_address[1])

    def server_bind(self) -> None:
        """Binds without asking the network for this machine's name."""
        TCPServer.server_bind(self)

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_address[1]}"

    @property
    def link(self) -> str:
        """The link that opens the page, once."""
        return f"{self.address}/?token={self.gate.token}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that leaves in the middle is no news."""
        logger.debug("a connection broke", exc_info=True)

    def respond(self, request: Request) -> Response:
        """The answer to a request."""
        admitted = self.gate.admit(request)
        if isinstance(admitted, Response):
            return admitted
        if (kept := static(request)) is not None:
            return kept
        if request.path == "/live":
            return self._live()
        return answer(Visit(request, self.subject, secret=form_secret(admitted)))

    def _live(self) -> Response:
        def events() -> Iterator[bytes]:
            if not self.streams.acquire(blocking=False):
                return  # the browser asks again later
            try:
                changes = Changes(self.subject.memory)
                yield GREETING
                while not self.is_over.is_set():
                    self._wait()
                    if news := changes.look():
                        yield news
            finally:
                self.streams.release()

        return Response(events(), kind="text/event-stream")

    def _wait(self) -> None:
        """Meanwhile, somebody has the page open: edits by hand are looked for, so that no view waits for that."""
        self.is_over.wait(LOOK_SECONDS)
        with self._watching, suppress(SilicaError):  # whoever opens a view learns why
            if not self.is_over.is_set():
                self.subject.memory.watch()

    def stop(self) -> None:
        """Ends the streams and the server."""
        self.is_over.set()
        with self._watching:  # the memory is closed next
            self.shutdown()


class _Handler(BaseHTTPRequestHandler):
    """Turns what comes over the wire into a request, and an answer into bytes."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_SECONDS
    disable_nagle_algorithm = True  # else the second of two small packets waits 40 ms for the first
    server_version, sys_version = "silica", ""

    def do_GET(self) -> None:
        """Answers GET."""
        self._respond({})

    do_HEAD = do_GET  # noqa: N815 - as the library calls it

    def do_POST(self) -> None:
        """Answers a form."""
        length = self.headers.get("content-length", "")
        kind = self.headers.get("content-type", "").partition(";")[0].strip()
        if not length.isdecimal() or int(length) > MOST_BYTES or kind != "application/x-www-form-urlencoded":
            self.close_connection = True
            self._send(refusal("This form cannot be read", f"It may have {MOST_BYTES:,} bytes at most.", 413))
            return
        try:
            form = fields(self.rfile.read(int(length)).decode("ascii"))
        except ValueError:
            self._send(refusal("This form cannot be read", "Load the page again and repeat it.", 400))
            return
        self._respond(form)

    def _respond(self, form: dict[str, str]) -> None:
        try:
            parts = urlsplit(self.path)
            path, query = unquote(parts.path, errors="surrogateescape"), fields(parts.query)
        except ValueError:
            self._send(refusal("This address cannot be read", "Open the address that the terminal shows.", 400))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.server.respond(Request(self.command, path, query, form, headers)))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in headers_of(response):
            self.send_header(name, value)
        if isinstance(response.body, bytes):
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(response.body)
            return
        self.close_connection = True
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for part in response.body:
                self.wfile.write(part)
        except OSError:  # the browser has left
            pass
        finally:
            if close := getattr(response.body, "close", None):
                close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the library calls it
        """A page in use does not talk to the terminal."""


def serve(subject: Subject, port: int, on_start: Callable[[str, str], None]) -> None:
    """Serves until Ctrl-C. `on_start` is given the address and the link as soon as browsers can connect. Raises
    `InvalidSetting`."""
    with PageServer(subject, port) as server:
        on_start(server.address, server.link)
        threading.Thread(target=subject.warm, daemon=True).start()
        collect_often()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            logger.debug("stopped")
        finally:
            server.is_over.set()
