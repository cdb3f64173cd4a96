"""One operation from start to end: its limits, its cost and its trace."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from memory_v2.agent.cancellation import Cancellation
from memory_v2.agent.limits import Cost, Limits
from memory_v2.models.base import Reply
from memory_v2.storage.pending import PendingNote
from memory_v2.trace.recording import Trace


def new_id() -> str:
    """A name for an operation that no other has."""
    return os.urandom(5).hex()


@dataclass
class Operation:
    """One operation. It counts all model requests: for the write, its second decision, and the splits that follow.

    `clock` returns seconds, and `chance` returns a number from 0 to 1. `sleep` waits for seconds; without one, a pause
    ends when the operation is cancelled. `abort_reason` says why the model is no longer asked: once a provider has
    failed, later decisions do not try it again. `id` names the operation in the history and ends the name of its trace.
    `note` is its pending note. `whole` is the operation that this one is a part of.
    """

    limits: Limits = field(default_factory=Limits)
    trace: Trace = field(default_factory=Trace)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] | None = None
    chance: Callable[[], float] = random.random
    abort_reason: str = ""
    id: str = field(default_factory=new_id)
    note: PendingNote | None = None
    whole: Operation | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)

    def __post_init__(self) -> None:
        self._spent = Cost()
        self._started = self.clock()
        self._uncounted = 0.0
        """Seconds that the limit does not count."""

    @property
    def cost(self) -> Cost:
        """The cost so far."""
        return replace(self._spent, seconds=self.clock() - self._started)

    @property
    def seconds_left(self) -> float:
        """The seconds until the time limit; negative after it."""
        return self.limits.seconds - (self.clock() - self._started - self._uncounted)

    @property
    def reached(self) -> str | None:
        """The first limit that is reached, in words; `None` if none is."""
        cost = self.cost
        return replace(cost, seconds=cost.seconds - self._uncounted).over(self.limits)

    def part(self, trace: Trace) -> Operation:
        """A part of this operation with limits and a trace of its own. What it costs is counted here too."""
        return replace(self, trace=trace, note=None, whole=self)

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """The time of what is done inside does not count against the limit."""
        began = self.clock()
        try:
            yield
        finally:
            self._uncounted += self.clock() - began

    def pause(self, seconds: float) -> None:
        """Waits so long. Raises `Cancelled` as soon as the operation is to stop."""
        if self.sleep is None:
            self.cancellation.wait(threading.Event(), seconds)
        else:
            self.sleep(seconds)
            self.cancellation.check()

    def pay(self, reply: Reply) -> None:
        """Adds the cost of a reply."""
        money = None if self._spent.money is None or reply.money is None else self._spent.money + reply.money
        is_estimate = self._spent.is_estimate or reply.is_estimate
        self._spent = Cost(self._spent.calls + 1, self._spent.usage + reply.usage, 0.0, money, is_estimate)
        if self.whole is not None:
            self.whole.pay(reply)
