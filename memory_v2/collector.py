"""The collector of cycles, which is in the way where much is made at once, and where others wait for an answer."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SERVING_THRESHOLD = 2_000
"""How many new objects there are before a server looks for garbage. A request leaves some thirty; to free those of
3,000 at once takes .1 s, in which all others wait."""


def collect_often() -> None:
    """For a program that has started and serves from now on: what is there stays, and is not looked through again."""
    gc.freeze()
    gc.set_threshold(SERVING_THRESHOLD)


@contextmanager
def uncollected() -> Iterator[None]:
    """Pauses the collector of cycles while much is made of a large text, of which nothing is a cycle. To walk it all
    again and again, as there is more of it, takes as long as to make it."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()
