"""What the processes of the service consist of, put together once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memory_v2.service.cache import Cache, StampsInMemory
from memory_v2.service.feed import Feed
from memory_v2.service.keys import Keys
from memory_v2.service.limits import LimiterInMemory, Space
from memory_v2.service.memories import Memories
from memory_v2.service.observing import Metrics, RequestLog
from memory_v2.service.options import ServiceOptions
from memory_v2.service.redis_tier import RedisTier
from memory_v2.service.store import Store
from memory_v2.service.tracing import Tracing, tracing_from


@dataclass
class Parts:
    """The parts, which all requests share. `in_flight` are the Idempotency-Keys that this process is working on.
    `redis` is there if the service may run in several processes. `is_ending` says that this one takes no more work."""

    store: Store
    memories: Memories
    keys: Keys
    cache: Cache
    limiter: LimiterInMemory | RedisTier
    feed: Feed
    metrics: Metrics
    log: RequestLog
    redis: RedisTier | None = None
    tracing: Tracing | None = None
    is_ending: bool = False
    space: Space = field(default_factory=Space)
    in_flight: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, options: ServiceOptions, now: Callable[[], float] = time.time) -> Parts:
        """The parts for these options. The store must have its tables."""
        metrics = Metrics()
        store = Store(options.database_url, now)
        feed = Feed(store, metrics)
        store.on_commit = feed.wake
        namespace = f"silica:{store.epoch}"  # which is known from here on, without asking
        redis = RedisTier(options.redis, namespace) if options.redis else None
        cache, limiter = Cache(redis or StampsInMemory(), now), redis or LimiterInMemory(now)
        if redis:
            redis.on_connect, store.immediate = cache.clear, redis.immediate
        memories = Memories(options.folder, options.model, options.s3)
        return cls(store, memories, Keys(store), cache, limiter, feed, metrics, RequestLog(), redis, tracing_from())

    def check(self) -> None:
        """Raises what an outage of a store raises."""
        self.store.check()
        if self.redis:
            self.redis.client.ping()

    def close(self) -> None:
        """Closes stores and memories."""
        self.feed.close()
        self.memories.close()
        self.store.close()
        if self.tracing:
            self.tracing.close()
