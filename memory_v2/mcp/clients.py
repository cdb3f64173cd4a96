"""The connected clients: they are told of changes to pages, and given up when they have gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Hashable
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp_types import RequestId
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from memory_v2.mcp.resources import uri_of
from memory_v2.text.words import shorten

LONGEST_NAME = 40
"""Limits the name of a client in the history, in characters."""
NOTICE_SECONDS = 2.0
"""How long one client may take to receive a notification, in seconds; the next change tells it again."""
ANYBODY = 0
"""The peer of all clients that nothing tells apart."""

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


def name_of(ctx: Context) -> str:
    """The client, as it calls itself."""
    named = ctx.session.client_params.client_info.name if ctx.session.client_params else ""
    return shorten(named, LONGEST_NAME)


class Clients:
    """Sees every message before it is handled. `cancel` is called with a request that a client cancels, and `give_up`
    with a peer that has gone. Clients that shook hands are told of changes at once; newer ones listen to the `bus`."""

    def __init__(self, cancel: Callable[[Hashable], object], give_up: Callable[[Hashable], object]) -> None:
        self.bus = InMemorySubscriptionBus()
        self._cancel = cancel
        self._give_up = give_up
        self._sessions: set[ServerSession] = set()
        self._known: frozenset[str] | None = None
        self._notices: set[asyncio.Task[None]] = set()

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Notes who comes and goes, and which requests are cancelled."""
        if ctx.method == "notifications/cancelled" and ctx.params:
            self._cancel(request_of(ctx, ctx.params.get("requestId")))
        if ctx.method == "notifications/initialized":
            self._sessions.add(ctx.session)
            # the SDK has no public way yet to learn that a connection ends
            ctx.session._connection.exit_stack.callback(self._gone, ctx)
        return await call_next(ctx)

    def _gone(self, ctx: Context) -> None:
        self._sessions.discard(ctx.session)
        self._give_up(peer_of(ctx))

    def before_change(self, list_pages: Callable[[], Collection[str]]) -> None:
        """Something may change: notes the pages as they are, unless they are known. From any thread."""
        if self._known is None:
            self._known = frozenset(list_pages())

    def after_change(self, pages: Collection[str], changed: Collection[str]) -> None:
        """Notifies the clients that these are all pages now, and which of them have changed."""
        now = frozenset(pages)
        is_new_list, self._known = now != self._known, now
        task = asyncio.ensure_future(self._notify(is_new_list, changed))
        self._notices.add(task)
        task.add_done_callback(self._notices.discard)

    async def _notify(self, is_new_list: bool, changed: Collection[str]) -> None:
        for path in changed:
            await self.bus.publish(ResourceUpdated(uri=uri_of(path)))
        if is_new_list:
            await self.bus.publish(ResourcesListChanged())
            await asyncio.gather(*map(_notify_of_list, self._sessions.copy()))


async def _notify_of_list(session: ServerSession) -> None:
    with anyio.move_on_after(NOTICE_SECONDS):
        await session.send_resource_list_changed()
