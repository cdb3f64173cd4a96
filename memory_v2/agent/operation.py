"""An operation: the annotated function that it is, with what a decorator says about it; and one that runs, its cost,
its limits and its trace, and how another thread cancels it: at once while it waits, and never while its change is being
stored.

The function takes what it works with (the `Context`, the storage or the entries) and then its arguments. The method of
`Memory`, `Entries` or `Checkpoints` calls it, and says for people what each argument means.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypeVar
from weakref import WeakSet

from memory_v2.errors import Cancelled, NotAllowed, StorageConflict
from memory_v2.models.base import Reply, Usage
from memory_v2.settings import Limits
from memory_v2.storage.pending import PendingNote
from memory_v2.trace.recording import Trace

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class OperationInfo:
    """What is said about an operation: its `name` in traces and in the history, and what it `changes`: the pages
    (`tree`), the entries, only how they are stored (`store`), or the pages and their history, which cannot be undone
    (`past`).

    A `recorded` operation has limits and leaves a trace; if that is the name of an argument, only when it is given. An
    operation that `recovers` finishes first those that were interrupted: all of them if it changes pages, else those
    that take no longer than a moment.
    """

    name: str
    changes: Literal["nothing", "tree", "entries", "store", "past"]
    recorded: bool | str
    recovers: bool

    def leaves_trace(self, arguments: Mapping[str, Any]) -> bool:
        """Whether the operation is recorded when run with these arguments."""
        return self.recorded if isinstance(self.recorded, bool) else bool(arguments.get(self.recorded))


def operation(
    name: str,
    *,
    changes: Literal["nothing", "tree", "entries", "store", "past"] = "nothing",
    recorded: bool | str = False,
    recovers: bool = True,
) -> Callable[[F], F]:
    """Says what a function is as an operation. The function stays as it is."""

    def described(function: F) -> F:
        vars(function)["operation"] = OperationInfo(name, changes, recorded, recovers)
        return function

    return described


def info(function: Callable[..., Any]) -> OperationInfo:
    """What is said about an operation."""
    found: OperationInfo = vars(function)["operation"]
    return found


class CancelScope:
    """All that a caller waits for, whatever operations it is: cancelled as one."""

    def __init__(self) -> None:
        self._is_cancelled = False
        self._adding = threading.Lock()
        self._cancellations: WeakSet[Cancellation] = WeakSet()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """What this thread begins inside belongs to the scope."""
        before = _scope.set(self)
        try:
            yield
        finally:
            _scope.reset(before)

    def add(self, cancellation: Cancellation) -> None:
        """Adds an operation that begins; in a cancelled scope it is cancelled at once."""
        with self._adding:
            self._cancellations.add(cancellation)
            is_cancelled = self._is_cancelled
        if is_cancelled:
            cancellation.cancel()

    def cancel(self) -> None:
        """Cancels what is running, and what begins later. Waits while a change is being stored."""
        with self._adding:
            self._is_cancelled = True
            running = list(self._cancellations)
        for cancellation in running:
            cancellation.cancel()


_scope: ContextVar[CancelScope | None] = ContextVar("cancel scope", default=None)


_asking: ContextVar[str] = ContextVar("who asks", default="")


@contextmanager
def asked_by(name: str) -> Iterator[None]:
    """The history names this agent or person with each change that the thread makes inside. The outermost name counts:
    an empty one is none."""
    before = _asking.set(_asking.get() or name)
    try:
        yield
    finally:
        _asking.reset(before)


def who_asks() -> str:
    """The agent or person that this thread works for; empty if it is unknown."""
    return _asking.get()


class Cancellation:
    """Whether an operation is to stop. One thread carries the operation out; any other thread may cancel it."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._deciding = threading.Lock()  # whether the operation is cancelled or its change is stored
        self._may_be_stored = False
        self._has_ended = False
        self._waits_for: threading.Event | None = None
        if (scope := _scope.get()) is not None:
            scope.add(self)

    def cancel(self) -> bool:
        """Asks the operation to stop; tells whether it will, with nothing stored. Once its change is stored, only the
        splits that follow are left out. While the change is being stored, this waits to see what comes of it."""
        with self._deciding:
            if self._has_ended:
                return False
            self.is_cancelled = True
            if self._waits_for is not None:
                self._waits_for.set()
            return not self._may_be_stored

    def check(self) -> None:
        """Raises `Cancelled` if the operation is to stop."""
        if self.is_cancelled:
            raise Cancelled("the operation was cancelled; nothing was stored")

    def wait(self, event: threading.Event, seconds: float) -> None:
        """Waits for an event, so many seconds at most. Raises `Cancelled` as soon as the operation is to stop."""
        with self._deciding:
            self.check()
            self._waits_for = event
        event.wait(min(max(seconds, 0.0), threading.TIMEOUT_MAX))
        self.check()

    @contextmanager
    def storing(self) -> Iterator[None]:
        """Holds while a change is stored: until then the operation can be cancelled, afterwards not any more. Raises
        `Cancelled`."""
        with self._deciding:
            self.check()
            try:
                yield
            except StorageConflict:  # nothing was changed
                raise
            except BaseException:  # some of it may be stored, and the rest is completed on next use
                self._may_be_stored = True
                raise
            self._may_be_stored = True

    def end(self) -> None:
        """The operation has done all; it cannot be cancelled any more. Raises `Cancelled` if `cancel` has promised."""
        with self._deciding:
            self._has_ended = True
            if not self._may_be_stored:
                self.check()


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an operation: model calls, tokens, seconds from start to end, and US dollars (`None` if the price of
    a call is unknown). `is_estimate` if a provider told no usage, so that tokens and dollars are partly estimated."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    money: float | None = 0.0
    is_estimate: bool = False

    def __add__(self, other: Cost) -> Cost:
        """The cost of both."""
        money = None if self.money is None or other.money is None else self.money + other.money
        seconds, is_estimate = self.seconds + other.seconds, self.is_estimate or other.is_estimate
        return Cost(self.calls + other.calls, self.usage + other.usage, seconds, money, is_estimate)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the tokens beside the calls, seconds to the microsecond; `is_estimate` if so."""
        tokens = asdict(self.usage)
        cost = {"calls": self.calls, **tokens, "seconds": round(self.seconds, 6), "money": self.money}
        return cost | ({"is_estimate": True} if self.is_estimate else {})

    def over(self, limits: Limits) -> str | None:
        """The first limit that is reached, in words; `None` if none is. An unknown price reaches no limit."""
        tokens = self.usage.input_tokens + self.usage.output_tokens
        if self.calls >= limits.turns:
            return f"the limit of {limits.turns} turns was reached"
        if tokens >= limits.tokens:
            return f"the limit of {limits.tokens:,} tokens was reached"
        if self.seconds >= limits.seconds:
            return f"the limit of {limits.seconds:g} seconds was reached"
        if self.money is not None and self.money >= limits.money:
            return f"the limit of {limits.money:g} dollars was reached"
        return None


def new_id() -> str:
    """A name for an operation that no other has."""
    return os.urandom(5).hex()


@dataclass
class Operation:
    """One operation. It counts all model requests: for the write, its second decision, and the splits that follow.

    `clock` returns seconds, and `chance` returns a number from 0 to 1. `sleep` waits for seconds; without one, a pause
    ends when the operation is cancelled. `abort_reason` says why the model is no longer asked: once a provider has
    failed, later decisions do not try it again. `id` names the operation in the history and ends the name of its trace.
    `note` is its pending note. `whole` is the operation that this one is a part of. `record` is what the history keeps
    with its next change, if the pages do not hold it.
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
    record: str = ""
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
        self._spent += Cost(1, reply.usage, money=reply.money, is_estimate=reply.is_estimate)
        if self.whole is not None:
            self.whole.pay(reply)


