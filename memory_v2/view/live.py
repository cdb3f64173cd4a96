"""What changes while somebody looks: told to the browser as it happens."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from itertools import islice

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.storage.history import Revision

LOOK_SECONDS = 0.7
"""How often the history is looked at: a glance at one file."""
BEAT_SECONDS = 3.0
"""After how long without a change something is sent all the same, so that a reader who has gone on to another page is
noticed."""
MOST_NEWS = 50
"""Revisions that are told one by one."""


def changes(
    memory: Memory, is_over: Callable[[], bool], sleep: Callable[[float], object] = time.sleep
) -> Iterator[bytes]:
    """Server-Sent Events: for each revision what was done and to which pages, until it `is_over`. Edits by hand are
    changes as soon as the memory notices them."""
    head, quiet = memory.storage.history.head, 0.0
    yield b"retry: 2000\n\n: listening\n\n"
    while not is_over():
        sleep(LOOK_SECONDS)
        quiet += LOOK_SECONDS
        try:
            now = memory.storage.history.head
            news = [] if now == head else list(_news(memory, head))
        except StorageError:  # a disk that is away for a moment: look again
            continue
        for revision in news:
            yield _event(revision)
        head, quiet = now, 0.0 if news else quiet
        if quiet >= BEAT_SECONDS:
            quiet = 0.0
            yield b": still here\n\n"


def _news(memory: Memory, head: str) -> list[Revision]:
    """The revisions after this one, oldest first."""
    newer: list[Revision] = []
    for revision in islice(memory.storage.history.revisions(), MOST_NEWS):
        if revision.id == head:
            break
        newer.append(revision)
    return newer[::-1]


def _event(revision: Revision) -> bytes:
    data = {
        "id": revision.id[:12],
        "kind": revision.kind,
        "summary": revision.summary,
        "by": revision.decided_by,
        "pages": revision.paths[:MOST_NEWS],
    }
    return f"event: change\ndata: {json.dumps(data)}\n\n".encode()
