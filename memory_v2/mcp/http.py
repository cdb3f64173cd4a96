"""Serving over HTTP: on this machine only, unless there is a token."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from memory_v2.errors import InvalidSetting
from memory_v2.mcp.options import TOKEN
from memory_v2.mcp.server import MemoryServer
from memory_v2.serving import collect_often, listen

PATH = "/mcp"
LEAST_TOKEN = 16
"""Characters of the shortest token: with fewer it could be guessed."""
STOPPING_SECONDS = 3
"""How long a server that is stopped waits for its clients, in seconds: their streams do not end by themselves."""

REQUEST_SECONDS = 30.0
"""How long a client may take to send a request, headers and body, in seconds: a slow one would keep its connection for
ever."""


class _Connection(H11Protocol):
    """Closes the connection of a client that does not send its request in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the base
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._watch()

    def _watch(self) -> None:
        cycle: RequestResponseCycle | None = self.cycle
        is_incomplete = cycle is None or cycle.more_body or cycle.response_complete
        if self._deadline is not None and (not is_incomplete or self.transport.is_closing()):
            self._deadline.cancel()
            self._deadline = None
        elif self._deadline is None and is_incomplete and not self.transport.is_closing():
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)


def check_access(host: str, token: str) -> None:
    """Raises `InvalidSetting` if others could reach the server without a token, or with one that is easy to guess."""
    if token and not (token.isascii() and token.isprintable() and " " not in token and len(token) >= LEAST_TOKEN):
        raise InvalidSetting(f"{TOKEN} must be at least {LEAST_TOKEN} ASCII characters, without blanks")
    if not token and not is_loopback(host):
        raise InvalidSetting(
            f"serving on {host} lets other machines reach the memory: set {TOKEN} to a long random string, "
            "which clients send as 'Authorization: Bearer …'"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def serve(
    served: MemoryServer,
    *,
    host: str,
    port: int,
    token: str,
    origins: Sequence[str],
    on_address: Callable[[str], object],
) -> None:
    """Serves until the process is told to stop. `on_address` gets the address as soon as clients can connect. Raises
    `InvalidSetting` for an address that others can reach without a token."""
    check_access(host, token)
    with listen(host, port) as listening:
        at = listening.getsockname()[1]
        on_address(f"http://{f'[{host}]' if ':' in host else host}:{at}{PATH}")
        config = uvicorn.Config(
            guarded_app(served.server(), host, token, origins),
            http=_Connection,
            log_level="warning",
            timeout_graceful_shutdown=STOPPING_SECONDS,
            lifespan="on",
        )
        collect_often()
        uvicorn.Server(config).run(sockets=[listening])


def guarded_app(server: Server[None], host: str, token: str, origins: Sequence[str]) -> ASGIApp:
    """The application, behind its guard. On this machine only local names are answered, so that no web page can reach
    the server by a name that its owner points here."""
    local = ["127.0.0.1:*", "localhost:*", "[::1]:*"]
    hosts = [*local, *(name.removesuffix(":*") for name in local), f"{host}:*"]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=is_loopback(host),
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{name}" for scheme in ("http", "https") for name in hosts] + list(origins),
    )
    app = server.streamable_http_app(streamable_http_path=PATH, host=host, transport_security=security)
    return _guarded(app, token, origins)


def _guarded(app: ASGIApp, token: str, origins: Sequence[str]) -> ASGIApp:
    """Refuses requests without the token, and those that a web page of another origin makes."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        headers = dict(scope["headers"])
        if refusal := _refusal(headers, token, origins):
            status, words, more = refusal
            head = [(b"content-type", b"text/plain; charset=utf-8"), *more]
            await send({"type": "http.response.start", "status": status, "headers": head})
            return await send({"type": "http.response.body", "body": words.encode()})
        return await app(scope, receive, send)

    return guard


def _refusal(
    headers: dict[bytes, bytes], token: str, origins: Sequence[str]
) -> tuple[int, str, list[tuple[bytes, bytes]]] | None:
    """The status, the words and the headers with which a request is refused; `None` if it is not."""
    origin = headers.get(b"origin", b"").decode("latin-1")
    if origin and origin not in origins and not is_loopback(_host_of(origin)):
        return 403, f"requests from pages of {origin[:100]} are refused; --origin allows them\n", []
    kind, _, given = headers.get(b"authorization", b"").partition(b" ")
    if token and not (kind.lower() == b"bearer" and hmac.compare_digest(given.strip(), token.encode())):
        return 401, "send the token of this server as 'Authorization: Bearer …'\n", [(b"www-authenticate", b"Bearer")]
    return None


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""
