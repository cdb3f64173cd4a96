"""Who is connected: told of changes while it is, and given up when it has gone."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import RequestId
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from memory_v2.mcp.changes import Changes
from memory_v2.mcp.deciding import Client
from memory_v2.mcp.open_calls import ANYBODY, OpenCalls
from memory_v2.mcp.sampling import is_offered
from memory_v2.text.plain import shorten

LONGEST_NAME = 40
"""Limits the name of a client in the history, in characters."""

Context = ServerRequestContext[Any, Any]


def shook_hands(ctx: Context) -> bool:
    """Whether the client speaks a version of the protocol in which connections have a state."""
    return ctx.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS


def peer_of(ctx: Context) -> Hashable:
    """What tells this connection from others; newer clients have none that lasts."""
    return id(ctx.session.client_params) if shook_hands(ctx) else ANYBODY


def request_of(ctx: Context, request: RequestId | None) -> Hashable:
    """What tells a request from those of other clients."""
    return peer_of(ctx), str(request)


def client_of(ctx: Context) -> Client:
    """The client, as it calls itself."""
    named = ctx.session.client_params.client_info.name if ctx.session.client_params else ""
    return Client(shorten(named, LONGEST_NAME), is_offered(ctx.session.client_capabilities))


class Peers:
    """Sees every message before it is handled."""

    def __init__(self, changes: Changes, calls: OpenCalls) -> None:
        self._changes = changes
        self._calls = calls

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Notes who comes and goes, and which requests are cancelled."""
        if ctx.method == "notifications/cancelled" and ctx.params:
            self._calls.cancel(request_of(ctx, ctx.params.get("requestId")))
        if ctx.method == "notifications/initialized":
            self._changes.add(ctx.session)
            # the SDK has no public way yet to learn that a connection ends
            ctx.session._connection.exit_stack.callback(self._gone, ctx)
        return await call_next(ctx)

    def _gone(self, ctx: Context) -> None:
        self._changes.remove(ctx.session)
        self._calls.give_up(peer_of(ctx))
