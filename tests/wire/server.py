"""A provider on this machine: Anthropic's Messages, OpenAI's chat completions and responses, answered from a script.

It keeps what it was sent, and is as strict as a provider is: a request against the rules of its API is answered with
status 400, and the broken rule is noted in `complaints`.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias
from unittest.mock import patch

from .dialects import Anthropic, Body, Call, Dialect, OpenAI, Responses, Says, Turn

HOST = "127.0.0.1"
DIALECTS: tuple[Dialect, ...] = (Anthropic(), OpenAI(), Responses())
PATIENCE = 60.0
"""Seconds after which a thread of the server that does not end fails the test."""


@dataclass(frozen=True)
class Fails:
    """The provider's own error, in its format."""

    status: int
    message: str = "the provider's own words"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Sends:
    """Bytes in the place of an answer: these, or what becomes of a good one."""

    body: bytes | Callable[[bytes], bytes]
    content_type: str = "application/json"


@dataclass(frozen=True)
class Resets:
    """An answer whose connection is reset halfway through the body."""


@dataclass(frozen=True)
class Hangs:
    """No answer, for as long as the server runs."""


Answer: TypeAlias = Says | Fails | Sends | Resets | Hangs
Script: TypeAlias = "Iterable[Answer] | Callable[[Request], Answer]"


@dataclass(frozen=True)
class Request:
    """What was sent, as it came."""

    dialect: Dialect
    headers: Mapping[str, str]
    data: bytes

    @cached_property
    def body(self) -> Body:
        """The request as plain data."""
        body: Body = json.loads(self.data)
        return body

    @property
    def key(self) -> str | None:
        """The key it came with."""
        return self.dialect.key(self.headers)

    @property
    def system(self) -> str:
        """The system's words."""
        return self.dialect.system(self.body)

    @property
    def tools(self) -> list[tuple[str, str, Body]]:
        """Name, description and schema of each tool."""
        return self.dialect.tools(self.body)

    @property
    def turns(self) -> list[Turn]:
        """The conversation."""
        return list(self.dialect.turns(self.body))


@dataclass
class Provider:
    """The server as a test sees it: `script` is what it answers, `requests` what it heard."""

    url: str
    script: Script = ()
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: Iterator[Answer] | None = None

    def next(self, request: Request) -> Answer:
        """What is answered to a request: a broken rule, else what the script says."""
        with self._lock:
            self.requests.append(request)
            broken = list(request.dialect.rules(request.body))
            self.complaints += broken
            if broken:
                return Fails(400, broken[0])
            if callable(self.script):
                return self.script(request)
            self._answers = iter(self.script) if self._answers is None else self._answers
            answer = next(self._answers, None)
            if answer is None:
                self.complaints.append("the script has no further answer")
            return answer or Fails(400, self.complaints[-1])


@contextmanager
def serving() -> Iterator[Provider]:
    """A provider for as long as the context lasts. At its end no thread of it is left, and it must have been asked only
    for what its API takes."""
    with patch.dict(os.environ, no_proxy=HOST, NO_PROXY=HOST), _Server((HOST, 0), _Handler) as server:
        server.provider = Provider(f"http://{HOST}:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="provider")
        thread.start()
        try:
            yield server.provider
        finally:
            server.provider.stopped.set()
            server.shutdown()
            thread.join(PATIENCE)
    assert not any(one.is_alive() for one in (thread, *server.handling)), "a thread of the provider is left"
    assert not server.provider.complaints, "; ".join(server.provider.complaints)


class _Server(ThreadingHTTPServer):
    """Its threads are daemons, so that one which hangs hangs nothing else; `server_close` waits for them a while."""

    provider: Provider
    daemon_threads = True

    def __init__(self, *args: Any) -> None:
        self.handling: list[threading.Thread] = []
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self.handling.append(thread)
        thread.start()

    def server_close(self) -> None:
        super().server_close()
        for thread in self.handling:
            thread.join(PATIENCE)


class _Handler(BaseHTTPRequestHandler):
    """One request and its answer; the connection is closed behind it."""

    server: _Server

    def do_POST(self) -> None:
        dialect = next((one for one in DIALECTS if one.path == self.path.partition("?")[0]), None)
        data = self.rfile.read(int(self.headers["content-length"]))
        if dialect is None:
            self.server.provider.complaints.append(f"nothing is spoken at {self.path}")
            return self._send(404, b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.provider.next(Request(dialect, headers, data))
        match answer:
            case Says():
                self._send(200, _json(dialect.answer(answer)))
            case Fails(status, message, more):
                self._send(status, _json(dialect.refusal(status, message)), headers=more)
            case Sends(body, content_type):
                good = _json(dialect.answer(Says(calls=[Call("nothing", {"here": "to see"})])))
                self._send(200, body(good) if callable(body) else body, content_type)
            case Resets():
                self._reset(_json(dialect.answer(Says("a good answer " * 100))))
            case Hangs():
                self.server.provider.stopped.wait()
        return None

    def _send(
        self,
        status: int,
        body: bytes,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        with suppress(ConnectionError):  # whoever asked may have gone
            self._head(status, len(body), content_type, headers or {})
            self.wfile.write(body)

    def _reset(self, body: bytes) -> None:
        self._head(200, len(body), "application/json", {})
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def _head(self, status: int, length: int, content_type: str, headers: Mapping[str, str]) -> None:
        self.send_response(status, "status")  # 529 has no name of its own
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the standard library's
        """Nothing is printed."""


def _json(body: Body) -> bytes:
    return json.dumps(body).encode()
