"""One operation from its start to its end: what it may take, what it has taken, and the record of it."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from memory_v2.agent.limits import Cost, Limits
from memory_v2.models.base import Reply
from memory_v2.pending import PendingNote
from memory_v2.trace.recording import Trace


@dataclass
class Operation:
    """One operation. All that it asks of models counts here: the write, its second try, the splits that follow it.

    `clock` gives seconds, `sleep` waits for them, `chance` gives a number from 0 to 1. `abort_reason` says why the
    model is not asked any more: what a provider could not do at one decision, it is not asked to do at the next.
    `id` is the operation's name in the history, and the end of its trace's. `note` is what it has noted on the disk
    about what is left to do.
    """

    limits: Limits = field(default_factory=Limits)
    trace: Trace = field(default_factory=Trace)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = random.random
    abort_reason: str = ""
    id: str = field(default_factory=lambda: os.urandom(5).hex())
    note: PendingNote | None = None

    def __post_init__(self) -> None:
        self._spent = Cost()
        self._started = self.clock()

    @property
    def cost(self) -> Cost:
        """What it has taken up to now."""
        return replace(self._spent, seconds=self.clock() - self._started)

    @property
    def seconds_left(self) -> float:
        """How long it may still go on."""
        return self.limits.seconds - (self.clock() - self._started)

    @property
    def reached(self) -> str | None:
        """Which limit is reached, in words."""
        return self.cost.over(self.limits)

    def pay(self, reply: Reply) -> None:
        """Counts an answer."""
        money = None if self._spent.money is None or reply.money is None else self._spent.money + reply.money
        self._spent = Cost(self._spent.calls + 1, self._spent.usage + reply.usage, 0.0, money)
