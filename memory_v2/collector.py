"""The collector of cycles, which is in the way where much is made at once."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
