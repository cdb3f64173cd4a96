"""What changes while somebody looks: sent to the browser as it happens."""

from __future__ import annotations

import json
from itertools import islice

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.storage.history import Revision
from memory_v2.tree.path import is_entry
from memory_v2.view.rendering import kind_name, who

LOOK_SECONDS = 0.7
"""How often the history is looked at: a glance at one file."""
BEAT_SECONDS = 3.0
"""After how long without a change something is sent all the same, so that a reader who has gone on to another page is
noticed."""
MOST_NEWS = 50
"""Revisions that are sent one by one."""
GREETING = b"retry: 2000\n\n: listening\n\n"


class Changes:
    """What happens to a memory from now on, as Server-Sent Events. Edits by hand are changes as soon as the memory
    notices them. Entries are left out for whoever may see pages only."""

    def __init__(self, memory: Memory, has_entries: bool = True) -> None:
        self._memory, self._has_entries = memory, has_entries
        self._head, self._quiet = memory.storage.history.head, 0.0

    def look(self) -> bytes:
        """The events since the last look, which was `LOOK_SECONDS` ago; mostly empty."""
        self._quiet += LOOK_SECONDS
        try:
            now = self._memory.storage.history.head
            news = [] if now == self._head else revisions_since(self._memory, self._head)
        except StorageError:  # a disk that is away for a moment
            return b""
        self._head = now
        events = b"".join(map(self._event, news))
        if events or self._quiet >= BEAT_SECONDS:
            self._quiet = 0.0
            return events or b": still here\n\n"
        return b""

    def _event(self, revision: Revision) -> bytes:
        pages = [path for path in revision.paths if self._has_entries or not is_entry(path)]
        if revision.paths and not pages:
            return b""
        data = {
            "id": revision.id[:12],
            "kind": kind_name(revision),
            "who": who([revision]),
            "summary": revision.summary,
            "pages": pages[:MOST_NEWS],
        }
        return f"event: change\ndata: {json.dumps(data)}\n\n".encode()


def revisions_since(memory: Memory, head: str) -> list[Revision]:
    """The revisions after this one, oldest first; the newest of them if they are many."""
    newer: list[Revision] = []
    for revision in islice(memory.storage.history.revisions(), MOST_NEWS):
        if revision.id == head:
            break
        newer.append(revision)
    return newer[::-1]
