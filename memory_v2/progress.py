"""How far long work is, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

Listener = Callable[[str, int, int], object]
"""Gets what is counted (`pages indexed`), how many there are, and of how many; 0 if nobody knows."""

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """The listener gets the progress of all that this thread does inside."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def tell_progress(what: str, done: int, total: int = 0) -> None:
    """Tells the listener, if there is one, how far the work is."""
    if (listener := _listener.get()) is not None:
        listener(what, done, total)


def with_progress(items: Sequence[T], what: str) -> Iterator[T]:
    """The items in order, with progress after each."""
    for done, item in enumerate(items, 1):
        yield item
        tell_progress(what, done, len(items))
