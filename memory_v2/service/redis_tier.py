"""What Redis does where the service runs in several processes: it has the values of tier 1, counts requests for all
processes together, and wakes those that deliver events. Redis 6.2 and newer and Valkey can do this; no module is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import redis
import redis.asyncio
from pydantic_core import to_json
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from memory_v2.service.cache import MARK, MARK_SECONDS, STAMP_SECONDS, new_mark
from memory_v2.service.limits import WINDOW, Taken
from memory_v2.service.store import ImmediateRows, Transaction

CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 2.0
"""How long Redis may take, in seconds, before it counts as not available."""
REPLACED_SECONDS = 60
"""How long a value that was replaced is kept for those who are just reading it, in seconds."""
LISTEN_SECONDS = 5.0
AGAIN_SECONDS = 0.5
"""How long the listener waits after Redis was not available, in seconds."""
_COUNT = """
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
"""


_END_MARK = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
end
"""


class RedisTier:
    """The connections to one Redis, from threads and from the event loop; all names in it begin with `namespace`.
    `on_connect` is called at each new connection of the event loop: the other end may have been restarted, and have
    lost its newest writes. Failures are `redis.RedisError`."""

    def __init__(self, url: str, namespace: str) -> None:
        self.on_connect: Callable[[], None] = lambda: None
        timeouts: Any = {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": CONNECT_SECONDS}
        retry = Retry(NoBackoff(), 1)  # a connection that Redis has closed meanwhile is made anew
        self.client = redis.Redis.from_url(url, decode_responses=True, retry=retry, **timeouts)
        again = AsyncRetry(NoBackoff(), 1)
        self._loop = redis.asyncio.Redis.from_url(
            url, decode_responses=True, retry=again, redis_connect_func=self._connected, **timeouts
        )
        self._count = self._loop.register_script(_COUNT)
        self._me = uuid.uuid4().hex
        self.namespace = namespace

    def immediate(self, transaction: Transaction) -> ImmediateInRedis:
        """Tier 1 for one transaction, which also says to the other processes that there are events: should that fail,
        they find them a moment later by themselves."""
        return ImmediateInRedis(transaction, self.client, self.namespace, self._me)

    async def take(self, key: str, limit: int) -> Taken:
        """Counts a request: the limit is that of all processes, by the clock of Redis."""
        window = int(WINDOW * 1000)
        count, left = await self._count(keys=[f"{self.namespace}:requests:{key}"], args=[window])
        return Taken(count <= limit, max(0, limit - count), left / 1000)

    async def stamp(self, key: str) -> str:
        """The stamp of a record: the `Stamps` of all processes."""
        name = f"{self.namespace}:stamp:{key}"
        if stamp := str(await self._loop.get(name) or ""):
            return "" if stamp.startswith(MARK) else stamp
        new = uuid.uuid4().hex
        return new if await self._loop.set(name, new, nx=True, ex=STAMP_SECONDS) else ""

    def mark(self, key: str, transaction: Transaction) -> None:
        """Marks a record as being changed; the mark ends with the transaction, or by itself."""
        name, mine, at = f"{self.namespace}:stamp:{key}", new_mark(), transaction.immediate
        assert isinstance(at, ImmediateInRedis)
        at.before.set(name, mine, ex=MARK_SECONDS)
        at.after.eval(_END_MARK, 1, name, mine, uuid.uuid4().hex, STAMP_SECONDS)

    async def _connected(self, connection: Any) -> None:
        self.on_connect()
        await connection.on_connect()

    async def listen(self, wake: Callable[[], None]) -> None:
        """Calls `wake` at each announcement of another process, until it is cancelled."""
        while True:
            with contextlib.suppress(redis.RedisError):
                async with self._loop.pubsub() as listening:
                    await listening.subscribe(f"{self.namespace}:events")
                    while True:
                        message = await listening.get_message(ignore_subscribe_messages=True, timeout=LISTEN_SECONDS)
                        if message is not None and message["data"] != self._me:
                            wake()
            await asyncio.sleep(AGAIN_SECONDS)

    async def close(self) -> None:
        """Closes all connections."""
        await self._loop.aclose()
        self.client.close()


class ImmediateInRedis(ImmediateRows):
    """A value is in Redis, under a name of its own; its row in the database has that name, its end and its size. So a
    value is there for others when the transaction has committed, not before, and never if it does not.

    What Redis is asked to do `before` the commit, and `after` the end, it is asked in one exchange each."""

    def __init__(self, transaction: Transaction, client: redis.Redis, namespace: str, process: str) -> None:
        super().__init__(transaction)
        self._redis, self._namespace, self._process = client, namespace, process
        self.before, self.after = client.pipeline(transaction=False), client.pipeline(transaction=False)
        self._names: dict[str, str | None] = {}
        self._old: list[str] = []
        self._new: dict[str, Any] = {}
        transaction.before_commit.append(self.before.execute)
        transaction.at_end.append(self._end)

    def get_all(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values whose time is not over, by key."""
        names = {key: name for key, name in self._known(keys).items() if key not in self._new}
        found: Any = self._redis.mget(names.values()) if names else []
        old = {key: json.loads(text) for key, text in zip(names, found, strict=True) if text is not None}
        return old | {key: self._new[key] for key in keys if key in self._new}

    def set(self, values: Mapping[str, Any], seconds: float) -> None:
        """Keeps values, by key, for so many seconds from now."""
        names: dict[str, tuple[str, int]] = {}
        for key, value in values.items():
            text = to_json(value)
            name = f"{self._namespace}:{self._transaction.tenant}:{key}:{uuid.uuid4().hex}"
            names[key], self._names[key], self._new[key] = (name, len(text)), name, value
            self.before.set(name, text, px=int(seconds * 1000))
        self._old += self._store(names, seconds)

    def delete(self, key: str) -> None:
        """Forgets a value, if there is one."""
        self._old += self._known([key]).values()
        self._names[key] = None
        self._new.pop(key, None)
        super().delete(key)

    def _known(self, keys: Iterable[str]) -> dict[str, str]:
        """The names of values, as this transaction sees them."""
        if unknown := [key for key in keys if key not in self._names]:
            self._names |= dict.fromkeys(unknown) | super().get_all(unknown)
        return {key: name for key in keys if (name := self._names[key])}

    def _end(self) -> None:
        """Once the transaction is committed, values that were replaced end. Should Redis not be there, they and marks
        end at their own time."""
        if self._transaction.is_committed:
            for name in self._old:
                self.after.expire(name, REPLACED_SECONDS)
            if self._transaction.events:
                self.after.publish(f"{self._namespace}:events", self._process)
        with contextlib.suppress(redis.RedisError):
            self.after.execute()
