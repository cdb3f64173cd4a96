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
        self._end_mark = self.client.register_script(_END_MARK)
        self.namespace = namespace

    def immediate(self, transaction: Transaction) -> ImmediateInRedis:
        """Tier 1 for one transaction."""
        return ImmediateInRedis(transaction, self.client, self.namespace)

    async def take(self, key: str, limit: int) -> Taken:
        """Counts a request: the `Limiter` of all processes, by the clock of Redis."""
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

    def mark(self, key: str) -> Callable[[], None]:
        """Marks a record as being changed."""
        name, mine = f"{self.namespace}:stamp:{key}", new_mark()
        self.client.set(name, mine, ex=MARK_SECONDS)

        def end() -> None:
            with contextlib.suppress(redis.RedisError):  # then the mark ends by itself
                self._end_mark(keys=[name], args=[mine, uuid.uuid4().hex, STAMP_SECONDS])

        return end

    async def _connected(self, connection: Any) -> None:
        self.on_connect()
        await connection.on_connect()

    def announcing(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Calls `wake`, and says to the other processes that there are events: should that fail, they find them a
        moment later by themselves."""

        def announce() -> None:
            wake()
            with contextlib.suppress(redis.RedisError):
                self.client.publish(f"{self.namespace}:events", "")

        return announce

    async def listen(self, wake: Callable[[], None]) -> None:
        """Calls `wake` at each announcement, until it is cancelled."""
        while True:
            with contextlib.suppress(redis.RedisError):
                async with self._loop.pubsub() as listening:
                    await listening.subscribe(f"{self.namespace}:events")
                    while True:
                        message = await listening.get_message(ignore_subscribe_messages=True, timeout=LISTEN_SECONDS)
                        if message is not None:
                            wake()
            await asyncio.sleep(AGAIN_SECONDS)

    async def close(self) -> None:
        """Closes all connections."""
        await self._loop.aclose()
        self.client.close()


class ImmediateInRedis(ImmediateRows):
    """A value is in Redis, under a name of its own; its row in the database has that name, its end and its size. So a
    value is there for others when the transaction has committed, not before, and never if it does not."""

    def __init__(self, transaction: Transaction, client: redis.Redis, namespace: str) -> None:
        super().__init__(transaction)
        self._redis, self._namespace = client, namespace

    def get_all(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values whose time is not over, by key."""
        names = super().get_all(keys)
        found: Any = self._redis.mget(names.values()) if names else []
        return {key: json.loads(text) for key, text in zip(names, found, strict=True) if text is not None}

    def set(self, values: Mapping[str, Any], seconds: float) -> None:
        """Keeps values, by key, for so many seconds from now."""
        self._let_go_later(super().get_all(values).values())
        names: dict[str, tuple[str, int]] = {}
        with self._redis.pipeline() as together:
            for key, value in values.items():
                text = json.dumps(value)
                name = f"{self._namespace}:{self._transaction.tenant}:{key}:{uuid.uuid4().hex}"
                names[key] = name, len(text)
                together.set(name, text, px=int(seconds * 1000))
            together.execute()
        self._store(names, seconds)

    def delete(self, key: str) -> None:
        """Forgets a value, if there is one."""
        self._let_go_later(super().get_all([key]).values())
        super().delete(key)

    def _let_go_later(self, names: Iterable[str]) -> None:
        """Once the transaction is committed, values that were replaced end."""
        if old := list(names):
            self._transaction.after_commit.append(lambda: self._let_go(old))

    def _let_go(self, names: list[str]) -> None:
        with contextlib.suppress(redis.RedisError), self._redis.pipeline() as together:  # else at their own time
            for name in names:
                together.expire(name, REPLACED_SECONDS)
            together.execute()
