"""Telling the clients that pages were added, removed or changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from memory_v2.mcp.resources import uri_of

NOTICE_SECONDS = 2.0
"""How long one client may take to receive a notification, in seconds; the next change tells it again."""


class Changes:
    """Who wants to know. Clients that shook hands are told at once; newer ones listen to the `bus`."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._sessions: set[ServerSession] = set()
        self._known: frozenset[str] | None = None
        self._telling: set[asyncio.Task[None]] = set()

    def add(self, session: ServerSession) -> None:
        """A client that shook hands."""
        self._sessions.add(session)

    def remove(self, session: ServerSession) -> None:
        """It has gone."""
        self._sessions.discard(session)

    def before(self, list_pages: Callable[[], Collection[str]]) -> None:
        """Something may change: notes the pages as they are, unless they are known. From any thread."""
        if self._known is None:
            self._known = frozenset(list_pages())

    def after(self, pages: Collection[str], changed: Collection[str]) -> None:
        """Tells that these are all pages now, and which of them have changed."""
        now = frozenset(pages)
        is_new_list, self._known = now != self._known, now
        task = asyncio.ensure_future(self._tell(is_new_list, changed))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, is_new_list: bool, changed: Collection[str]) -> None:
        for path in changed:
            await self.bus.publish(ResourceUpdated(uri=uri_of(path)))
        if is_new_list:
            await self.bus.publish(ResourcesListChanged())
            await asyncio.gather(*map(_tell_list, self._sessions.copy()))


async def _tell_list(session: ServerSession) -> None:
    with anyio.move_on_after(NOTICE_SECONDS):
        await session.send_resource_list_changed()