def check_id(given: str) -> None:
    """Raises `NotAllowed` if the id of an operation is not a string."""
    if not isinstance(given, str):
        raise NotAllowed(f"the id of an operation is a string, not {type(given).__name__}")


@dataclass(frozen=True, slots=True)
class RunningOperation:
    """An operation that has begun and not ended. `id` is its name in the history, `kind` that of the operation, such as
    `write`, and `since` the moment when it began, in UTC."""

    id: str
    kind: str
    since: datetime


class RunningOperations:
    """Those of one memory, in the order in which they began. Any number of threads may use it."""

    def __init__(self) -> None:
        self._cancellations: dict[RunningOperation, Cancellation] = {}

    @contextmanager
    def added(self, operation: RunningOperation, cancellation: Cancellation) -> Iterator[None]:
        """Lists an operation while it runs."""
        self._cancellations[operation] = cancellation
        try:
            yield
        finally:
            self._cancellations.pop(operation, None)

    def __iter__(self) -> Iterator[RunningOperation]:
        return iter(self._cancellations.copy())

    def cancel(self, id: str) -> bool:  # noqa: A002 - as it is called in the history
        """Cancels an operation; tells whether it ends with nothing stored."""
        check_id(id)
        running = self._cancellations.copy().items()
        found = next((cancellation for operation, cancellation in running if operation.id == id), None)
        return found is not None and found.cancel()
