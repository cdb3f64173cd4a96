"""Events for those who listen. While there is a listener, one reader per process follows the store and keeps the newest
events; each stream has a place of its own in them, so that a slow one costs no memory and delays nobody: what it has
missed it reads from the store, and if that is no longer kept, it is told to load the state again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool

from memory_v2.service.access import Caller
from memory_v2.service.keys import Keys
from memory_v2.service.models import Subscribe, iso
from memory_v2.service.observing import Metrics
from memory_v2.service.problem import Problem, problem_of
from memory_v2.service.store import Event, Store

KEPT = 2_000
"""Events that a process keeps at hand for all its streams."""
AT_ONCE = 500
"""Events that one look reads."""
LATEST = 16
"""Events whose text is kept, so that it is written once for all who listen: 64 MB at most."""
POLL_SECONDS = 0.25
"""How often the store is asked without a hint: what other processes write to one file is seen so late at most."""
GATHER_SECONDS = 0.005
"""How long after one look the next may begin: under load one look finds the events of many commits."""
PING_SECONDS = 15.0
"""How often a silent stream says that it lives."""
CHECK_SECONDS = 1.0
"""How often a stream looks whether its key still counts."""


class Feed:
    """The newest events of all tenants, while there is a listener. `wake` may be called from any thread."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store, self._metrics, self.now = store, metrics, store.now
        self._recent: deque[Event] = deque(maxlen=KEPT)
        self._before = self.newest = 0
        self._hint, self._changed = asyncio.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listeners = 0
        self.is_closed = False
        self.failing = False

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Follows the commits, which pay nothing for it while there is no listener."""
        self._listeners += 1
        self._hint.set()
        try:
            yield
        finally:
            self._listeners -= 1

    def wake(self) -> None:
        """Says that there may be something new."""
        if self._loop is not None and self._listeners and not self.is_closed:
            self._loop.call_soon_threadsafe(self._hint.set)

    def close(self) -> None:
        """Ends all streams."""
        self.is_closed = True
        self._changed.set()
        self._hint.set()

    async def run(self) -> None:
        """Follows the store until it is closed; an outage is counted, shown by `failing`, and survived."""
        self._loop = asyncio.get_running_loop()
        started = False
        while not self.is_closed:
            try:
                if not self._listeners:
                    started = False
                elif not started:
                    self._before = self.newest = await self.present()
                    self._recent.clear()
                    self._tell()
                    started = True
                else:
                    await self._follow()
                self.failing = False
            except Exception as error:
                if problem_of(error) is None:
                    raise
                self.failing = True
                self._metrics.background_failures.labels("feed").inc()
            looked = time.monotonic()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hint.wait(), POLL_SECONDS)
            await asyncio.sleep(max(0.0, looked + GATHER_SECONDS - time.monotonic()))
            self._hint.clear()

    async def _follow(self) -> None:
        is_more = True
        while is_more:
            events = await run_in_threadpool(self._store.events_after, self.newest, AT_ONCE)
            for event in events:
                if len(self._recent) == KEPT:
                    self._before = self._recent[0].position
                self._recent.append(event)
                self.newest = event.position
            if events:
                self._tell()
            is_more = len(events) == AT_ONCE

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def present(self) -> int:
        """The position of the newest event."""
        return (await run_in_threadpool(self._store.event_bounds))[1]

    async def after(self, position: int) -> list[Event] | None:
        """Events after a position, in order; `None` if some of them are no longer kept."""
        if position >= self._before:
            newer = takewhile(lambda event: event.position > position, reversed(self._recent))
            return list(newer)[::-1]
        dropped, _ = await run_in_threadpool(self._store.event_bounds)
        return None if position < dropped else await run_in_threadpool(self._store.events_after, position)

    async def wait(self, seconds: float) -> None:
        """Until there is something new, or the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):  # `wait_for` would make a task for each stream and event
                await self._changed.wait()

    def cursor(self, position: int) -> str:
        """A place in the events as clients keep it."""
        return f"{self._store.epoch}-{position}"

    async def place(self, cursor: str) -> int | None:
        """The position of a cursor, `None` if it is not one of this history or too old; without one, the present."""
        if not cursor:
            return await self.present()
        epoch, _, position = cursor.partition("-")
        if epoch != self._store.epoch or not position.isascii() or not position.isdigit():
            return None
        dropped, newest = await run_in_threadpool(self._store.event_bounds)
        return int(position) if dropped <= int(position) <= newest else None


class Message(NamedTuple):
    """What a listener gets: its kind, the cursor after it, and all of it as JSON."""

    kind: str
    cursor: str
    text: str


def _message(kind: str, cursor: str, **members: Any) -> Message:
    document = {**members, "event": kind, "cursor": cursor}
    return Message(kind, cursor, json.dumps(document, ensure_ascii=False, separators=(",", ":")))


@lru_cache(maxsize=LATEST)
def _envelope(event: Event, cursor: str) -> Message:
    """An event as CloudEvents 1.0 has it, which also reads as the specification's: `event`, `level`, `data`."""
    level = {"level": event.body["level"]} if "level" in event.body else {}
    document = {
        "specversion": "1.0",
        "id": event.id,
        "source": "/api/v1/memory",
        "type": event.type,
        "subject": event.subject,
        "time": iso(event.at),
        "datacontenttype": "application/json",
        "sequence": f"{event.position:020d}",
        **level,
        "data": event.body["data"],
    }
    return _message(event.type, cursor, **document)


def wanted(event: Event, wish: Subscribe) -> bool:
    """Whether an event is one of those that a subscription is for."""
    about = event.body
    return (
        (not wish.events or event.type in wish.events)
        and (not wish.levels or about.get("level") in wish.levels)
        and (not wish.sessions or about.get("session") in wish.sessions)
        and (not wish.agents or about.get("agent") in wish.agents)
    )


async def stream(
    feed: Feed, keys: Keys, metrics: Metrics, caller: Caller, wish: Subscribe, cursor: str
) -> AsyncIterator[Message]:
    """What a listener is told: first `subscribed`, then each event after the cursor once and in order, then what
    happens; or `resync_required`, with the cursor from which to go on once the state is loaded again."""
    found = await feed.place(cursor)
    if found is None:
        metrics.resyncs.inc()
        found = await feed.present()
        yield _message("resync_required", feed.cursor(found))
    position = found
    yield _message("subscribed", feed.cursor(position))
    silent = 0.0
    while not feed.is_closed:
        if not keys.remembered(caller.key_id) and not await run_in_threadpool(keys.is_valid, caller):
            raise Problem("UNAUTHENTICATED", "the key was revoked or has expired")
        events = await feed.after(position)
        if events is None:
            metrics.resyncs.inc()
            position = await feed.present()
            yield _message("resync_required", feed.cursor(position))
            continue
        for event in events:
            position = event.position
            seen = event.tenant == caller.tenant and caller.reads(event.owner, event.visibility, event.readers)
            if seen and wanted(event, wish):
                silent = 0.0
                metrics.lag.observe(max(0.0, feed.now() - event.at))
                yield _envelope(event, feed.cursor(position))
        if not events:
            await feed.wait(CHECK_SECONDS)
            silent += CHECK_SECONDS
            if silent >= PING_SECONDS:
                silent = 0.0
                yield _message("ping", feed.cursor(position))
