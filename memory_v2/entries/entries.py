"""What users hold as `memory.entries`. Each method is a row of the table, run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, Any

from memory_v2.entries import rows
from memory_v2.entries.area import Area
from memory_v2.text.calendar import Calendar, utc_now

if TYPE_CHECKING:
    from memory_v2.entries.capture import Captured, CapturedBatch
    from memory_v2.entries.entry import Decay, Entry, Scope
    from memory_v2.storage.base import MemoryStorage


class Entries:
    """The entries of a memory: short, dated observations that are captured at once and never rewritten.

    Any number of threads and processes may capture at the same time. No model is asked.
    """

    def __init__(
        self,
        storage: MemoryStorage,
        timezone: tzinfo,
        now: Callable[[], datetime] | None,
        agent: str,
        recover: Callable[[], object],
    ) -> None:
        """The entries in a storage, captured as those of an `agent` if nobody is named. `recover` finishes interrupted
        operations, and is called first, except by a capture, which waits for nothing."""
        self.area = Area(storage, Calendar(timezone, now or utc_now), agent)
        self._recover = recover

    def capture(
        self,
        text: str,
        agent: str | None = None,
        tags: Iterable[str] = (),
        confidence: float | None = None,
        importance: float | None = None,
        decay: Decay | str | None = None,
        kind: str = "observation",
        home: str | None = None,
        source: str | None = None,
        channel: str | None = None,
        session: str | None = None,
        location: str | None = None,
        references: Iterable[str] = (),
        date: date | str | None = None,
        scope: Scope = "agent",
    ) -> Captured:
        """Stores an observation; it is durable when the call returns. The same text by the same agent of the same day
        is not stored twice. Raises `InvalidText`, `InvalidSetting`, `StorageError`."""
        given = {name: value for name, value in locals().items() if name != "self"}
        return rows.CAPTURE.load()(self.area, **given)

    def capture_batch(self, lines: Iterable[str | Mapping[str, Any]]) -> CapturedBatch:
        """Captures each line of JSON, or mapping, with the arguments of `capture`. A line that cannot be captured is
        told by number, and keeps no other one back. Raises `StorageError`."""
        return rows.CAPTURE_BATCH.load()(self.area, lines=lines)

    def list_entries(self, agent: str | None = None, tag: str | None = None, archived: bool = False) -> list[Entry]:
        """Lists entries, oldest first: those of an agent or `shared`, with a tag, and with those in the archive if
        `archived`. Raises `InvalidSetting`."""
        self._recover()
        return rows.LIST_ENTRIES.load()(self.area, agent=agent, tag=tag, archived=archived)

    def read_entry(self, id: str) -> Entry:  # noqa: A002 - as it is called in the results
        """Returns an entry by its id; without an agent's name, it is the default agent's or a shared one. Raises
        `EntryNotFound`, and `NotAllowed` for a file that does not say what an entry must."""
        self._recover()
        return rows.READ_ENTRY.load()(self.area, id=id)

    def pick_up(self) -> int:
        """Brings what was captured into the history now, in one revision, and returns how many entries that were.
        Otherwise the next operation that changes entries does it, or a check. Raises `StorageError`."""
        self._recover()
        return self.area.pick_up()

    def close(self) -> None:
        """Closes its files; the next use opens them again."""
        self.area.known.close()
