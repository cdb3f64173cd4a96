"""What Redis does where the service runs in several processes: it has the values of tier 1, counts requests for all
processes together, and wakes those that deliver events. Redis 6.2 and newer and Valkey can do this; no module is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from memory_v2.service import tables
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


class RedisTier:
    """The connections to one Redis, from threads and from the event loop; all names in it begin with `namespace`.
    Failures are `redis.RedisError`."""

    def __init__(self, url: str, namespace: str) -> None:
        timeouts: Any = {"socket_timeout": ANSWER_SECONDS, "socket_connect_timeout": CONNECT_SECONDS}
        retry = Retry(NoBackoff(), 1)  # a connection that Redis has closed meanwhile is made anew
        self.client = redis.Redis.from_url(url, decode_responses=True, retry=retry, **timeouts)
        self._loop = redis.asyncio.Redis.from_url(url, retry=AsyncRetry(NoBackoff(), 1), **timeouts)
        self._count = self._loop.register_script(_COUNT)
        self.namespace = namespace

    def immediate(self, transaction: Transaction) -> ImmediateInRedis:
        """Tier 1 for one transaction."""
        return ImmediateInRedis(transaction, self.client, self.namespace)

    async def take(self, key: str, limit: int) -> Taken:
        """Counts a request: the `Limiter` of all processes, by the clock of Redis."""
        window = int(WINDOW * 1000)
        count, left = await self._count(keys=[f"{self.namespace}:requests:{key}"], args=[window])
        return Taken(count <= limit, max(0, limit - count), left / 1000)

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

    def set(self, key: str, value: Any, seconds: float) -> None:
        """Keeps a value for so many seconds from now."""
        self.delete(key)
        text = json.dumps(value)
        name = f"{self._namespace}:{self._transaction.tenant}:{key}:{uuid.uuid4().hex}"
        self._redis.set(name, text, px=int(seconds * 1000))
        self._insert(key, name, seconds, len(text))

    def delete(self, key: str) -> None:
        """Forgets a value, if there is one."""
        if row := self._transaction.get(tables.immediate, key):
            self._transaction.after_commit.append(lambda: self._let_go(row["value"]))
        super().delete(key)

    def _let_go(self, name: str) -> None:
        with contextlib.suppress(redis.RedisError):  # then it ends at its own time
            self._redis.expire(name, REPLACED_SECONDS)
